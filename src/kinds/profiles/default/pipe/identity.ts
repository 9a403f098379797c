import { pickFields, tablesOf, type Identity } from '../../../identity.ts'
import { PIPE_FIELDS } from './fields.ts'
import type { SOURCE_KINDS } from './source-schema.ts'

const { kafka, objectStorage, managedStream, postgres } = PIPE_FIELDS.source.fields

const SOURCES = {
  kafka: { fields: pickFields(kafka.fields, 'brokers', 'topics') },
  objectStorage: { fields: pickFields(objectStorage.fields, 'url', 'blobContainerName', 'path') },
  managedStream: { fields: pickFields(managedStream.fields, 'streamName', 'region') },
  postgres: {
    fields: {
      ...pickFields(postgres.fields, 'host', 'database'),
      tableMappings: tablesOf(postgres.fields.tableMappings),
    },
  },
} as const satisfies Record<(typeof SOURCE_KINDS)[number], unknown>

export const PIPE_IDENTITY: Identity = {
  source: { fields: SOURCES },
  destination: { fields: pickFields(PIPE_FIELDS.destination.fields, 'database', 'table') },
}
