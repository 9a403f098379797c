import { describe, expect, test } from 'vitest'
import { isObject, type Json } from '../../src/lib/json.ts'
import { startWithPipe, type Method } from './ask.ts'
import { at } from './look.ts'
import type { PipeState } from './states.ts'

/* What the strict server takes of an edit, and what it refuses; each row is one request by hand. */

interface Row {
  readonly pipe: string
  readonly state?: PipeState
  readonly method?: Method
  readonly path?: string
  readonly body: Json
}

interface Taken extends Row {
  /** What the body has afterwards, by path. */
  readonly now: Readonly<Record<string, Json | undefined>>
  readonly dropped?: readonly string[]
}

interface Refused extends Row {
  readonly status?: number
  readonly error: string
}

function source(kind: string, arm: Json): Json {
  return { source: { [kind]: arm } }
}

const LOGIN = { username: 'u', password: 'p' }
const ROLE = 'arn:aws:iam::210987654321:role/other'
const KEY_FILE = Buffer.from('{"type":"other"}').toString('base64')
const PEM = '-----BEGIN CERTIFICATE-----\nT3RoZXI=\n-----END CERTIFICATE-----\n'
const PUBSUB = { authentication: 'SERVICE_ACCOUNT', serviceAccountKey: { serviceAccountFile: KEY_FILE } }
const MYSQL = { host: 'h.example', port: 3307, credentials: LOGIN }
const MONGODB = { uri: 'mongodb://h.example/', readPreference: 'primary', credentials: LOGIN }
const POSTGRES = { host: 'h.example', credentials: LOGIN }
const TABLE = { sourceSchemaName: 'public', sourceTable: 'notes', targetTable: 'notes' }
const CUSTOMERS = { sourceSchemaName: 'public', sourceTable: 'customers', targetTable: 'customers' }
const ADDRESSES = { sourceSchemaName: 'public', sourceTable: 'addresses', targetTable: 'customer_addresses' }
const COLUMNS = [{ name: 'session_id', type: 'UUID' }]
const MAPPINGS = [{ sourceField: 'a', destinationField: 'session_id' }]

function add(...tables: readonly Json[]): Json {
  return source('postgres', { tableMappingsToAdd: tables })
}

function remove(...tables: readonly Json[]): Json {
  return source('postgres', { tableMappingsToRemove: tables })
}

