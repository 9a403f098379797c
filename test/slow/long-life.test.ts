import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startProgram } from '../support/process.ts'
import type { LifeReport } from './support/life-main.ts'

const HOURS = 24

const MAIN = fileURLToPath(new URL('support/life-main.ts', import.meta.url))

test(
  'twenty-four hours with edits, faults and drift: what is held levels off',
  { timeout: 600_000 },
  async () => {
    await using program = startProgram([String(HOURS)], { main: MAIN })
    expect([await program.ended, program.stderr()]).toEqual([0, ''])
    const { samples, events, posts, violations } = JSON.parse(program.stdout()) as LifeReport // its own words
    process.stdout.write(
      `${samples.map((sample) => JSON.stringify(sample)).join('\n')}\n${JSON.stringify(events)}\n`,
    )

    // It lived: each pipe was looked at some 288 times, and nothing was made twice.
    expect(events['ReconcileFinished']).toBeGreaterThan(40 * 250)
    expect(events['SourceLoaded']).toBeGreaterThan(HOURS * 12)
    expect(events['Bug']).toBeUndefined()
    expect(posts).toBe(40)
    expect(violations).toEqual([])

    const [, half, , last] = samples
    if (half === undefined || last === undefined) throw new Error('there are four samples')
    expect(last.resources).toBe(42)
    expect(last.timers).toBeLessThanOrEqual(half.timers + 2)
    expect(last.handles).toBe(half.handles)
    expect(last.heap).toBeLessThan(half.heap * 1.03)
    // History is kept to its limit, and so is the file; the write-ahead log starts over again and again.
    expect(last.historyLines).toBeLessThanOrEqual(264)
    expect(last.ledgerBytes).toBeLessThanOrEqual(half.ledgerBytes * 1.1)
    expect(last.walBytes).toBeLessThan(16 * 2 ** 20)
  },
)
