import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import {
  CHART,
  fromGit,
  GOOD,
  HELMS,
  objectOf,
  objectsIn,
  overlay,
  parentChart,
  podsIn,
  render,
  renderValid,
  renderValues,
  valuesFile,
  type PodContainer,
  type PodSpec,
} from './support/chart.ts'
import { run, tool } from './support/tools.ts'
import { folderForFile } from '../support/folders.ts'

const folder = folderForFile()

function daemonIn(rendered: string): PodSpec {
  const [pod] = podsIn(stringify(objectOf(rendered, 'StatefulSet')))
  if (pod === undefined) throw new Error('there is no StatefulSet')
  return pod
}

function containerOf(pod: PodSpec, name: string): PodContainer {
  const found = pod.containers.find((container) => container.name === name)
  if (found === undefined) throw new Error(`there is no container ${name}`)
  return found
}

describe.each(HELMS)('as a dependency of another chart, %s', (helm) => {
  const global = { imageRegistry: 'mirror.example:5000/all', imagePullSecrets: ['mirror'], other: { x: 1 } }

  test('it takes its values from the parent, and the registry and the secrets of all', async () => {
    const pipewright = overlay(overlay(GOOD, fromGit()), {
      enabled: true,
      imagePullSecrets: [{ name: 'own' }],
      containerExtra: { livenessProbe: null },
      containerSecurityContext: { runAsUser: null },
    })
    const values = { global, pipewright }
    const rendered = await renderValid(folder, values, { helm, chart: parentChart(folder) })
    const pod = daemonIn(rendered)
    expect(objectOf(rendered, 'StatefulSet').metadata.name).toBe('demo-pipewright')
    expect(pod.containers.map(({ image }) => image)).toEqual([
      `mirror.example:5000/all/pipewright:${packageJson.version}`,
      'mirror.example:5000/all/git-sync/git-sync:v4.4.0',
    ])
    expect(pod['imagePullSecrets']).toEqual([{ name: 'mirror' }, { name: 'own' }])
    expect(containerOf(pod, 'pipewright')).not.toHaveProperty('livenessProbe')
    expect(containerOf(pod, 'pipewright').securityContext).not.toHaveProperty('runAsUser')
  })

  test('it is left out when it is not enabled, whatever its values', async () => {
    const values = { pipewright: { enabled: false } }
    expect(objectsIn(await renderValues(folder, values, { helm, chart: parentChart(folder) }))).toEqual([])
  })

  test('two of them in one release have names of their own, and are left out one by one', async () => {
    const chart = parentChart(folder, 'east', 'west')
    const names = async (values: object) =>
      objectsIn(await renderValues(folder, values, { helm, chart })).map(
        ({ kind, metadata }) => `${kind} ${metadata.name}`,
      )
    const both = await names({ east: GOOD, west: overlay(GOOD, fromGit()) })
    expect(new Set(both).size).toBe(both.length)
    expect(both).toEqual(expect.arrayContaining(['StatefulSet demo-east', 'StatefulSet demo-west']))
    expect(await names({ east: GOOD, west: { enabled: false } })).toEqual(
      both.filter((name) => name.includes('demo-east')),
    )
  })

  test.each([
    ['both aliases in the name of the release', 'east-west', ['east-west-east', 'east-west-west']],
    ['the name of the release is an alias', 'west', ['west-east', 'west']],
    ['a release of a long name', 'r'.repeat(53), [`${'r'.repeat(45)}-east`, `${'r'.repeat(45)}-west`]],
  ])('two of them have names of their own: %s', async (_why, release, wanted) => {
    const chart = parentChart(folder, 'east', 'west')
    const rendered = await renderValues(folder, { east: GOOD, west: GOOD }, { helm, chart, release })
    const daemons = objectsIn(rendered).filter(({ kind }) => kind === 'StatefulSet')
    expect(daemons.map(({ metadata }) => metadata.name)).toEqual(wanted)
  })

  test('a null in the values of the parent itself is overlooked by Helm 4, as the README says', async () => {
    const chart = parentChart(folder)
    const values = { pipewright: { ...GOOD, containerExtra: { livenessProbe: null } } }
    writeFileSync(join(chart, 'values.yaml'), stringify(values))
    const probed = async (given: object) => {
      const pod = daemonIn(await renderValues(folder, given, { helm, chart }))
      return containerOf(pod, 'pipewright')['livenessProbe'] !== undefined
    }
    expect(await probed({})).toBe(helm === 'helm') // when this fails, Helm is mended: take the words out of the README
    expect(await probed(values)).toBe(false)
  })

  test('an alias may have capitals, which no Service has', async () => {
    const chart = parentChart(folder, 'eastPipes', 'west_pipes')
    const rendered = await renderValid(folder, { eastPipes: GOOD, west_pipes: GOOD }, { helm, chart })
    const daemons = objectsIn(rendered).filter(({ kind }) => kind === 'StatefulSet')
    expect(daemons.map(({ metadata }) => metadata.name)).toEqual(['demo-eastpipes', 'demo-west-pipes'])
  })
})

