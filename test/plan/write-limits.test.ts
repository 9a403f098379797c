import { describe, expect, test } from 'vitest'
import { createLimitOf, earlierOf, MADE_FOR_MS, madeAt } from '../../src/plan/write-limits.ts'
import type { Key } from '../../src/kinds/key.ts'
import { serviceIdentity } from '../../src/kinds/service/kind.ts'
import { messageOf, stepsOf } from '../../src/plan/reason.ts'
import { blankRecord, type Intent, type LedgerRecord } from '../../src/plan/record.ts'
import { intent, MINUTE, NOW } from './inputs.ts'

/** That many, a minute apart, the last one at `NOW`. */
function made(count: number) {
  return Array.from({ length: count }, (_, index) => NOW - (count - 1 - index) * MINUTE)
}

describe('the create limit', () => {
  test.each(
    Object.entries({
      'nothing is wanted': { wanted: 0, made: 0, limit: 25, on: false },
      'as many as the limit pass': { wanted: 25, made: 0, limit: 25, on: false },
      'one more, and none passes': { wanted: 26, made: 0, limit: 25, on: true },
      'a limit of 0 lets nothing pass': { wanted: 1, made: 0, limit: 0, on: true },
      'a person said yes': { wanted: 10_000, made: 10_000, limit: Infinity, on: false },
      'as many as the limit within the hour pass': { wanted: 3, made: 22, limit: 25, on: false },
      'one more within the hour, and none passes': { wanted: 4, made: 22, limit: 25, on: true },
      'all were made and nothing is wanted': { wanted: 0, made: 26, limit: 25, on: false },
    }),
  )('%s', (_why, { wanted, made: count, limit, on }) => {
    const reached = createLimitOf({ wanted, made: made(count) }, limit)
    const { passesAt: _, ...facts } = reached ?? { passesAt: undefined }
    expect(facts).toEqual(on ? { wanted, made: count, limit } : {})
  })

  test.each(
    Object.entries({
      'one of them has to be an hour old': { wanted: 4, made: 22, oldest: 1 },
      'fifteen of them have to be': { wanted: 20, made: 20, oldest: 15 },
      'all of them have to be': { wanted: 25, made: 22, oldest: 22 },
      'it takes more than that': { wanted: 26, made: 22, oldest: undefined },
    }),
  )('passes by itself when %s', (_why, { wanted, made: count, oldest }) => {
    const all = made(count)
    const at = oldest === undefined ? undefined : all[oldest - 1]
    expect(createLimitOf({ wanted, made: all }, 25)?.passesAt).toBe(
      at === undefined ? undefined : at + MADE_FOR_MS,
    )
  })
})

test.each([0, 1])(
  'at a limit of %d it is said to allow more only where something may be created at all',
  (limit) => {
    const facts = { service: 'analytics', wanted: 3, made: 0, limit }
    const because = { reason: 'CreateLimit', facts } as const
    const key = 'Pipe/orders' as Key // as a manifest has it
    const about = {
      key,
      place: 'manifests/orders.yaml:1',
      directory: 'manifests',
      service: 'analytics',
      pipeId: undefined,
      id: undefined,
      differences: [],
    }
    const shells = stepsOf(because, about).map(({ shell = '' }) => shell)
    const said = [messageOf(because, { key }), ...shells].join('\n')
    expect(said).toContain('3 pending')
    expect(said.includes('allow')).toBe(limit > 0)
  },
)

test('a service is what the platform knows it by, however its ids are written', () => {
  const group = serviceIdentity({ organizationId: 'ab', serviceId: 'cd' })
  expect(serviceIdentity({ organizationId: 'AB', serviceId: 'Cd' })).toBe(group)
  expect(serviceIdentity({ organizationId: 'ab', serviceId: 'ce' })).not.toBe(group)
  expect(serviceIdentity({ organizationId: 'aa', serviceId: 'cd' })).not.toBe(group)
})

function having(is: Partial<Intent>): LedgerRecord {
  const underWay = intent('open', { openedAt: NOW - 5_000, sendBy: NOW, ...is })
  return { ...blankRecord('Pipe/orders'), intent: underWay }
}

describe('what counts as made', () => {
  test.each<{ readonly why: string; readonly is: Partial<Intent>; readonly at: readonly number[] }>([
    { why: 'one that is under way, or whose process died', is: { state: 'open' }, at: [NOW] },
    { why: 'one of unknown outcome', is: { state: 'unknown' }, at: [NOW] },
    { why: 'one that worked', is: { state: 'succeeded' }, at: [NOW] },
    { why: 'none that had no effect', is: { state: 'failed' }, at: [] },
    { why: 'none of which a person said that it created no resource', is: { state: 'dismissed' }, at: [] },
    { why: 'none that a person allowed', is: { state: 'succeeded', isAllowed: true }, at: [] },
    { why: 'the later of two clocks', is: { openedAt: NOW + MINUTE }, at: [NOW + MINUTE] },
    { why: 'those before it, too', is: { earlier: [NOW - MINUTE] }, at: [NOW - MINUTE, NOW] },
    {
      why: 'those before one that failed',
      is: { state: 'failed', earlier: [NOW - MINUTE] },
      at: [NOW - MINUTE],
    },
  ])('$why', ({ is, at }) => {
    expect(madeAt(having(is))).toEqual(at)
  })

  test('a new attempt keeps those of the hour before it, so many at most', () => {
    expect(earlierOf(blankRecord('Pipe/orders'), NOW)).toBeUndefined()
    const old = NOW - MADE_FOR_MS
    expect(earlierOf(having({ state: 'succeeded', earlier: [old, old + 1] }), NOW)).toEqual([old + 1, NOW])
    const many = having({ earlier: made(40) })
    expect(earlierOf(many, NOW)).toHaveLength(25)
  })
})
