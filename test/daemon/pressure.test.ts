import { describe, expect, test } from 'vitest'
import { createDispatcher } from '../../src/daemon/loop.ts'
import { createQueue, type Taken } from '../../src/daemon/queue.ts'
import { type Key, keyOf } from '../../src/kinds/key.ts'
import { createAccounts } from '../../src/platform/admission.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const CONCURRENCY = 8
const CHECKS = 2_000

/** A daemon's queue over the real budgets, with requests that take as long as a test says. */
function setUp(options: {
  readonly requests: number
  readonly windowMs: number
  readonly credentialOf: (service: string) => string
  /** How long a request takes, ms; `undefined`: it is answered 429. */
  readonly takes: (service: string) => number | undefined
  /** When a key comes again, ms after its request ended. */
  readonly againMs: number
}) {
  const clock = createFakeClock()
  const queue = createQueue()
  const accounts = createAccounts({ ...options, clock, emit: () => undefined })
  const sent: {
    readonly at: number
    readonly key: Key
    readonly service: string
    readonly priority: number
  }[] = []
  const dispatcher = createDispatcher({ clock, queue, concurrency: CONCURRENCY, run, emit: () => undefined })

  async function run({ key, service, priority }: Taken) {
    const account = accounts.of(options.credentialOf(service))
    const { place } = await account.budget.acquire({
      service,
      priority,
      places: 1,
      signal: new AbortController().signal,
    })
    place.sent()
    sent.push({ at: clock.monotonic(), key, service, priority })
    const takes = options.takes(service)
    await new Promise<void>((resolve) => void clock.after(takes ?? 5, resolve))
    place.ended()
    if (takes === undefined) account.throttle.slowDown(undefined)
    return { priority: 2, afterMs: options.againMs, service } as const
  }

  return { clock, queue, sent, dispatcher }
}

