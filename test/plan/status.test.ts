import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Condition } from '../../src/plan/condition.ts'
import { STATUSES } from '../../src/plan/severity.ts'
import { statusOf } from '../../src/plan/conditions.ts'
import { type Reason, REASONS } from '../../src/plan/reason.ts'

describe('the status', () => {
  const told = fc.record({
    status: fc.constantFrom<Condition['status']>('True', 'False', 'Unknown'),
    reason: fc.constantFrom(...(Object.keys(REASONS) as Reason[])), // REASONS has no other keys
    message: fc.constant(''),
    since: fc.constant(0),
  })
  const any = fc.record({ Valid: told, Synced: told, Ready: told })

  test('is one of those that there are, for whatever conditions', () => {
    fc.assert(
      fc.property(any, (given) => {
        expect(STATUSES).toContain(statusOf(given))
      }),
      { numRuns: 200 },
    )
  })

  test('is Ready only for what is in sync and ready, by a valid manifest or none', () => {
    fc.assert(
      fc.property(any, (given) => {
        if (statusOf(given) !== 'Ready') return
        expect(given.Synced.status).toBe('True')
        expect(given.Ready.status).toBe('True')
        expect(given.Valid.status).not.toBe('False')
      }),
      { numRuns: 1_000 },
    )
  })

  test('hides no unknown outcome', () => {
    fc.assert(
      fc.property(any, (given) => {
        const Synced: Condition = { ...given.Synced, reason: 'OutcomeUnknown' }
        expect(statusOf({ ...given, Synced })).toBe('OutcomeUnknown')
      }),
    )
  })
})
