import { expect, test } from 'vitest'
import { ask } from './given.ts'
import { type Body, BODIES, CLICKPIPES, givenPipe, KEY_FILE, SECOND } from './cloud.ts'

/* `PATCH {pipe}` of the profile clickhouse-cloud: facts 3.1, 4 and 8. */

interface Taken {
  readonly why: string
  readonly body: Body
  readonly state?: string
  readonly patch: unknown
  /** Of the pipe afterwards. */
  readonly after: unknown
}

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

const TAKEN: readonly Taken[] = [
  { why: 'a name', body: 'kafka', patch: { name: 'sales' }, after: { name: 'sales' } },
  {
    why: 'what is absent stays',
    body: 'kinesis',
    patch: {
      source: { kinesis: { authentication: 'IAM_USER', accessKey: { accessKeyId: 'b', secretKey: 'p2' } } },
    },
    after: { source: { kinesis: { streamName: 's', region: 'eu-north-1', authentication: 'IAM_USER' } } },
  },
  {
    why: 'columns with their field mappings',
    body: 'kafka',
    patch: { destination: { columns: TWO }, fieldMappings: TWO_FIELDS },
    after: {
      destination: { table: 't', columns: expect.arrayContaining(TWO) },
      fieldMappings: expect.arrayContaining(TWO_FIELDS),
    },
  },
  {
    why: 'immutable fields of Kafka are taken and dropped',
    body: 'kafka',
    patch: {
      name: 'sales',
      source: { kafka: { topics: 'sales', brokers: 'c.example:1', exactlyOnce: true } },
    },
    after: { name: 'sales', source: { kafka: { topics: 'orders', brokers: 'b-1.example:9092' } } },
  },
  {
    why: 'settings beside another field are checked and not applied (N9)',
    body: 'kafka',
    patch: { name: 'sales', settings: { streaming_max_insert_wait_ms: 900 } },
    after: { name: 'sales', settings: {} },
  },
  {
    why: 'a connection with all its credentials',
    body: 'postgres',
    patch: { source: { postgres: { host: 'h2', credentials: PASSWORD } } },
    after: { source: { postgres: { host: 'h2', port: 5432 } } },
  },
  {
    why: 'a setting of the replication needs no credentials',
    body: 'postgres',
    patch: { source: { postgres: { settings: { syncIntervalSeconds: 7 } } } },
    after: { source: { postgres: { settings: { syncIntervalSeconds: 7, replicationMode: 'cdc' } } } },
  },
  {
    why: 'a role needs no credentials',
    body: 'kafkaRole',
    patch: { source: { kafka: { iamRole: 'arn:aws:iam::123456789012:role/other' } } },
    after: { source: { kafka: { iamRole: 'arn:aws:iam::123456789012:role/other' } } },
  },
  {
    why: 'MySQL with host and port',
    body: 'mysql',
    patch: { source: { mysql: { host: 'h', port: 3307, credentials: PASSWORD } } },
    after: { source: { mysql: { port: 3307 } } },
  },
  {
    why: 'MongoDB with address and preference',
    body: 'mongodb',
    patch: { source: { mongodb: { uri: 'mongodb://h', readPreference: 'nearest', credentials: PASSWORD } } },
    after: { source: { mongodb: { readPreference: 'nearest' } } },
  },
  {
    why: 'Pub/Sub with authentication and key',
    body: 'pubsub',
    patch: {
      source: {
        pubsub: {
          authentication: 'SERVICE_ACCOUNT',
          ackDeadline: 20,
          serviceAccountKey: { serviceAccountFile: KEY_FILE },
        },
      },
    },
    after: { source: { pubsub: { ackDeadline: 20 } } },
  },
  {
    why: 'a mapping alone, of a MySQL pipe that is paused',
    body: 'mysql',
    state: 'Paused',
    patch: { source: { mysql: { tableMappingsToAdd: [NEW_TABLE] } } },
    after: { source: { mysql: { tableMappings: expect.arrayContaining([NEW_TABLE, OLD_TABLE]) } } },
  },
  {
    why: 'a mapping that is replaced',
    body: 'postgres',
    state: 'Paused',
    patch: {
      source: {
        postgres: {
          tableMappingsToRemove: [OLD_TABLE],
          tableMappingsToAdd: [{ ...OLD_TABLE, targetTable: 'x' }],
        },
      },
    },
    after: { source: { postgres: { tableMappings: [{ ...OLD_TABLE, targetTable: 'x' }] } } },
  },
  {
    why: 'the name of a BigQuery pipe',
    body: 'bigquery',
    patch: { name: 'sales' },
    after: { name: 'sales' },
  },
  {
    why: 'the name of a pipe that is Completed',
    body: 's3',
    state: 'Completed',
    patch: { name: 'sales' },
    after: { name: 'sales' },
  },
]

