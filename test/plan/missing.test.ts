import { describe, expect, test } from 'vitest'
import {
  type Misses,
  isMissingConfirmed,
  isMassMissing,
  missesAfter,
  replaceableFrom,
  replacedAfter,
} from '../../src/plan/missing.ts'
import type { Replaced } from '../../src/plan/record.ts'
import { HOUR, MINUTE, NOW, PIPE_ID } from './inputs.ts'

const KEY = 'key-1'

function misses(count: number, firstAgo: number, lastAgo: number, besideAgo?: number): Misses {
  const besideSince = besideAgo === undefined ? undefined : NOW - besideAgo
  return { count, firstAt: NOW - firstAgo, lastAt: NOW - lastAgo, besideSince, credential: KEY }
}

describe('one more 404', () => {
  const first: Misses = misses(1, 0, 0)
  const rows: Readonly<
    Record<
      string,
      {
        readonly misses: Misses | undefined
        readonly ageMs?: number
        readonly credential?: string
        readonly foundAgo?: number
        readonly is: Misses | undefined
      }
    >
  > = {
    'is the first': { misses: undefined, is: first },
    'within the first minute does not count': { misses: undefined, ageMs: 59_999, is: undefined },
    'at the end of the first minute counts': { misses: undefined, ageMs: MINUTE, is: first },
    'is the second': { misses: misses(1, 30_000, 30_000), is: misses(2, 30_000, 0) },
    'at the same moment as the last is one more': { misses: misses(2, 30_000, 0), is: misses(3, 30_000, 0) },
    'with other credentials begins anew: they may see other things': {
      misses: misses(2, 30_000, 0),
      credential: 'key-2',
      is: { ...first, credential: 'key-2' },
    },
    'within the first minute forgets what came before': {
      misses: misses(2, 30_000, 1_000),
      ageMs: 10_000,
      is: undefined,
    },
    'is the first, whoever was found before it': { misses: undefined, foundAgo: 1, is: first },
    'has another pipe beside it that was found since the last': {
      misses: misses(1, 100_000, 100_000),
      foundAgo: 99_000,
      is: misses(2, 100_000, 0, 99_000),
    },
    'does not begin anew what another pipe was found beside before': {
      misses: misses(2, 70_000, 35_000, 69_000),
      foundAgo: 34_000,
      is: misses(3, 70_000, 0, 69_000),
    },
    'a moment after the last needs no other reading of the other pipe': {
      misses: misses(2, 70_000, 1_000, 69_000),
      foundAgo: 36_000,
      is: misses(3, 70_000, 0, 69_000),
    },
    'after a time in which nobody looked begins anew': {
      misses: misses(2, HOUR, 3 * MINUTE + 1, HOUR),
      foundAgo: 1,
      is: first,
    },
    'is not beside what was found before the first': {
      misses: misses(1, 1_000, 1_000),
      foundAgo: 36_000,
      is: misses(2, 1_000, 0, 1_000),
    },
    'has nobody beside it when the other pipe was not found since the last': {
      misses: misses(2, 100_000, 50_000, 99_000),
      foundAgo: 51_000,
      is: misses(3, 100_000, 0),
    },
  }

  test.each(Object.entries(rows))(
    '%s',
    (_why, { misses: before, ageMs = HOUR, credential = KEY, foundAgo, is }) => {
      const foundAt = foundAgo === undefined ? undefined : NOW - foundAgo
      expect(missesAfter({ misses: before, ageMs, now: NOW, credential, foundAt })).toEqual(is)
    },
  )
})

describe('misses', () => {
  const rows: Readonly<Record<string, readonly [is: boolean, seen: Misses | undefined, isAlone: boolean]>> = {
    'none prove nothing': [false, undefined, false],
    'two over an hour prove nothing': [false, misses(2, HOUR, 0, HOUR), false],
    'three within less than a minute prove nothing': [false, misses(3, 59_999, 0, 59_999), false],
    'three over a minute prove it': [true, misses(3, MINUTE, 0, MINUTE), false],
    'a hundred over an hour prove nothing while another pipe has been found for less than a minute': [
      false,
      misses(100, HOUR, 0, 59_999),
      false,
    ],
    'a hundred over a second prove nothing': [false, misses(100, 1_000, 0, 1_000), false],
    'a hundred over an hour prove nothing while no other pipe is found': [false, misses(100, HOUR, 0), false],
    'of the only pipe, three over a minute prove nothing': [false, misses(3, MINUTE, 0), true],
    'of the only pipe, three over a quarter of an hour prove it': [true, misses(3, 15 * MINUTE, 0), true],
  }
  test.each(Object.entries(rows))('%s', (_why, [is, seen, isAlone]) => {
    expect(isMissingConfirmed(seen, isAlone)).toBe(is)
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

describe('a replacement', () => {
  test.each(
    Object.entries({
      'the first is not held up': { replaced: undefined, afterMs: undefined },
      'the second waits an hour': { replaced: { count: 1, at: NOW }, afterMs: HOUR },
      'the third two': { replaced: { count: 2, at: NOW }, afterMs: 2 * HOUR },
      'the sixth a day, and no longer': { replaced: { count: 6, at: NOW }, afterMs: 24 * HOUR },
      'nor does any other': { replaced: { count: 1_000, at: NOW }, afterMs: 24 * HOUR },
    }),
  )('%s', (_why, { replaced, afterMs }) => {
    expect(replaceableFrom(replaced)).toBe(afterMs === undefined ? undefined : NOW + afterMs)
  })

  test.each(
    Object.entries({
      'is counted': { replaced: undefined, count: 1 },
      'a day after the last is one more': { replaced: { count: 3, at: NOW - 24 * HOUR }, count: 4 },
      'after a calm week begins anew': { replaced: { count: 3, at: NOW - 7 * 24 * HOUR }, count: 1 },
    }),
  )('%s', (_why, { replaced, count }) => {
    expect(replacedAfter(replaced, PIPE_ID, NOW)).toEqual({ count, at: NOW, id: PIPE_ID })
  })

  test('remembers the first id and the newest ones, however many were replaced', () => {
    let replaced: Replaced | undefined
    for (let id = 1; id <= 14; id += 1) replaced = replacedAfter(replaced, String(id), NOW)
    expect(replaced?.earlier?.join()).toBe('1,5,6,7,8,9,10,11,12,13')
    expect(replaced?.id).toBe('14')
  })
})
