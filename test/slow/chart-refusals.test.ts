import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../support/workspace.ts'
import { CHART, GOOD, HELMS, overlay, podsIn, renderValues, tryValues } from './support/chart.ts'
import { type BadValues, testRefusals } from './support/chart-refusals.ts'

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
    says: ["at '/source': value must be 'exactly one of source.git.repository, source.configMap and"],
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
    values: {
      platform: { baseUrl: 'HTTP://api.example', alertsBaseUrl: 'http://localhost.example' },
      settings: { server: 'http://pipewright.data:8080' },
    },
    says: [
      "at '/platform/baseUrl': value must be 'an https: URL; or settings.allow-insecure-http: true'",
      "at '/platform/alertsBaseUrl': value must be 'an https: URL",
      "at '/settings/server': value must be 'an https: URL",
    ],
  },
  {
    why: 'a sandbox and a platform',
    values: { platform: { sandbox: true } },
    says: ["at '/platform/baseUrl': value must be 'empty with the sandbox"],
  },
  {
    why: 'misspelt resources',
    values: {
      resources: { limit: { memory: '1Gi' } },
      source: { git: { containerExtra: { resources: { request: {} } } } },
    },
    says: ["at '/resources'", "'limit' not allowed", "at '/source/git/containerExtra/resources'"],
  },
  {
    why: 'misspelt fields that Helm 3 would let Kubernetes leave out, which opens something',
    values: {
      podSecurityContext: { runAsNonroot: true },
      containerSecurityContext: { readonlyRootFilesystem: true },
      extraEnv: [{ name: 'A', vlue: 'b' }],
      containerExtra: { envFrom: [{ secretRf: { name: 'x' } }] },
      podSpecExtra: { toleration: [] },
      networkPolicy: {
        people: [{ namespaceSelector: { matchLabel: { a: 'b' } } }],
        extraIngress: [{ form: [{ podSelector: {} }] }],
        extraEgress: [{ to: [{}] }],
      },
    },
    says: [
      "at '/podSecurityContext'",
      "at '/containerSecurityContext'",
      "at '/extraEnv/0'",
      "at '/containerExtra/envFrom/0'",
      "at '/podSpecExtra': additional properties 'toleration' not allowed",
      "at '/networkPolicy/people/0/namespaceSelector'",
      "'form' not allowed",
      "at '/networkPolicy/extraEgress/0/to/0'",
    ],
  },
  {
    why: 'labels that the chart sets itself',
    values: {
      commonLabels: { 'app.kubernetes.io/version': '1' },
      podLabels: { 'app.kubernetes.io/name': 'x' },
      serviceMonitor: { labels: { 'helm.sh/chart': 'x' } },
    },
    says: [
      "at '/commonLabels/app.kubernetes.io~1version': value must be 'set by the chart",
      "at '/podLabels/app.kubernetes.io~1name': value must be 'set by the chart",
      "at '/serviceMonitor/labels/helm.sh~1chart': value must be 'set by the chart",
    ],
  },
  {
    why: 'a path out of the checkout',
    values: { source: { path: '../other' } },
    says: ["at '/source/path'"],
  },
  {
    why: 'a grace that a create may outlast',
    values: { settings: { 'request-timeout': '23s' } },
    says: ['settings.shutdown-grace (25s) must be more than 2 s longer than settings.request-timeout (23s)'],
  },
  {
    why: 'a setting that has a value of its own',
    values: { settings: { 'base-url': 'https://other.example', ledger: 'memory:' } },
    says: [
      "at '/settings/base-url': value must be 'set by the chart: use platform.baseUrl'",
      "at '/settings/ledger': value must be 'set by the chart",
    ],
  },
  {
    why: 'a setting with dashes in front',
    values: { settings: { '--interval': '1m' } },
    says: ['--interval'],
  },
  {
    why: 'a second pod for a ledger in a file',
    values: { replicaCount: 2 },
    says: ["at '/replicaCount': value must be '1 with a ledger in a file: set ledger.type=kubernetes"],
  },
  { why: 'no pod', values: { replicaCount: 0 }, says: ["at '/replicaCount'", 'minimum'] },
  {
    why: 'a ledger of a type that there is not',
    values: { ledger: { type: 'postgres' } },
    says: ["at '/ledger/type'", "'sqlite', 'kubernetes'"],
  },
  {
    why: 'a ledger in the cluster for a platform in the pod',
    values: { platform: { baseUrl: '', sandbox: true }, ledger: { type: 'kubernetes' } },
    says: ["at '/platform/sandbox': value must be 'false with a ledger in the cluster"],
  },
  {
    why: 'a name that is too long for a ledger in the cluster',
    values: { fullnameOverride: 'p'.repeat(51), ledger: { type: 'kubernetes' } },
    says: ["at '/fullnameOverride': maxLength: got 51, want 50"],
  },
  {
    why: 'a ledger in the cluster that every pod of the namespace could change',
    values: { serviceAccount: { create: false }, ledger: { type: 'kubernetes' } },
    says: ["at '/serviceAccount/name': value must be 'an account of its own"],
  },
  {
    why: 'a Secret that is called like the ledger',
    values: {
      fullnameOverride: 'pipes',
      ledger: { type: 'kubernetes' },
      secrets: [{ name: 'kafka', secretName: 'pipes' }],
    },
    says: ['The ledger is the Secret "pipes", and a value names that Secret for the pod'],
  },
  {
    why: 'a proxy whose Secret is called like the ledger',
    values: { fullnameOverride: 'pipes', ledger: { type: 'kubernetes' }, proxy: { secretName: 'pipes' } },
    says: ['The ledger is the Secret "pipes"'],
  },
  {
    why: 'a way to the Kubernetes API that is no rule',
    values: { networkPolicy: { kubernetesApi: [{ port: 443 }] } },
    says: ["at '/networkPolicy/kubernetesApi/0'"],
  },
  {
    why: 'words that are not among the known',
    values: { image: { pullPolicy: 'always' }, ledger: { init: 'sometimes' } },
    says: ["'Always', 'IfNotPresent', 'Never'", "'auto', 'never'"],
  },
  {
    why: 'a page that is opened under no name, and to nobody',
    values: { ingress: { enabled: true }, httpRoute: { enabled: true } },
    says: [
      "at '/ingress/hosts': minItems: got 0, want 1",
      "at '/httpRoute/hostnames': minItems: got 0, want 1",
      "at '/httpRoute/parentRefs': minItems: got 0, want 1",
      "at '/networkPolicy/people': value must be 'the pods of the ingress or the gateway",
    ],
  },
  {
    why: 'a setting that goes round its form',
    values: { extraEnv: [{ name: 'PIPEWRIGHT_MAX_CREATES', value: 'many' }] },
    says: ["at '/extraEnv/0/name': value must be 'a variable without the prefix PIPEWRIGHT_: use settings'"],
  },
  { why: 'enabled, which is for a parent', values: { enabled: false }, says: ["at '/enabled'"] },
  {
    why: 'names that are none',
    values: { nameOverride: 'My pipes', fullnameOverride: '9pipes', image: { tag: 'a b' } },
    says: ["at '/nameOverride'", "at '/fullnameOverride'", "at '/image/tag'"],
  },
  {
    why: 'a mode that is none',
    values: { diagnosticMode: 'sometimes' },
    says: ["at '/diagnosticMode'", 'want boolean'],
  },
  {
    why: 'a host that is a URL',
    values: { allowedHosts: ['https://pipes.example.com'] },
    says: ["at '/allowedHosts/0'"],
  },
  { why: 'a digest that is none', values: { image: { digest: 'latest' } }, says: ["at '/image/digest'"] },
  { why: 'a size that is none', values: { ledger: { size: 'big' } }, says: ["at '/ledger/size': 'big'"] },
]

