import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBudget, type Budget, type Rank } from '../../src/platform/budget.ts'
import type { Event } from '../../src/contract/events.ts'
import type { Priority } from '../../src/contract/platform.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { failure } from './support/platform.ts'

const never = new AbortController().signal

function setup(requests: number, windowMs: number, requestTimeoutMs = 0) {
  const clock = createFakeClock()
  const events: Event[] = []
  const budget = createBudget({
    requests,
    windowMs,
    requestTimeoutMs,
    clock,
    emit: (event) => events.push(event),
  })
  return { clock, events, budget }
}

interface Asked {
  readonly service: string
  readonly priority: Rank
}

/** Asks for places, sends at once when one is granted, and notes who was served. */
function ask(budget: Budget, asked: readonly Asked[], served: string[]): void {
  for (const { service, priority } of asked) void askOnce(budget, { service, priority }, served)
}

async function askOnce(budget: Budget, { service, priority }: Asked, served: string[]): Promise<void> {
  // A signal of its own: ten thousand listeners on one are slow, and nothing a daemon does.
  const { signal } = new AbortController()
  const { place } = await budget.acquire({ service, priority, signal, places: 1 })
  served.push(`${service}${priority}`)
  place.sent()
  place.ended()
}

/** As {@link ask} notes who was served. */
function wanted(words: string): readonly Asked[] {
  return words
    .split(' ')
    .map(([service = '', priority]) => ({ service, priority: Number(priority) as Priority }))
}

function drift(count: number): readonly Asked[] {
  return Array.from({ length: count }, () => ({ service: 'a', priority: 2 }))
}

/** What befalls one request on its way. Milliseconds. */
const journey = fc.record({
  askedAt: fc.integer({ min: 0, max: 5_000 }),
  service: fc.constantFrom('a', 'b', 'c'),
  priority: fc.constantFrom<Priority>(0, 1, 2),
  connecting: fc.integer({ min: 0, max: 700 }),
  answering: fc.integer({ min: 0, max: 1_500 }),
  /** Where between sending and answering it arrives, but within the margin: 1 % of the window. */
  arriving: fc.double({ min: 0, max: 1, noNaN: true }),
  fate: fc.constantFrom('sent', 'sent', 'sent', 'released', 'forgotten'),
})
type Journey = typeof journey extends fc.Arbitrary<infer T> ? T : never

test('the server never sees more than N requests in any window, whatever happens on the way', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 7 }),
      fc.array(journey, { minLength: 1, maxLength: 40 }),
      async (requests, journeys) => {
        const windowMs = 1_000
        const { clock, budget } = setup(requests, windowMs)
        const arrivals: number[] = []
        async function travel(one: Journey): Promise<void> {
          const { place } = await budget.acquire({ ...one, signal: never, places: 1 })
          if (one.fate === 'released') place.release()
          if (one.fate !== 'sent') return
          clock.after(one.connecting, () => {
            place.sent()
            arrivals.push(clock.monotonic() + one.arriving * Math.min(one.answering, windowMs / 100))
            clock.after(one.answering, () => place.ended())
          })
        }
        for (const one of journeys) clock.after(one.askedAt, () => void travel(one))
        await clock.advance(2_000_000)
        expect(arrivals).toHaveLength(journeys.filter(({ fate }) => fate === 'sent').length)
        expectWithin(arrivals, requests, windowMs)
        expect(budget.snapshot()).toEqual({ used: 0, waiting: 0, pausedForMs: 0 })
      },
    ),
    { numRuns: 60 },
  )
})

function expectWithin(arrivals: readonly number[], requests: number, windowMs: number): void {
  const sorted = arrivals.toSorted((a, b) => a - b)
  for (let i = requests; i < sorted.length; i += 1) {
    expect((sorted[i] ?? 0) - (sorted[i - requests] ?? 0)).toBeGreaterThanOrEqual(windowMs)
  }
}

