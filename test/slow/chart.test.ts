import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import {
  CHART,
  GOLDEN,
  HELMS,
  objectOf,
  objectsIn,
  podsIn,
  render,
  renderWith,
  valueSets,
  valuesFile,
} from './support/chart.ts'
import { run, runWell, tool } from './support/tools.ts'
import { folderForFile } from '../support/folders.ts'

const SETS = valueSets()

const IN_CLUSTER = SETS.filter((set) => set.startsWith('kubernetes'))

/** The set whose objects are kept whole; of the others, the lines that differ. */
const BASE = 'minimal'

const CRDS = join(import.meta.dirname, 'support/chart-crds')

const folder = folderForFile()
const rendered = new Map<string, string>()

beforeAll(async () => {
  for (const set of SETS) rendered.set(set, await render(valuesFile(set)))
})

function of(set: string): string {
  return rendered.get(set) ?? ''
}

test('there are at least eight sets of values', () => {
  expect(SETS.length).toBeGreaterThanOrEqual(8)
})

test('the chart and the program have one version', () => {
  const chart: unknown = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))
  expect(chart).toMatchObject({ version: packageJson.version, appVersion: packageJson.version })
})

describe.each(SETS)('%s', (set) => {
  test.each(HELMS)('passes %s lint --strict', async (helm) => {
    const args = ['lint', '--strict', CHART, '--kube-version', '1.30', '--values', valuesFile(set)]
    expect(await run(tool(helm), args)).toMatchObject({ code: 0 })
  })

  test.each(HELMS)('%s makes the same objects of it', async (helm) => {
    expect(objectsIn(await renderWith(helm, valuesFile(set)))).toEqual(objectsIn(of(set)))
  })

  // Renew them with `npm run golden:chart`, and read the difference.
  test('renders as it did', async () => {
    const { file, text } = await goldenOf(set)
    await expect(text).toMatchFileSnapshot(join(GOLDEN, file))
  })

  test('fits the schemas of Kubernetes', async () => {
    const file = join(folder, `${set}.yaml`)
    writeFileSync(file, of(set))
    const { code, stdout, stderr } = await validate(file)
    expect(stdout + stderr).not.toContain('ERROR')
    expect(code).toBe(0)
  })

  test('fits the level "restricted" of the pod security standards', () => {
    for (const pod of podsIn(of(set))) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'hostUsers'])
        expect(pod).not.toHaveProperty(field)
      for (const volume of pod.volumes ?? []) {
        expect(['configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret']).toContain(
          Object.keys(volume).find((key) => key !== 'name'),
        )
      }
      for (const { securityContext } of pod.containers.filter(({ name }) => name !== 'gateway')) {
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
        })
        expect(Number(securityContext?.['runAsUser'])).toBeGreaterThan(1_000)
      }
    }
  })

  // Kubernetes drops one, and whoever compares the two (Argo CD, `kubectl diff`) finds a difference for good.
  test('has no empty list in an object', () => {
    for (const { kind, spec } of objectsIn(of(set)))
      expect(JSON.stringify(spec) ?? '', kind).not.toMatch(/\[\]|null/)
  })

  test.skipIf(IN_CLUSTER.includes(set))('has one pod and never two', () => {
    expect(objectOf(of(set), 'StatefulSet').spec).toMatchObject({
      replicas: 1,
      podManagementPolicy: 'Parallel',
      serviceName: expect.stringMatching(/-headless$/) as string,
      updateStrategy: { type: 'RollingUpdate' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    })
  })

  test('has every mount of Pipewright read-only, but the ledger’s place', () => {
    const [pod] = podsIn(of(set))
    const mounts = pod?.containers[0]?.volumeMounts ?? []
    expect(mounts.filter(({ readOnly }) => readOnly !== true)).toEqual([
      { name: IN_CLUSTER.includes(set) ? 'scratch' : 'ledger', mountPath: '/var/lib/pipewright' },
    ])
  })
})

