import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { RULE_CODES } from '../../src/kinds/finding.ts'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT, isOrigin } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { isResource, type Manifest } from '../../src/kinds/lookup.ts'
import { rulesOf } from '../../src/kinds/profile.ts'
import { FULL_ALERT, FULL_ENDPOINT, fullPipe } from './manifests.ts'
import { cpuMsOf } from '../support/cpu.ts'
import { parse } from 'yaml'

/** Names of columns and of the columns of field mappings, and other fields. */
type Spec = Readonly<Record<string, unknown>> & { readonly columns?: string; readonly mappings?: string }

function pipe({ columns, mappings, ...spec }: Spec, policy: object = {}): Manifest {
  const named = columns?.split(' ').map((name) => ({ name, type: 'String' }))
  const fieldMappings = mappings
    ?.split(' ')
    .map((name) => ({ sourceField: `from_${name}`, destinationField: name }))
  const short = { ...(named && { destination: { columns: named } }), ...(fieldMappings && { fieldMappings }) }
  const source = { kafka: { topics: 'orders' } }
  return PIPE.schema.parse({
    ...fullPipe('kafka'),
    policy,
    spec: { service: 'a', source, ...short, ...spec },
  })
}

function endpoint(spec: object, policy: object = {}): Manifest {
  return QUERY_ENDPOINT.schema.parse({ ...FULL_ENDPOINT, policy, spec: { service: 'a', ...spec } })
}

function alert(expected: object, policy: object = {}): Manifest {
  return ALERT.schema.parse({ ...FULL_ALERT, policy, spec: { id: '65f1', expect: expected } })
}

function broken(manifest: Manifest) {
  return isResource(manifest) ? rulesOf(DEFAULT, manifest) : []
}

function places(manifest: Manifest): readonly string[] {
  return broken(manifest).map(({ severity, code, path }) => `${severity} ${code} ${path.join('.')}`)
}

const MAKERS = { pipe, endpoint, alert } as const

/** The kind, the spec with the policy, and the places of violations. */
type Row = readonly [
  kind: keyof typeof MAKERS,
  spec: Spec & { policy?: object },
  ...places: readonly string[],
]

