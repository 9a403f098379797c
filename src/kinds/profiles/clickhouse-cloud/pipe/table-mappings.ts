import { ruleError, type RuleFinding } from '../../../finding.ts'
import type { PipeSource, SourceKind } from './source.ts'

/** What all databases have in a table mapping. */
interface Mapping {
  readonly targetTable: string
  readonly excludedColumns?: readonly string[] | undefined
  readonly useCustomSortingKey?: boolean | undefined
  readonly sortingKeys?: readonly string[] | undefined
}

/** R25, R26, R27 and R31, of the source kinds that have table mappings. */
export function mappingsRules(source: PipeSource, kind: SourceKind): readonly RuleFinding[] {
  const of = source[kind]
  if (of === undefined || !('tableMappings' in of)) return []
  const mappings: readonly Mapping[] = of.tableMappings
  const path = ['spec', 'source', kind, 'tableMappings']
  if (mappings.length === 0) {
    return [
      ruleError('field-needed', {
        path,
        message: `"tableMappings" of spec.source.${kind} is empty: a pipe has at least one table.`,
        hint: 'Add the tables that it copies.',
      }),
    ]
  }
  return [
    ...repeatedIn(mappings.map(sourceOf), (index) => ({
      path: [...path, index],
      what: `Table mapping ${index + 1} has the same source as`,
      hint: 'Remove one of the two.',
    })),
    ...repeatedIn(
      mappings.map(({ targetTable }) => targetTable),
      (index) => ({
        path: [...path, index, 'targetTable'],
        what: `Table mapping ${index + 1} has the same target table as`,
        hint: 'Give each its own.',
      }),
    ),
    ...mappings.flatMap((mapping, index) => columnRules(mapping, [...path, index])),
  ]
}

/** A mapping is known by its source fields, which have no others' names. */
function sourceOf(mapping: Mapping): string {
  return JSON.stringify(
    Object.entries(mapping)
      .filter(([name]) => name.startsWith('source'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

function columnRules(
  { excludedColumns = [], useCustomSortingKey, sortingKeys = [] }: Mapping,
  path: readonly (string | number)[],
): readonly RuleFinding[] {
  const listed = { excludedColumns, sortingKeys }
  const needsKeys = useCustomSortingKey === true && sortingKeys.length === 0
  return [
    ...(needsKeys
      ? [
          ruleError('field-needed', {
            path: [...path, 'sortingKeys'],
            message: '"sortingKeys" is missing: it is needed with useCustomSortingKey.',
            hint: 'Add it.',
          }),
        ]
      : []),
    ...Object.entries(listed).flatMap(([field, names]) =>
      repeatedIn(names, (index) => ({
        path: [...path, field, index],
        what: `"${names[index] ?? ''}" is the same column as`,
        hint: 'Remove one of the two.',
      })),
    ),
  ]
}

/** Each that was there before. @param about says of the one at an index what it is, up to "as item N" */
function repeatedIn(
  values: readonly string[],
  about: (index: number) => {
    readonly path: readonly (string | number)[]
    readonly what: string
    readonly hint: string
  },
): readonly RuleFinding[] {
  const seen = new Map<string, number>()
  return values.flatMap((value, index) => {
    const before = seen.get(value)
    if (before === undefined) {
      seen.set(value, index)
      return []
    }
    const { path, what, hint } = about(index)
    return [ruleError('item-repeated', { path, message: `${what} item ${before + 1}.`, hint })]
  })
}
