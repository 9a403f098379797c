import * as fc from 'fast-check'
import { command } from './acts.ts'
import { deletion, doubt, lateReturn, outage } from './chapters.ts'
import type { Command } from './commands.ts'

const chapter = fc.oneof(
  { weight: 9, arbitrary: fc.array(command, { minLength: 1, maxLength: 15, size: 'max' }) },
  { weight: 4, arbitrary: outage },
  { weight: 2, arbitrary: lateReturn },
  { weight: 2, arbitrary: deletion },
  { weight: 2, arbitrary: doubt },
)

/** Histories of about thirty commands; half of them know no second daemon. */
export const histories: fc.Arbitrary<readonly Command[]> = fc
  .tuple(fc.boolean(), fc.array(chapter, { minLength: 1, maxLength: 4, size: 'max' }))
  .map(([isAlone, chapters]) => (isAlone ? chapters.flat().map(inOne) : chapters.flat()))

/** The same, without a second daemon. */
function inOne(one: Command): Command {
  if (one.type === 'both') return { type: 'turn', process: 0, line: one.line }
  if (one.type === 'waiting') return { ...one, meanwhile: one.meanwhile.map(inOne) }
  if (one.type === 'during') return { ...one, meanwhile: inOne(one.meanwhile) }
  return 'process' in one ? { ...one, process: 0 } : one
}
