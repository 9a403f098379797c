import { repeatsIn, ruleError, type FieldFinding, type Path } from '../../../finding.ts'
import { brokenRules, when, type FieldRule } from './field-rules.ts'
import type { PipeSource, SourceKind } from './source.ts'

type Mapping = {
  readonly targetTable: string
  readonly excludedColumns?: readonly string[] | undefined
  readonly useCustomSortingKey?: boolean | undefined
  readonly sortingKeys?: readonly string[] | undefined
}

/** A pipe of a database needs a table mapping. No two mappings share a source or target table. */
export function mappingsRules(source: PipeSource, kind: SourceKind): readonly FieldFinding[] {
  const of = source[kind]
  if (of === undefined || !('tableMappings' in of)) return []
  const mappings: readonly Mapping[] = of.tableMappings
  const path = ['spec', 'source', kind, 'tableMappings']
  if (mappings.length === 0) {
    return [
      ruleError('field-needed', {
        path,
        message: `"tableMappings" of spec.source.${kind} is empty: a pipe needs at least one table.`,
        hint: 'Add the tables that the pipe copies.',
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

function sourceOf(mapping: Mapping): string {
  return JSON.stringify(
    Object.entries(mapping)
      .filter(([name]) => name.startsWith('source'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

const NEEDS_KEYS: FieldRule = { needs: ['sortingKeys'], because: 'with useCustomSortingKey' }

function columnRules(mapping: Mapping, path: Path): readonly FieldFinding[] {
  const { excludedColumns = [], useCustomSortingKey, sortingKeys = [] } = mapping
  const listed = { excludedColumns, sortingKeys }
  return [
    ...brokenRules(when(useCustomSortingKey === true, NEEDS_KEYS), mapping, path),
    ...Object.entries(listed).flatMap(([field, names]) =>
      repeatedIn(names, (index) => ({
        path: [...path, field, index],
        what: `"${names[index] ?? ''}" is the same column as`,
        hint: 'Remove one of the two.',
      })),
    ),
  ]
}

/** Reports values that repeat an earlier value. @param about the finding for the item at an index */
export function repeatedIn(
  values: readonly string[],
  about: (index: number) => {
    readonly path: Path
    readonly what: string
    readonly hint: string
  },
): readonly FieldFinding[] {
  return repeatsIn(values).map(({ index, first }) => {
    const { path, what, hint } = about(index)
    return ruleError('item-repeated', { path, message: `${what} item ${first + 1}.`, hint })
  })
}
