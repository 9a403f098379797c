import { pickFields, tablesOf, type Identity } from '../../../identity.ts'
import { deriveForms, type Fields } from '../../../field-table.ts'
import { ACCESS_KEY_FIELDS, CREDENTIALS_FIELDS } from '../../../secret-ref.ts'
import type { z } from '../../../zod.ts'
import { PipeSpec } from './schema.ts'
import {
  KafkaSource,
  ManagedStreamSource,
  ObjectStorageSource,
  PostgresSource,
  type SOURCE_KINDS,
} from './source-schema.ts'

function formsOf<S extends z.core.$ZodShape, const P extends Fields>(shape: S, special: P) {
  return deriveForms(shape, special, 'boolean')
}

const { tableMappings } = PostgresSource.shape
const { destination } = PipeSpec.shape
const { tableDefinition } = destination.unwrap().shape

const kafka = formsOf(KafkaSource.shape, {
  brokers: 'comma-list',
  topics: 'comma-list',
  offset: { fields: { timestamp: 'time' } },
  schemaRegistry: {
    fields: { url: 'text', caCertificate: 'certificate', credentials: CREDENTIALS_FIELDS },
  },
  caCertificate: 'certificate',
  reversePrivateEndpointIds: 'set',
  credentials: CREDENTIALS_FIELDS,
})

const objectStorage = formsOf(ObjectStorageSource.shape, { delimiter: 'raw', accessKey: ACCESS_KEY_FIELDS })

const managedStream = formsOf(ManagedStreamSource.shape, {
  timestamp: 'unix-time',
  accessKey: ACCESS_KEY_FIELDS,
})

const mapping = formsOf(tableMappings.unwrap().element.shape, {
  excludedColumns: 'set',
  sortingKeys: 'ordered',
})

const postgres = formsOf(PostgresSource.shape, {
  tableMappings: { keyedBy: ['sourceSchemaName', 'sourceTable'], fields: mapping },
  credentials: CREDENTIALS_FIELDS,
})

/** Comparison forms (`spec/api.md` 2.2–2.6). */
export const PIPE_FIELDS = formsOf(PipeSpec.omit({ service: true }).shape, {
  source: {
    fields: {
      validateSamples: { requestOnly: 'boolean' },
      kafka: { fields: kafka },
      objectStorage: { fields: objectStorage },
      managedStream: { fields: managedStream },
      postgres: { fields: postgres },
    },
  },
  destination: {
    fields: formsOf(destination.unwrap().shape, {
      tableDefinition: {
        fields: formsOf(tableDefinition.unwrap().shape, {
          engine: { fields: { versionColumnId: 'text', columnIds: 'ordered' } },
          sortingKey: 'ordered',
          partitionBy: 'lines',
          primaryKey: 'lines',
        }),
      },
      columns: { keyedBy: ['name'], fields: { name: 'text', type: 'block' } },
      roles: { requestOnly: 'set' },
    }),
  },
  fieldMappings: {
    keyedBy: ['destinationField'],
    fields: { sourceField: 'foreign', destinationField: 'text' },
  },
})

const SOURCES = {
  kafka: { fields: pickFields(kafka, 'brokers', 'topics') },
  objectStorage: { fields: pickFields(objectStorage, 'url', 'blobContainerName', 'path') },
  managedStream: { fields: pickFields(managedStream, 'streamName', 'region') },
  postgres: {
    fields: {
      ...pickFields(postgres, 'host', 'database'),
      tableMappings: tablesOf(postgres.tableMappings),
    },
  },
} as const satisfies Record<(typeof SOURCE_KINDS)[number], unknown>

export const PIPE_IDENTITY: Identity = {
  source: { fields: SOURCES },
  destination: { fields: pickFields(PIPE_FIELDS.destination.fields, 'database', 'table') },
}
