import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config/settings.ts'
import {
  CHART,
  EVERYTHING,
  fromGit,
  GOOD,
  HELMS,
  objectOf,
  objectsIn,
  overlay,
  podsIn,
  render,
  renderValues,
  validated,
  valuesFile,
  type PodContainer,
} from './support/chart.ts'
import { wordsOf } from './support/runbook-commands.ts'
import { run, runWell, tool } from './support/tools.ts'
import { folderForFile } from '../support/folders.ts'

/* `ledger.type: kubernetes`: what differs from a ledger in a file. */

const IN_CLUSTER = { ledger: { type: 'kubernetes' } }

const folder = folderForFile()

function kindsIn(rendered: string): readonly string[] {
  return objectsIn(rendered)
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .toSorted()
}

function containersOf(rendered: string): readonly PodContainer[] {
  const [pod] = podsIn(rendered)
  return [...(pod?.containers ?? []), ...((pod?.['initContainers'] ?? []) as readonly PodContainer[])]
}

function namesIn(list: unknown): readonly string[] {
  return (list as readonly { readonly name: string }[]).map(({ name }) => name)
}

function recordWith(members: object): object {
  const metadata = { name: 'demo-1', namespace: 'data' }
  return { apiVersion: 'pipewright.dev/v1', kind: 'PipewrightRecord', metadata, ...members }
}

function variablesOf(rendered: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries((containersOf(rendered)[0]?.env ?? []).map(({ name, value }) => [name, value]))
}

describe.each(HELMS)('a ledger in the cluster, %s', (helm) => {
  const rendering = async (more: object = {}, base: object = GOOD) =>
    validated(folder, await renderValues(folder, overlay(overlay(base, IN_CLUSTER), more), { helm }))

  test('the objects are those of one in a file, but for what makes the pods and what they may', async () => {
    const inFile = kindsIn(await renderValues(folder, EVERYTHING, { helm }))
    const inCluster = kindsIn(await rendering({}, EVERYTHING))
    expect(inFile.filter((object) => !inCluster.includes(object))).toEqual([
      'Service demo-pipewright-headless',
      'StatefulSet demo-pipewright',
    ])
    expect(inCluster.filter((object) => !inFile.includes(object))).toEqual([
      'Deployment demo-pipewright',
      'Role demo-pipewright',
      'RoleBinding demo-pipewright',
    ])
  })

  test('the pod is that of one in a file, but for the ledger, the token and the nodes', async () => {
    const sole = podsIn(await renderValues(folder, EVERYTHING, { helm }))[0]
    const several = podsIn(await rendering({}, EVERYTHING))[0]
    expect(several).toMatchObject({ ...sole, containers: several?.containers, volumes: several?.volumes })
    const mounts = (pod: typeof sole) => namesIn(pod?.containers[0]?.volumeMounts)
    expect(namesIn(several?.volumes)).toEqual(['kubernetes-api', 'scratch', ...namesIn(sole?.volumes)])
    expect(mounts(several)).toEqual(['kubernetes-api', 'scratch', ...mounts(sole).slice(1)])
    expect(several?.containers.slice(1)).toEqual(sole?.containers.slice(1))
  })

  test.each([
    ['one pod has no budget', { replicaCount: 1 }, 1, 0],
    ['unless it is asked for', { replicaCount: 1, podDisruptionBudget: { enabled: true } }, 1, 1],
    ['three have one', { replicaCount: 3 }, 3, 1],
    ['unless it is refused', { replicaCount: 3, podDisruptionBudget: { enabled: false } }, 3, 0],
  ])('%s', async (_what, values, replicas, budgets) => {
    const rendered = await rendering(values)
    expect(objectOf(rendered, 'Deployment').spec).toMatchObject({ replicas })
    expect(objectsIn(rendered).filter(({ kind }) => kind === 'PodDisruptionBudget')).toHaveLength(budgets)
  })

  test('affinity that is given takes the place of the chart’s', async () => {
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } }
    const given = podsIn(
      await renderValues(folder, overlay(GOOD, { ...IN_CLUSTER, podSpecExtra: { affinity } }), { helm }),
    )[0]
    expect(given).toMatchObject({ affinity })
    expect(given?.['affinity']).not.toHaveProperty('podAntiAffinity')
  })

  test('the program is told a name that it takes, however the release is called', async () => {
    const ledger = SETTINGS.find(({ flag }) => flag === 'ledger')
    for (const release of ['demo', 'pipes.eu.1', `${'r'.repeat(52)}1`]) {
      const rendered = await renderValues(folder, overlay(GOOD, IN_CLUSTER), { helm, release })
      const { PIPEWRIGHT_LEDGER: said = '', PIPEWRIGHT_LEASE_DURATION } = variablesOf(rendered)
      expect(PIPEWRIGHT_LEASE_DURATION).toBe('15s')
      const { name } = objectOf(rendered, 'Role').metadata
      expect(said).toBe(`kubernetes:${name}`)
      expect(ledger?.parse(said).ok).toBe(true)
    }
    expect(
      variablesOf(await rendering({ settings: { 'lease-duration': '1m' } }))['PIPEWRIGHT_LEASE_DURATION'],
    ).toBe('1m')
  })

  test('the token is in Pipewright’s container alone', async () => {
    const more = {
      ...fromGit(),
      extraContainers: [{ name: 'beside', image: 'x' }],
      podSpecExtra: { initContainers: [{ name: 'before', image: 'x' }] },
    }
    const rendered = await rendering(more)
    const withToken = containersOf(rendered).filter(({ volumeMounts = [] }) =>
      volumeMounts.some(({ name }) => name === 'kubernetes-api'),
    )
    expect(withToken.map(({ name }) => name)).toEqual(['pipewright'])
    expect(withToken[0]?.volumeMounts?.[0]).toEqual({
      name: 'kubernetes-api',
      mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
      readOnly: true,
    })
    const [daemon, check] = podsIn(rendered)
    const projected = (daemon?.volumes ?? []).filter((volume) => 'projected' in volume)
    expect(projected).toMatchObject([
      {
        projected: {
          sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }, {}, {}],
        },
      },
    ])
    expect(check?.volumes).toBeUndefined()
    expect(objectOf(rendered, 'ServiceAccount')).toMatchObject({ automountServiceAccountToken: false })
  })

  test('there is no alert about a volume', async () => {
    const rendered = await rendering({}, EVERYTHING)
    const rules = JSON.stringify(objectOf(rendered, 'PrometheusRule').spec)
    expect(rules).toContain('PipewrightLedgerFailing')
    expect(rules).not.toMatch(/persistentvolumeclaim|VolumeNearlyFull/)
  })

  test('in diagnostic mode the pods wait', async () => {
    const rendered = await rendering({ diagnosticMode: true })
    expect(rendered).not.toMatch(/Probe:/)
    expect(containersOf(rendered)[0]).not.toHaveProperty('args')
  })

  test('values that are for a ledger in a file change nothing', async () => {
    const ledger = { existingClaim: 'old', size: '7Gi', storageClassName: 'fast', annotations: { a: 'b' } }
    expect(await rendering({ ledger })).toBe(await rendering())
  })
})

