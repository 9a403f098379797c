import { ruleError, type RuleFinding } from '../finding.ts'

/** The types of columns whose brackets do not match, such as `Decimal(10, 2`. Which types there are, the platform knows. */
export function typeRules(
  columns: readonly { readonly name: string; readonly type: string }[],
): readonly RuleFinding[] {
  return columns.flatMap(({ name, type }, index) => {
    const right = withBrackets(type)
    if (right === type) return []
    return [
      ruleError('column-type-invalid', {
        path: ['spec', 'destination', 'columns', index, 'type'],
        message: `The "(" and ")" in the type of the column "${name}" do not match.`,
        hint: `Write "${right}".`,
      }),
    ]
  })
}

/** A text in quotes with its escapes, or one character. */
const PARTS = /'(?:[^'\\]|\\.)*'|`[^`]*`|"(?:[^"\\]|\\.)*"|[^]/g

/** The type with the brackets that are missing at its end, and without those that close nothing. */
function withBrackets(type: string): string {
  let right = ''
  let open = 0
  for (const [part] of type.matchAll(PARTS)) {
    // A quote that nothing closes: what is in it cannot be said.
    if (/^['`"]$/.test(part)) return type
    if (part === ')' && open === 0) continue
    open += Number(part === '(') - Number(part === ')')
    right += part
  }
  return right + ')'.repeat(open)
}
