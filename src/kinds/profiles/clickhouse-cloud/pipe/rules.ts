import type { JsonObject } from '../../../../lib/json.ts'
import { ruleError, type FieldFinding } from '../../../finding.ts'
import { columnRules, mappingRules, typeRules } from '../../../pipe/columns.ts'
import { brokerRules, sourceKindRules } from '../../../pipe/source-rules.ts'
import { brokenRules, when, type FieldRule } from './field-rules.ts'
import type { PipeManifest, PipeSpec } from './schema.ts'
import { isDatabase, kindsOf, SOURCE_KINDS, type PipeSource, type SourceKind } from './source.ts'
import { bigqueryRules } from './sources/bigquery.ts'
import { kafkaRules } from './sources/kafka.ts'
import { kinesisRules } from './sources/kinesis.ts'
import { mongodbRules } from './sources/mongodb.ts'
import { mysqlRules } from './sources/mysql.ts'
import { objectStorageRules } from './sources/object-storage.ts'
import { postgresRules } from './sources/postgres.ts'
import { pubsubRules } from './sources/pubsub.ts'
import { mappingsRules } from './table-mappings.ts'

export function pipeRules({ spec }: PipeManifest): readonly FieldFinding[] {
  const named = kindsOf(spec.source)
  const [kind] = named
  if (kind === undefined || named.length > 1) return sourceKindRules(named, SOURCE_KINDS)
  return [
    ...sourceRules(spec.source, kind),
    ...brokerRules(spec.source.kafka?.brokers),
    ...mappingsRules(spec.source, kind),
    ...brokenRules(partsOf(spec, kind), spec, ['spec']),
    ...typeRules(spec.destination.columns ?? []),
    ...columnRules(spec),
    ...(spec.fieldMappings === undefined ? [] : mappingRules(spec)),
    ...engineRules(spec),
    ...sortingRules(spec),
    ...roleRules(spec),
  ]
}

function sourceRules(source: PipeSource, kind: SourceKind): readonly FieldFinding[] {
  const { kafka, objectStorage, kinesis, pubsub, postgres, mysql, mongodb, bigquery } = source
  const rules = [
    kafka && kafkaRules(kafka),
    objectStorage && objectStorageRules(objectStorage),
    kinesis && kinesisRules(kinesis),
    pubsub && pubsubRules(pubsub),
    postgres && postgresRules(postgres),
    mysql && mysqlRules(mysql),
    mongodb && mongodbRules(mongodb),
    bigquery && bigqueryRules(bigquery),
  ].flatMap((each) => each ?? [])
  return brokenRules(rules, source[kind] as unknown as JsonObject, ['spec', 'source', kind]) // parsed from YAML
}

const SIZED_KINDS: readonly SourceKind[] = ['kafka', 'kinesis']

function partsOf(spec: PipeSpec, kind: SourceKind): readonly FieldRule[] {
  const because = `for ${kind}`
  if (isDatabase(kind)) {
    return [
      { needs: ['destination.database'], because },
      {
        excludes: [
          'destination.table',
          'destination.managedTable',
          'destination.tableDefinition',
          'destination.columns',
          'fieldMappings',
          'scaling',
          'settings',
        ],
        because,
      },
    ]
  }
  const isStorage = kind === 'objectStorage'
  return [
    { needs: ['destination.table', 'destination.managedTable', 'destination.columns'], because },
    ...when(spec.destination.managedTable === true, {
      needs: ['destination.tableDefinition'],
      because: 'with managedTable',
    }),
    ...when(!isStorage, { excludes: ['scaling.concurrency'], because }),
    ...when(!SIZED_KINDS.includes(kind), {
      excludes: ['scaling.replicaCpuMillicores', 'scaling.replicaMemoryGb'],
      because,
    }),
    ...when(kind !== 'kafka', { excludes: ['settings.kafka_read_committed'], because }),
    { doubts: foreignSettings(kind, spec.settings ?? {}).map((name) => `settings.${name}`), because },
  ]
}

export function foreignSettings(kind: SourceKind, settings: object): readonly string[] {
  return Object.keys(settings).filter(
    (name) => name !== 'kafka_read_committed' && name.startsWith('streaming_') === (kind === 'objectStorage'),
  )
}

const RESERVED_ROLES = ['clickpipes', 'clickpipes_system']

function roleRules({ destination: { roles = [] } }: PipeSpec): readonly FieldFinding[] {
  return roles.flatMap((role, index) =>
    RESERVED_ROLES.includes(role)
      ? [
          ruleError('value-excluded', {
            path: ['spec', 'destination', 'roles', index],
            message: `The role ${role} is reserved for the service itself.`,
            hint: 'Name another role.',
          }),
        ]
      : [],
  )
}

function sortingRules({ destination }: PipeSpec): readonly FieldFinding[] {
  const { tableDefinition, columns = [] } = destination
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  return (tableDefinition?.sortingKey ?? []).flatMap((entry, index) => {
    const isNullable = /^\s*(?:LowCardinality\s*\(\s*)?Nullable\s*\(/i.test(types.get(entry) ?? '')
    if (!isNullable && !entry.includes(',')) return []
    return [
      ruleError('value-excluded', {
        path: [...DEFINITION, 'sortingKey', index],
        message: `Entry ${index + 1} of the sorting key ${isNullable ? 'is a Nullable column' : 'holds a comma'}.`,
        hint: isNullable
          ? 'Give the column another type.'
          : 'Write each column or expression as its own list item.',
      }),
    ]
  })
}

const DEFINITION = ['spec', 'destination', 'tableDefinition']
const ENGINE = [...DEFINITION, 'engine']
const NEEDS_KEY: FieldRule = { needs: ['sortingKey'], because: 'for ReplacingMergeTree' }

/** The service's documents disagree whether `versionColumnId` is required, so it is optional here. */
function engineRules({ destination }: PipeSpec): readonly FieldFinding[] {
  const { tableDefinition, columns = [] } = destination
  const engine = tableDefinition?.engine
  if (engine === undefined) return []
  const { type, versionColumnId, columnIds = [] } = engine
  const rules: readonly FieldRule[] = [
    ...when(type !== 'ReplacingMergeTree', { excludes: ['versionColumnId'], because: `for ${type}` }),
    ...when(type !== 'SummingMergeTree', { excludes: ['columnIds'], because: `for ${type}` }),
  ]
  const names = new Set(columns.map(({ name }) => name))
  const named = [
    ...(versionColumnId === undefined ? [] : [{ name: versionColumnId, path: ['versionColumnId'] }]),
    ...columnIds.map((name, index) => ({ name, path: ['columnIds', index] })),
  ]
  return [
    ...brokenRules(rules, engine, ENGINE),
    ...brokenRules(when(type === 'ReplacingMergeTree', NEEDS_KEY), tableDefinition ?? {}, DEFINITION),
    ...named
      .filter(({ name }) => !names.has(name))
      .map(({ name, path }) =>
        ruleError('mapping-unknown-column', {
          path: [...ENGINE, ...path],
          message: `The destination has no column "${name}".`,
          hint: 'Name a column of spec.destination.columns, or add this column there.',
        }),
      ),
  ]
}