test.each(TAKEN)('takes $why', async ({ body, state, patch, after }) => {
  await using pipe = await givenPipe({ body, state })
  const got = await pipe.send('PATCH', '', patch)
  expect(got.body).toMatchObject({ status: 200 })
  expect((await pipe.read()).body.result).toMatchObject(after as object)
})

const IN_POSTGRES = (patch: object) => ({ source: { postgres: patch } })
const REFUSED: readonly (Omit<Taken, 'after'> & { readonly error: RegExp })[] = [
  { why: 'nothing at all', body: 'kafka', patch: {}, error: /^BAD_REQUEST: body/ },
  { why: 'an unknown field', body: 'kafka', patch: { label: 'x' }, error: /^BAD_REQUEST: .*label/ },
  { why: 'a size', body: 'kafka', patch: { scaling: { replicas: 2 } }, error: /^BAD_REQUEST: .*scaling/ },
  {
    why: 'a name that is too long',
    body: 'kafka',
    patch: { name: 'x'.repeat(256) },
    error: /^BAD_REQUEST: name/,
  },
  { why: 'nothing instead of a name', body: 'kafka', patch: { name: null }, error: /^BAD_REQUEST: name/ },
  {
    why: 'a field inside that is unknown',
    body: 'kinesis',
    patch: { source: { kinesis: { shards: 2 } } },
    error: /^BAD_REQUEST: source\.kinesis: .*shards/,
  },
  {
    why: 'an immutable field of Kinesis',
    body: 'kinesis',
    patch: { source: { kinesis: { region: 'eu-north-1' } } },
    error: /^BAD_REQUEST: source\.kinesis: .*region/,
  },
  {
    why: 'another kind of source',
    body: 'kafka',
    patch: { source: { kinesis: { authentication: 'IAM_USER' } } },
    error: /^BAD_REQUEST: .*source: unknown field kinesis/,
  },
  {
    why: 'no kind of source',
    body: 'kafka',
    patch: { source: { validateSamples: true } },
    error: /source\.kafka/,
  },
  {
    why: 'a destination without columns',
    body: 'kafka',
    patch: { destination: { table: 'x' } },
    error: /^BAD_REQUEST: destination/,
  },
  {
    why: 'field mappings without columns',
    body: 'kafka',
    patch: { fieldMappings: TWO_FIELDS.slice(0, 1) },
    error: /^BAD_REQUEST: fieldMappings/,
  },
  {
    why: 'columns that no field mapping covers',
    body: 'kafka',
    patch: { destination: { columns: TWO } },
    error: /^BAD_REQUEST: /,
  },
  {
    why: 'columns of a database',
    body: 'postgres',
    patch: { destination: { columns: TWO } },
    error: /^BAD_REQUEST: destination\.columns/,
  },
  {
    why: 'credentials of the registry',
    body: 'kafka',
    patch: { source: { kafka: { schemaRegistry: { credentials: PASSWORD } } } },
    error: /^BAD_REQUEST: source\.kafka\.schemaRegistry: .*credentials/,
  },
  {
    why: 'a value of Kafka outside of its list, though it would be dropped',
    body: 'kafka',
    patch: { source: { kafka: { format: 'CSV' } } },
    error: /^BAD_REQUEST: source\.kafka\.format/,
  },
  {
    why: 'a method that this type of Kafka does not have',
    body: 'kafka',
    patch: { source: { kafka: { authentication: 'IAM_ROLE', iamRole: 'arn:aws:iam::1:role/r' } } },
    error: /^BAD_REQUEST: source\.kafka\.authentication/,
  },
  {
    why: 'a certificate of Kafka without credentials: the source is asked, and says no',
    body: 'kafka',
    patch: { source: { kafka: { caCertificate: '-----BEGIN CERTIFICATE-----' } } },
    error: /^cannot connect to the source: login failed/,
  },
  {
    why: 'one half of the credentials',
    body: 'kafka',
    patch: { source: { kafka: { credentials: { username: 'u1' } } } },
    error: /^BAD_REQUEST: source\.kafka\.credentials\.password/,
  },
  {
    why: 'one half of an access key',
    body: 's3',
    patch: { source: { objectStorage: { authentication: 'IAM_USER', accessKey: { accessKeyId: 'a' } } } },
    error: /^BAD_REQUEST: source\.objectStorage\.accessKey\.secretKey/,
  },
  {
    why: 'a host of Postgres without credentials',
    body: 'postgres',
    patch: IN_POSTGRES({ host: 'h2' }),
    error: /^cannot connect to the source: login failed/,
  },
  {
    why: 'a host of MySQL without credentials',
    body: 'mysql',
    patch: { source: { mysql: { host: 'h2', port: 3306 } } },
    error: /^cannot connect to the source: login failed/,
  },
  {
    why: 'an address of MongoDB without credentials',
    body: 'mongodb',
    patch: { source: { mongodb: { uri: 'mongodb://h2', readPreference: 'primary' } } },
    error: /^cannot connect to the source: login failed/,
  },
  {
    why: 'MySQL without a port',
    body: 'mysql',
    patch: { source: { mysql: { host: 'h', credentials: PASSWORD } } },
    error: /^BAD_REQUEST: source\.mysql\.port/,
  },
  {
    why: 'MongoDB without a preference',
    body: 'mongodb',
    patch: { source: { mongodb: { uri: 'mongodb://h', credentials: PASSWORD } } },
    error: /^BAD_REQUEST: source\.mongodb\.readPreference/,
  },
  {
    why: 'authentication of Postgres',
    body: 'postgres',
    patch: IN_POSTGRES({ authentication: 'basic', credentials: PASSWORD }),
    error: /^BAD_REQUEST: source\.postgres: .*authentication/,
  },
  {
    why: 'an immutable setting of Postgres',
    body: 'postgres',
    patch: IN_POSTGRES({ settings: { replicationMode: 'cdc' } }),
    error: /^BAD_REQUEST: source\.postgres\.settings: .*replicationMode/,
  },
  {
    why: 'the list of mappings itself',
    body: 'postgres',
    state: 'Paused',
    patch: IN_POSTGRES({ tableMappings: [OLD_TABLE] }),
    error: /^BAD_REQUEST: source\.postgres: .*tableMappings/,
  },
  {
    why: 'the topic of Pub/Sub, even when it is the same',
    body: 'pubsub',
    patch: {
      source: {
        pubsub: {
          topic: 't',
          authentication: 'SERVICE_ACCOUNT',
          serviceAccountKey: { serviceAccountFile: KEY_FILE },
        },
      },
    },
    error: /^BAD_REQUEST: source\.pubsub: .*topic/,
  },
  {
    why: 'a null setting (N9)',
    body: 'kafka',
    patch: { name: 'sales', settings: { streaming_max_insert_wait_ms: null } },
    error: /^BAD_REQUEST: .*settings/,
  },
  {
    why: 'a deadline out of its range',
    body: 'pubsub',
    patch: {
      source: {
        pubsub: {
          authentication: 'SERVICE_ACCOUNT',
          ackDeadline: 9,
          serviceAccountKey: { serviceAccountFile: KEY_FILE },
        },
      },
    },
    error: /^BAD_REQUEST: source\.pubsub\.ackDeadline/,
  },
  {
    why: 'another method instead of a service account',
    body: 'gcs',
    patch: {
      source: {
        objectStorage: { authentication: 'IAM_USER', accessKey: { accessKeyId: 'a', secretKey: 's' } },
      },
    },
    error: /^BAD_REQUEST: source\.objectStorage\.authentication: .*SERVICE_ACCOUNT/,
  },
  {
    why: 'anything of a BigQuery source',
    body: 'bigquery',
    patch: { source: { bigquery: { snapshotStagingPath: 'gs://b/p/' } } },
    error: /^BAD_REQUEST: .*source/,
  },
  {
    why: 'a mapping while the pipe runs',
    body: 'postgres',
    patch: IN_POSTGRES({ tableMappingsToAdd: [NEW_TABLE] }),
    error: /must be paused to edit/,
  },
  {
    why: 'a mapping of a source that has one',
    body: 'postgres',
    state: 'Paused',
    patch: IN_POSTGRES({ tableMappingsToAdd: [{ ...OLD_TABLE, targetTable: 'x' }] }),
    error: /^BAD_REQUEST: source\.postgres\.tableMappings\.1: .*same source/,
  },
  {
    why: 'the removal of a mapping that is not there',
    body: 'postgres',
    state: 'Paused',
    patch: IN_POSTGRES({ tableMappingsToRemove: [NEW_TABLE] }),
    error: /^BAD_REQUEST: source\.postgres\.tableMappingsToRemove\.0/,
  },
  {
    why: 'the last mapping',
    body: 'postgres',
    state: 'Paused',
    patch: IN_POSTGRES({ tableMappingsToRemove: [OLD_TABLE] }),
    error: /^BAD_REQUEST: source\.postgres\.tableMappings/,
  },
  {
    why: 'a target that another mapping has',
    body: 'postgres',
    state: 'Paused',
    patch: IN_POSTGRES({ tableMappingsToAdd: [{ ...NEW_TABLE, targetTable: 's_a' }] }),
    error: /^BAD_REQUEST: source\.postgres\.tableMappings\.1\.targetTable/,
  },
  {
    why: 'a removal of MySQL without its target',
    body: 'mysql',
    state: 'Paused',
    patch: { source: { mysql: { tableMappingsToRemove: [{ sourceSchemaName: 's', sourceTable: 'a' }] } } },
    error: /^BAD_REQUEST: source\.mysql\.tableMappingsToRemove\.0\.targetTable/,
  },
  {
    why: 'edits that are empty',
    body: 'postgres',
    state: 'Paused',
    patch: IN_POSTGRES({ tableMappingsToAdd: [] }),
    error: /^BAD_REQUEST: source\.postgres\.tableMappingsToAdd/,
  },
  {
    why: 'a pipe that is Completed',
    body: 'kinesis',
    state: 'Completed',
    patch: { source: { kinesis: { authentication: 'IAM_USER' } } },
    error: /Completed/,
  },
]