/** Of other sets than the base: the lines that are not as in the set of which it is a variant, or as in the base, below the kinds of their objects. */
async function goldenOf(set: string): Promise<{ readonly file: string; readonly text: string }> {
  if (set === BASE) return { file: `${set}.yaml`, text: withoutFiles(of(set)) }
  const paths = [SETS.find((other) => set.startsWith(`${other}-`)) ?? BASE, set].map((name) => {
    const path = join(folder, `golden-${name}`)
    writeFileSync(path, withoutFiles(of(name)))
    return path
  })
  const { stdout } = await run('diff', ['-U0', '-F', '^kind:', ...paths])
  const other = readFileSync(paths[0] ?? '', 'utf8')
  let kind = ''
  const hunks = stdout.split(/^(?=@@)/m).slice(1)
  const text = hunks.map((hunk) => {
    const before = kind
    const [head = '', lines = ''] = hunk.split(/(?<=^@@.*\n)/)
    kind = head.replace(/^@@.*?@@/, '@@')
    const changes = lines.replace(/^-.*\n(?:-.*\n){5,}/m, (removed) => shortened(removed, other))
    return kind === before ? changes : kind + changes
  })
  return { file: `${set}.diff`, text: text.join('') }
}

/** Lines of one place in the other text: the first ones, up to five until they are there once, and the number of the rest. */
function shortened(removed: string, other: string): string {
  const lines = removed.trimEnd().split('\n')
  const first = (count: number) => lines.slice(0, count).map((line) => `\n${line.slice(1)}`)
  const isOne = (count: number) => `\n${other}`.split(`${first(count).join('')}\n`).length === 2
  const shown = [1, 2, 3, 4, 5].find(isOne) ?? 1
  return `${lines.slice(0, shown).join('\n')}\n-(and ${lines.length - shown} more lines)\n`
}

/** The text without what comes from files that have tests of their own: their changes are none of the chart. */
/** Helm 4 puts a blank line after some documents, Helm 3 none. */
function withoutFiles(text: string): string {
  return text
    .replace(/\n+(?=\n---|\n$)/g, '')
    .replace(/^( {2}pipewright\.json: \|\n)(?: {4}.*\n)+/m, '$1    (dashboards/pipewright.json)\n')
    .replace(
      /^(kind: PrometheusRule\n(?:.+\n)+?spec:\n)(?: {2}.*\n)+/m,
      '$1  (rules/pipewright.rules.yaml)\n',
    )
}

function validate(file: string) {
  return run(tool('kubectl-validate'), [file, '--local-crds', CRDS, '--version', '1.30'])
}

test.each([
  ['StatefulSet', 'terminationGracePeriodSeconds:', 'terminationGraceSeconds:'],
  ['ServiceMonitor', 'scrapeTimeout:', 'scrapeTimeOut:'],
  ['NetworkPolicy', 'policyTypes: [Ingress, Egress]', 'policyTypes: Ingress'],
])('the check against the schemas sees a fault in a %s', async (kind, right, wrong) => {
  const file = join(folder, 'wrong.yaml')
  expect(of('monitoring')).toContain(right)
  writeFileSync(file, of('monitoring').replace(right, wrong))
  const { code, stdout, stderr } = await validate(file)
  expect(code, kind).not.toBe(0)
  expect(stdout + stderr).toContain('ERROR')
})

/** How many probes ask Pipewright, where the values take away some of the three. */
const PROBES: Readonly<Record<string, number>> = { diagnostic: 0, opened: 2 }

