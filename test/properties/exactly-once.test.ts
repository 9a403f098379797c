import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ParsedFile } from '../../src/manifest/parse-file.ts'
import type { Written } from '../reconcile/model-ledger.ts'
import type { Command } from './commands.ts'
import { histories } from './histories.ts'
import type { Play } from './history.ts'
import { begin } from './history.ts'
import { unsettled } from './settled.ts'

/** More of them, or others: `PROPERTY_RUNS=10000 PROPERTY_SEED=7 vitest run test/properties`. */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 150)
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261_121)
const LIMIT_MS = 60_000 + RUNS * 1_000

/** Longer than the longest back-off, the interval of a pipe and a suspension. */
const PASS_MS = 20 * 60_000

/** A 404 is believed after the third; a back-off ends; who waits for another comes after it. */
const PASSES = 10
const LEAST_PASSES = 5

const PARSED_MOST = 20_000

async function check({ oracle, around: { ledger, platform }, daemons }: Play): Promise<void> {
  await oracle.check({ ledger, platform, daemons })
  expect(oracle.violations).toEqual([])
}

async function played(commands: readonly Command[], parsed: Map<string, ParsedFile>): Promise<Play> {
  if (parsed.size > PARSED_MOST) parsed.clear()
  const play = await begin(parsed)
  for (const command of commands) {
    await play.play(command)
    await check(play)
  }
  return play
}

/** A pipe that cannot be taken over is asked for again and again: a person has to say something else. */
function isTriedAgain({ after }: Written): boolean {
  return after?.conditions?.Synced.reason === 'AdoptRefused'
}

describe('over random histories', () => {
  test(
    'no pipe is created twice and none is lost; and once nothing fails any more, everything settles and stays so',
    async () => {
      const parsed = new Map<string, ParsedFile>()
      await fc.assert(
        fc.asyncProperty(histories, async (commands) => {
          const play = await played(commands, parsed)
          const { platform, writes } = play.around
          await play.calm()
          // Two in a row, for the first one may come before a wait is over; and no fewer than a 404 takes to be believed.
          for (let pass = 0, quiet = 0; pass < PASSES && (quiet < 2 || pass < LEAST_PASSES); pass += 1) {
            const before = writes.length
            await play.pass(PASS_MS)
            quiet = writes.length === before ? quiet + 1 : 0
          }
          await check(play)
          expect(unsettled(play)).toEqual([])

          // A query endpoint that is due is applied once more: that is the one exception (design §2, law 8).
          await play.pass(0)
          const [posts, written] = [platform.posts.length, writes.length]
          await play.pass(0)
          expect(platform.posts.slice(posts)).toEqual([])
          expect(writes.slice(written).filter((write) => !isTriedAgain(write))).toEqual([])
        }),
        { numRuns: RUNS, seed: SEED },
      )
    },
    LIMIT_MS,
  )
})
