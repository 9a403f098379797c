import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ask } from './given.ts'
import {
  type Body,
  BODIES,
  CLICKPIPES,
  type Given,
  givenPipe,
  givenPipeOf,
  KEY_FILE,
  SECOND,
} from './cloud.ts'

/* `PATCH {pipe}` of the profile clickhouse-cloud: facts 3.1, 4 and 8. */

const of = (kind: string, patch: object) => ({ source: { [kind]: patch } })

const PASSWORD = { username: 'u1', password: 'p2' }
const TWO = [
  { name: 'id', type: 'UInt64' },
  { name: 'at', type: 'DateTime' },
]
const TWO_FIELDS = [
  { sourceField: 'id', destinationField: 'id' },
  { sourceField: 'at', destinationField: 'at' },
]
const NEW_TABLE = { sourceSchemaName: 's', sourceTable: 'b', targetTable: 's_b' }
const OLD_TABLE = { sourceSchemaName: 's', sourceTable: 'a', targetTable: 's_a' }

const KEY = { authentication: 'SERVICE_ACCOUNT', serviceAccountKey: { serviceAccountFile: KEY_FILE } }
const MOVED = { ...OLD_TABLE, targetTable: 'x' }
const ROLE = { iamRole: 'arn:aws:iam::123456789012:role/other' }

const kindOf = (given: Given) => Object.keys(BODIES[given.split(' ')[0] as Body].source)[0] ?? ''

type Rows<Row> = Readonly<Partial<Record<Given, Readonly<Record<string, Row>>>>>

/** Rows about fields of a source, as rows about bodies. */
function ofSources<Row>(rows: Rows<Row>) {
  return Object.entries(rows).flatMap(([given, each]) =>
    Object.entries(each).map(([why, row]) => ({
      given: given as Given,
      kind: kindOf(given as Given),
      why,
      row,
    })),
  )
}

/** What is sent of the source, and what it has then. */
const TAKEN_OF_SOURCE: Rows<readonly [fields: object, after: object]> = {
  kinesis: {
    'what is absent stays': [
      { authentication: 'IAM_USER', accessKey: { accessKeyId: 'b', secretKey: 'p2' } },
      { streamName: 's', region: 'eu-north-1', authentication: 'IAM_USER' },
    ],
  },
  postgres: {
    'a connection with all its credentials': [
      { host: 'h2', credentials: PASSWORD },
      { host: 'h2', port: 5432 },
    ],
    'a setting of the replication needs no credentials': [
      { settings: { syncIntervalSeconds: 7 } },
      { settings: { syncIntervalSeconds: 7, replicationMode: 'cdc' } },
    ],
  },
  kafkaRole: { 'a role needs no credentials': [ROLE, ROLE] },
  mysql: { 'host and port': [{ host: 'h', port: 3307, credentials: PASSWORD }, { port: 3307 }] },
  mongodb: {
    'address and preference': [
      { uri: 'mongodb://h', readPreference: 'nearest', credentials: PASSWORD },
      { readPreference: 'nearest' },
    ],
  },
  pubsub: { 'authentication and key': [{ ...KEY, ackDeadline: 20 }, { ackDeadline: 20 }] },
  'mysql Paused': {
    'a mapping alone, of a pipe that is paused': [
      { tableMappingsToAdd: [NEW_TABLE] },
      { tableMappings: expect.arrayContaining([NEW_TABLE, OLD_TABLE]) },
    ],
  },
  'postgres Paused': {
    'a mapping that is replaced': [
      { tableMappingsToRemove: [OLD_TABLE], tableMappingsToAdd: [MOVED] },
      { tableMappings: [MOVED] },
    ],
  },
}

const TAKEN: readonly (readonly [why: string, pipe: Given, patch: object, after: object])[] = [
  ['a name', 'kafka', { name: 'sales' }, { name: 'sales' }],
  [
    'columns with their field mappings',
    'kafka',
    { destination: { columns: TWO }, fieldMappings: TWO_FIELDS },
    {
      destination: { table: 't', columns: expect.arrayContaining(TWO) },
      fieldMappings: expect.arrayContaining(TWO_FIELDS),
    },
  ],
  [
    'immutable fields of Kafka are taken and dropped',
    'kafka',
    { name: 'sales', ...of('kafka', { topics: 'sales', brokers: 'c.example:1', exactlyOnce: true }) },
    { name: 'sales', ...of('kafka', { topics: 'orders', brokers: 'b-1.example:9092' }) },
  ],
  [
    'settings beside another field are checked and not applied (N9)',
    'kafka',
    { name: 'sales', settings: { streaming_max_insert_wait_ms: 900 } },
    { name: 'sales', settings: {} },
  ],
  ['the name of a BigQuery pipe', 'bigquery', { name: 'sales' }, { name: 'sales' }],
  ['the name of a pipe that is Completed', 's3 Completed', { name: 'sales' }, { name: 'sales' }],
  ...ofSources(TAKEN_OF_SOURCE).map(
    ({ given, kind, why, row: [fields, after] }) =>
      [`${kind}: ${why}`, given, of(kind, fields), of(kind, after)] as const,
  ),
]

