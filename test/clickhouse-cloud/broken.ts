import type { Json } from '../../src/lib/json.ts'
import { FACTS, type Fact } from './facts.ts'
import { FORMATS } from './formats.ts'

/* What can be wrong with every field by itself, by what its row says. */

/** What of a field is broken, and the value that does it; none takes the field away. */
export interface Breakage {
  readonly what: string
  readonly field: string
  readonly value: Json | undefined
}

const NO_VALUES: Readonly<Record<Fact['type'], Json>> = {
  string: 7,
  int: 1.5,
  number: 'many',
  bool: 'yes',
  'string[]': 'one',
}

/** What can be wrong with each field by itself. */
export const BREAKAGES: readonly Breakage[] = FACTS.flatMap((fact) =>
  breakagesOf(fact).map(([what, value]) => ({ what, field: fact.field, value })),
)

function breakagesOf(fact: Fact): readonly (readonly [what: string, value: Json | undefined])[] {
  const { type, low, high, words } = fact
  const format = FORMATS.find(({ says }) => fact.values.startsWith(says))
  const isText = type === 'string'
  // a secret is a reference in a manifest, and what is behind it is not known there
  const isOpen = !fact.isSecret
  return [
    ['type', NO_VALUES[type]],
    ...(isText && isOpen ? [['R41', ''] as const] : []),
    ...(words === undefined ? [] : [['words', 'no-such-word'] as const]),
    ...(low === undefined || isText ? [] : [['range', type === 'int' ? low - 1 : low / 2] as const]),
    ...(high === undefined ? [] : [['range', isText ? 'x'.repeat(high + 1) : high + 1] as const]),
    ...(format === undefined || !isOpen ? [] : [['format', format.wrong] as const]),
    ...(fact.needed === 'yes' || fact.needed === 'in object' ? [['needed', undefined] as const] : []),
  ]
}
