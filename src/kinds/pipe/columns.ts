import { Text, z } from '../zod.ts'
import { createNearest } from '../../lib/nearest.ts'
import { repeatsIn, ruleError, type FieldFinding } from '../finding.ts'

export const ColumnList = z
  .array(
    z.strictObject({
      name: Text.describe('Name of the column.'),
      type: Text.describe('Type of the column.').meta({ form: 'block' }),
    }),
  )
  .optional()
  .describe('Columns of the destination table.')
  .meta({ keyedBy: ['name'] })

export const FieldMapping = z.strictObject({
  sourceField: Text.describe('Field of the source.').meta({ form: 'foreign' }),
  destinationField: Text.describe('Column of the destination.'),
})

const NAMES_SHOWN = 5

const MOST_COMPARISONS = 10_000

interface Columns {
  readonly destination?: { readonly columns?: readonly { readonly name: string }[] | undefined } | undefined
  readonly fieldMappings?: readonly { readonly destinationField: string }[] | undefined
}

export function columnRules(spec: Columns): readonly FieldFinding[] {
  const names = (spec.destination?.columns ?? []).map(({ name }) => name)
  return repeatsIn(names).map(({ index, first }) =>
    ruleError('column-repeated', {
      path: ['spec', 'destination', 'columns', index, 'name'],
      message: `The column "${names[index]}" is already column ${first + 1} of the destination.`,
      hint: 'Remove or rename one of the two columns.',
    }),
  )
}

/** Each column needs one field mapping. Without listed columns, any name is accepted: the table might exist. */
export function mappingRules(spec: Columns): readonly FieldFinding[] {
  const columns = new Set((spec.destination?.columns ?? []).map(({ name }) => name))
  const mappings = spec.fieldMappings ?? []
  const mapped = new Map<string, number>()
  const findings: FieldFinding[] = []
  const nearest = createNearest(MOST_COMPARISONS)
  const known = listed([...columns])
  for (const [index, { destinationField }] of mappings.entries()) {
    const path = ['spec', 'fieldMappings', index, 'destinationField']
    const before = mapped.get(destinationField)
    if (before !== undefined) {
      findings.push(
        ruleError('mapping-repeated-column', {
          path,
          message: `The column "${destinationField}" is already filled by field mapping ${before + 1}.`,
          hint: 'Remove one of the two mappings: a column is filled from only one field.',
        }),
      )
      continue
    }
    mapped.set(destinationField, index)
    if (columns.size > 0 && !columns.has(destinationField)) {
      findings.push(
        unknownColumn(destinationField, path, { meant: nearest(destinationField, columns), known }),
      )
    }
  }
  const missing = [...columns].filter((name) => !mapped.has(name))
  return missing.length === 0 ? findings : [missingColumns(missing), ...findings]
}

function unknownColumn(
  name: string,
  path: FieldFinding['path'],
  { meant, known }: { readonly meant: string | undefined; readonly known: string },
): FieldFinding {
  return ruleError('mapping-unknown-column', {
    path,
    message: `The destination has no column "${name}".`,
    hint:
      meant === undefined
        ? `Name one of its columns: ${known}.`
        : `Did you mean "${meant}"? Otherwise add the column to spec.destination.columns.`,
  })
}

function missingColumns(names: readonly string[]): FieldFinding {
  return ruleError('mapping-missing-column', {
    path: ['spec', 'fieldMappings'],
    message: `The field mappings do not cover ${names.length === 1 ? 'the column' : `${names.length} columns:`} ${listed(names)}.`,
    hint:
      names.length === 1
        ? `Add a mapping with "destinationField: ${names.join()}": the mappings must include all destination columns.`
        : 'Add one mapping for each of these columns, with its name as destinationField: the mappings must include all destination columns.',
  })
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).map((name) => `"${name}"`)
  const rest = names.length - shown.length
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`
}

/** Reports unbalanced brackets, such as `Decimal(10, 2`. Only the platform can check the rest of a type. */
export function typeRules(
  columns: readonly { readonly name: string; readonly type: string }[],
): readonly FieldFinding[] {
  return columns.flatMap(({ name, type }, index) => {
    if (isBalanced(type)) return []
    return [
      ruleError('column-type-invalid', {
        path: ['spec', 'destination', 'columns', index, 'type'],
        message: `The "(" and ")" in the type of the column "${name}" do not match.`,
        hint: 'Write one ")" for each "(".',
      }),
    ]
  })
}

const PARTS = /'(?:[^'\\]|\\.)*'|`[^`]*`|"(?:[^"\\]|\\.)*"|[^]/g

function isBalanced(type: string): boolean {
  let open = 0
  for (const [part] of type.matchAll(PARTS)) {
    // If a quote has no end, the brackets count as balanced.
    if (/^['`"]$/.test(part)) return true
    open += Number(part === '(') - Number(part === ')')
    if (open < 0) return false
  }
  return open === 0
}
