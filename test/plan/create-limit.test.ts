import { describe, expect, test } from 'vitest'
import { createLimitOf } from '../../src/plan/gates.ts'

describe('the create limit', () => {
  test.each([
    { why: 'nothing is wanted', wanted: 0, limit: 25, on: false },
    { why: 'as many as the limit pass', wanted: 25, limit: 25, on: false },
    { why: 'one more, and none passes', wanted: 26, limit: 25, on: true },
    { why: 'a limit of 0 lets nothing pass', wanted: 1, limit: 0, on: true },
    { why: 'a person said yes', wanted: 10_000, limit: Infinity, on: false },
  ])('$why', ({ wanted, limit, on }) => {
    expect(createLimitOf({ wanted, limit })).toEqual(on ? { wanted, limit } : undefined)
  })
})
