import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Combination, MatrixAction } from './combination.ts'
import { combinationsOf, combinationsOfListed, isReached } from './combination.ts'
import { experiment } from './experiment.ts'
import { broken, fateOf } from './crash-fate.ts'
import type { MatrixProfile } from './matrix-profile.ts'
import type { SuccessorPlace } from './successor.ts'

/**
 * All cells of the matrix for one action; each is a process that fails, and one that comes after it.
 * @param successor where the second one runs
 */
export function describeMatrix(action: MatrixAction, successor: SuccessorPlace): void {
  describeCells(combinationsOf(action), { successor, profile: 'default' })
}

/** The same where the service lists its pipes. */
export function describeListedMatrix(action: 'kill' | 'throw'): void {
  describeCells(combinationsOfListed(action), { successor: 'here', profile: 'clickhouse-cloud' })
}

function describeCells(
  combinations: readonly Combination[],
  { successor, profile }: { readonly successor: SuccessorPlace; readonly profile: MatrixProfile },
): void {
  let cache = ''
  beforeAll(() => {
    cache = mkdtempSync(join(tmpdir(), 'pipewright-compiled-'))
  })
  afterAll(() => rmSync(cache, { recursive: true, force: true }))

  describe.concurrent(`the crash matrix of ${profile}`, () => {
    const rows = combinations.map((combination) => {
      const { action, at, reply } = combination
      const fate = isReached(combination) ? fateOf(combination) : `never reached, ${fateOf(combination)}`
      return [`${action} ${at}, the reply: ${reply} → ${fate}`, combination] as const
    })
    test.each(rows)('%s', async (_, combination) => {
      const { facts, log } = await experiment(combination, { cache, successor, profile })
      const faults = broken(combination, facts, profile)
      expect(faults, `${JSON.stringify(facts, undefined, 2)}\n${log}`).toEqual([])
    })
  })
}