const TAKEN: readonly (readonly [why: string, row: Taken])[] = [
  ['another name', { pipe: 'orders', body: { name: 'New' }, now: { name: 'New' } }],
  [
    'a flag beside the source',
    { pipe: 'clicks', body: { source: { validateSamples: true } }, now: { 'source.validateSamples': true } },
  ],
  [
    'a new password of Kafka alone',
    {
      pipe: 'orders',
      body: source('kafka', { credentials: LOGIN }),
      now: { 'source.kafka.credentials': LOGIN, 'source.kafka.topics': 'shop.orders' },
    },
  ],
  [
    'another role, which needs no key',
    { pipe: 'payments', body: source('kafka', { iamRole: ROLE }), now: { 'source.kafka.iamRole': ROLE } },
  ],
  [
    'another method of Kafka with a login of its own',
    {
      pipe: 'payments',
      body: source('kafka', { authentication: 'SCRAM-SHA-512', credentials: LOGIN }),
      now: { 'source.kafka.authentication': 'SCRAM-SHA-512', 'source.kafka.iamRole': undefined },
    },
  ],
  [
    'what Kafka drops, without a word',
    {
      pipe: 'orders',
      body: source('kafka', { topics: 'other', offset: { strategy: 'from_latest' } }),
      now: { 'source.kafka.topics': 'shop.orders', 'source.kafka.offset.strategy': 'from_timestamp' },
      dropped: ['source.kafka.topics', 'source.kafka.offset.strategy'],
    },
  ],
  [
    'settings inside, which are ignored',
    {
      pipe: 'orders',
      body: { name: 'New', settings: { streaming_max_insert_wait_ms: 900 } },
      now: { name: 'New', 'settings.streaming_max_insert_wait_ms': 2000 },
      dropped: ['settings.streaming_max_insert_wait_ms'],
    },
  ],
  [
    'a deadline of Pub/Sub with its companions',
    {
      pipe: 'parcels',
      body: source('pubsub', { ...PUBSUB, ackDeadline: 90 }),
      now: { 'source.pubsub.ackDeadline': 90, 'source.pubsub.filter': 'attributes.kind = "scan"' },
    },
  ],
  [
    'another key of Kinesis',
    {
      pipe: 'clicks',
      body: source('kinesis', { accessKey: { accessKeyId: 'a', secretKey: 'b' } }),
      now: { 'source.kinesis.accessKey.secretKey': 'b' },
    },
  ],
  [
    'another place to begin at in a bucket',
    {
      pipe: 'campaigns',
      body: source('objectStorage', { startAfter: 'x' }),
      now: { 'source.objectStorage.startAfter': 'x' },
    },
  ],
  [
    'columns with the mappings of all of them',
    {
      pipe: 'clicks',
      body: { destination: { columns: COLUMNS }, fieldMappings: MAPPINGS },
      now: { 'destination.columns': COLUMNS, fieldMappings: MAPPINGS, 'destination.table': 'clicks' },
    },
  ],
  [
    'columns of a pipe that has no mappings',
    { pipe: 'clicks', body: { destination: { columns: COLUMNS } }, now: { 'destination.columns': COLUMNS } },
  ],
  [
    'another host of a database with its login',
    { pipe: 'customers', body: source('postgres', POSTGRES), now: { 'source.postgres.host': 'h.example' } },
  ],
  [
    'an interval of Postgres alone',
    {
      pipe: 'customers',
      body: source('postgres', { settings: { syncIntervalSeconds: 5 } }),
      now: {
        'source.postgres.settings.syncIntervalSeconds': 5,
        'source.postgres.settings.replicationMode': 'cdc',
      },
    },
  ],
  [
    'an interval of MySQL with its companions',
    {
      pipe: 'stock-history',
      body: source('mysql', { ...MYSQL, settings: { syncIntervalSeconds: 5 } }),
      now: { 'source.mysql.settings.syncIntervalSeconds': 5, 'source.mysql.port': 3307 },
    },
  ],
  [
    'a role for MySQL in place of a password',
    {
      pipe: 'stock-history',
      body: source('mysql', {
        ...MYSQL,
        credentials: { username: 'u' },
        authentication: 'IAM_ROLE',
        iamRole: ROLE,
      }),
      now: { 'source.mysql.credentials': { username: 'u' }, 'source.mysql.iamRole': ROLE },
    },
  ],
  [
    'another address of MongoDB with its companions',
    {
      pipe: 'catalogue',
      body: source('mongodb', MONGODB),
      now: { 'source.mongodb.readPreference': 'primary' },
    },
  ],
  ['another name of BigQuery', { pipe: 'stock-archive', body: { name: 'New' }, now: { name: 'New' } }],
  [
    'one table more',
    {
      pipe: 'customers',
      state: 'Paused',
      body: add(TABLE),
      now: { 'source.postgres.tableMappings.length': 3 },
    },
  ],
  [
    'one table less, of Postgres without its target',
    {
      pipe: 'customers',
      state: 'Paused',
      body: remove({ sourceSchemaName: 'public', sourceTable: 'addresses' }),
      now: { 'source.postgres.tableMappings.length': 1 },
    },
  ],
  [
    'the same table with another target, out and in',
    {
      pipe: 'customers',
      state: 'Paused',
      body: source('postgres', {
        tableMappingsToRemove: [CUSTOMERS],
        tableMappingsToAdd: [{ ...CUSTOMERS, targetTable: 'people' }],
      }),
      now: { 'source.postgres.tableMappings.length': 2 },
    },
  ],
  [
    'tables of MongoDB alone, without companions',
    {
      pipe: 'catalogue',
      state: 'Paused',
      body: source('mongodb', {
        tableMappingsToRemove: [
          { sourceDatabaseName: 'catalogue', sourceCollection: 'prices', targetTable: 'prices' },
        ],
      }),
      now: { 'source.mongodb.tableMappings.length': 1 },
    },
  ],
  [
    'what Postgres logs in by, as it was',
    {
      pipe: 'customers',
      body: source('postgres', { ...POSTGRES, authentication: 'basic' }),
      now: { 'source.postgres.host': 'h.example' },
    },
  ],
  [
    'more replicas, and the size stays',
    {
      pipe: 'orders',
      path: '/scaling',
      body: { replicas: 3 },
      now: { scaling: { replicas: 3, replicaCpuMillicores: 250, replicaMemoryGb: 1 } },
    },
  ],
  [
    'replicas of Pub/Sub, of which nobody knows',
    { pipe: 'parcels', path: '/scaling', body: { replicas: 3 }, now: { scaling: { replicas: 3 } } },
  ],
  [
    'one setting, and the others stay',
    {
      pipe: 'sessions',
      method: 'PUT',
      path: '/settings',
      body: { clickhouse_max_insert_threads: 0 },
      now: { 'settings.clickhouse_max_insert_threads': 0, 'settings.object_storage_concurrency': 4 },
    },
  ],
  [
    'the setting that only Kafka has',
    {
      pipe: 'payments',
      method: 'PUT',
      path: '/settings',
      body: { kafka_read_committed: false },
      now: { settings: { kafka_read_committed: false } },
    },
  ],
]

