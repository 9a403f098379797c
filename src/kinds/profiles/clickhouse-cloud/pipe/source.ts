import { Flag, z } from '../../../zod.ts'
import { BigquerySource } from './sources/bigquery.ts'
import { KafkaSource } from './sources/kafka.ts'
import { KinesisSource } from './sources/kinesis.ts'
import { MongodbSource } from './sources/mongodb.ts'
import { MysqlSource } from './sources/mysql.ts'
import { ObjectStorageSource } from './sources/object-storage.ts'
import { PostgresSource } from './sources/postgres.ts'
import { PubsubSource } from './sources/pubsub.ts'

const STREAMING_KINDS = ['kafka', 'objectStorage', 'kinesis', 'pubsub'] as const

const DATABASE_KINDS = ['postgres', 'mysql', 'mongodb', 'bigquery'] as const

export const SOURCE_KINDS = [...STREAMING_KINDS, ...DATABASE_KINDS] as const

export type SourceKind = (typeof SOURCE_KINDS)[number]

/** All source kinds are optional here, because a rule requires exactly one. */
export const PipeSource = z.strictObject({
  validateSamples: Flag.describe(
    'Whether the service reads samples of the source before it creates the pipe. Write-only.',
  ).meta({ returned: 'never', change: 'update' }),
  kafka: KafkaSource.optional().describe('Kafka, or a compatible system.'),
  objectStorage: ObjectStorageSource.optional().describe('Files in an object storage.'),
  kinesis: KinesisSource.optional().describe('A Kinesis stream.'),
  pubsub: PubsubSource.optional().describe(
    'A Pub/Sub topic. ClickHouse Cloud must have enabled Pub/Sub sources for your organization.',
  ),
  postgres: PostgresSource.optional().describe('Tables of Postgres.'),
  mysql: MysqlSource.optional().describe('Tables of MySQL.'),
  mongodb: MongodbSource.optional().describe('Collections of MongoDB.'),
  bigquery: BigquerySource.optional().describe('Tables of BigQuery.'),
})
export type PipeSource = z.infer<typeof PipeSource>

export function kindsOf(source: PipeSource): readonly SourceKind[] {
  return SOURCE_KINDS.filter((kind) => source[kind] !== undefined)
}

export function isDatabase(kind: SourceKind): boolean {
  return DATABASE_KINDS.some((database) => database === kind)
}
