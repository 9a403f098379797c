import { expect, test } from 'vitest'
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

const TAKEN: readonly (readonly [why: string, pipe: Given, patch: object, after: object])[] = [
  ['a name', 'kafka', { name: 'sales' }, { name: 'sales' }],
  [
    'what is absent stays',
    'kinesis',
    of('kinesis', { authentication: 'IAM_USER', accessKey: { accessKeyId: 'b', secretKey: 'p2' } }),
    of('kinesis', { streamName: 's', region: 'eu-north-1', authentication: 'IAM_USER' }),
  ],
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
    {
      name: 'sales',
      source: { kafka: { topics: 'sales', brokers: 'c.example:1', exactlyOnce: true } },
    },
    { name: 'sales', source: { kafka: { topics: 'orders', brokers: 'b-1.example:9092' } } },
  ],
  [
    'settings beside another field are checked and not applied (N9)',
    'kafka',
    { name: 'sales', settings: { streaming_max_insert_wait_ms: 900 } },
    { name: 'sales', settings: {} },
  ],
  [
    'a connection with all its credentials',
    'postgres',
    of('postgres', { host: 'h2', credentials: PASSWORD }),
    of('postgres', { host: 'h2', port: 5432 }),
  ],
  [
    'a setting of the replication needs no credentials',
    'postgres',
    of('postgres', { settings: { syncIntervalSeconds: 7 } }),
    of('postgres', { settings: { syncIntervalSeconds: 7, replicationMode: 'cdc' } }),
  ],
  [
    'a role needs no credentials',
    'kafkaRole',
    of('kafka', { iamRole: 'arn:aws:iam::123456789012:role/other' }),
    of('kafka', { iamRole: 'arn:aws:iam::123456789012:role/other' }),
  ],
  [
    'MySQL with host and port',
    'mysql',
    of('mysql', { host: 'h', port: 3307, credentials: PASSWORD }),
    of('mysql', { port: 3307 }),
  ],
  [
    'MongoDB with address and preference',
    'mongodb',
    of('mongodb', { uri: 'mongodb://h', readPreference: 'nearest', credentials: PASSWORD }),
    of('mongodb', { readPreference: 'nearest' }),
  ],
  [
    'Pub/Sub with authentication and key',
    'pubsub',
    of('pubsub', {
      authentication: 'SERVICE_ACCOUNT',
      ackDeadline: 20,
      serviceAccountKey: { serviceAccountFile: KEY_FILE },
    }),
    of('pubsub', { ackDeadline: 20 }),
  ],
  [
    'a mapping alone, of a MySQL pipe that is paused',
    'mysql Paused',
    of('mysql', { tableMappingsToAdd: [NEW_TABLE] }),
    of('mysql', { tableMappings: expect.arrayContaining([NEW_TABLE, OLD_TABLE]) }),
  ],
  [
    'a mapping that is replaced',
    'postgres Paused',
    of('postgres', {
      tableMappingsToRemove: [OLD_TABLE],
      tableMappingsToAdd: [{ ...OLD_TABLE, targetTable: 'x' }],
    }),
    of('postgres', { tableMappings: [{ ...OLD_TABLE, targetTable: 'x' }] }),
  ],
  ['the name of a BigQuery pipe', 'bigquery', { name: 'sales' }, { name: 'sales' }],
  ['the name of a pipe that is Completed', 's3 Completed', { name: 'sales' }, { name: 'sales' }],
]

test.each(TAKEN)('takes %s', async (_why, given, patch, after) => {
  await using pipe = await givenPipeOf(given)
  const got = await pipe.send('PATCH', '', patch)
  expect(got.body).toMatchObject({ status: 200 })
  expect((await pipe.read()).body.result).toMatchObject(after)
})

const LOGIN_FAILED = /^cannot connect to the source: login failed/

