import { pickFields, tablesOf } from '../../../identity.ts'
import { z } from '../../../zod.ts'
import { BIGQUERY_FIELDS, BigquerySource } from './sources/bigquery.ts'
import { KAFKA_FIELDS, KafkaSource } from './sources/kafka.ts'
import { KINESIS_FIELDS, KinesisSource } from './sources/kinesis.ts'
import { MONGODB_FIELDS, MongodbSource } from './sources/mongodb.ts'
import { MYSQL_FIELDS, MysqlSource } from './sources/mysql.ts'
import { OBJECT_STORAGE_FIELDS, ObjectStorageSource } from './sources/object-storage.ts'
import { POSTGRES_FIELDS, PostgresSource } from './sources/postgres.ts'
import { PUBSUB_FIELDS, PubsubSource } from './sources/pubsub.ts'

/** Messages or files. */
export const STREAMING_KINDS = ['kafka', 'objectStorage', 'kinesis', 'pubsub'] as const

/** `tableMappings` define their tables. */
export const DATABASE_KINDS = ['postgres', 'mysql', 'mongodb', 'bigquery'] as const

/** A pipe uses one (facts 2). */
export const SOURCE_KINDS = [...STREAMING_KINDS, ...DATABASE_KINDS] as const

export type SourceKind = (typeof SOURCE_KINDS)[number]

/** A separate rule requires one kind. */
export const PipeSource = z.strictObject({
  validateSamples: z
    .boolean()
    .optional()
    .describe('Whether the service reads samples of the source before it creates the pipe. Request only.'),
  kafka: KafkaSource.optional().describe('A source of Kafka or its like.'),
  objectStorage: ObjectStorageSource.optional().describe('Files in an object storage.'),
  kinesis: KinesisSource.optional().describe('A Kinesis stream.'),
  pubsub: PubsubSource.optional().describe('A Pub/Sub topic. It must be enabled for the organization.'),
  postgres: PostgresSource.optional().describe('Tables of Postgres.'),
  mysql: MysqlSource.optional().describe('Tables of MySQL.'),
  mongodb: MongodbSource.optional().describe('Collections of MongoDB.'),
  bigquery: BigquerySource.optional().describe('Tables of BigQuery.'),
})
export type PipeSource = z.infer<typeof PipeSource>

export const SOURCE_FIELDS = {
  validateSamples: { requestOnly: 'flag' },
  kafka: { fields: KAFKA_FIELDS },
  objectStorage: { fields: OBJECT_STORAGE_FIELDS },
  kinesis: { fields: KINESIS_FIELDS },
  pubsub: { fields: PUBSUB_FIELDS },
  postgres: { fields: POSTGRES_FIELDS },
  mysql: { fields: MYSQL_FIELDS },
  mongodb: { fields: MONGODB_FIELDS },
  bigquery: { fields: BIGQUERY_FIELDS },
} as const satisfies Record<keyof PipeSource, unknown>

export function kindsOf(source: PipeSource): readonly SourceKind[] {
  return SOURCE_KINDS.filter((kind) => source[kind] !== undefined)
}

export function isDatabase(kind: SourceKind): boolean {
  return DATABASE_KINDS.some((database) => database === kind)
}

export const SOURCE_IDENTITY = {
  kafka: { fields: pickFields(KAFKA_FIELDS, 'brokers', 'topics') },
  objectStorage: { fields: pickFields(OBJECT_STORAGE_FIELDS, 'url', 'azureContainerName', 'path') },
  kinesis: { fields: pickFields(KINESIS_FIELDS, 'streamName', 'region') },
  pubsub: { fields: pickFields(PUBSUB_FIELDS, 'projectId', 'topic') },
  postgres: {
    fields: {
      ...pickFields(POSTGRES_FIELDS, 'host', 'database'),
      tableMappings: tablesOf(POSTGRES_FIELDS.tableMappings),
    },
  },
  mysql: {
    fields: { ...pickFields(MYSQL_FIELDS, 'host'), tableMappings: tablesOf(MYSQL_FIELDS.tableMappings) },
  },
  mongodb: {
    fields: { ...pickFields(MONGODB_FIELDS, 'uri'), tableMappings: tablesOf(MONGODB_FIELDS.tableMappings) },
  },
  bigquery: { fields: { tableMappings: tablesOf(BIGQUERY_FIELDS.tableMappings) } },
} as const satisfies Record<SourceKind, unknown>