test.each(TAKEN)('takes %s', async (_why, given, patch, after) => {
  await using pipe = await givenPipeOf(given)
  const got = await pipe.send('PATCH', '', patch)
  expect(got.body).toMatchObject({ status: 200 })
  expect((await pipe.read()).body.result).toMatchObject(after)
})

/** What is sent of the source, and what is said: a text with a dot or a colon in front follows the kind. */
const REFUSED_OF_SOURCE = parse(
  `
kinesis:
  a field inside that is unknown: [{shards: 2}, ': unknown field shards']
  an immutable field: [{region: eu-north-1}, ': unknown field region']
kafka:
  credentials of the registry:
    [{schemaRegistry: {credentials: &login {username: u1, password: p2}}}, '.schemaRegistry: unknown field credentials']
  a value outside of its list, though it would be dropped: [{format: CSV}, .format]
  a method that this type does not have:
    [{authentication: IAM_ROLE, iamRole: 'arn:aws:iam::1:role/r'}, .authentication]
  a certificate without credentials, with which the source is asked, and says no:
    [{caCertificate: '-----BEGIN CERTIFICATE-----'}, &failed '^cannot connect to the source: login failed']
  one half of the credentials: [{credentials: {username: u1}}, .credentials.password]
s3:
  one half of an access key: [{authentication: IAM_USER, accessKey: {accessKeyId: a}}, .accessKey.secretKey]
postgres:
  a host without credentials: [{host: h2}, *failed]
  authentication: [{authentication: basic, credentials: *login}, ': unknown field authentication']
  an immutable setting: [{settings: {replicationMode: cdc}}, '.settings: unknown field replicationMode']
  a mapping while the pipe runs:
    [{tableMappingsToAdd: [&new {sourceSchemaName: s, sourceTable: b, targetTable: s_b}]}, must be paused to edit]
mysql:
  a host without credentials: [{host: h2, port: 3306}, *failed]
  no port: [{host: h, credentials: *login}, .port]
mongodb:
  an address without credentials: [{uri: 'mongodb://h2', readPreference: primary}, *failed]
  no preference: [{uri: 'mongodb://h', credentials: *login}, .readPreference]
pubsub:
  the topic, even when it is the same: [{topic: t, <<: &key ${JSON.stringify(KEY)}}, ': unknown field topic']
  a deadline out of its range: [{<<: *key, ackDeadline: 9}, .ackDeadline]
gcs:
  another method instead of a service account:
    [{authentication: IAM_USER, accessKey: {accessKeyId: a, secretKey: s}},
     '^BAD_REQUEST: source.objectStorage.authentication: .*SERVICE_ACCOUNT']
bigquery:
  anything: [{snapshotStagingPath: 'gs://b/p/'}, '^BAD_REQUEST: .*source']
postgres Paused:
  the list of mappings itself:
    [{tableMappings: [&old {sourceSchemaName: s, sourceTable: a, targetTable: s_a}]}, ': unknown field tableMappings']
  a mapping of a source that has one:
    [{tableMappingsToAdd: [{<<: *old, targetTable: x}]}, '^BAD_REQUEST: source.postgres.tableMappings.1: .*same source']
  the removal of a mapping that is not there: [{tableMappingsToRemove: [*new]}, .tableMappingsToRemove.0]
  the last mapping: [{tableMappingsToRemove: [*old]}, .tableMappings]
  a target that another mapping has:
    [{tableMappingsToAdd: [{<<: *new, targetTable: s_a}]}, .tableMappings.1.targetTable]
  edits that are empty: [{tableMappingsToAdd: []}, .tableMappingsToAdd]
mysql Paused:
  a removal without its target:
    [{tableMappingsToRemove: [{sourceSchemaName: s, sourceTable: a}]}, .tableMappingsToRemove.0.targetTable]
kinesis Completed:
  a pipe that is Completed: [{authentication: IAM_USER}, Completed]
`,
  { merge: true },
) as Rows<readonly [fields: object, error: string]>

