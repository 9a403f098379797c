import { pickFields, tablesOf, type Identity } from '../../../identity.ts'
import { PIPE_FIELDS } from './schema.ts'
import { BIGQUERY_FIELDS } from './sources/bigquery.ts'
import { KAFKA_FIELDS } from './sources/kafka.ts'
import { KINESIS_FIELDS } from './sources/kinesis.ts'
import { MONGODB_FIELDS } from './sources/mongodb.ts'
import { MYSQL_FIELDS } from './sources/mysql.ts'
import { OBJECT_STORAGE_FIELDS } from './sources/object-storage.ts'
import { POSTGRES_FIELDS } from './sources/postgres.ts'
import { PUBSUB_FIELDS } from './sources/pubsub.ts'
import type { SourceKind } from './source.ts'

const SOURCES = {
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

export const PIPE_IDENTITY: Identity = {
  source: { fields: SOURCES },
  destination: { fields: pickFields(PIPE_FIELDS.destination.fields, 'database', 'table') },
}
