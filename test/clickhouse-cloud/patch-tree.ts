import { DATABASE_KINDS, FACTS, treeOf, type Fact, type Place } from './facts.ts'

/* What a `PATCH {pipe}` may hold, by the kind of its source: the rows that change, and no other (sections 3.1 and 8). */

/** Kafka takes them and drops them; those of the registry's login it refuses. */
const DROPPED = /^source\.kafka\.(?!schemaRegistry\.credentials\.)/

/** Not in the schema, although the provider sends them (note 3): taken as long as they are what they were. */
export const AS_THEY_WERE: readonly string[] = ['source.postgres.authentication', 'source.postgres.iamRole']

/** What an entry to remove takes. */
const REMOVED: Readonly<Record<string, readonly string[]>> = {
  postgres: [
    'sourceSchemaName',
    'sourceTable',
    'targetTable',
    'tableEngine',
    'partitionKey',
    'partitionByExpr',
  ],
  mysql: ['sourceSchemaName', 'sourceTable', 'targetTable', 'tableEngine', 'partitionKey'],
  mongodb: ['sourceDatabaseName', 'sourceCollection', 'targetTable', 'tableEngine'],
}

export function patchTree(kind: string): Place {
  return treeOf(FACTS.flatMap((fact) => patchFacts(fact, kind)))
}

/** Whether Kafka takes a field and does not apply it. */
export function isDropped({ field, change }: Fact): boolean {
  return change === 'immutable' && DROPPED.test(field)
}

function patchFacts(fact: Fact, kind: string): readonly Fact[] {
  const { field, change } = fact
  const arm = `source.${kind}.`
  // settings are taken with every kind, and ignored
  if (field === 'name' || field.startsWith('settings.')) return [absentStays(fact)]
  if (kind === 'bigquery') return []
  if (field.startsWith('destination.') || field.startsWith('fieldMappings'))
    return change === 'patch' && !DATABASE_KINDS.includes(kind) ? [absentStays(fact)] : []
  if (field === 'source.validateSamples') return [absentStays(fact)]
  if (!field.startsWith(arm)) return []
  if (change === 'mappings') return mappingFacts(fact, kind)
  return change === 'patch' || isDropped(fact) || AS_THEY_WERE.includes(field) ? [absentStays(fact)] : []
}

/** Nothing is needed but within an item of a list; and nothing is null, because nobody knows what that means. */
function absentStays(fact: Fact): Fact {
  return { ...fact, isNullable: false, needed: fact.field.includes('[]') ? fact.needed : '–' }
}

function mappingFacts(fact: Fact, kind: string): readonly Fact[] {
  const name = fact.field.replace(/^.*\./, '')
  const added = {
    ...fact,
    isNullable: false,
    field: fact.field.replace('tableMappings', 'tableMappingsToAdd'),
  }
  const removed = { ...added, field: fact.field.replace('tableMappings', 'tableMappingsToRemove') }
  if (REMOVED[kind]?.includes(name) !== true) return [added]
  // of Postgres the document does not require it
  return name === 'targetTable' && kind === 'postgres'
    ? [added, { ...removed, needed: '–' }]
    : [added, removed]
}
