import { PipeSpec } from '../../kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import type { SourceKind } from '../../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { KafkaSource } from '../../kinds/profiles/clickhouse-cloud/pipe/sources/kafka.ts'
import { KinesisSource } from '../../kinds/profiles/clickhouse-cloud/pipe/sources/kinesis.ts'
import { MongodbSource } from '../../kinds/profiles/clickhouse-cloud/pipe/sources/mongodb.ts'
import { MysqlSource } from '../../kinds/profiles/clickhouse-cloud/pipe/sources/mysql.ts'
import { ObjectStorageSource } from '../../kinds/profiles/clickhouse-cloud/pipe/sources/object-storage.ts'
import { PostgresSource } from '../../kinds/profiles/clickhouse-cloud/pipe/sources/postgres.ts'
import { PubsubSource } from '../../kinds/profiles/clickhouse-cloud/pipe/sources/pubsub.ts'
import { z } from '../../kinds/zod.ts'
import { onTheWire, pipeRequestShapeOf } from '../request-schema.ts'

type Shape = Readonly<Record<string, z.core.$ZodType>>

function some(shape: Shape, ...names: readonly string[]): Shape {
  return Object.fromEntries(names.map((name) => [name, z.optional(field(shape, name))]))
}

function needed(shape: Shape, ...names: readonly string[]): Shape {
  return Object.fromEntries(names.map((name) => [name, field(shape, name)]))
}

function field(shape: Shape, name: string): z.core.$ZodType {
  const found = shape[name]
  if (found === undefined) throw new Error(`there is no field ${name}`)
  return onTheWire(found)
}

/** Accepted and ignored (facts 4, note 1). */
export const DROPPED_OF_KAFKA = [
  'type',
  'format',
  'brokers',
  'topics',
  'consumerGroup',
  'offset',
  'schemaRegistry',
  'exactlyOnce',
  'tombstoneMode',
] as const

const TLS = ['tlsHost', 'caCertificate', 'disableTls', 'skipCertVerification']

function mappingEdits(
  item: Shape,
  removal: { readonly needs: readonly string[]; readonly takes: readonly string[] },
): Shape {
  return {
    tableMappingsToAdd: z.optional(z.array(z.strictObject(item))),
    tableMappingsToRemove: z.optional(
      z.array(z.strictObject({ ...needed(item, ...removal.needs), ...some(item, ...removal.takes) })),
    ),
  }
}

function settings(shape: Shape, ...names: readonly string[]): Shape {
  return { settings: z.optional(z.strictObject(some(shape, ...names))) }
}

const SYNC = ['syncIntervalSeconds', 'pullBatchSize']
const registry = KafkaSource.shape.schemaRegistry.unwrap().shape
const { postgres, mysql, mongodb } = {
  postgres: PostgresSource.shape,
  mysql: MysqlSource.shape,
  mongodb: MongodbSource.shape,
}

/** PATCH shape by source kind; BigQuery has none (facts 4 and 8). */
const SOURCES: Readonly<Record<Exclude<SourceKind, 'bigquery'>, Shape>> = {
  kafka: {
    ...some(KafkaSource.shape, ...DROPPED_OF_KAFKA),
    schemaRegistry: z.optional(
      z.strictObject(some(registry, ...Object.keys(registry).filter((name) => name !== 'credentials'))),
    ),
    ...some(
      KafkaSource.shape,
      'authentication',
      'iamRole',
      'caCertificate',
      'reversePrivateEndpointIds',
      'credentials',
    ),
  },
  objectStorage: some(
    ObjectStorageSource.shape,
    'skipInitialLoad',
    'startAfter',
    'authentication',
    'iamRole',
    'connectionString',
    'path',
    'azureContainerName',
    'accessKey',
    'serviceAccountKey',
  ),
  kinesis: some(KinesisSource.shape, 'authentication', 'iamRole', 'accessKey'),
  pubsub: {
    ...needed(PubsubSource.shape, 'authentication'),
    ...some(PubsubSource.shape, 'ackDeadline', 'serviceAccountKey'),
  },
  postgres: {
    ...some(postgres, 'credentials', 'host', 'port', 'database', ...TLS),
    ...settings(postgres.settings.shape, ...SYNC),
    ...mappingEdits(postgres.tableMappings.element.shape, {
      needs: ['sourceSchemaName', 'sourceTable'],
      takes: ['targetTable', 'tableEngine', 'partitionKey', 'partitionByExpr'],
    }),
  },
  mysql: {
    ...needed(mysql, 'host', 'port'),
    ...some(mysql, 'credentials', 'authentication', 'iamRole', 'serverId', ...TLS),
    ...settings(mysql.settings.shape, ...SYNC, 'useCompression'),
    ...mappingEdits(mysql.tableMappings.element.shape, {
      needs: ['sourceSchemaName', 'sourceTable', 'targetTable'],
      takes: ['tableEngine', 'partitionKey'],
    }),
  },
  mongodb: {
    ...needed(mongodb, 'uri', 'readPreference'),
    ...some(mongodb, 'credentials', ...TLS),
    ...settings(mongodb.settings.shape, ...SYNC),
    ...mappingEdits(mongodb.tableMappings.element.shape, {
      needs: ['sourceDatabaseName', 'sourceCollection', 'targetTable'],
      takes: ['tableEngine'],
    }),
  },
}

const MAPPING_EDITS = ['tableMappingsToAdd', 'tableMappingsToRemove']

function sourceOf(kind: SourceKind, names: readonly string[]): z.core.$ZodType | undefined {
  if (kind === 'bigquery') return undefined
  const shape = SOURCES[kind]
  // an edit of mappings alone needs no other field (facts 8)
  const only = names.length > 0 && names.every((name) => MAPPING_EDITS.includes(name))
  const part = only ? some(shape, ...MAPPING_EDITS.filter((name) => name in shape)) : shape
  return z.strictObject({ validateSamples: z.boolean().optional(), [kind]: z.strictObject(part) })
}

const { scaling: scalingOf, settings: settingsOf } = PipeSpec.shape
export const ScalingPatch = scalingOf.unwrap()
export const SettingsPatch = settingsOf.unwrap()

const { columns } = PipeSpec.shape.destination.shape
const { name, fieldMappings } = pipeRequestShapeOf(PipeSpec)

/** Body of a PATCH of a pipe (facts 3.1). */
export function patchSchema(kind: SourceKind, names: readonly string[]): z.ZodType<object> {
  const source = sourceOf(kind, names)
  return z.strictObject({
    name: z.optional(name ?? z.never()),
    ...(source && { source: z.optional(source) }),
    destination: z.strictObject({ columns: columns.unwrap() }).optional(),
    fieldMappings: z.optional(fieldMappings ?? z.never()),
    settings: SettingsPatch.optional(),
  })
}