/** A length is what a list has in place of a value. */
function valueAt(body: Json | undefined, path: string): unknown {
  const list = path.endsWith('.length') ? path.slice(0, -'.length'.length) : undefined
  const value = isObject(body) ? at(body, list ?? path) : undefined
  return list === undefined ? value : Array.isArray(value) && value.length
}

describe('taken', () => {
  test.each(TAKEN)(
    '%s',
    async (_why, { pipe, state, method = 'PATCH', path = '', body, now, dropped = [] }) => {
      await using world = await startWithPipe(pipe, state)
      expect(await world.askPipe(method, path, body)).toMatchObject({ status: 200, error: '' })
      const there = world.body()
      expect(Object.fromEntries(Object.keys(now).map((name) => [name, valueAt(there, name)]))).toEqual(now)
      expect(world.server.seen().at(-1)).toMatchObject({ refused: [], dropped, body })
    },
  )
})

const REFUSED: readonly (readonly [why: string, row: Refused])[] = [
  ['nothing', { pipe: 'orders', body: {}, error: ': R41' }],
  ['a list', { pipe: 'orders', body: [], error: ': type' }],
  ['an empty source', { pipe: 'orders', body: { source: {} }, error: 'source: R41' }],
  ['an empty kind', { pipe: 'orders', body: source('kafka', {}), error: 'source.kafka: R41' }],
  ['an empty name', { pipe: 'orders', body: { name: '' }, error: 'name: R41' }],
  ['no name', { pipe: 'orders', body: { name: null }, error: 'name: type' }],
  [
    'null for what is unset',
    { pipe: 'campaigns', body: source('objectStorage', { startAfter: null }), error: 'startAfter: type' },
  ],
  [
    'a list of nothing',
    {
      pipe: 'orders',
      body: source('kafka', { reversePrivateEndpointIds: [], credentials: LOGIN }),
      error: 'reversePrivateEndpointIds: R41',
    },
  ],
  ['an unknown field', { pipe: 'orders', body: { label: 'a' }, error: 'label: unknown field' }],
  ['scaling inside', { pipe: 'orders', body: { scaling: { replicas: 1 } }, error: 'scaling: unknown field' }],
  [
    'a setting out of its range, even though it is ignored',
    {
      pipe: 'orders',
      body: { name: 'New', settings: { streaming_max_insert_wait_ms: 1 } },
      error: 'settings.streaming_max_insert_wait_ms: range',
    },
  ],
  [
    'another kind',
    { pipe: 'orders', body: source('kinesis', { iamRole: ROLE }), error: 'source.kinesis: R2' },
  ],
  [
    'two kinds',
    {
      pipe: 'payments',
      body: { source: { kafka: { iamRole: ROLE }, mysql: MYSQL } },
      error: 'source.mysql: R2',
    },
  ],
  [
    'the login of a registry',
    {
      pipe: 'orders',
      body: source('kafka', { schemaRegistry: { credentials: LOGIN } }),
      error: 'source.kafka.schemaRegistry.credentials: immutable',
    },
  ],
  [
    'half a login',
    { pipe: 'orders', body: source('kafka', { credentials: { password: 'p' } }), error: 'credentials: R4' },
  ],
  [
    'a method that the type does not have',
    {
      pipe: 'orders',
      body: source('kafka', { authentication: 'SCRAM-SHA-256', credentials: LOGIN }),
      error: 'authentication: R3',
    },
  ],
  [
    'a method without its login',
    {
      pipe: 'payments',
      body: source('kafka', { authentication: 'SCRAM-SHA-512' }),
      error: 'credentials: R4',
    },
  ],
  [
    'a certificate without the login beside it',
    {
      pipe: 'orders',
      body: source('kafka', { caCertificate: PEM }),
      error: 'source.kafka.credentials: credentials beside',
    },
  ],
  [
    'what Pub/Sub cannot change, even as it was',
    {
      pipe: 'parcels',
      body: source('pubsub', { ...PUBSUB, topic: 'parcel-events' }),
      error: 'source.pubsub.topic: immutable',
    },
  ],
  [
    'a deadline of Pub/Sub alone',
    {
      pipe: 'parcels',
      body: source('pubsub', { ackDeadline: 90 }),
      error: 'source.pubsub.serviceAccountKey: companion',
    },
  ],
  [
    'a deadline of Pub/Sub out of its range',
    {
      pipe: 'parcels',
      body: source('pubsub', { ...PUBSUB, ackDeadline: 601 }),
      error: 'source.pubsub.ackDeadline: range',
    },
  ],
  [
    'another stream of Kinesis',
    { pipe: 'clicks', body: source('kinesis', { streamName: 'a' }), error: 'streamName: immutable' },
  ],
  [
    'a role of Kinesis without the key beside it',
    {
      pipe: 'clicks',
      body: source('kinesis', { iamRole: ROLE }),
      error: 'source.kinesis.accessKey: credentials beside',
    },
  ],
  [
    'another address of a bucket',
    {
      pipe: 'sessions',
      body: source('objectStorage', { url: 'https://a.example/*' }),
      error: 'url: immutable',
    },
  ],
  [
    'another method in Google Cloud',
    {
      pipe: 'campaigns',
      body: source('objectStorage', {
        authentication: 'IAM_USER',
        accessKey: { accessKeyId: 'a', secretKey: 'b' },
      }),
      error: 'authentication: R18',
    },
  ],
  [
    'a place to begin at beside a skipped load',
    { pipe: 'sessions', body: source('objectStorage', { startAfter: 'a' }), error: 'skipInitialLoad: R17' },
  ],
  [
    'mappings without columns',
    { pipe: 'clicks', body: { fieldMappings: MAPPINGS }, error: 'fieldMappings: without columns' },
  ],
  [
    'no mappings without columns',
    { pipe: 'clicks', body: { fieldMappings: [] }, error: 'fieldMappings[]: R41' },
  ],
  [
    'columns without the mappings that are there',
    { pipe: 'orders', body: { destination: { columns: COLUMNS } }, error: 'destination.columns: alone' },
  ],
  [
    'mappings that leave a column out',
    {
      pipe: 'clicks',
      body: {
        destination: { columns: [...COLUMNS, { name: 'b', type: 'String' }] },
        fieldMappings: MAPPINGS,
      },
      error: 'fieldMappings: R34',
    },
  ],
  [
    'a column without its type',
    {
      pipe: 'clicks',
      body: { destination: { columns: [{ name: 'session_id' }] } },
      error: 'columns[].type: needed',
    },
  ],
  [
    'another table',
    {
      pipe: 'clicks',
      body: { destination: { table: 'a', columns: COLUMNS } },
      error: 'destination.table: immutable',
    },
  ],
  [
    'a destination without columns',
    { pipe: 'clicks', body: { destination: {} }, error: 'destination.columns: needed' },
  ],
  [
    'columns of a database',
    { pipe: 'customers', body: { destination: { columns: COLUMNS } }, error: 'destination: immutable' },
  ],
  [
    'another host without its login',
    {
      pipe: 'customers',
      body: source('postgres', { host: 'h.example' }),
      error: 'source.postgres.credentials: credentials beside',
    },
  ],
  [
    'another host with half a login',
    {
      pipe: 'customers',
      body: source('postgres', { host: 'h.example', credentials: { username: 'u' } }),
      error: 'credentials.password: R24',
    },
  ],
  [
    'another way for Postgres to log in',
    {
      pipe: 'customers',
      body: source('postgres', {
        authentication: 'IAM_ROLE',
        iamRole: ROLE,
        credentials: { username: 'u' },
      }),
      error: 'source.postgres.authentication: immutable',
    },
  ],
  [
    'another publication',
    {
      pipe: 'customers',
      body: source('postgres', { settings: { publicationName: 'a' } }),
      error: 'publicationName: immutable',
    },
  ],
  [
    'a port that is none',
    {
      pipe: 'customers',
      body: source('postgres', { ...POSTGRES, port: 65_536 }),
      error: 'source.postgres.port: range',
    },
  ],
  [
    'an interval of MySQL alone',
    {
      pipe: 'stock-history',
      body: source('mysql', { settings: { syncIntervalSeconds: 5 } }),
      error: 'source.mysql.host: companion',
    },
  ],
  [
    'the companions of MySQL without the login',
    {
      pipe: 'stock-history',
      body: source('mysql', { host: 'a.example', port: 3306, settings: { syncIntervalSeconds: 5 } }),
      error: 'source.mysql.credentials: credentials beside',
    },
  ],
  [
    'an address of MongoDB without its companion',
    {
      pipe: 'catalogue',
      body: source('mongodb', { uri: 'mongodb://a.example/', credentials: LOGIN }),
      error: 'source.mongodb.readPreference: companion',
    },
  ],
  [
    'anything of the source of BigQuery',
    {
      pipe: 'stock-archive',
      body: source('bigquery', { credentials: { serviceAccountFile: KEY_FILE } }),
      error: 'source: immutable',
    },
  ],
  [
    'all tables as they should be',
    {
      pipe: 'customers',
      state: 'Paused',
      body: source('postgres', { tableMappings: [CUSTOMERS] }),
      error: 'tableMappings: unknown field',
    },
  ],
  ['a table while it runs', { pipe: 'customers', body: add(TABLE), error: 'must be paused to edit' }],
  [
    'a table while it is on its way to rest',
    { pipe: 'customers', state: 'Pausing', body: add(TABLE), error: 'must be paused to edit' },
  ],
  [
    'a table that is there',
    {
      pipe: 'customers',
      state: 'Paused',
      body: add({ ...CUSTOMERS, targetTable: 'b' }),
      error: 'tableMappingsToAdd: R27',
    },
  ],
  [
    'a target that is there',
    {
      pipe: 'customers',
      state: 'Paused',
      body: add({ ...TABLE, targetTable: 'customers' }),
      error: 'targetTable: R26',
    },
  ],
  [
    'a table without its target',
    {
      pipe: 'customers',
      state: 'Paused',
      body: add({ sourceSchemaName: 'public', sourceTable: 'notes' }),
      error: 'tableMappingsToAdd[].targetTable: needed',
    },
  ],
  [
    'the removal of what is not there',
    { pipe: 'customers', state: 'Paused', body: remove(TABLE), error: 'tableMappingsToRemove: not there' },
  ],
  [
    'the removal of another target',
    {
      pipe: 'customers',
      state: 'Paused',
      body: remove({ ...CUSTOMERS, targetTable: 'b' }),
      error: 'tableMappingsToRemove[].targetTable: not there',
    },
  ],
  [
    'the same removal twice',
    {
      pipe: 'customers',
      state: 'Paused',
      body: remove(CUSTOMERS, CUSTOMERS),
      error: 'tableMappingsToRemove: twice',
    },
  ],
  [
    'a removal with more than an entry takes',
    {
      pipe: 'customers',
      state: 'Paused',
      body: remove({ ...CUSTOMERS, excludedColumns: ['phone'] }),
      error: 'tableMappingsToRemove[].excludedColumns: unknown field',
    },
  ],
  [
    'the removal of the last table',
    {
      pipe: 'customers',
      state: 'Paused',
      body: remove(CUSTOMERS, ADDRESSES),
      error: 'source.postgres.tableMappings: R25',
    },
  ],
  [
    'no tables to add',
    { pipe: 'customers', state: 'Paused', body: add(), error: 'tableMappingsToAdd[]: R41' },
  ],
  [
    'a name of what is done',
    { pipe: 'stock-history', state: 'Completed', body: { name: 'New' }, error: 'completed' },
  ],
  [
    'scaling of what is done',
    { pipe: 'campaigns', state: 'Completed', path: '/scaling', body: { replicas: 2 }, error: 'completed' },
  ],
  ['scaling by nothing', { pipe: 'orders', path: '/scaling', body: {}, error: 'scaling: R41' }],
  ['a size that is a list', { pipe: 'orders', path: '/scaling', body: [], error: 'scaling: ' }],
  [
    'too many replicas',
    { pipe: 'orders', path: '/scaling', body: { replicas: 41 }, error: 'scaling.replicas: range' },
  ],
  [
    'no replicas',
    { pipe: 'orders', path: '/scaling', body: { replicas: null }, error: 'scaling.replicas: type' },
  ],
  [
    'what is no size',
    { pipe: 'orders', path: '/scaling', body: { cpu: 1 }, error: 'scaling.cpu: unknown field' },
  ],
  [
    'the size of a file pipe',
    {
      pipe: 'sessions',
      path: '/scaling',
      body: { replicaMemoryGb: 1 },
      error: 'scaling.replicaMemoryGb: R36',
    },
  ],
  [
    'concurrency of Kafka',
    { pipe: 'orders', path: '/scaling', body: { concurrency: 1 }, error: 'scaling.concurrency: R36' },
  ],
  [
    'scaling of a database',
    { pipe: 'customers', path: '/scaling', body: { replicas: 2 }, error: 'scaling: R36' },
  ],
  ['no settings', { pipe: 'orders', method: 'PUT', path: '/settings', body: {}, error: 'settings: R41' }],
  [
    'a setting out of its range',
    {
      pipe: 'sessions',
      method: 'PUT',
      path: '/settings',
      body: { object_storage_concurrency: 36 },
      error: 'settings.object_storage_concurrency: range',
    },
  ],
  [
    'null for a default',
    {
      pipe: 'sessions',
      method: 'PUT',
      path: '/settings',
      body: { clickhouse_max_threads: null },
      error: 'settings.clickhouse_max_threads: type',
    },
  ],
  [
    'the setting of Kafka elsewhere',
    {
      pipe: 'clicks',
      method: 'PUT',
      path: '/settings',
      body: { kafka_read_committed: false },
      error: 'settings.kafka_read_committed: R37',
    },
  ],
  [
    'settings of a database',
    {
      pipe: 'customers',
      method: 'PUT',
      path: '/settings',
      body: { clickhouse_max_threads: 1 },
      status: 404,
      error: 'NOT_FOUND',
    },
  ],
  ['settings by PATCH', { pipe: 'orders', path: '/settings', body: {}, status: 404, error: '' }],
  [
    'another word for a command',
    { pipe: 'orders', path: '/state', body: { action: 'stop' }, error: 'action: unknown field' },
  ],
  ['no command', { pipe: 'orders', path: '/state', body: {}, error: 'command: needed' }],
  [
    'a command that is none',
    { pipe: 'orders', path: '/state', body: { command: 'pause' }, error: 'command: words' },
  ],
  [
    'a start of what runs',
    { pipe: 'orders', path: '/state', body: { command: 'start' }, error: 'already running' },
  ],
  [
    'a start of what is on its way to rest',
    {
      pipe: 'orders',
      state: 'Stopping',
      path: '/state',
      body: { command: 'start' },
      error: 'cannot be started from Stopping',
    },
  ],
  [
    'a start of what is done',
    { pipe: 'campaigns', state: 'Completed', path: '/state', body: { command: 'start' }, error: 'completed' },
  ],
  [
    'another copy of a stream',
    { pipe: 'orders', path: '/state', body: { command: 'resync' }, error: 'not offered' },
  ],
]