test.each([
  { requests: 10, windowMs: 10_000, answering: 2_000 },
  { requests: 10, windowMs: 10_000, answering: 20 },
  { requests: 1, windowMs: 1_000, answering: 300 },
  { requests: 500, windowMs: 1_000, answering: 5 },
])('with work, 97 % of $requests in $windowMs ms are used, answers after $answering ms', async (row) => {
  const { clock, budget } = setup(row.requests, row.windowMs)
  const windows = 8
  let sent = 0
  async function work(): Promise<void> {
    for (;;) {
      const { place } = await budget.acquire({ service: 'a', priority: 2, signal: never, places: 1 })
      place.sent()
      sent += 1
      clock.after(row.answering, () => place.ended())
    }
  }
  for (let i = 0; i < row.requests * 2; i += 1) void work()
  // The first window is a gift: it is there at once.
  await clock.advance(row.windowMs - 1)
  sent = 0
  await clock.advance(row.windowMs * windows)
  expect(sent).toBeGreaterThanOrEqual(0.97 * row.requests * windows)
})

test('changes first, then retries and drift checks, first come first served', async () => {
  const { clock, budget } = setup(1, 1_000)
  const served: string[] = []
  ask(budget, [{ service: 'x', priority: 2 }], served)
  await clock.advance(0)
  ask(budget, wanted('a2 a1 a1 a1 b1 c1 b1 b0'), served)
  await clock.advance(20_000)
  expect(served).toEqual(['x2', 'b0', 'a2', 'a1', 'a1', 'a1', 'b1', 'c1', 'b1'])
})

test('a changed manifest waits for no drift check, however many wait', async () => {
  const { clock, budget } = setup(1, 100)
  const served: string[] = []
  ask(budget, drift(9_000), served)
  await clock.advance(0)
  ask(budget, [{ service: 'a', priority: 0 }], served)
  await clock.advance(110)
  expect(served).toEqual(['a2', 'a0'])
})

test.each([
  { requests: 10, windowMs: 10_000, longest: 1_021 },
  { requests: 1_000, windowMs: 1_000, longest: 1 },
])(
  'beside endless drift checks, a changed manifest waits $longest ms at most ($requests in $windowMs ms)',
  async (row) => {
    const { clock, budget, events } = setup(row.requests, row.windowMs)
    async function work(): Promise<void> {
      for (;;) {
        const { place } = await budget.acquire({ service: 'drift', priority: 2, signal: never, places: 1 })
        place.sent()
        clock.after(1, () => place.ended())
      }
    }
    for (let i = 0; i < 16; i += 1) void work()
    // The first window begins with a lot that goes out at once.
    await clock.advance(row.windowMs * 2.5)
    for (let i = 0; i < 20; i += 1) {
      ask(budget, [{ service: 'changed', priority: 0 }], [])
      await clock.advance(row.windowMs / 3)
    }
    const waits = events.flatMap((e) =>
      e.type === 'BudgetWaited' && e.service === 'changed' ? [e.waitMs] : [],
    )
    expect(Math.max(0, ...waits)).toBeLessThanOrEqual(row.longest)
  },
)

test('a pause stops everything, and no shorter one ends it', async () => {
  const { clock, budget } = setup(10, 1_000)
  const served: string[] = []
  budget.pause(5_000)
  budget.pause(10)
  ask(budget, [{ service: 'a', priority: 0 }], served)
  await clock.advance(4_999)
  expect(served).toEqual([])
  expect(budget.snapshot()).toEqual({ used: 0, waiting: 1, pausedForMs: 1 })
  await clock.advance(1)
  expect(served).toEqual(['a0'])
})

test('a stop ends the wait with its reason, and the place goes to the next', async () => {
  const { clock, budget } = setup(1, 1_000)
  const served: string[] = []
  const stop = new AbortController()
  const reason = new Error('stopping')
  ask(budget, [{ service: 'a', priority: 0 }], served)
  const waiting = budget
    .acquire({ service: 'a', priority: 0, places: 1, signal: stop.signal })
    .catch((error: unknown) => error)
  ask(budget, [{ service: 'b', priority: 2 }], served)
  await clock.advance(0)
  stop.abort(reason)
  expect(await waiting).toBe(reason)
  await clock.advance(1_020)
  expect(served).toEqual(['a0', 'b2'])
  await expect(budget.acquire({ service: 'a', priority: 0, places: 1, signal: stop.signal })).rejects.toBe(
    reason,
  )
})