test.each(REFUSED)('refuses $why, and nothing changes', async ({ body, state, patch, error }) => {
  await using pipe = await givenPipe({ body, state })
  const before = (await pipe.read()).body.result
  const got = await pipe.send('PATCH', '', { ...(patch as object) })
  expect(got.status).toBe(400)
  expect(got.body.error).toMatch(error)
  const alone = Object.keys(patch as object).length
  const named = alone > 0 && !('name' in (patch as object)) ? { name: 'sales', ...(patch as object) } : patch
  expect((await pipe.send('PATCH', '', named)).status).toBe(400) // all or nothing
  expect((await pipe.read()).body.result).toEqual(before)
})

test('an edit of a paused pipe shows it as it was, then it runs by itself, and new tables are copied', async () => {
  await using pipe = await givenPipe({ body: 'postgres', state: 'Paused' })
  const patch = IN_POSTGRES({ tableMappingsToAdd: [NEW_TABLE] })
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
  await stopped.send('PATCH', '', { source: { kinesis: { authentication: 'IAM_USER' } } })
  expect(await stopped.state()).toBe('Stopped')
})

test('credentials are counted when they change, and shown nowhere', async () => {
  await using pipe = await givenPipe({ body: 'kafka' })
  const revision = () => pipe.sandbox.pipes()[0]?.credentialsRevision
  const rotate = (password: string) =>
    pipe.send('PATCH', '', { source: { kafka: { credentials: { username: 'u1', password } } } })
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