interface Egress {
  readonly to?: readonly unknown[]
  readonly ports: readonly { readonly port: number; readonly protocol: string }[]
}

/** Where both network policies let names be resolved, with the ports. Each is open for UDP and TCP. */
function dnsIn(rendered: string): readonly string[] {
  const policies = objectsIn(rendered).filter(({ kind }) => kind === 'NetworkPolicy')
  const [own, ofTest] = policies.map(({ spec }) => {
    const rules = (spec as { readonly egress: readonly Egress[] }).egress
    return rules.flatMap(({ to, ports }) => {
      const [udp, tcp] = ['UDP', 'TCP'].map((name) => ports.filter(({ protocol }) => protocol === name))
      if (udp?.length !== tcp?.length) return []
      const names = /(?<="(?:metadata.name|k8s-app|cidr)":")[^"]+/g
      const peer = JSON.stringify(to).replaceAll('kubernetes.io/', '').match(names)?.join(' ')
      return [`${peer} ${udp?.map(({ port }) => port).join(' ')}`]
    })
  })
  expect(own).toEqual(ofTest)
  return own?.map((text) => text.split(' ').toSorted().join(' ')) ?? []
}

describe.each(HELMS)('where names are resolved, %s', (helm) => {
  test.each([
    [
      undefined,
      [
        '53 5353 kube-dns kube-system',
        '53 5353 kube-system node-local-dns',
        '53 5353 openshift-dns',
        '169.254.0.0/16 53 5353',
      ],
    ],
    [[{ ipBlock: { cidr: '10.0.0.10/32' } }], ['10.0.0.10/32 53 5353']],
    [[{ ipBlock: { cidr: '10.0.0.10/32' }, ports: [1053] }], ['10.0.0.10/32 1053']],
    [[{ ipBlock: { cidr: 'fd00::a/128' }, ports: [53, 5353, 65_535] }], ['53 5353 65535 fd00::a/128']],
    [[], []],
    [null, []],
  ])('%j', async (dns, says) => {
    const values = overlay(GOOD, { networkPolicy: { dns } })
    expect(dnsIn(await renderValues(folder, values, { helm }))).toEqual(says)
  })
})

describe.each(HELMS)('a value that is null takes its default away, %s', (helm) => {
  test('on OpenShift no user and no group are named, and the rest holds', async () => {
    const guide = readFileSync(join(CHART, '..', 'docs/how-to/argo-cd-flux-openshift.md'), 'utf8')
    const [, snippet = ''] = /^## OpenShift[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(guide) ?? []
    const file = join(folder, `openshift-${helm}.yaml`)
    writeFileSync(file, snippet)
    const rendered = await renderValid(folder, overlay(GOOD, fromGit()), {
      helm,
      more: ['--values', file],
    })
    expect(dnsIn(rendered)).toContain('53 5353 openshift-dns')
    expect(rendered).toContain('kubernetes.io/metadata.name: openshift-user-workload-monitoring')
    for (const pod of podsIn(rendered)) {
      expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      for (const { securityContext } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
        })
      }
    }
  })

  test('without any of the contexts and probes', async () => {
    const values = {
      podSecurityContext: null,
      containerSecurityContext: null,
      containerExtra: { startupProbe: null, livenessProbe: null, readinessProbe: null },
      source: { git: { containerExtra: { securityContext: null, livenessProbe: null } } },
    }
    const rendered = await renderValid(folder, overlay(overlay(GOOD, fromGit()), values), { helm })
    expect(rendered).not.toMatch(/runAs|fsGroup|Probe/)
  })

  test('a part of a probe and of the capabilities', async () => {
    const values = {
      containerExtra: { livenessProbe: { timeoutSeconds: null } },
      containerSecurityContext: { capabilities: { drop: null, add: ['NET_BIND_SERVICE'] } },
    }
    const rendered = await renderValid(folder, overlay(GOOD, values), { helm })
    const container = containerOf(daemonIn(rendered), 'pipewright')
    expect(container['livenessProbe']).toEqual({
      httpGet: { path: '/healthz', port: 'metrics' },
      periodSeconds: 20,
      failureThreshold: 3,
    })
    expect(container.securityContext).toMatchObject({ capabilities: { add: ['NET_BIND_SERVICE'] } })
    expect(container.securityContext).not.toHaveProperty('capabilities.drop')
  })
})

