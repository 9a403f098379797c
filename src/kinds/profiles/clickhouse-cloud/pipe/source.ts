import type { FieldsOf } from '../../../field-table.ts'
import { z } from '../../../zod.ts'
import { BIGQUERY_FIELDS, BigquerySource } from './sources/bigquery.ts'
import { KAFKA_FIELDS, KafkaSource } from './sources/kafka.ts'
import { KINESIS_FIELDS, KinesisSource } from './sources/kinesis.ts'
import { MONGODB_FIELDS, MongodbSource } from './sources/mongodb.ts'
import { MYSQL_FIELDS, MysqlSource } from './sources/mysql.ts'
import { OBJECT_STORAGE_FIELDS, ObjectStorageSource } from './sources/object-storage.ts'
import { POSTGRES_FIELDS, PostgresSource } from './sources/postgres.ts'
import { PUBSUB_FIELDS, PubsubSource } from './sources/pubsub.ts'

/** Kinds of sources whose data comes as messages or files. */
export const STREAMING_KINDS = ['kafka', 'objectStorage', 'kinesis', 'pubsub'] as const

/** Databases: their tables are made from `tableMappings`. */
export const DATABASE_KINDS = ['postgres', 'mysql', 'mongodb', 'bigquery'] as const

/** The source kinds of the service (facts 2); a pipe uses exactly one. */
export const SOURCE_KINDS = [...STREAMING_KINDS, ...DATABASE_KINDS] as const

export type SourceKind = (typeof SOURCE_KINDS)[number]

/** That exactly one kind is set is a rule of its own, not part of the shape. */
export const PipeSource = z.strictObject({
  validateSamples: z
    .boolean()
    .optional()
    .describe('Whether the service reads samples of the source before it creates the pipe. Request only.'),
  kafka: KafkaSource.optional().describe('A source of Kafka or its like.'),
  objectStorage: ObjectStorageSource.optional().describe('Files in an object storage.'),
  kinesis: KinesisSource.optional().describe('A Kinesis stream.'),
  pubsub: PubsubSource.optional().describe('A Pub/Sub topic. The organization has to be enabled for it.'),
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
} as const satisfies FieldsOf<PipeSource>

/** The kinds that a source names. */
export function kindsOf(source: PipeSource): readonly SourceKind[] {
  return SOURCE_KINDS.filter((kind) => source[kind] !== undefined)
}

export function isDatabase(kind: SourceKind): boolean {
  return DATABASE_KINDS.some((database) => database === kind)
}
