import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { ask, type Got, givenSandbox } from './given.ts'

export const CLICKPIPES = `/v1/organizations/${ORGANIZATION}/services/${SERVICE_ID}/clickpipes`

const STREAMED = {
  destination: {
    database: 'default',
    table: 't',
    managedTable: true,
    tableDefinition: { engine: { type: 'MergeTree' }, sortingKey: ['id'] },
    columns: [{ name: 'id', type: 'UInt64' }],
  },
  fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
}
const COPIED = { destination: { database: 'default' } }
export const KEY_FILE = Buffer.from('{"type":"service_account"}').toString('base64')
const ARN = 'arn:aws:iam::123456789012:role/r'
const PASSWORD = { username: 'u1', password: 'p1' }
const TABLE = { sourceSchemaName: 's', sourceTable: 'a', targetTable: 's_a' }

const KAFKA = { format: 'JSONEachRow', brokers: 'b-1.example:9092', topics: 'orders' }
const BUCKET = { format: 'JSONEachRow', isContinuous: true }

/** A body of a create for each kind of source, and some more of them. */
export const BODIES = {
  kafka: {
    source: { kafka: { ...KAFKA, type: 'kafka', authentication: 'PLAIN', credentials: PASSWORD } },
    ...STREAMED,
  },
  kafkaRole: {
    source: { kafka: { ...KAFKA, type: 'msk', authentication: 'IAM_ROLE', iamRole: ARN } },
    ...STREAMED,
  },
  s3: { source: { objectStorage: { ...BUCKET, type: 's3', url: 'https://b.example/*' } }, ...STREAMED },
  gcs: {
    source: {
      objectStorage: {
        ...BUCKET,
        type: 'gcs',
        url: 'gs://b/*',
        authentication: 'SERVICE_ACCOUNT',
        serviceAccountKey: KEY_FILE,
      },
    },
    ...STREAMED,
  },
  kinesis: {
    source: {
      kinesis: {
        format: 'JSONEachRow',
        streamName: 's',
        region: 'eu-north-1',
        iteratorType: 'LATEST',
        authentication: 'IAM_USER',
        accessKey: { accessKeyId: 'a', secretKey: 'p1' },
      },
    },
    ...STREAMED,
  },
  pubsub: {
    source: {
      pubsub: {
        format: 'JSONEachRow',
        projectId: 'p',
        topic: 't',
        authentication: 'SERVICE_ACCOUNT',
        seekType: 'latest',
        serviceAccountKey: { serviceAccountFile: KEY_FILE },
      },
    },
    ...STREAMED,
  },
  postgres: {
    source: {
      postgres: {
        host: 'h',
        port: 5432,
        database: 'd',
        credentials: PASSWORD,
        settings: { replicationMode: 'cdc' },
        tableMappings: [TABLE],
      },
    },
    ...COPIED,
  },
  mysql: {
    source: {
      mysql: {
        host: 'h',
        port: 3306,
        credentials: PASSWORD,
        settings: { replicationMode: 'cdc' },
        tableMappings: [TABLE],
      },
    },
    ...COPIED,
  },
  mongodb: {
    source: {
      mongodb: {
        uri: 'mongodb://h',
        readPreference: 'primary',
        credentials: PASSWORD,
        settings: { replicationMode: 'cdc' },
        tableMappings: [{ sourceDatabaseName: 's', sourceCollection: 'a', targetTable: 's_a' }],
      },
    },
    ...COPIED,
  },
  bigquery: {
    source: {
      bigquery: {
        snapshotStagingPath: 'gs://b/p/',
        settings: { replicationMode: 'snapshot' },
        tableMappings: [{ sourceDatasetName: 's', sourceTable: 'a', targetTable: 's_a' }],
        credentials: { serviceAccountFile: KEY_FILE },
      },
    },
    ...COPIED,
  },
} as const satisfies Readonly<Record<string, JsonObject>>

export type Body = keyof typeof BODIES

type Method = 'GET' | 'PATCH' | 'PUT' | 'DELETE'

/** A pipe of a sandbox whose clock stands still until it is moved. */
export interface CloudPipe extends AsyncDisposable {
  pass(ms: number): void
  /** One request about the pipe: `send('PATCH', '/scaling', {…})`. */
  send(method: Method, below: string, body?: unknown): Promise<Got>
  read(): Promise<Got>
  state(): Promise<string>
  readonly sandbox: Sandbox
  readonly id: string
}

/** All that takes time takes a second. */
export const SECOND = 1_000
const TIMES = { provisioningMs: SECOND, movingMs: SECOND, scalingLagMs: SECOND, deletingMs: SECOND }

interface Asked {
  readonly body: Body
  readonly state?: string | undefined
}

export async function givenPipe(
  { body, state }: Asked,
  options: Partial<SandboxOptions> = {},
): Promise<CloudPipe> {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const sandbox = await givenCloud({ now: () => now, ...options })
  const created = await ask(sandbox, CLICKPIPES, { body: { name: 'orders', ...BODIES[body] } })
  if (created.status !== 200) throw new Error(created.body.error)
  const { id } = created.body.result
  now += SECOND
  if (state !== undefined) sandbox.change(id, { state })
  const send: CloudPipe['send'] = (method, below, sent) =>
    ask(sandbox, `${CLICKPIPES}/${id}${below}`, { method, ...(sent !== undefined && { body: sent }) })
  const read = () => send('GET', '')
  return {
    sandbox,
    id,
    pass(ms) {
      now += ms
    },
    send,
    read,
    state: async () => (await read()).body.result.state,
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  }
}

/** Of a pipe, perhaps with a state. */
export type Given = Body | `${Body} ${'Paused' | 'Completed'}`

export function givenPipeOf(pipe: Given) {
  const [body, state] = pipe.split(' ') as [Body, string?] // as the type says
  return givenPipe({ body, state })
}

export function givenCloud(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return givenSandbox({
    profile: CLICKHOUSE_CLOUD,
    ...options,
    fixture: { times: TIMES, ...options.fixture },
  })
}