test('the user of git-sync is its own, and what else is said of all containers holds for it', async () => {
  const values = { containerSecurityContext: { runAsUser: 12_345, seLinuxOptions: { level: 's0' } } }
  const pod = daemonIn(await renderValues(folder, overlay(overlay(GOOD, fromGit()), values)))
  expect(containerOf(pod, 'pipewright').securityContext).toMatchObject({ runAsUser: 12_345 })
  expect(containerOf(pod, 'git-sync').securityContext).toMatchObject({
    runAsUser: 65_533,
    runAsGroup: 65_533,
    seLinuxOptions: { level: 's0' },
  })
})

test('in diagnostic mode the pod differs in its process, its probes and its hooks alone', async () => {
  const values = overlay(overlay(GOOD, fromGit()), {
    containerExtra: { lifecycle: { preStop: { sleep: { seconds: 1 } } } },
  })
  const usual = await renderValues(folder, values)
  const diagnostic = await renderValues(folder, { ...values, diagnosticMode: true })
  const PROCESS = ['args', 'command', 'startupProbe', 'livenessProbe', 'readinessProbe', 'lifecycle']
  const bare = (rendered: string) => {
    const pod = daemonIn(rendered)
    const containers = pod.containers.map((container) =>
      Object.fromEntries(
        Object.entries(container).filter(
          ([field]) => !PROCESS.includes(field) || (container.name === 'git-sync' && field === 'args'),
        ),
      ),
    )
    return { ...pod, containers }
  }
  expect(bare(diagnostic)).toEqual(bare(usual))
  expect(diagnostic).not.toMatch(/Probe:|lifecycle:/)
  expect(usual).toMatch(/lifecycle:/)
  expect(containerOf(daemonIn(diagnostic), 'pipewright').args).toBeUndefined()
})

test('a port of a URL, large numbers and a digest keep their form', async () => {
  const values = {
    podSecurityContext: { fsGroup: 1_000_660_000 },
    image: { digest: `sha256:${'a'.repeat(64)}` },
    global: { imageRegistry: 'mirror.example' },
  }
  const rendered = await renderValues(folder, overlay(GOOD, values))
  expect(rendered).toContain('fsGroup: 1000660000\n')
  expect(rendered).toContain(`image: mirror.example/pipewright@sha256:${'a'.repeat(64)}\n`)
})

test('kube-score says of it by default what the README answers, and nothing else', async () => {
  const file = join(folder, 'default.yaml')
  writeFileSync(file, await render(valuesFile('minimal')))
  const { stdout, stderr } = await run(tool('kube-score'), [
    'score',
    file,
    '--kubernetes-version',
    'v1.30',
    '--output-format',
    'ci',
  ])
  const lines = stdout.split('\n').filter((line) => line !== '')
  expect(lines.length, stderr).toBeGreaterThan(20)
  const remarks = lines
    .filter((line) => !/^\[(?:OK|SKIPPED)\]/.test(line))
    .map((line) => line.replace(/^.*\) /, ''))
  const readme = readFileSync(join(CHART, 'README.md'), 'utf8').split('## What kube-score says')[1] ?? ''
  const answered = [...readme.matchAll(/^\| ([A-Z][^|]+) \| [A-Z]/gm)].map(([, remark = '']) => remark)
  expect([...new Set(remarks)].toSorted()).toEqual(answered.toSorted())
})
