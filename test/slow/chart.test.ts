import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { SETTINGS } from '../../src/config/settings.ts'
import {
  CHART,
  GOLDEN,
  objectOf,
  objectsIn,
  podsIn,
  render,
  tryValues,
  valueSets,
  valuesFile,
} from './support/chart.ts'
import { run, runWell, tool } from './support/tools.ts'

const SETS = valueSets()

const CRDS = join(import.meta.dirname, 'support/chart-crds')

/** Values that work; those of a case come on top. */
const GOOD = {
  platform: { baseUrl: 'https://api.example' },
  source: { configMap: 'pipes' },
  credentials: [{ name: 'analytics-api' }],
}

let folder: string
const rendered = new Map<string, string>()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pipewright-chart-'))
  for (const set of SETS) rendered.set(set, await render(valuesFile(set)))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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
  test('passes helm lint --strict', async () => {
    expect(await run(tool('helm'), ['lint', '--strict', CHART, '--values', valuesFile(set)])).toMatchObject({
      code: 0,
    })
  })

  // Renew them with `npm run golden:chart`, and read the difference.
  test('renders as it did', async () => {
    await expect(withoutFiles(of(set))).toMatchFileSnapshot(join(GOLDEN, `${set}.yaml`))
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
        expect(['configMap', 'emptyDir', 'persistentVolumeClaim', 'secret']).toContain(
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

  test('has one pod and never two, and every mount of Pipewright but the ledger is read-only', () => {
    expect(objectOf(of(set), 'StatefulSet').spec).toMatchObject({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    })
    const [pod] = podsIn(of(set))
    const mounts = pod?.containers[0]?.volumeMounts ?? []
    expect(mounts.filter(({ readOnly }) => readOnly !== true).map(({ name }) => name)).toEqual(['ledger'])
  })
})

/** The text without what comes from files that have tests of their own: their changes are none of the chart. */
function withoutFiles(text: string): string {
  return text
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

interface IngressRules {
  readonly ingress: readonly {
    readonly from: readonly { readonly podSelector?: unknown; readonly namespaceSelector?: unknown }[]
    readonly ports: readonly { readonly port: string }[]
  }[]
}

describe('who gets in', () => {
  test('by default: pods of Prometheus to the metrics, `helm test` to both ports, and nobody else', () => {
    const { ingress } = objectOf(of('minimal'), 'NetworkPolicy').spec as IngressRules
    expect(ingress.map(({ ports }) => ports.map(({ port }) => port))).toEqual([
      ['metrics'],
      ['http', 'metrics'],
    ])
    for (const peer of ingress.flatMap(({ from }) => from))
      expect(peer).toHaveProperty('podSelector.matchLabels')
  })

  test('people get to the page alone, Prometheus to the metrics alone', () => {
    const { ingress } = objectOf(of('placed'), 'NetworkPolicy').spec as IngressRules
    const portsOf = (name: string) =>
      ingress.filter(({ from }) => JSON.stringify(from).includes(name)).map(({ ports }) => ports)
    expect(portsOf('ingress-nginx')).toEqual([[{ port: 'http', protocol: 'TCP' }]])
    expect(portsOf('observability')).toEqual([[{ port: 'metrics', protocol: 'TCP' }]])
  })

  test.each(SETS)('%s: the probes and Prometheus ask at the port of the metrics', (set) => {
    const text = of(set)
    const ports = [...text.matchAll(/httpGet: \{ path: \/(?:healthz|readyz), port: (\w+) \}/g)]
    expect(ports.map(([, port]) => port)).toEqual(['metrics', 'metrics', 'metrics'])
    expect(text).toContain('- name: PIPEWRIGHT_METRICS_LISTEN\n              value: "0.0.0.0:9090"\n')
  })

  test('the ServiceMonitor asks there, too', () => {
    const { spec } = objectOf(of('monitoring'), 'ServiceMonitor')
    expect(spec).toMatchObject({ endpoints: [{ port: 'metrics' }] })
  })

  test('it is asked by the names of its Service, and by those that are given', () => {
    const service = ['', '.data', '.data.svc', '.data.svc.cluster.local']
    const names = service.map((rest) => `demo-pipewright${rest}`).join()
    expect(of('minimal')).toContain(`- name: PIPEWRIGHT_ALLOWED_HOSTS\n              value: "${names}"\n`)
    expect(of('placed')).toMatch(/value: "\S+\.svc\.k8s\.example,pipes\.example\.com"\n/)
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

  test('the alerts are those of the file, with the team and the place of the runbook', () => {
    interface Rules {
      groups: { rules: { labels: Record<string, string>; annotations: Record<string, string> }[] }[]
    }
    const wanted = parse(readFileSync(join(CHART, 'rules/pipewright.rules.yaml'), 'utf8')) as Rules // promtool looks at it
    for (const rule of wanted.groups.flatMap(({ rules }) => rules)) {
      rule.labels['team'] = 'data'
      rule.annotations['runbook_url'] =
        `https://git.example/pipewright/src/main/${rule.annotations['runbook_url']}`
    }
    expect(wanted.groups.flatMap(({ rules }) => rules).length).toBeGreaterThan(5)
    expect(objectOf(of('monitoring'), 'PrometheusRule').spec).toEqual(wanted)
  })
})

describe('settings', () => {
  const flags = SETTINGS.map(({ flag }) => flag)

  test('every one is a value of the chart or goes into `settings`, under its own variable', async () => {
    const { stderr } = await tryValues(folder, {
      ...GOOD,
      settings: Object.fromEntries(flags.map((flag) => [flag, 'x'])),
    })
    const owned = [
      ...stderr.matchAll(/^- settings\.([a-z-]+) is set by the chart itself: use (.+)\.$/gm),
    ].map(([, flag = '']) => flag)
    expect(owned.length).toBeGreaterThan(10)
    const free = SETTINGS.filter(({ flag }) => !owned.includes(flag))
    expect(free.map(({ flag }) => flag)).toEqual(
      expect.arrayContaining(['interval', 'max-creates', 'log-level']),
    )

    const { code, stdout } = await tryValues(folder, {
      ...GOOD,
      settings: Object.fromEntries(free.map(({ flag }) => [flag, 17])),
    })
    expect(code).toBe(0)
    for (const { env } of free) expect(stdout).toContain(`- name: ${env}\n              value: "17"\n`)
  })
})

interface BadValues {
  readonly why: string
  readonly values: object
  readonly says: readonly string[]
}

const BAD: readonly BadValues[] = [
  {
    why: 'nothing is set: both faults at once',
    values: { platform: { baseUrl: '' }, source: { configMap: '' } },
    says: ['platform.baseUrl is not set', '--set platform.baseUrl=', 'There is no source of manifests'],
  },
  {
    why: 'a misspelt value',
    values: { platform: { baseUlr: 'https://api.example' } },
    says: ["at '/platform'", "'baseUlr' not allowed"],
  },
  { why: 'a misspelt block', values: { serviceMonitr: {} }, says: ["'serviceMonitr' not allowed"] },
  {
    why: 'two sources',
    values: { source: { git: { repository: 'https://git.example/p.git' } } },
    says: ['more than one source of manifests (source.git.repository, source.configMap)'],
  },
  {
    why: 'a base URL without a scheme',
    values: { platform: { baseUrl: 'api.example' } },
    says: ["at '/platform/baseUrl'", 'does not match pattern'],
  },
  {
    why: 'a base URL with credentials',
    values: { platform: { baseUrl: 'https://me:pass@api.example' } },
    says: ["at '/platform/baseUrl'"],
  },
  {
    why: 'credentials in the clear',
    values: { platform: { baseUrl: 'http://api.example', alertsBaseUrl: 'http://localhost.example' } },
    says: [
      'platform.baseUrl is plain http:',
      'platform.alertsBaseUrl is plain http:',
      'allowInsecureHttp=true',
    ],
  },
  {
    why: 'a sandbox and a platform',
    values: { platform: { sandbox: true } },
    says: ['platform.sandbox is on, and is a platform of its own'],
  },
  {
    why: 'a password in the address of the repository',
    values: { source: { configMap: '', git: { repository: 'https://me:secret@git.example/p.git' } } },
    says: ['carries a password', 'source.git.token.secretName'],
  },
  {
    why: 'SSH without a key',
    values: { source: { configMap: '', git: { repository: 'git@git.example:p.git' } } },
    says: ['is read over SSH, and there is no key', 'source.git.ssh.secretName'],
  },
  {
    why: 'a key for HTTPS',
    values: {
      source: { configMap: '', git: { repository: 'https://git.example/p.git', ssh: { secretName: 'k' } } },
    },
    says: ['is not an SSH address'],
  },
  {
    why: 'two ways to log in',
    values: {
      source: {
        configMap: '',
        git: { repository: 'git@git.example:p.git', ssh: { secretName: 'k' }, token: { secretName: 't' } },
      },
    },
    says: ['are both set: use one'],
  },
  {
    why: 'a path out of the checkout',
    values: { source: { path: '../other' } },
    says: ['source.path leaves the source'],
  },
  {
    why: 'one secret twice',
    values: { secrets: [{ name: 'kafka' }, { name: 'kafka', secretName: 'other' }] },
    says: ['secrets names "kafka" twice'],
  },
  {
    why: 'a secret that no folder can be called after',
    values: { secrets: [{ name: '../etc' }] },
    says: ["at '/secrets/0/name'"],
  },
  { why: 'a secret without a name', values: { secrets: [{}] }, says: ["missing property 'name'"] },
  {
    why: 'a grace that a create may outlast',
    values: { shutdown: { requestTimeout: '23s' } },
    says: ['shutdown.grace (25s) must be more than 2 s longer than shutdown.requestTimeout (23s)'],
  },
  {
    why: 'a grace in minutes that Kubernetes cuts short',
    values: { shutdown: { requestTimeout: '1m30s', grace: '2m', terminationGracePeriodSeconds: 124 } },
    says: ['shutdown.terminationGracePeriodSeconds (124) must be at least 5 s more than shutdown.grace (2m)'],
  },
  { why: 'a time without a unit', values: { shutdown: { grace: '25' } }, says: ["at '/shutdown/grace'"] },
  {
    why: 'a setting that has a value of its own',
    values: { settings: { 'base-url': 'https://other.example', ledger: 'memory:' } },
    says: [
      'settings.base-url is set by the chart itself: use platform.baseUrl.',
      'settings.ledger is set by the chart itself',
    ],
  },
  {
    why: 'a setting with dashes in front',
    values: { settings: { '--interval': '1m' } },
    says: ['--interval'],
  },
  {
    why: 'a budget that stops every drain',
    values: { podDisruptionBudget: { enabled: true, maxUnavailable: 0 } },
    says: ["at '/podDisruptionBudget/maxUnavailable'", 'value must be 1'],
  },
  {
    why: 'a second replica',
    values: { replicaCount: 2 },
    says: ["'replicaCount' not allowed"],
  },
  {
    why: 'words that are not among the known',
    values: { image: { pullPolicy: 'always' }, ledger: { init: 'sometimes' } },
    says: ["'Always', 'IfNotPresent', 'Never'", "'auto', 'never'"],
  },
  {
    why: 'two ports of the Service that are one',
    values: { service: { metricsPort: 8080 } },
    says: ['service.port and service.metricsPort are both 8080'],
  },
  {
    why: 'a host that is a URL',
    values: { allowedHosts: ['https://pipes.example.com'] },
    says: ["at '/allowedHosts/0'"],
  },
  { why: 'a digest that is none', values: { image: { digest: 'latest' } }, says: ["at '/image/digest'"] },
  {
    why: 'a size that is none',
    values: { ledger: { size: 'big' } },
    says: ["at '/ledger/size': 'big'"],
  },
]

describe('values that cannot work are refused', () => {
  test.each(BAD)('$why', async ({ values, says }) => {
    const { code, stdout, stderr } = await tryValues(folder, overlay(GOOD, values))
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    for (const words of says) expect(stderr).toContain(words)
  })

  test('the longest time that fits is accepted', async () => {
    const shutdown = { requestTimeout: '22900ms', terminationGracePeriodSeconds: 30 }
    expect(await tryValues(folder, { ...GOOD, shutdown })).toMatchObject({ code: 0 })
  })
})

/** Members of both; the second wins. */
function overlay(base: object, more: object): object {
  const merged = Object.entries(more).map(([key, value]: [string, unknown]) => {
    const before = (base as Record<string, unknown>)[key]
    const both = [before, value].every(
      (part) => typeof part === 'object' && part !== null && !Array.isArray(part),
    )
    return [key, both ? overlay(before as object, value as object) : value]
  })
  return { ...base, ...(Object.fromEntries(merged) as object) }
}

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
  ]) {
    expect(notes).toContain(words)
  }
  expect(notes).not.toContain('NO SECRETS')
})
