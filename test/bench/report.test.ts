import { expect, test } from 'vitest'
import { isBad, resultOf } from './report.ts'
import type { Row, Rule } from './row.ts'

const PLUS = { how: 'plus', target: 350, floorThen: 30 } as const
const TIMES = { how: 'times', target: 1.25 } as const
const SHARE = { how: 'share', target: 0.97 } as const

/** Each run as its floor and its subject. */
const ROWS: readonly (readonly [string, Rule, string, string])[] = [
  ['the target in the median', PLUS, '30/370 30/380 30/900', 'reached'],
  ['a little above it', PLUS, '30/500 30/510 30/520', 'not reached'],
  ['more than twice, in each run', PLUS, '30/800 30/810 30/900', 'far off'],
  ['more than twice on a machine of half the speed', PLUS, '60/800 60/810 60/900', 'not reached'],
  ['more than twice even there', PLUS, '60/1600 60/1700 60/1800', 'far off'],
  ['a machine that somebody else used in between', TIMES, '10/13 10/40 10/50', 'not reached'],
  ['a quotient that is far off each time', TIMES, '10/30 10/40 10/50', 'far off'],
  ['a share that was there once', SHARE, '100/98 100/55 100/60', 'not reached'],
  ['a share that never was', SHARE, '100/90 100/55 100/60', 'far off'],
]

test.each(ROWS)('%s', (_, rule, runs, verdict) => {
  const row: Row = {
    name: 'row',
    what: 'subject',
    floor: 'floor',
    unit: 'ms',
    rule,
    measure: () => Promise.reject(new Error('not measured here')),
  }
  const measured = runs.split(' ').map((run) => {
    const [floor = 0, subject = 0] = run.split('/').map(Number)
    return { floor, subject, notes: {}, faults: [] }
  })
  expect(resultOf(row, 100, measured).verdict).toBe(verdict)
})

test.each([
  ['times that are far off', { verdict: 'far off', faults: [], isSteady: false }, true, false],
  ['memory that is far off', { verdict: 'far off', faults: [], isSteady: true }, true, true],
  ['what must never be', { verdict: 'reached', faults: ['2 writes'], isSteady: false }, true, true],
  ['what is not quite reached', { verdict: 'not reached', faults: [], isSteady: true }, false, false],
] as const)('%s: whether the bench fails, and whether CI does', (_, result, isBadAlone, isBadInCi) => {
  expect(isBad(result, { isShort: false })).toBe(isBadAlone)
  expect(isBad(result, { isShort: true })).toBe(isBadInCi)
})

test.each([
  ['in some runs', [['1 answers 429'], [], []], []],
  [
    'in each run',
    [['1 answers 429'], ['2 answers 429'], ['1 answers 429']],
    ['1 answers 429', '2 answers 429'],
  ],
] as const)(
  'a fault that a busy machine may make counts when it is there in each run: %s',
  (_, seen, expected) => {
    const measured = seen.map((faultsIfInEach) => ({
      floor: 50,
      subject: 49,
      notes: {},
      faults: [],
      faultsIfInEach,
    }))
    const row = { name: 'budget', what: '', floor: '', unit: 'requests/s', rule: SHARE } as const
    expect(
      resultOf({ ...row, measure: () => Promise.reject(new Error('not measured')) }, 1, measured).faults,
    ).toEqual(expected)
  },
)
