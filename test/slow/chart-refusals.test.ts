import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../support/workspace.ts'
import { CHART, GOOD, HELMS, overlay, podsIn, renderValues, tryValues } from './support/chart.ts'
import { testRefusals } from './support/chart-refusals.ts'

const BAD = `
'nothing is set: both faults at once':
  [{platform: {baseUrl: ''}, source: {configMap: ''}}, platform.baseUrl is not set, '--set platform.baseUrl=',
   There is no source of manifests]
a misspelt value: [{platform: {baseUlr: 'https://api.example'}}, "at '/platform'", "'baseUlr' not allowed"]
a misspelt block: [{serviceMonitr: {}}, "'serviceMonitr' not allowed"]
two sources:
  [{source: {git: {repository: 'https://git.example/p.git'}}},
   "at '/source': value must be 'exactly one of source.git.repository, source.configMap and"]
a base URL without a scheme: [{platform: {baseUrl: api.example}}, "at '/platform/baseUrl'", does not match pattern]
a base URL with credentials: [{platform: {baseUrl: 'https://me:pass@api.example'}}, "at '/platform/baseUrl'"]
credentials in the clear:
  [{platform: {baseUrl: 'HTTP://api.example', alertsBaseUrl: 'http://localhost.example'},
   settings: {server: 'http://pipewright.data:8080'}},
   "at '/platform/baseUrl': value must be 'an https: URL; or settings.allow-insecure-http: true'",
   "at '/platform/alertsBaseUrl': value must be 'an https: URL", "at '/settings/server': value must be 'an https: URL"]
a sandbox and a platform: [{platform: {sandbox: true}}, "at '/platform/baseUrl': value must be 'empty with the sandbox"]
misspelt resources:
  [{resources: {limit: {memory: '1Gi'}}, source: {git: {containerExtra: {resources: {request: {}}}}}}, "at '/resources'",
   "'limit' not allowed", "at '/source/git/containerExtra/resources'"]
misspelt fields that Helm 3 would let Kubernetes leave out, which opens something:
  [{podSecurityContext: {runAsNonroot: true}, containerSecurityContext: {readonlyRootFilesystem: true},
   extraEnv: [{name: A, vlue: b}], containerExtra: {envFrom: [{secretRf: {name: x}}]}, podSpecExtra: {toleration: []},
   networkPolicy: {people: [{namespaceSelector: {matchLabel: {a: b}}}], extraIngress: [{form: [{podSelector: {}}]}], extraEgress: [{to: [{}]}]}},
   "at '/podSecurityContext'", "at '/containerSecurityContext'", "at '/extraEnv/0'", "at '/containerExtra/envFrom/0'",
   "at '/podSpecExtra': additional properties 'toleration' not allowed", "at '/networkPolicy/people/0/namespaceSelector'",
   "'form' not allowed", "at '/networkPolicy/extraEgress/0/to/0'"]
labels that the chart sets itself:
  [{commonLabels: {app.kubernetes.io/version: '1'}, podLabels: {app.kubernetes.io/name: x},
   serviceMonitor: {labels: {helm.sh/chart: x}}},
   "at '/commonLabels/app.kubernetes.io~1version': value must be 'set by the chart",
   "at '/podLabels/app.kubernetes.io~1name': value must be 'set by the chart",
   "at '/serviceMonitor/labels/helm.sh~1chart': value must be 'set by the chart"]
a path out of the checkout: [{source: {path: '../other'}}, "at '/source/path'"]
a grace that a create may outlast:
  [{settings: {request-timeout: '23s'}},
   settings.shutdown-grace (25s) must be more than 2 s longer than settings.request-timeout (23s)]
a setting that has a value of its own:
  [{settings: {base-url: 'https://other.example', ledger: 'memory:'}},
   "at '/settings/base-url': value must be 'set by the chart: use platform.baseUrl'",
   "at '/settings/ledger': value must be 'set by the chart"]
a setting with dashes in front: [{settings: {'--interval': '1m'}}, '--interval']
a second pod for a ledger in a file:
  [{replicaCount: 2}, "at '/replicaCount': value must be '1 with a ledger in a file: set ledger.type=kubernetes"]
no pod: [{replicaCount: 0}, "at '/replicaCount'", minimum]
a ledger of a type that there is not: [{ledger: {type: postgres}}, "at '/ledger/type'", "'sqlite', 'kubernetes'"]
a ledger in the cluster for a platform in the pod:
  [{platform: {baseUrl: '', sandbox: true}, ledger: {type: kubernetes}},
   "at '/platform/sandbox': value must be 'false with a ledger in the cluster"]
a name that is too long for a ledger in the cluster:
  [{fullnameOverride: ppppppppppppppppppppppppppppppppppppppppppppppppppp, ledger: {type: kubernetes}},
   "at '/fullnameOverride': maxLength: got 51, want 50"]
a ledger in the cluster that every pod of the namespace could change:
  [{serviceAccount: {create: false}, ledger: {type: kubernetes}},
   "at '/serviceAccount/name': value must be 'an account of its own"]
a Secret that is called like the ledger:
  [{fullnameOverride: pipes, ledger: {type: kubernetes}, secrets: [{name: kafka, secretName: pipes}]},
   'The ledger is the Secret "pipes", and a value names that Secret for the pod']
a proxy whose Secret is called like the ledger:
  [{fullnameOverride: pipes, ledger: {type: kubernetes}, proxy: {secretName: pipes}}, 'The ledger is the Secret "pipes"']
a way to the Kubernetes API that is no rule:
  [{networkPolicy: {kubernetesApi: [{port: 443}]}}, "at '/networkPolicy/kubernetesApi/0'"]
words that are not among the known:
  [{image: {pullPolicy: always}, ledger: {init: sometimes}}, "'Always', 'IfNotPresent', 'Never'", "'auto', 'never'"]
a page that is opened under no name, and to nobody:
  [{ingress: {enabled: true}, httpRoute: {enabled: true}}, "at '/ingress/hosts': minItems: got 0, want 1",
   "at '/httpRoute/hostnames': minItems: got 0, want 1", "at '/httpRoute/parentRefs': minItems: got 0, want 1",
   "at '/networkPolicy/people': value must be 'the pods of the ingress or the gateway"]
a setting that goes round its form:
  [{extraEnv: [{name: PIPEWRIGHT_MAX_CREATES, value: many}]},
   "at '/extraEnv/0/name': value must be 'a variable without the prefix PIPEWRIGHT_: use settings'"]
enabled, which is for a parent: [{enabled: false}, "at '/enabled'"]
names that are none:
  [{nameOverride: My pipes, fullnameOverride: '9pipes', image: {tag: a b}}, "at '/nameOverride'", "at '/fullnameOverride'",
   "at '/image/tag'"]
a mode that is none: [{diagnosticMode: sometimes}, "at '/diagnosticMode'", want boolean]
a host that is a URL: [{allowedHosts: ['https://pipes.example.com']}, "at '/allowedHosts/0'"]
a digest that is none: [{image: {digest: latest}}, "at '/image/digest'"]
a size that is none: [{ledger: {size: big}}, "at '/ledger/size': 'big'"]
`

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
