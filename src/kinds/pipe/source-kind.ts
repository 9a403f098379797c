import { ruleError, type RuleFinding } from '../finding.ts'

/** A pipe has exactly one source. @param named the kinds that it names */
export function sourceKindRules(named: readonly string[], kinds: readonly string[]): readonly RuleFinding[] {
  const [first, second, ...more] = named
  if (first === undefined) {
    return [
      ruleError('source-kind-count', {
        path: ['spec', 'source'],
        message: 'The source names no source kind.',
        hint: `Add exactly one of ${kinds.join(', ')}.`,
      }),
    ]
  }
  if (second === undefined) return []
  return [
    ruleError('source-kind-count', {
      path: ['spec', 'source', second],
      message: `The source names more than one source kind: ${[first, second, ...more].join(', ')}.`,
      hint: 'Keep exactly one, and make a pipe of its own for each other one.',
    }),
  ]
}
