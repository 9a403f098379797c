import { describe, expect, test } from 'vitest'
import type { Combination, MatrixAction } from './combination.ts'
import { combinationsOf, combinationsOfListed, isReached } from './combination.ts'
import { experiment } from './experiment.ts'
import { broken, fateOf } from './crash-fate.ts'
import type { MatrixProfile } from './matrix-profile.ts'

/** All cells of the matrix for one action; each is a process that fails, and one that comes after it. */
export function describeMatrix(action: MatrixAction): void {
  describeCells(combinationsOf(action), 'default')
}

/** The same where the service lists its pipes. */
export function describeListedMatrix(action: 'kill' | 'throw'): void {
  describeCells(combinationsOfListed(action), 'clickhouse-cloud')
}

function describeCells(combinations: readonly Combination[], profile: MatrixProfile): void {
  describe.concurrent(`the crash matrix of ${profile}`, () => {
    const rows = combinations.map((combination) => {
      const { action, at, reply } = combination
      const fate = isReached(combination) ? fateOf(combination) : `never reached, ${fateOf(combination)}`
      return [`${action} ${at}, the reply: ${reply} → ${fate}`, combination] as const
    })
    test.each(rows)('%s', async (_, combination) => {
      const { facts, log } = await experiment(combination, profile)
      const faults = broken(combination, facts, profile)
      expect(faults, `${JSON.stringify(facts, undefined, 2)}\n${log}`).toEqual([])
    })
  })
}
