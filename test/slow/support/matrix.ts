import { describe, expect, test } from 'vitest'
import { combinationsOf, isReached, type MatrixAction } from './combination.ts'
import { experiment } from './experiment.ts'
import { broken, fateOf } from './crash-fate.ts'

/** All cells of the matrix for one action; each is a process that fails, and one that comes after it. */
export function describeMatrix(action: MatrixAction): void {
  describe.concurrent('the crash matrix', () => {
    const rows = combinationsOf(action).map((combination) => {
      const { at, reply } = combination
      const fate = isReached(combination) ? fateOf(combination) : `never reached, ${fateOf(combination)}`
      return [`${action} ${at}, the reply: ${reply} → ${fate}`, combination] as const
    })
    test.each(rows)('%s', async (_, combination) => {
      const { facts, log } = await experiment(combination)
      const faults = broken(combination, facts)
      expect(faults, `${JSON.stringify(facts, undefined, 2)}\n${log}`).toEqual([])
    })
  })
}