describe('a changed manifest, while 2,000 drift checks wait', () => {
  test.each(
    Object.entries({
      'one slot: a check may just have taken it': { requests: 1, windowMs: 1_000 },
      'the default; the same pace': { requests: 10, windowMs: 10_000 },
      'one slot of a tenth of a second': { requests: 10, windowMs: 1_000 },
      'the next slot of five milliseconds': { requests: 200, windowMs: 1_000 },
    }),
  )(', and for no check: %s', async (_why, { requests, windowMs }) => {
    const { clock, sent, dispatcher } = setUp({
      requests,
      windowMs,
      credentialOf: () => 'one',
      takes: () => 20,
      againMs: 3_600_000,
    })
    for (let n = 0; n < CHECKS; n += 1) {
      dispatcher.ask(keyOf('Pipe', `check-${n}`), { priority: 2, afterMs: 0, service: `service-${n % 50}` })
    }
    await clock.advance(windowMs * 2)
    const slotMs = (windowMs * 1.02) / requests
    const waits: number[] = []
    for (let n = 0; n < 40; n += 1) {
      // At any moment of a slot.
      await clock.advance(windowMs * (2 + ((n * 37) % 100) / 100))
      const askedAt = clock.monotonic()
      const key = keyOf('Pipe', `check-${(n * 251) % CHECKS}-changed`)
      const before = sent.length
      dispatcher.ask(key, { priority: 0, afterMs: 0, service: `service-${n % 50}` })
      await clock.advance(windowMs * 1.2)
      const mine = sent.slice(before).find((one) => one.key === key)
      waits.push((mine?.at ?? Infinity) - askedAt)
      expect(sent.slice(before).filter((one) => one.priority === 2 && one.at < (mine?.at ?? 0))).toEqual([])
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(slotMs * 1.1)
  })

  test('the budget is used all the same', async () => {
    const { clock, sent, dispatcher } = setUp({
      requests: 1,
      windowMs: 1_000,
      credentialOf: () => 'one',
      takes: () => 5,
      againMs: 3_600_000,
    })
    for (let n = 0; n < CHECKS; n += 1) {
      dispatcher.ask(keyOf('Pipe', `check-${n}`), { priority: 2, afterMs: 0, service: `service-${n % 50}` })
    }
    await clock.advance(200_000)
    expect(sent.length).toBeGreaterThanOrEqual(0.97 * 200)
    expect(sent.length).toBeLessThanOrEqual(201)
  })
})

describe('fifty services, of which one is slow, one answers 429 and one hangs', () => {
  const SERVICES = 50
  const KEYS = 4
  const BAD: Readonly<Record<string, number | undefined>> = {
    'service-0': 4_000,
    'service-1': undefined,
    'service-2': 3_600_000,
  }

  /** Requests of each service in a minute. */
  async function aMinute(world: 'well' | 'ill', credentialOf: (service: string) => string, requests: number) {
    const { clock, sent, dispatcher } = setUp({
      requests,
      windowMs: 1_000,
      credentialOf,
      takes: (service) => (world === 'ill' && service in BAD ? BAD[service] : 5),
      againMs: 1_000,
    })
    for (let n = 0; n < SERVICES * KEYS; n += 1) {
      const service = `service-${n % SERVICES}`
      dispatcher.ask(keyOf('Pipe', `p${n}`), { priority: 2, afterMs: (n * 7) % 1_000, service })
    }
    await clock.advance(60_000)
    return new Map(
      Array.from({ length: SERVICES }, (_, n) => {
        const service = `service-${n}`
        return [service, sent.filter((one) => one.service === service).length]
      }),
    )
  }

  test('with a credential each, the others get what they got without: at most one check in a hundred less', async () => {
    const well = await aMinute('well', (service) => service, 100)
    const ill = await aMinute('ill', (service) => service, 100)
    for (const count of well.values()) expect(count).toBeGreaterThan(KEYS * 55)
    for (const [service, count] of [...well].filter(([one]) => !(one in BAD))) {
      expect(ill.get(service), service).toBeGreaterThanOrEqual(count * 0.99)
    }
    expect(ill.get('service-2')).toBeLessThanOrEqual(KEYS)
  })

  test('with one credential that is scarce, all get the same share', async () => {
    const counts = await aMinute('well', () => 'one', 50)
    expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(57)
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(63)
  })

  test('one with a thousand keys does not starve one with a single key', async () => {
    const { clock, sent, dispatcher } = setUp({
      requests: 10,
      windowMs: 1_000,
      credentialOf: () => 'one',
      takes: () => 5,
      againMs: 3_600_000,
    })
    const ask = (name: string, service: string) =>
      dispatcher.ask(keyOf('Pipe', name), { priority: 2, afterMs: 0, service })
    for (let n = 0; n < 1_000; n += 1) ask(`loud-${n}`, 'loud')
    await clock.advance(2_000)
    ask('quiet', 'quiet')
    await clock.advance(1_000)
    expect(sent.at(-1)?.at).toBeGreaterThan(2_500)
    expect(sent.map(({ service }) => service)).toContain('quiet')
  })

  test('with one credential, one that is slow and one that hangs take nothing from the others', async () => {
    const { 'service-1': _refuses, ...bad } = BAD
    const { clock, sent, dispatcher } = setUp({
      requests: 50,
      windowMs: 1_000,
      credentialOf: () => 'one',
      takes: (service) => (service in bad ? bad[service] : 5),
      againMs: 1_000,
    })
    for (let n = 0; n < SERVICES * KEYS; n += 1) {
      const service = `service-${n % SERVICES}`
      dispatcher.ask(keyOf('Pipe', `p${n}`), { priority: 2, afterMs: 0, service })
    }
    await clock.advance(60_000)
    const others = Array.from({ length: SERVICES }, (_, n) => `service-${n}`).filter(
      (service) => !(service in bad),
    )
    for (const service of others) {
      expect(sent.filter((one) => one.service === service).length, service).toBeGreaterThanOrEqual(57)
    }
  })
})