describe('what the chart brings of records', () => {
  const file = join(CHART, 'crds/pipewrightrecords.yaml')

  test('the definition fits the schemas of Kubernetes', async () => {
    expect(await validated(folder, readFileSync(file, 'utf8'))).toContain('kind: CustomResourceDefinition')
    const { spec } = parse(readFileSync(file, 'utf8')) as {
      spec: { group: string; names: { plural: string } }
    }
    const rendered = await renderValues(folder, overlay(GOOD, IN_CLUSTER))
    expect(objectOf(rendered, 'Role')).toMatchObject({
      rules: expect.arrayContaining([
        expect.objectContaining({ apiGroups: [spec.group], resources: [spec.names.plural] }),
      ]) as unknown[],
    })
  })

  test('a record fits the definition, and what is none does not', async () => {
    const definition = join(CHART, 'crds')
    const check = async (name: string, object: object) => {
      const at = join(folder, `${name}.json`)
      writeFileSync(at, JSON.stringify(object))
      return run(tool('kubectl-validate'), [at, '--local-crds', definition, '--version', '1.30'])
    }
    expect(await check('right', recordWith({ key: 'Pipe/orders', version: 3 }))).toMatchObject({ code: 0 })
    expect(await check('wrong', recordWith({ key: 'Pipe/orders', version: 'three' }))).toMatchObject({
      code: 1,
    })
    expect(await check('nonsense', recordWith({ key: 'nonsense', version: 3 }))).toMatchObject({ code: 1 })
    expect(await check('letters', recordWith({ key: 'Pipe/ünï 1', version: 3 }))).toMatchObject({ code: 0 })
    expect(await check('less', recordWith({ version: 3 }))).toMatchObject({ code: 1 })
  })
})

test('what helm says after the installation names the Deployment, the ledger and the definition', async () => {
  const args = ['install', 'demo', CHART, '--namespace', 'data', '--dry-run=client', '--values']
  const notes = (await runWell(tool('helm'), [...args, valuesFile('kubernetes')])).split('NOTES:')[1] ?? ''
  for (const words of [
    'rollout status deployment/demo-pipewright',
    'exec deployment/demo-pipewright -- pipewright status',
    'get lease demo-pipewright',
    'pipewrightrecords --selector pipewright.dev/ledger=demo-pipewright',
    'the Secret demo-pipewright',
    'helm/crds',
    '--set ledger.init=never',
  ])
    expect(notes).toContain(words)
  expect(notes).not.toMatch(/StatefulSet|statefulset|the claim/)
})

const README = readFileSync(join(CHART, 'README.md'), 'utf8')
/** As they stand there, each in one line. */
const INSTALLS = [...README.matchAll(/^helm install (?:.*\\\n)+.*/gm)].map(([text]) =>
  text.replaceAll('\\\n', ' '),
)

test.each(INSTALLS)('the README installs from nothing in one command: %s', async (command) => {
  const kind = command.includes('ledger.type=kubernetes') ? 'Deployment' : 'StatefulSet'
  // The name of the release, the chart and its values.
  const [, , name = '', , ...flags] = wordsOf(command).filter((word) => word !== '--create-namespace')
  for (const helm of HELMS) {
    const rendered = await runWell(tool(helm), ['template', name, CHART, '--kube-version', '1.30', ...flags])
    expect(kindsIn(rendered)).toContain(`${kind} pipewright`)
  }
})

test('the README installs one pod, and two', () => {
  expect(INSTALLS).toHaveLength(2)
})

test('kube-score says of it what the README answers, and nothing else', async () => {
  const file = join(folder, 'score.yaml')
  writeFileSync(file, await render(valuesFile('kubernetes')))
  const args = ['score', file, '--kubernetes-version', 'v1.30', '--output-format', 'ci']
  const { stdout } = await run(tool('kube-score'), args)
  const remarks = stdout.split('\n').filter((line) => line !== '' && !/^\[(?:OK|SKIPPED)\]/.test(line))
  const readme = README.split('## What kube-score says')[1] ?? ''
  for (const remark of remarks) expect(readme).toContain(`| ${remark.replace(/^.*\) /, '')} |`)
})