const ROWS = parse(String.raw`
exactly one source kind is fine: [pipe, {}]
no source kind: [pipe, {source: {}}, error source-kind-count spec.source]
only samples: [pipe, {source: {validateSamples: true}}, error source-kind-count spec.source]
two source kinds:
  [pipe, {source: {kafka: {topics: a}, postgres: {host: db}}}, error source-kind-count spec.source.postgres]
an empty source kind counts: [pipe, {source: {kafka: {}}}]
mappings that cover all columns, in another order: [pipe, {columns: a b, mappings: b a}]
columns without mappings: [pipe, {columns: a}, error mapping-missing-column spec.fieldMappings]
mappings without columns, because the table may exist: [pipe, {mappings: a b}]
several columns are missing, in one violation that names them:
  [pipe, {columns: a b c, mappings: b}, error mapping-missing-column spec.fieldMappings]
a mapping to a column that is not there:
  [pipe, {columns: a, mappings: a z}, error mapping-unknown-column spec.fieldMappings.1.destinationField]
a misspelt mapping is unknown, and its column is missing:
  [pipe, {columns: amount, mappings: amuont}, error mapping-missing-column spec.fieldMappings,
   error mapping-unknown-column spec.fieldMappings.0.destinationField]
a column filled twice:
  [pipe, {columns: a, mappings: a a}, error mapping-repeated-column spec.fieldMappings.1.destinationField]
a column filled twice, without columns:
  [pipe, {mappings: a a}, error mapping-repeated-column spec.fieldMappings.1.destinationField]
an unknown column named twice is unknown once:
  [pipe, {columns: a, mappings: a z z}, error mapping-unknown-column spec.fieldMappings.1.destinationField,
   error mapping-repeated-column spec.fieldMappings.2.destinationField]
brokers that the interface may take, and that are not host and port:
  [pipe, {source: {kafka: {brokers: 'kafka://b-1:9092'}}}, warning brokers-invalid spec.source.kafka.brokers]
a broker without a port:
  [pipe, {source: {kafka: {brokers: 'b-1:9092, b-2'}}}, warning brokers-invalid spec.source.kafka.brokers]
a port that is none: [pipe, {source: {kafka: {brokers: 'b-1:99092'}}}, error brokers-invalid spec.source.kafka.brokers]
brokers of all sorts that are right: [pipe, {source: {kafka: {brokers: 'b-1:1, 10.0.0.1:9092,[::1]:9092'}}}]
what has a user in it is not repeated: [pipe, {source: {kafka: {brokers: 'me:hunter22@b-1:9092x'}}}]
a type whose bracket is not closed:
  [pipe, {destination: {columns: [{name: a, type: 'Decimal(10, 2'}]}, mappings: a},
   error column-type-invalid spec.destination.columns.0.type]
a bracket in quotes is no bracket:
  [pipe, {destination: {columns: [{name: a, type: "Enum8('a(' = 1, '\\\\'(' = 2)"}]}, mappings: a}]
two columns of one name: [pipe, {columns: a b a, mappings: a b}, error column-repeated spec.destination.columns.2.name]
a column that has the name of a method is a column like any other: [pipe, {columns: constructor, mappings: constructor}]
a pipe that waits for itself:
  [pipe, {policy: {dependsOn: [Alert/orders, Pipe/orders]}}, error depends-on-itself policy.dependsOn.1]
renaming one and replacing another is no contradiction: [pipe, {policy: {renamedFrom: Pipe/x, replaces: Pipe/y}}]
renaming and replacing:
  [pipe, {policy: {renamedFrom: Pipe/x, replaces: Pipe/x}}, error policy-contradiction policy.replaces]
renamed from itself: [pipe, {policy: {renamedFrom: Pipe/orders}}, error policy-target-invalid policy.renamedFrom]
replacing an alert: [pipe, {policy: {replaces: Alert/orders}}, error policy-target-invalid policy.replaces]
a secret in a field that is returned (a certificate is public, and an access key is kept back):
  [pipe, {source: {objectStorage: {connectionString: {secretRef: {name: s, key: c}},
                                   accessKey: {accessKeyId: {secretRef: {name: s, key: i}}}}}},
   warning secret-returned spec.source.objectStorage.connectionString]
a certificate by reference: [pipe, {source: {kafka: {caCertificate: {secretRef: {name: k, key: ca.crt}}}}}]
a connection string that is written out: [pipe, {source: {objectStorage: {connectionString: a=b}}}]
an endpoint that is all empty: [endpoint, {roles: [], openApiKeys: [], allowedOrigins: ' '}]
a role twice does no harm:
  [endpoint, {roles: [sql_console_admin, sql_console_admin]}, warning role-repeated spec.roles.1]
a key twice does no harm: [endpoint, {openApiKeys: [a, b, a]}, warning key-repeated spec.openApiKeys.2]
each bad origin by itself:
  [endpoint, {allowedOrigins: 'a.example, b c, https://ok.example, d.example/path'},
   error origin-invalid spec.allowedOrigins, error origin-invalid spec.allowedOrigins]
a comma too many: [endpoint, {allowedOrigins: 'a.example,'}, error origin-invalid spec.allowedOrigins]
an endpoint that waits for itself:
  [endpoint, {policy: {dependsOn: [QueryEndpoint/console]}}, error depends-on-itself policy.dependsOn.0]
an alert that expects its own id: [alert, {id: '65f1'}]
an alert that expects another id: [alert, {id: '65f2'}, error alert-id-mismatch spec.expect.id]
an alert that waits for itself:
  [alert, {policy: {dependsOn: [Alert/ingest-lag]}}, error depends-on-itself policy.dependsOn.0]
`) as Record<string, Row>

const CASES = Object.entries(ROWS).map(
  ([why, [kind, { policy, ...spec }, ...expected]]) => [why, MAKERS[kind](spec, policy), expected] as const,
)

/** Those that only the rules of ClickHouse Cloud have; their cases are in test/corpus/wrong/clickhouse-cloud.yaml. */
const OF_CLOUD = ['field-doubtful', 'field-excluded', 'field-needed', 'item-repeated', 'value-excluded']

