import type { JsonObject } from '../../../../lib/json.ts'
import { ruleError, type RuleFinding } from '../../../finding.ts'
import { brokerRules } from '../../../pipe/brokers.ts'
import { typeRules } from '../../../pipe/column-type.ts'
import { columnRules, mappingRules } from '../../../pipe/columns.ts'
import { sourceKindRules } from '../../../pipe/source-kind.ts'
import { brokenRules, when, type FieldRule } from './field-rules.ts'
import type { PipeManifest, PipeSpec } from './schema.ts'
import { isDatabase, kindsOf, SOURCE_KINDS, type PipeSource, type SourceKind } from './source.ts'
import { kafkaRules } from './sources/kafka.ts'
import { kinesisRules } from './sources/kinesis.ts'
import { mongodbRules } from './sources/mongodb.ts'
import { mysqlRules } from './sources/mysql.ts'
import { objectStorageRules } from './sources/object-storage.ts'
import { postgresRules } from './sources/postgres.ts'
import { pubsubRules } from './sources/pubsub.ts'
import { mappingsRules } from './table-mappings.ts'

/** What must hold within one manifest of a pipe, beyond its shape (facts 5). */
export function pipeRules({ spec }: PipeManifest): readonly RuleFinding[] {
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
    // R34: none is needed
    ...(spec.fieldMappings === undefined ? [] : mappingRules(spec)),
    ...engineRules(spec),
    ...roleRules(spec),
  ]
}

function sourceRules(source: PipeSource, kind: SourceKind): readonly RuleFinding[] {
  const { kafka, objectStorage, kinesis, pubsub, postgres, mysql, mongodb } = source
  const rules = [
    kafka && kafkaRules(kafka),
    objectStorage && objectStorageRules(objectStorage),
    kinesis && kinesisRules(kinesis),
    pubsub && pubsubRules(pubsub),
    postgres && postgresRules(postgres),
    mysql && mysqlRules(mysql),
    mongodb && mongodbRules(mongodb),
  ].flatMap((each) => each ?? [])
  return brokenRules(rules, source[kind] as unknown as JsonObject, ['spec', 'source', kind]) // it came as YAML
}

/** R36: kinds whose replicas have a size of their own. */
const SIZED_KINDS: readonly SourceKind[] = ['kafka', 'kinesis']

/** R32, R33, R36 and R37: which parts of a pipe a source kind has. */
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
  const settings = Object.keys(spec.settings ?? {}).filter(
    (name) => name.startsWith('streaming_') === isStorage,
  )
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
    { doubts: settings.map((name) => `settings.${name}`), because },
  ]
}

/** Roles that the service keeps for itself (facts 4.10). */
const RESERVED_ROLES = ['clickpipes', 'clickpipes_system']

function roleRules({ destination: { roles = [] } }: PipeSpec): readonly RuleFinding[] {
  return roles.flatMap((role, index) =>
    RESERVED_ROLES.includes(role)
      ? [
          ruleError('value-excluded', {
            path: ['spec', 'destination', 'roles', index],
            message: `The service keeps the role ${role} for itself.`,
            hint: 'Name another role.',
          }),
        ]
      : [],
  )
}

const ENGINE = ['spec', 'destination', 'tableDefinition', 'engine']

/** R35. Whether ReplacingMergeTree needs a version column is disputed. */
function engineRules({ destination }: PipeSpec): readonly RuleFinding[] {
  const { tableDefinition, columns = [] } = destination
  const engine = tableDefinition?.engine
  if (engine === undefined) return []
  const { type, versionColumnId, columnIds = [] } = engine
  const rules: readonly FieldRule[] = [
    ...when(type !== 'ReplacingMergeTree', { excludes: ['versionColumnId'], because: `for ${type}` }),
    ...when(type !== 'SummingMergeTree', { excludes: ['columnIds'], because: `for ${type}` }),
  ]
  const needsKey = type === 'ReplacingMergeTree' && (tableDefinition?.sortingKey ?? []).length === 0
  const names = new Set(columns.map(({ name }) => name))
  const named = [
    ...(versionColumnId === undefined ? [] : [{ name: versionColumnId, path: ['versionColumnId'] }]),
    ...columnIds.map((name, index) => ({ name, path: ['columnIds', index] })),
  ]
  return [
    ...brokenRules(rules, engine, ENGINE),
    ...(needsKey
      ? [
          ruleError('field-needed', {
            path: ['spec', 'destination', 'tableDefinition', 'sortingKey'],
            message:
              '"sortingKey" of spec.destination.tableDefinition is missing: it is needed for ReplacingMergeTree.',
            hint: 'Add it.',
          }),
        ]
      : []),
    ...named
      .filter(({ name }) => !names.has(name))
      .map(({ name, path }) =>
        ruleError('mapping-unknown-column', {
          path: [...ENGINE, ...path],
          message: `The destination has no column "${name}".`,
          hint: 'Name one of spec.destination.columns, or add it there.',
        }),
      ),
  ]
}