describe('values that cannot work are refused', () => {
  testRefusals(BAD)

  test('the longest time that fits is accepted', async () => {
    const settings = { 'request-timeout': '22900ms' }
    using scratch = createWorkspace()
    expect(await tryValues(scratch.dir, { ...GOOD, settings })).toMatchObject({ code: 0 })
  })
})

interface ValueSchema {
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, ValueSchema>>
}

/** Each value that moved, with the words of its schema. */
function movesIn(schema: ValueSchema, path: readonly string[] = []): readonly (readonly [string, string])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const isMove = typeof inner.const === 'string' && /^(moved to|gone) /.test(inner.const)
    return isMove ? [[[...path, name].join('.'), inner.const] as const] : movesIn(inner, [...path, name])
  })
}

const MOVES = movesIn(
  JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as ValueSchema, // a schema of an object
)

test.each(HELMS)('%s refuses the values of an earlier chart, and names their new places', async (helm) => {
  using scratch = createWorkspace()
  const values = MOVES.map(([path]) =>
    path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), [{ of: 'before' }]),
  ).reduce<object>((all, one) => overlay(all, one as object), GOOD) // a path has a name
  const { code, stderr } = await tryValues(scratch.dir, values, { helm })
  expect(code).not.toBe(0)
  expect(MOVES.length).toBeGreaterThan(40)
  for (const [path, words] of MOVES)
    expect(stderr).toContain(`at '/${path.replaceAll('.', '/')}': value must be '${words}'`)
})

/* The pod has the time that a stop needs, and more where it is given. */
test.each([
  [{}, 40],
  [{ settings: { 'shutdown-grace': '1m30s' } }, 105],
  [{ settings: { 'shutdown-grace': '25500ms' } }, 41],
  [{ containerExtra: { lifecycle: { preStop: { sleep: { seconds: 11 } } } } }, 51],
  [{ podSpecExtra: { terminationGracePeriodSeconds: 20 } }, 40],
  [{ podSpecExtra: { terminationGracePeriodSeconds: 90 } }, 90],
])('with %j the pod has %d s to stop', async (values, seconds) => {
  using scratch = createWorkspace()
  const [pod] = podsIn(await renderValues(scratch.dir, overlay(GOOD, values)))
  expect(pod?.terminationGracePeriodSeconds).toBe(seconds)
})
