import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../support/workspace.ts'
import { GOOD, tryValues } from './support/chart.ts'
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
    why: 'credentials in the clear, in capitals',
    values: { platform: { baseUrl: 'HTTP://api.example' }, settings: { server: 'Http://pipewright.data' } },
    says: ['platform.baseUrl is plain http:', 'settings.server is plain http:'],
  },
  {
    why: 'arguments, which nothing would check before the pod starts',
    values: { extraArgs: ['--intervall=1m'] },
    says: ["'extraArgs' not allowed"],
  },
  {
    why: 'misspelt resources',
    values: { resources: { limit: { memory: '1Gi' } }, source: { git: { resources: { request: {} } } } },
    says: ["at '/resources'", "'limit' not allowed", "at '/source/git/resources'"],
  },
  {
    why: 'misspelt fields that Helm 3 would let Kubernetes leave out, which opens something',
    values: {
      podSecurityContext: { runAsNonroot: true },
      containerSecurityContext: { readonlyRootFilesystem: true },
      extraEnv: [{ name: 'A', vlue: 'b' }],
      envFrom: [{ secretRf: { name: 'x' } }],
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
      "at '/envFrom/0'",
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
      'commonLabels sets app.kubernetes.io/version, which the chart sets itself',
      'podLabels sets app.kubernetes.io/name',
      'serviceMonitor.labels sets helm.sh/chart',
    ],
  },
  {
    why: 'a name that no Service can have',
    values: { fullnameOverride: '9pipes' },
    says: ['would be called "9pipes"', 'set fullnameOverride'],
  },
  {
    why: 'a path out of the checkout',
    values: { source: { path: '../other' } },
    says: ['source.path leaves the source'],
  },
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
    why: 'a second pod for a ledger in a file',
    values: { replicaCount: 2 },
    says: ['replicaCount is 2, and the ledger is a file', 'Set ledger.type=kubernetes for several pods'],
  },
  {
    why: 'no pod',
    values: { replicaCount: 0 },
    says: ["at '/replicaCount'", 'minimum'],
  },
  {
    why: 'a ledger of a type that there is not',
    values: { ledger: { type: 'postgres' } },
    says: ["at '/ledger/type'", "'sqlite', 'kubernetes'"],
  },
  {
    why: 'a ledger in the cluster for a platform in the pod',
    values: { platform: { baseUrl: '', sandbox: true }, ledger: { type: 'kubernetes' } },
    says: ['platform.sandbox is on, and ledger.type is kubernetes', 'Leave out ledger.type, or the sandbox'],
  },
  {
    why: 'a name that is too long for a ledger in the cluster',
    values: { fullnameOverride: 'p'.repeat(51), ledger: { type: 'kubernetes' } },
    says: ['fullnameOverride has 51 characters', 'which may have 50', 'Give a shorter one'],
  },
  {
    why: 'a ledger in the cluster that every pod of the namespace could change',
    values: { serviceAccount: { create: false }, ledger: { type: 'kubernetes' } },
    says: ['serviceAccount.create is off, and serviceAccount.name is empty', 'could change the ledger'],
  },
  {
    why: 'Secrets that are called like the ledger',
    values: {
      fullnameOverride: 'pipes',
      ledger: { type: 'kubernetes' },
      adminToken: { secretName: 'pipes' },
      secrets: [{ name: 'kafka', secretName: 'pipes' }],
    },
    says: [
      'adminToken names the Secret "pipes", which is that of the ledger',
      'secrets names the Secret "pipes"',
    ],
  },
  {
    why: 'a lease that is too long, and a setting that is a value',
    values: { ledger: { type: 'kubernetes', leaseDuration: '11m' }, settings: { 'lease-duration': '5s' } },
    says: ['ledger.leaseDuration: 11m is not from 1s to 10m', 'use ledger.leaseDuration'],
  },
  {
    why: 'a lease without a unit, and a port of the Kubernetes API that is none',
    values: {
      ledger: { type: 'kubernetes', leaseDuration: '15' },
      networkPolicy: { kubernetesApi: { ports: [70_000] } },
    },
    says: ["at '/ledger/leaseDuration'", "at '/networkPolicy/kubernetesApi/ports/0'"],
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
    why: 'the port of git-sync that is another one',
    values: { service: { gitSyncPort: 9090 } },
    says: ['service.metricsPort and service.gitSyncPort are both 9090'],
  },
  {
    why: 'a page that is opened under no name, and to nobody',
    values: { ingress: { enabled: true }, httpRoute: { enabled: true } },
    says: [
      'ingress.hosts is empty',
      'httpRoute.hostnames is empty',
      'httpRoute.parentRefs is empty',
      'name the pods of the ingress or the gateway in networkPolicy.people',
    ],
  },
  {
    why: 'a setting that goes round its form',
    values: { extraEnv: [{ name: 'PIPEWRIGHT_MAX_CREATES', value: 'many' }] },
    says: ['extraEnv sets PIPEWRIGHT_MAX_CREATES', 'use settings.max-creates'],
  },
  {
    why: 'enabled, which is for a parent',
    values: { enabled: false },
    says: ['enabled is false', 'leave it out'],
  },
  {
    why: 'names that are none',
    values: { nameOverride: 'My pipes', fullnameOverride: 'my.pipes', image: { tag: 'a b' } },
    says: ["at '/nameOverride'", "at '/fullnameOverride'", "at '/image/tag'"],
  },
  {
    why: 'a scrape that lasts longer than the time between two',
    values: { serviceMonitor: { interval: '5s' } },
    says: ['serviceMonitor.scrapeTimeout (10s) is longer than serviceMonitor.interval (5s)'],
  },
  {
    why: 'a server that the admin token would reach in the clear',
    values: { settings: { server: 'http://pipewright.data:8080' } },
    says: ['settings.server is plain http:'],
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
  {
    why: 'a size that is none',
    values: { ledger: { size: 'big' } },
    says: ["at '/ledger/size': 'big'"],
  },
]

describe('values that cannot work are refused', () => {
  testRefusals(BAD)

  test('the longest time that fits is accepted', async () => {
    const shutdown = { requestTimeout: '22900ms', terminationGracePeriodSeconds: 30 }
    using scratch = createWorkspace()
    expect(await tryValues(scratch.dir, { ...GOOD, shutdown })).toMatchObject({ code: 0 })
  })
})
