import { PLANTED } from '../leaks.ts'

export const CLOUD_SOURCES = ['kafka', 'kinesis', 'postgres'] as const
export type CloudSource = (typeof CLOUD_SOURCES)[number]

/** What a manifest asks for, besides its name and its service. Numbers stand for values: the next number is another one. */
export interface Wish {
  readonly source: CloudSource
  /** Of the source; no request changes it. */
  readonly fixed: number
  /** Host of a database. */
  readonly host: number
  /** How it is sized: replicas of a stream. */
  readonly size: number
  /** Wait of a stream, ms; seconds between two synchronisations of a database. */
  readonly wait: number
  /** Columns of a stream, besides the first. */
  readonly columns: number
  /** Tables of a database, by name; whether a column of it is left out. */
  readonly tables: Readonly<Record<string, boolean>>
  readonly paused: boolean | undefined
  readonly onDrift: 'correct' | undefined
}

export function firstWish(source: CloudSource): Wish {
  return {
    source,
    fixed: 0,
    host: 0,
    size: 1,
    wait: source === 'postgres' ? 10 : 500,
    columns: 1,
    tables: source === 'postgres' ? { t0: false } : {},
    paused: undefined,
    onDrift: undefined,
  }
}

export function isOfDatabase({ source }: Wish): boolean {
  return source === 'postgres'
}

/** The members of `policy` that it is about. */
export function policyOfWish({ paused, onDrift }: Wish): Readonly<Record<string, unknown>> {
  return { paused, onDrift }
}

/** `spec` of a manifest, but for its name and service; also what a reading is compared with. */
export function specOfWish(wish: Wish, about: { readonly name: string; readonly password: unknown }) {
  const { size, wait } = wish
  if (isOfDatabase(wish)) {
    return {
      source: { postgres: postgresOf(wish, about) },
      destination: { database: 'shop' },
    }
  }
  const columns = ['id', ...Array.from({ length: wish.columns }, (_, index) => `c${index}`)]
  return {
    source: streamOf(wish, about),
    destination: {
      database: 'default',
      table: about.name,
      managedTable: true,
      tableDefinition: { engine: { type: 'MergeTree' }, sortingKey: ['id'] },
      columns: columns.map((column) => ({ name: column, type: 'String' })),
    },
    fieldMappings: columns.map((column) => ({ sourceField: column, destinationField: column })),
    scaling: { replicas: size, replicaMemoryGb: 1 },
    settings: { streaming_max_insert_wait_ms: wait },
  }
}

interface About {
  readonly name: string
  readonly password: unknown
}

function streamOf({ source, fixed }: Wish, { name, password }: About) {
  return source === 'kafka'
    ? {
        kafka: {
          type: 'kafka',
          format: 'JSONEachRow',
          brokers: `b-${fixed}.example:9092`,
          topics: name,
          authentication: 'PLAIN',
          credentials: credentialsOf('kafka', password),
        },
      }
    : {
        kinesis: {
          format: 'JSONEachRow',
          streamName: name,
          region: `eu-${fixed}`,
          iteratorType: 'LATEST',
          authentication: 'IAM_USER',
          accessKey: credentialsOf('kinesis', password),
        },
      }
}

function postgresOf({ fixed, host, wait, tables }: Wish, { name, password }: About) {
  return {
    host: `db-${host}.example`,
    port: 5432,
    database: name,
    credentials: credentialsOf('postgres', password),
    settings: { replicationMode: 'cdc', syncIntervalSeconds: wait, publicationName: `p${fixed}` },
    tableMappings: Object.entries(tables).map(([table, isCut]) => mappingOf(table, isCut)),
  }
}

function mappingOf(table: string, isCut: boolean) {
  return {
    sourceSchemaName: 'public',
    sourceTable: table,
    targetTable: table,
    ...(isCut && { excludedColumns: ['notes'] }),
  }
}

/** What it signs in with; the sandbox knows a digest of it. */
export function credentialsOf(source: CloudSource, password: unknown) {
  return source === 'kinesis'
    ? { accessKeyId: `${PLANTED}-access-key-id`, secretKey: password }
    : { username: `${PLANTED}-username`, password }
}
