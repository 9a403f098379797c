import { describe, expect, test } from 'vitest'
import { isConfirmed, isMassMissing, missesAfter } from '../../src/plan/missing.ts'
import type { Misses } from '../../src/plan/record.ts'
import { HOUR, MINUTE, NOW } from './inputs.ts'

function misses(count: number, firstAgo: number, lastAgo: number): Misses {
  return { count, firstAt: NOW - firstAgo, lastAt: NOW - lastAgo }
}

describe('one more 404', () => {
  const first: Misses = { count: 1, firstAt: NOW, lastAt: NOW }
  const rows: readonly {
    readonly why: string
    readonly misses: Misses | undefined
    readonly createdAgo: number
    readonly is: Misses | undefined
  }[] = [
    { why: 'is the first', misses: undefined, createdAgo: HOUR, is: first },
    { why: 'within the first minute does not count', misses: undefined, createdAgo: 59_999, is: undefined },
    { why: 'at the end of the first minute counts', misses: undefined, createdAgo: MINUTE, is: first },
    {
      why: 'of a pipe made in the future counts: the clock was set back',
      misses: undefined,
      createdAgo: -HOUR,
      is: first,
    },
    {
      why: 'is the second',
      misses: misses(1, 30_000, 30_000),
      createdAgo: HOUR,
      is: misses(2, 30_000, 0),
    },
    {
      why: 'at the same moment as the last is one more',
      misses: misses(2, 30_000, 0),
      createdAgo: HOUR,
      is: misses(3, 30_000, 0),
    },
    {
      why: 'begins anew after misses from the future',
      misses: misses(2, -HOUR, -HOUR - MINUTE),
      createdAgo: HOUR,
      is: first,
    },
    {
      why: 'begins anew after confirmed misses from the future as well',
      misses: misses(5, -HOUR, -HOUR - MINUTE),
      createdAgo: HOUR,
      is: first,
    },
    {
      why: 'adds nothing to what is confirmed, so that nothing has to be written',
      misses: misses(3, HOUR, MINUTE),
      createdAgo: 2 * HOUR,
      is: misses(3, HOUR, MINUTE),
    },
    {
      why: 'within the first minute forgets what came before',
      misses: misses(2, 30_000, 1_000),
      createdAgo: 10_000,
      is: undefined,
    },
  ]

  test.each(rows)('$why', ({ misses: before, createdAgo, is }) => {
    expect(missesAfter({ misses: before, createdAt: NOW - createdAgo, now: NOW })).toEqual(is)
  })
})

describe('misses', () => {
  test.each([
    { why: 'none prove nothing', is: false, misses: undefined },
    { why: 'two over an hour prove nothing', is: false, misses: misses(2, HOUR, 0) },
    { why: 'three within less than a minute prove nothing', is: false, misses: misses(3, 59_999, 0) },
    { why: 'three over a minute prove it', is: true, misses: misses(3, MINUTE, 0) },
    { why: 'a hundred over a second prove nothing', is: false, misses: misses(100, 1_000, 0) },
  ])('$why', ({ misses: seen, is }) => {
    expect(isConfirmed(seen)).toBe(is)
  })
})

describe('missing at once', () => {
  test.each([
    { missing: 2, of: 2, is: false },
    { missing: 3, of: 3, is: true },
    { missing: 3, of: 10, is: true },
    { missing: 3, of: 11, is: false },
    { missing: 29, of: 100, is: false },
    { missing: 30, of: 100, is: true },
    { missing: 0, of: 0, is: false },
  ])('$missing of $of are too many to believe: $is', ({ is, ...counts }) => {
    expect(isMassMissing(counts)).toBe(is)
  })
})
