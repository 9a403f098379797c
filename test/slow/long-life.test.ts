import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startProgram } from '../support/process.ts'
import type { LifeReport, Sample } from './support/life-main.ts'

const HOURS = 24

const MAIN = fileURLToPath(new URL('support/life-main.ts', import.meta.url))

test(
  'twenty-four hours with edits, faults and drift: what is held levels off',
  { timeout: 600_000 },
  async () => {
    await using program = startProgram([String(HOURS)], { main: MAIN })
    expect([await program.ended, program.stderr()]).toEqual([0, ''])
    const { samples, events, posts } = JSON.parse(program.stdout()) as LifeReport // its own words
    process.stdout.write(
      `${samples.map((sample) => JSON.stringify(sample)).join('\n')}\n${JSON.stringify(events)}\n`,
    )

    // It lived: each pipe was looked at some 288 times, and nothing was made twice.
    expect(events['ReconcileFinished']).toBeGreaterThan(40 * 250)
    expect(events['SourceLoaded']).toBeGreaterThan(HOURS * 12)
    expect(events['Bug']).toBeUndefined()
    expect(posts).toBe(40)

    const early = samples.slice(0, samples.length / 2)
    const late = samples.slice(samples.length / 2)
    expect([early.length, late.length]).toEqual([6, 6])
    expect(most(late, 'resources')).toBe(42)
    expect(most(late, 'timers')).toBeLessThanOrEqual(most(early, 'timers') + 2)
    expect(most(late, 'handles')).toBeLessThanOrEqual(most(early, 'handles'))
    expect(most(late, 'heap')).toBeLessThan(most(early, 'heap') * 1.03)
    // History is kept to its limit, and so is the file; the write-ahead log starts over again and again.
    expect(most(late, 'historyLines')).toBeLessThanOrEqual(264)
    expect(most(late, 'packedBytes')).toBeLessThan(most(early, 'packedBytes') * 1.15)
    expect(most(late, 'ledgerBytes')).toBeLessThan(most(late, 'packedBytes') * 2)
  },
)

function most(of: readonly Sample[], what: keyof Sample): number {
  return Math.max(...of.map((sample) => sample[what]))
}