describe('who gets in', () => {
  test.each(SETS)('%s: the probes and Prometheus ask at the port of the metrics', (set) => {
    const text = of(set)
    const ports = [...text.matchAll(/path: \/(?:healthz|readyz)\n +port: (\w+)$/gm)]
    expect(ports.map(([, port]) => port)).toEqual(Array(PROBES[set] ?? 3).fill('metrics'))
    expect(text).toContain('- name: PIPEWRIGHT_METRICS_LISTEN\n              value: "[::]:9090"\n')
  })

  test('the ServiceMonitor asks there, too, and git-sync; through one Service alone', () => {
    const { spec } = objectOf(of('monitoring'), 'ServiceMonitor')
    expect(spec).toMatchObject({ endpoints: [{ port: 'metrics' }, { port: 'git-sync' }] })
    const { selector } = spec as { selector: { matchLabels: Record<string, string> } }
    const wanted = Object.entries(selector.matchLabels)
    const found = objectsIn(of('monitoring')).filter(
      ({ kind, metadata }) =>
        kind === 'Service' && wanted.every(([name, value]) => metadata.labels?.[name] === value),
    )
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['demo-pipewright'])
    expect(found[0]?.spec).toMatchObject({
      ports: [{ name: 'http' }, { name: 'metrics' }, { name: 'git-sync', targetPort: 'git-sync' }],
    })
  })
})

test('it passes helm lint --strict without any values', async () => {
  expect(await run(tool('helm'), ['lint', '--strict', CHART])).toMatchObject({ code: 0 })
})

describe('monitoring', () => {
  test('the dashboard is the file', () => {
    const object = objectsIn(of('monitoring')).find(({ metadata }) => metadata.name.endsWith('-dashboard'))
    const file = readFileSync(join(CHART, 'dashboards/pipewright.json'), 'utf8')
    expect(object?.data).toEqual({ 'pipewright.json': `${file.trim()}\n` })
    expect(object?.metadata.labels).toMatchObject({ grafana_dashboard: '1' })
  })

  test('the alerts are those of the file, about this release alone, with the team and the place of the runbook', () => {
    interface Rules {
      groups: { rules: { labels: Record<string, string>; annotations: Record<string, string> }[] }[]
    }
    const file = readFileSync(join(CHART, 'rules/pipewright.rules.yaml'), 'utf8')
      .replaceAll('job="pipewright"', 'job="demo-pipewright",namespace="data"')
      .replaceAll(
        /(?=persistentvolumeclaim="ledger-)(.+?)pipewright-0/g,
        'namespace="data",$1demo-pipewright-0',
      )
    const wanted = parse(file) as Rules // promtool looks at it
    for (const rule of wanted.groups.flatMap(({ rules }) => rules)) {
      rule.labels['team'] = '{{ with $labels.team }}{{ . }}{{ else }}data{{ end }}'
      rule.annotations['runbook_url'] =
        `https://git.example/pipewright/src/main/${rule.annotations['runbook_url']}`
    }
    expect(wanted.groups.flatMap(({ rules }) => rules).length).toBeGreaterThan(5)
    expect(objectOf(of('monitoring'), 'PrometheusRule').spec).toEqual(wanted)
  })
})

test('what helm says after the installation names the next steps and the ledger', async () => {
  const args = ['install', 'demo', CHART, '--namespace', 'data', '--dry-run=client', '--values']
  const notes = (await runWell(tool('helm'), [...args, valuesFile('git-token')])).split('NOTES:')[1] ?? ''
  for (const words of [
    'https://git.example/data/pipes.git at release',
    'rollout status statefulset/demo-pipewright',
    'helm -n data test demo',
    'exec demo-pipewright-0 -- pipewright status',
    'port-forward service/demo-pipewright 8080:8080',
    'team-a.kafka',
    'pipewright lock',
    '--set ledger.init=never',
    'ledger-demo-pipewright-0',
    'kubectl -n data delete statefulset demo-pipewright --cascade=orphan',
  ]) {
    expect(notes).toContain(words)
  }
  expect(notes).not.toContain('NO SECRETS')
  expect(notes).not.toContain('NO DAEMON RUNS')
})

test('it says that no daemon runs in diagnostic mode', async () => {
  const args = ['install', 'demo', CHART, '--namespace', 'data', '--dry-run=client', '--values']
  const notes = await runWell(tool('helm'), [...args, valuesFile('diagnostic')])
  expect(notes.split('NOTES:')[1]).toMatch(
    /NO DAEMON RUNS[^]*exec -it demo-pipewright-0 -- pipewright status/,
  )
})
