import type { JsonObject } from '../../src/lib/json.ts'
import { DATABASE_KINDS } from './facts.ts'
import { at, hasTwice, isSet, itemsAt, objectAt, textOf, unless } from './look.ts'
import type { Fault } from './shape.ts'

/* What the facts say of where the data goes, and of the tables that a database kind copies. */

/** By which fields a table is found in its source (R27, form `key`). */
const SOURCE_FIELDS = [
  'sourceSchemaName',
  'sourceDatabaseName',
  'sourceDatasetName',
  'sourceTable',
  'sourceCollection',
]

/** By what a table is found in its source. */
export function sourceKey(table: JsonObject): string {
  return SOURCE_FIELDS.map((name) => textOf(table[name])).join(' ')
}

/** R25, R26, R27, R31; paths are those within the kind of source. */
export function tableFaults(database: JsonObject): readonly Fault[] {
  const tables = itemsAt(database, 'tableMappings')
  const found = tables.map(sourceKey)
  const unsorted = tables.filter(
    (table) => table['useCustomSortingKey'] === true && !isSet(table['sortingKeys']),
  )
  return [
    ...unless(tables.length > 0, 'tableMappings', 'R25'),
    ...unless(
      !hasTwice(tables.map(({ targetTable }) => textOf(targetTable))),
      'tableMappings[].targetTable',
      'R26',
    ),
    ...unless(!hasTwice(found), 'tableMappings', 'R27'),
    ...unless(unsorted.length === 0, 'tableMappings[].sortingKeys', 'R31'),
  ]
}

/** Of R37 only the half for databases: what comes of a setting of another kind is not known. */
export function destinationFaults(body: JsonObject, kind: string): readonly Fault[] {
  if (DATABASE_KINDS.includes(kind)) return databaseFaults(body)
  const columns = itemsAt(body, 'destination.columns').map(({ name }) => textOf(name))
  const mapped = itemsAt(body, 'fieldMappings').map(({ destinationField }) => textOf(destinationField))
  const isManaged = at(body, 'destination.managedTable') === true
  return [
    ...['table', 'managedTable', 'columns'].flatMap((name) =>
      unless(isSet(at(body, `destination.${name}`)), `destination.${name}`, 'R32'),
    ),
    ...unless(
      !isManaged || isSet(at(body, 'destination.tableDefinition')),
      'destination.tableDefinition',
      'R32',
    ),
    ...unless(!hasTwice(columns), 'destination.columns[].name', 'key'),
    ...unless(!hasTwice(mapped), 'fieldMappings[].destinationField', 'key'),
    ...unless(
      !isSet(body['fieldMappings']) || columns.every((name) => mapped.includes(name)),
      'fieldMappings',
      'R34',
    ),
    ...engineFaults(objectAt(body, 'destination.tableDefinition'), columns),
    ...scalingFaults(objectAt(body, 'scaling'), kind),
    // C#602: false is refused, too
    ...unless(
      kind === 'kafka' || at(body, 'settings.kafka_read_committed') === undefined,
      'settings.kafka_read_committed',
      'R37',
    ),
  ]
}

function databaseFaults(body: JsonObject): readonly Fault[] {
  const none: readonly (readonly [field: string, rule: string])[] = [
    ...['table', 'managedTable', 'tableDefinition', 'columns'].map(
      (name) => [`destination.${name}`, 'R32'] as const,
    ),
    ['fieldMappings', 'R34'],
    ['scaling', 'R36'],
    ['settings', 'R37'],
  ]
  return [
    ...unless(isSet(at(body, 'destination.database')), 'destination.database', 'R33'),
    ...none.flatMap(([field, rule]) => unless(!isSet(at(body, field)), field, rule)),
  ]
}

/** R35; that ReplacingMergeTree needs a version is disputed, so it is not asked for. */
function engineFaults(definition: JsonObject, columns: readonly string[]): readonly Fault[] {
  const field = 'destination.tableDefinition'
  const engine = objectAt(definition, 'engine')
  const { type, versionColumnId: version, columnIds } = engine
  const summed = Array.isArray(columnIds) ? columnIds.map(textOf) : []
  const isRightVersion = type === 'ReplacingMergeTree' && columns.includes(textOf(version))
  const isRightSum = type === 'SummingMergeTree' && summed.every((name) => columns.includes(name))
  return [
    ...unless(!isSet(version) || isRightVersion, `${field}.engine.versionColumnId`, 'R35'),
    ...unless(!isSet(columnIds) || isRightSum, `${field}.engine.columnIds`, 'R35'),
    ...unless(type !== 'ReplacingMergeTree' || isSet(definition['sortingKey']), `${field}.sortingKey`, 'R35'),
  ]
}

/** R36; whether Pub/Sub has replicas is not known. */
export function scalingFaults(scaling: JsonObject, kind: string): readonly Fault[] {
  const mayHaveSize = kind === 'kafka' || kind === 'kinesis'
  return [
    ...['replicaCpuMillicores', 'replicaMemoryGb'].flatMap((name) =>
      unless(mayHaveSize || !isSet(scaling[name]), `scaling.${name}`, 'R36'),
    ),
    ...unless(kind === 'objectStorage' || !isSet(scaling['concurrency']), 'scaling.concurrency', 'R36'),
  ]
}
