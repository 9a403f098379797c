import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffAfter, isWaiting } from '../../src/plan/requeue.ts'
import { because } from './inputs.ts'
import type { Failed } from '../../src/plan/outcome.ts'
import type { Reason } from '../../src/plan/reason.ts'
import type { Backoff } from '../../src/plan/record.ts'

const NOW = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

const rows = [
  { why: 'its time is still to come', until: NOW + 1, waits: true },
  { why: 'the longest wait there is', until: NOW + 15 * MINUTE, waits: true },
  { why: 'its time has come', until: NOW, waits: false },
  {
    why: 'its time came long ago, as after a clock that was set forward',
    until: NOW - 60 * MINUTE,
    waits: false,
  },
  { why: 'longer than any wait: the clock was set back an hour', until: NOW + 60 * MINUTE, waits: false },
] as const

test.for(rows)('a back-off: $why', ({ until, waits }) => {
  expect(isWaiting({ failures: 1, until, digest: '' }, NOW)).toBe(waits)
})

function failed(reason: Reason, retryAfterMs?: number): Failed {
  return { result: 'failed', ...because(reason), requestId: undefined, retryAfterMs }
}

function after(failures: number, digest = 'same'): Backoff {
  return { failures, until: NOW - 1, digest }
}

/** The whole of the ceiling, as chance has it at the most. */
function most(): number {
  return 1
}

describe('the wait after a failure', () => {
  const waits: Readonly<
    Record<
      string,
      {
        readonly previous?: Backoff
        readonly outcome?: Failed
        readonly random?: () => number
        readonly is: readonly [failures: number, waitMs: number]
      }
    >
  > = {
    'begins with a second': { is: [1, 1_000] },
    doubles: { previous: after(1), is: [2, 2_000] },
    'doubles again': { previous: after(2), is: [3, 4_000] },
    'ends at five minutes': { previous: after(20), is: [21, 5 * MINUTE] },
    'ends there also after very many': { previous: after(100_000), is: [100_001, 5 * MINUTE] },
    'is longer for what was refused in clear words': { outcome: failed('Rejected'), is: [1, 5_000] },
    'which ends at a quarter of an hour': {
      outcome: failed('Rejected'),
      previous: after(30),
      is: [31, 15 * MINUTE],
    },
    'begins afresh for another manifest or secret': { previous: after(9, 'other'), is: [1, 1_000] },
    'is never shorter than a quarter of a second': { random: () => 0, is: [1, 250] },
    'is any part of its ceiling': { previous: after(4), random: () => 0.5, is: [5, 8_000] },
    'is what the platform asked for': { outcome: failed('RateLimited', 42_000), is: [1, 42_000] },
    'is what the platform asked for, also when that is less': {
      previous: after(9),
      outcome: failed('RateLimited', 0),
      is: [10, 0],
    },
  }

  test.each(Object.entries(waits))('%s', (_why, { previous, outcome, random, is: [failures, waitMs] }) => {
    const backoff = backoffAfter({
      previous,
      outcome: outcome ?? failed('Unavailable'),
      digest: 'same',
      now: NOW,
      random: random ?? most,
    })
    expect(backoff).toEqual({ failures, until: NOW + waitMs, digest: 'same' })
  })

  test('has an end, and is in whole milliseconds, whatever failed and however often', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        fc.constantFrom<Reason>('Rejected', 'Unavailable', 'AuthFailed', 'LedgerFailed'),
        (failures, chance, reason) => {
          const { until } = backoffAfter({
            previous: after(failures),
            outcome: failed(reason),
            digest: 'same',
            now: NOW,
            random: () => chance,
          })
          expect(Number.isInteger(until)).toBe(true)
          expect(until - NOW).toBeGreaterThanOrEqual(250)
          expect(until - NOW).toBeLessThanOrEqual(15 * MINUTE)
        },
      ),
    )
  })
})