describe('rules', () => {
  test.each(CASES)('%s', (_, manifest, expected) => {
    expect(places(manifest)).toEqual(expected)
  })

  test('every code has a case, and every case a code', () => {
    const seen = CASES.flatMap(([, manifest]) => broken(manifest).map(({ code }) => code))
    expect([...new Set(seen), ...OF_CLOUD].toSorted()).toEqual(Object.keys(RULE_CODES).toSorted())
  })

  test('every violation is a sentence with a hint', () => {
    for (const { message, hint } of CASES.flatMap(([, manifest]) => broken(manifest))) {
      expect(message).toMatch(/^[A-Z`"].*\.$/s)
      expect(hint).toMatch(/^[A-Z`"].*[.?]$/s)
    }
  })
})

describe('hints', () => {
  test('name the column that was meant', () => {
    const manifest = pipe({ columns: 'amount day', mappings: 'amuont day' })
    expect(broken(manifest).find(({ code }) => code === 'mapping-unknown-column')?.hint).toContain('"amount"')
  })

  test('list the columns when none was meant', () => {
    const manifest = pipe({ columns: 'amount', mappings: 'amount zzz' })
    expect(broken(manifest)[0]?.hint).toBe('Name one of its columns: "amount".')
  })

  test('stay short with a thousand columns', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`)
    const [violation] = broken(pipe({ columns: names.join(' ') }))
    expect(violation?.message).toContain('1000 columns: "c0", "c1"')
    expect(violation?.message).toContain('and 995 more')
  })

  test('say what to leave out of an origin', () => {
    const [violation] = broken(endpoint({ allowedOrigins: 'https://a.example:8443/x?y' }))
    expect(violation?.hint).toContain('"https://a.example:8443"')
  })
})

describe('origins', () => {
  const RIGHT = `* example.com localhost localhost:3000 http://localhost:3000 https://app.example.com 3com.com
    https://app.example.com:8443 *.example.com https://*.example.com xn--bcher-kva.example A.Example.COM
    10.0.0.1 http://10.0.0.1:8080 [::1] http://[2001:db8::1]:8080 chrome-extension://abcdef`
  const WRONG = `https:// ://a.example https:/a.example https://a.example/ a.example/path a.example?x a.example:0
    a.example:65536 a.example: a.example:http user@a.example a..example .example -a.example a-.example
    **.example a.*.example *. https://* 256.0.0.1 1.2.3 [::1 [zz] bücher.example`

  test('are these, and no others', () => {
    expect(RIGHT.split(/\s+/).filter((text) => !isOrigin(text))).toEqual([])
    const wrong = [
      '',
      'a b',
      `${'a'.repeat(64)}.example`,
      `${'a.'.repeat(130)}example`,
      ...WRONG.split(/\s+/),
    ]
    expect(wrong.filter(isOrigin)).toEqual([])
  })

  test('a long hostile text is told at once', () => {
    const cost = cpuMsOf(() => {
      for (const part of ['a', 'a.', '*.', '://', 'a:', '-', '1.']) isOrigin(`${part.repeat(50_000)}!`)
    })
    expect(cost).toBeLessThan(2_000)
  })
})

test('the outline of a pipe', () => {
  const stock = { sourceTable: 'a', targetTable: 'stock' }
  const postgres = { host: 'db', tableMappings: [stock] }
  const two = { tableMappings: [stock, { targetTable: 'other' }] }
  const specs = [
    { source: { kafka: {} }, destination: { database: 'd', table: 't' } },
    { source: { kafka: {} }, destination: { database: 'd' } },
    { source: { postgres }, destination: { database: 'd' } },
    { source: { postgres: two } },
  ] as const
  type Outlined = Parameters<NonNullable<typeof PIPE.outline>>[0] // only what an outline reads
  expect(
    specs.map((spec) =>
      PIPE.outline?.({ ...fullPipe('kafka'), spec: { service: 'a', ...spec } } as Outlined),
    ),
  ).toEqual([
    { source: 'kafka', table: 'd.t' },
    { source: 'kafka', database: 'd' },
    { source: 'postgres', table: 'd.stock' },
    { source: 'postgres', table: 'stock and 1 more' },
  ])
})