/** A text follows the code `BAD_REQUEST`. */
const REFUSED: readonly (readonly [why: string, pipe: Given, patch: object, error: string | RegExp])[] = [
  ['nothing at all', 'kafka', {}, 'body'],
  ['an unknown field', 'kafka', { label: 'x' }, /^BAD_REQUEST: .*label/],
  ['a size', 'kafka', { scaling: { replicas: 2 } }, /^BAD_REQUEST: .*scaling/],
  ['a name that is too long', 'kafka', { name: 'x'.repeat(256) }, 'name'],
  ['nothing instead of a name', 'kafka', { name: null }, 'name'],
  [
    'another kind of source',
    'kafka',
    of('kinesis', { authentication: 'IAM_USER' }),
    /^BAD_REQUEST: .*source: unknown field kinesis/,
  ],
  ['no kind of source', 'kafka', { source: { validateSamples: true } }, /source\.kafka/],
  ['a destination without columns', 'kafka', { destination: { table: 'x' } }, 'destination'],
  ['field mappings without columns', 'kafka', { fieldMappings: TWO_FIELDS.slice(0, 1) }, 'fieldMappings'],
  ['columns that no field mapping covers', 'kafka', { destination: { columns: TWO } }, /^BAD_REQUEST: /],
  ['columns of a database', 'postgres', { destination: { columns: TWO } }, 'destination.columns'],
  [
    'a null setting (N9)',
    'kafka',
    { name: 'sales', settings: { streaming_max_insert_wait_ms: null } },
    /^BAD_REQUEST: .*settings/,
  ],
  ...ofSources(REFUSED_OF_SOURCE).map(
    ({ given, kind, why, row: [fields, error] }) =>
      [
        `${kind}: ${why}`,
        given,
        of(kind, fields),
        /^[.:]/.test(error) ? `source.${kind}${error}` : new RegExp(error),
      ] as const,
  ),
]

test.each(REFUSED)('refuses %s, and nothing changes', async (_why, given, patch, error) => {
  await using pipe = await givenPipeOf(given)
  const before = (await pipe.read()).body.result
  const got = await pipe.send('PATCH', '', patch)
  expect(got.status).toBe(400)
  expect(got.body.error).toMatch(typeof error === 'string' ? `BAD_REQUEST: ${error}` : error)
  const isNamed = Object.keys(patch).length === 0 || 'name' in patch
  const named = isNamed ? patch : { name: 'sales', ...patch }
  expect((await pipe.send('PATCH', '', named)).status).toBe(400) // all or nothing
  expect((await pipe.read()).body.result).toEqual(before)
})

test('an edit of a paused pipe shows it as it was, then it runs by itself, and new tables are copied', async () => {
  await using pipe = await givenPipe({ body: 'postgres', state: 'Paused' })
  const patch = of('postgres', { tableMappingsToAdd: [NEW_TABLE] })
  expect((await pipe.send('PATCH', '', patch)).body.result.state).toBe('Paused')
  expect(await pipe.state()).toBe('Modifying')
  pipe.pass(SECOND)
  expect(await pipe.state()).toBe('Snapshot')
  pipe.pass(SECOND)
  expect(await pipe.state()).toBe('Running')
})

test('a new name wakes nobody, and a stopped pipe of messages stays so whatever is edited', async () => {
  await using paused = await givenPipe({ body: 'postgres', state: 'Paused' })
  await paused.send('PATCH', '', { name: 'sales' })
  expect(await paused.state()).toBe('Paused')
  await using stopped = await givenPipe({ body: 'kinesis', state: 'Stopped' })
  await stopped.send('PATCH', '', of('kinesis', { authentication: 'IAM_USER' }))
  expect(await stopped.state()).toBe('Stopped')
})

test('credentials are counted when they change, and shown nowhere', async () => {
  await using pipe = await givenPipe({ body: 'kafka' })
  const revision = () => pipe.sandbox.pipes()[0]?.credentialsRevision
  const rotate = (password: string) =>
    pipe.send('PATCH', '', of('kafka', { credentials: { username: 'u1', password } }))
  expect(revision()).toBe(0)
  await rotate('p1')
  expect(revision()).toBe(0) // the same as at the creation
  const got = await rotate('secret-2')
  expect(revision()).toBe(1)
  await rotate('secret-2')
  expect(revision()).toBe(1)
  expect(JSON.stringify([got.body, (await pipe.read()).body, pipe.sandbox.pipes()])).not.toMatch(/secret-2/)
  expect((await pipe.read()).body.result).not.toHaveProperty('credentialsRevision')
  expect((await ask(pipe.sandbox, '/-/sandbox/state')).body.pipes).toMatchObject([{ credentialsRevision: 1 }])
})

test('a pipe that is not there is a 404 in JSON', async () => {
  await using pipe = await givenPipe({ body: 'kafka' })
  const path = `${CLICKPIPES}/11111111-2222-4333-8444-555555555555`
  const got = await ask(pipe.sandbox, path, { method: 'PATCH', body: { name: 'sales' } })
  expect(got).toMatchObject({ status: 404, body: { error: expect.stringMatching(/^NOT_FOUND/) } })
})

test.each(Object.keys(BODIES) as Body[])('a pipe of %s is created', async (body) => {
  await using pipe = await givenPipe({ body })
  expect(await pipe.state()).toBe(body === 'bigquery' ? 'Completed' : 'Running')
})

test('settings alone are refused (N9)', async () => {
  await using pipe = await givenPipe({ body: 'kafka' })
  const got = await pipe.send('PATCH', '', { settings: { streaming_max_insert_wait_ms: 900 } })
  expect(got).toMatchObject({ status: 400, body: { error: expect.stringContaining('settings') } })
})