/** A text follows the code `BAD_REQUEST`. */
const REFUSED: readonly (readonly [why: string, pipe: Given, patch: object, error: string | RegExp])[] = [
  ['nothing at all', 'kafka', {}, 'body'],
  ['an unknown field', 'kafka', { label: 'x' }, /^BAD_REQUEST: .*label/],
  ['a size', 'kafka', { scaling: { replicas: 2 } }, /^BAD_REQUEST: .*scaling/],
  ['a name that is too long', 'kafka', { name: 'x'.repeat(256) }, 'name'],
  ['nothing instead of a name', 'kafka', { name: null }, 'name'],
  [
    'a field inside that is unknown',
    'kinesis',
    of('kinesis', { shards: 2 }),
    'source.kinesis: unknown field shards',
  ],
  [
    'an immutable field of Kinesis',
    'kinesis',
    of('kinesis', { region: 'eu-north-1' }),
    'source.kinesis: unknown field region',
  ],
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
    'credentials of the registry',
    'kafka',
    of('kafka', { schemaRegistry: { credentials: PASSWORD } }),
    'source.kafka.schemaRegistry: unknown field credentials',
  ],
  [
    'a value of Kafka outside of its list, though it would be dropped',
    'kafka',
    of('kafka', { format: 'CSV' }),
    'source.kafka.format',
  ],
  [
    'a method that this type of Kafka does not have',
    'kafka',
    of('kafka', { authentication: 'IAM_ROLE', iamRole: 'arn:aws:iam::1:role/r' }),
    'source.kafka.authentication',
  ],
  [
    'a certificate of Kafka without credentials: the source is asked, and says no',
    'kafka',
    of('kafka', { caCertificate: '-----BEGIN CERTIFICATE-----' }),
    LOGIN_FAILED,
  ],
  [
    'one half of the credentials',
    'kafka',
    of('kafka', { credentials: { username: 'u1' } }),
    'source.kafka.credentials.password',
  ],
  [
    'one half of an access key',
    's3',
    of('objectStorage', { authentication: 'IAM_USER', accessKey: { accessKeyId: 'a' } }),
    'source.objectStorage.accessKey.secretKey',
  ],
  ['a host of Postgres without credentials', 'postgres', of('postgres', { host: 'h2' }), LOGIN_FAILED],
  ['a host of MySQL without credentials', 'mysql', of('mysql', { host: 'h2', port: 3306 }), LOGIN_FAILED],
  [
    'an address of MongoDB without credentials',
    'mongodb',
    of('mongodb', { uri: 'mongodb://h2', readPreference: 'primary' }),
    LOGIN_FAILED,
  ],
  ['MySQL without a port', 'mysql', of('mysql', { host: 'h', credentials: PASSWORD }), 'source.mysql.port'],
  [
    'MongoDB without a preference',
    'mongodb',
    of('mongodb', { uri: 'mongodb://h', credentials: PASSWORD }),
    'source.mongodb.readPreference',
  ],
  [
    'authentication of Postgres',
    'postgres',
    of('postgres', { authentication: 'basic', credentials: PASSWORD }),
    'source.postgres: unknown field authentication',
  ],
  [
    'an immutable setting of Postgres',
    'postgres',
    of('postgres', { settings: { replicationMode: 'cdc' } }),
    'source.postgres.settings: unknown field replicationMode',
  ],
  [
    'the list of mappings itself',
    'postgres Paused',
    of('postgres', { tableMappings: [OLD_TABLE] }),
    'source.postgres: unknown field tableMappings',
  ],
  [
    'the topic of Pub/Sub, even when it is the same',
    'pubsub',
    of('pubsub', {
      topic: 't',
      authentication: 'SERVICE_ACCOUNT',
      serviceAccountKey: { serviceAccountFile: KEY_FILE },
    }),
    'source.pubsub: unknown field topic',
  ],
  [
    'a null setting (N9)',
    'kafka',
    { name: 'sales', settings: { streaming_max_insert_wait_ms: null } },
    /^BAD_REQUEST: .*settings/,
  ],
  [
    'a deadline out of its range',
    'pubsub',
    of('pubsub', {
      authentication: 'SERVICE_ACCOUNT',
      ackDeadline: 9,
      serviceAccountKey: { serviceAccountFile: KEY_FILE },
    }),
    'source.pubsub.ackDeadline',
  ],
  [
    'another method instead of a service account',
    'gcs',
    of('objectStorage', { authentication: 'IAM_USER', accessKey: { accessKeyId: 'a', secretKey: 's' } }),
    /^BAD_REQUEST: source\.objectStorage\.authentication: .*SERVICE_ACCOUNT/,
  ],
  [
    'anything of a BigQuery source',
    'bigquery',
    of('bigquery', { snapshotStagingPath: 'gs://b/p/' }),
    /^BAD_REQUEST: .*source/,
  ],
  [
    'a mapping while the pipe runs',
    'postgres',
    of('postgres', { tableMappingsToAdd: [NEW_TABLE] }),
    /must be paused to edit/,
  ],
  [
    'a mapping of a source that has one',
    'postgres Paused',
    of('postgres', { tableMappingsToAdd: [{ ...OLD_TABLE, targetTable: 'x' }] }),
    /^BAD_REQUEST: source\.postgres\.tableMappings\.1: .*same source/,
  ],
  [
    'the removal of a mapping that is not there',
    'postgres Paused',
    of('postgres', { tableMappingsToRemove: [NEW_TABLE] }),
    'source.postgres.tableMappingsToRemove.0',
  ],
  [
    'the last mapping',
    'postgres Paused',
    of('postgres', { tableMappingsToRemove: [OLD_TABLE] }),
    'source.postgres.tableMappings',
  ],
  [
    'a target that another mapping has',
    'postgres Paused',
    of('postgres', { tableMappingsToAdd: [{ ...NEW_TABLE, targetTable: 's_a' }] }),
    'source.postgres.tableMappings.1.targetTable',
  ],
  [
    'a removal of MySQL without its target',
    'mysql Paused',
    of('mysql', { tableMappingsToRemove: [{ sourceSchemaName: 's', sourceTable: 'a' }] }),
    'source.mysql.tableMappingsToRemove.0.targetTable',
  ],
  [
    'edits that are empty',
    'postgres Paused',
    of('postgres', { tableMappingsToAdd: [] }),
    'source.postgres.tableMappingsToAdd',
  ],
  [
    'a pipe that is Completed',
    'kinesis Completed',
    of('kinesis', { authentication: 'IAM_USER' }),
    /Completed/,
  ],
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