describe('refused, and nothing has changed', () => {
  test.each(REFUSED)(
    '%s',
    async (_why, { pipe, state, method = 'PATCH', path = '', body, status = 400, error }) => {
      await using world = await startWithPipe(pipe, state)
      const before = { body: world.body(), states: world.server.states() }
      const got = await world.askPipe(method, path, body)
      expect(got.status).toBe(status)
      expect(got.error).toContain(error)
      expect({ body: world.body(), states: world.server.states() }).toEqual(before)
      expect(world.server.seen().at(-1)).toMatchObject({ status, dropped: [] })
    },
  )

  test('of a pipe that is not there, or no longer', async () => {
    await using world = await startWithPipe('orders', 'gone')
    expect(await world.askPipe('GET', '')).toMatchObject({ status: 404 })
    for (const [method, path] of [
      ['PATCH', ''],
      ['PATCH', '/scaling'],
      ['PUT', '/settings'],
      ['PATCH', '/state'],
    ] as const)
      expect(await world.askPipe(method, path, { name: 'a' })).toMatchObject({ status: 404 })
    expect(await world.askPipe('DELETE', '')).toMatchObject({ status: 404 })
  })

  test('an edit of the source while it runs, by those who read the facts so', async () => {
    const body = source('postgres', POSTGRES)
    await using running = await startWithPipe('customers', 'Running', { mustPause: 'source' })
    expect(await running.askPipe('PATCH', '', body)).toMatchObject({ status: 400 })
    expect(await running.askPipe('PATCH', '', { name: 'New' })).toMatchObject({ status: 200 })
    running.server.setStates(running.id, 'Paused')
    expect(await running.askPipe('PATCH', '', body)).toMatchObject({ status: 200 })
  })
})