test('waiting is told, not waiting is not', async () => {
  const { clock, budget, events } = setup(1, 1_000)
  ask(budget, wanted('a0 b0'), [])
  await clock.advance(2_000)
  expect(events).toEqual([{ type: 'BudgetWaited', service: 'b', waitMs: 1_010 }])
})

test('after a wait, places go one by one, also to who comes when nobody waits any more', async () => {
  const { clock, budget } = setup(10, 10_000)
  const served: string[] = []
  ask(budget, [...drift(11), { service: 'a', priority: 0 }], served)
  await clock.advance(11_100)
  expect(served).toHaveLength(12)
  const changed = { service: 'b', priority: 0 } as const
  ask(budget, [...drift(2), changed, changed], served)
  await clock.advance(0)
  expect(served.slice(12)).toEqual(['a2', 'b0', 'b0'])
})

test('a place that is neither sent nor given back counts as sent after half a minute', async () => {
  const { clock, budget } = setup(1, 1_000)
  await budget.acquire({ service: 'a', priority: 0, signal: never, places: 1 })
  await clock.advance(30_000 + 1_019)
  expect(budget.snapshot().used).toBe(1)
  await clock.advance(1)
  expect(budget.snapshot().used).toBe(0)
})

test('a place is held as long as the reads before its request may take', async () => {
  const { clock, budget } = setup(1, 1_000, 60_000)
  const { place } = await budget.acquire({ service: 'a', priority: 0, signal: never, places: 1 })
  await clock.advance(100_000)
  expect(budget.snapshot().used).toBe(1)
  place.sent()
  expect(budget.snapshot().used).toBe(1)
})

test('the line is bounded', async () => {
  const { budget } = setup(1, 1_000)
  ask(budget, drift(10_001), [])
  const one = budget.acquire({ service: 'a', priority: 2, places: 1, signal: never })
  expect((await failure(one)).facts).toMatchObject({ class: 'Throttled', effect: 'none' })
})

test('two places are given together, or not at all; of a budget of one, the one', async () => {
  const { clock, budget } = setup(2, 1_000)
  const served: string[] = []
  ask(budget, [{ service: 'a', priority: 0 }], served)
  const both = budget.acquire({ service: 'b', priority: 0, places: 2, signal: never })
  void both.then(() => served.push('b0 twice'))
  ask(budget, [{ service: 'c', priority: 0 }], served)
  await clock.advance(1_009)
  expect(served).toEqual(['a0'])
  await clock.advance(1)
  expect(served).toEqual(['a0', 'b0 twice'])
  const { place, spares } = await both
  spares[0]?.release()
  await clock.advance(0)
  expect(served).toEqual(['a0', 'b0 twice', 'c0'])
  place.release()

  const one = setup(1, 1_000)
  expect((await one.budget.acquire({ service: 'a', priority: 0, places: 2, signal: never })).spares).toEqual(
    [],
  )
})

test('who is next goes before everybody who waits, and without waiting for an even pace', async () => {
  const { clock, budget } = setup(1, 1_000)
  const served: string[] = []
  ask(budget, [{ service: 'a', priority: 0 }], served)
  const waiting = [0, 1, 2].map((priority) => ({ service: 'a', priority: priority as Priority }))
  ask(budget, waiting, served)
  ask(budget, [{ service: 'b', priority: 'next' }], served)
  expect(budget.snapshot().waiting).toBe(4)
  await clock.advance(budget.turnMs)
  expect(served).toEqual(['a0', 'bnext'])
  await clock.advance(10_000)
  expect(served).toEqual(['a0', 'bnext', 'a0', 'a1', 'a2'])
})
