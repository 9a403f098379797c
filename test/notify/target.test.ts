import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { Delivery, Parcel } from '../../src/notify/delivery.ts'
import type { Filter } from '../../src/notify/filter.ts'
import { createTarget } from '../../src/notify/target.ts'
import type { ToldTarget } from '../../src/notify/told.ts'
import type { Status } from '../../src/plan/status.ts'
import type { Event } from '../../src/reconcile/events.ts'
import type { ResourceStatus } from '../../src/reconcile/status.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { CONTEXT, EVERYTHING, eventsOf, standing } from './given.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

interface Sent {
  readonly id: string
  readonly sentence: string
  readonly news: readonly {
    readonly key: string
    readonly change: string
    readonly changes: number
    readonly id: string
  }[]
  readonly more: number
  readonly total: number
}

interface Given {
  readonly filter?: Partial<Filter>
  readonly groupWaitMs?: number
  readonly rateLimit?: { readonly requests: number; readonly windowMs: number }
  readonly before?: ToldTarget
  /** What becomes of the attempts, in order; delivered when there is none left. */
  readonly deliveries?: readonly Delivery[]
  /** No attempt ends before. */
  readonly holdUntil?: Promise<void>
}

const DELIVERED: Delivery = { result: 'delivered', code: '200' }
const AGAIN: Delivery = { result: 'again', code: '500', why: 'HTTP 500', retryAfterMs: undefined }

function given(options: Given = {}) {
  const clock = createFakeClock()
  const board = new Map<Key, ResourceStatus>()
  const parcels: Parcel[] = []
  const events: Event[] = []
  const left = [...(options.deliveries ?? [])]
  let saves = 0
  const target = createTarget({
    name: 'on-call',
    type: 'webhook',
    filter: { ...EVERYTHING, ...options.filter },
    groupWaitMs: options.groupWaitMs ?? 10 * SECOND,
    flapWindowMs: 10 * MINUTE,
    rateLimit: options.rateLimit ?? { requests: 100, windowMs: MINUTE },
    before: options.before ?? { told: new Map(), createdUntil: 0 },
    context: CONTEXT,
    resource: (key) => board.get(key),
    async deliver(parcel) {
      parcels.push(parcel)
      await options.holdUntil
      return left.shift() ?? DELIVERED
    },
    onTold: () => {
      saves += 1
    },
    clock,
    emit: (event) => events.push(event),
    random: () => 0.5,
  })
  return {
    clock,
    target,
    board,
    events,
    parcels,
    saves: () => saves,
    sent: () => parcels.map(({ body }) => JSON.parse(body) as Sent),
    /** The turn of a key after which it stands so. */
    turn: (key: Key, status: Status, over: Parameters<typeof standing>[2] = {}) => {
      board.set(key, standing(key, status, over))
      target.observe(key)
    },
    /** What was told, message by message. */
    told: () =>
      parcels.map(({ body }) => (JSON.parse(body) as Sent).news.map(({ key, change }) => `${key} ${change}`)),
    settled: (result: string) =>
      eventsOf(events, 'NotificationsSettled')
        .filter((event) => event.result === result)
        .reduce((sum, { count }) => sum + count, 0),
  }
}

describe('what is told', () => {
  test('a resource that turns bad, once, and once when it is good again', async () => {
    const { clock, turn, told } = given()
    turn('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(told()).toEqual([])
    for (let i = 0; i < 3; i += 1) {
      turn('Pipe/orders', 'Missing')
      await clock.advance(MINUTE)
    }
    expect(told()).toEqual([['Pipe/orders bad']])
    for (let i = 0; i < 3; i += 1) {
      turn('Pipe/orders', 'Ready')
      await clock.advance(MINUTE)
    }
    expect(told()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
  })

  test('another trouble of the same resource, and other fields that drift; not another wording of the same', async () => {
    const { clock, turn, told } = given()
    turn('Pipe/orders', 'Failed', { message: 'no answer (request 1)' })
    await clock.advance(MINUTE)
    turn('Pipe/orders', 'Failed', { message: 'no answer (request 2)' })
    await clock.advance(20 * MINUTE)
    expect(told()).toHaveLength(1)
    turn('Pipe/orders', 'Drifted', { message: 'scaling.replicas' })
    await clock.advance(20 * MINUTE)
    turn('Pipe/orders', 'Drifted', { message: 'scaling.replicas, name' })
    await clock.advance(20 * MINUTE)
    expect(told()).toEqual([['Pipe/orders bad'], ['Pipe/orders bad'], ['Pipe/orders bad']])
  })

  test('nothing of what is neither bad nor good yet', async () => {
    const { clock, turn, told } = given()
    turn('Pipe/orders', 'Progressing')
    await clock.advance(MINUTE)
    turn('Pipe/orders', 'Missing')
    await clock.advance(MINUTE)
    turn('Pipe/orders', 'Progressing')
    await clock.advance(MINUTE)
    expect(told()).toEqual([['Pipe/orders bad']])
  })

  test('a trouble that is over because somebody suspended the resource, or forgot it', async () => {
    const { clock, turn, told, target, board, sent } = given()
    turn('Pipe/a', 'Missing')
    turn('Pipe/b', 'Orphaned')
    await clock.advance(MINUTE)
    turn('Pipe/a', 'Suspended')
    board.delete('Pipe/b')
    target.observe('Pipe/b')
    await clock.advance(MINUTE)
    expect(told()[1]).toEqual(['Pipe/a good', 'Pipe/b forgotten'])
    expect(sent()[1]?.sentence).toBe('The trouble of 2 is over.')
  })

  test('what went without a word: a record that moved to another key', async () => {
    const { clock, turn, told, target, board } = given()
    turn('Pipe/old', 'Missing')
    await clock.advance(MINUTE)
    board.delete('Pipe/old')
    for (let i = 0; i < 5; i += 1) {
      target.sweep()
      await clock.advance(5 * SECOND)
    }
    expect(told()).toEqual([['Pipe/old bad'], ['Pipe/old forgotten']])
  })

  test('what was created, with its id', async () => {
    const { clock, turn, told, target, sent } = given()
    turn('Pipe/orders', 'Progressing')
    target.created({ key: 'Pipe/orders', pipeId: 'p-1', at: clock.now(), revision: 'abc' })
    turn('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(told()).toEqual([['Pipe/orders created']])
    expect(sent()[0]).toMatchObject({ sentence: 'Pipe/orders was created.', news: [{ pipeId: 'p-1' }] })
  })
})

test('what changes while a message is under way is told by the next', async () => {
  const hold = Promise.withResolvers<void>()
  const { clock, turn, told, target } = given({ holdUntil: hold.promise })
  turn('Pipe/orders', 'Missing')
  await clock.advance(11 * SECOND)
  expect(told()).toEqual([['Pipe/orders bad']])
  turn('Pipe/orders', 'Ready')
  hold.resolve()
  await clock.advance(MINUTE)
  expect(told()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
  expect(target.told.told.size).toBe(0)
})

describe('a pipe that is new', () => {
  test('has five minutes to become healthy', async () => {
    const { clock, turn, told } = given()
    turn('Pipe/quick', 'NotReady', { since: clock.now() })
    turn('Pipe/slow', 'NotReady', { since: clock.now() })
    turn('Alert/lag', 'NotReady', { since: clock.now() })
    await clock.advance(2 * MINUTE)
    turn('Pipe/quick', 'Ready')
    expect(told()).toEqual([['Alert/lag bad']])
    const since = clock.now() - 2 * MINUTE
    await clock.advance(3 * MINUTE)
    turn('Pipe/slow', 'NotReady', { since })
    await clock.advance(MINUTE)
    expect(told()).toEqual([['Alert/lag bad'], ['Pipe/slow bad']])
  })

  test('and none once it was', async () => {
    const { clock, target, board, told } = given()
    const was = standing('Pipe/orders', 'NotReady', { since: clock.now() })
    const { Synced } = was.conditions
    board.set('Pipe/orders', { ...was, conditions: { ...was.conditions, Synced: { ...Synced, since: 1 } } })
    target.observe('Pipe/orders')
    await clock.advance(MINUTE)
    expect(told()).toEqual([['Pipe/orders bad']])
  })
})

describe('filters', () => {
  test('keep away what a target does not want: by kind, name, label and severity', async () => {
    const { clock, turn, told, target } = given({
      filter: { kinds: ['Pipe'], names: ['orders*', 'x'], labels: { team: 'pay*' }, severity: 'critical' },
    })
    const labels = { team: 'payments' }
    turn('Pipe/orders-1', 'Missing', { labels })
    turn('Pipe/orders-2', 'Drifted', { labels }) // a warning
    turn('Pipe/orders-3', 'Missing', { labels: { team: 'growth' } })
    turn('Pipe/orders-4', 'Missing')
    turn('Pipe/other', 'Missing', { labels })
    turn('Alert/orders', 'Missing', { labels })
    target.created({ key: 'Pipe/orders-1', pipeId: 'p', at: 1, revision: '' })
    await clock.advance(MINUTE)
    expect(told()).toEqual([['Pipe/orders-1 bad']])
  })

  test('tell of the end of a trouble who heard of it, also when a lesser one is left', async () => {
    const { clock, turn, told, sent } = given({ filter: { severity: 'critical' } })
    turn('Pipe/orders', 'Missing')
    await clock.advance(MINUTE)
    turn('Pipe/orders', 'Drifted')
    await clock.advance(MINUTE)
    turn('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(told()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
    expect(sent()[1]?.sentence).toBe('Pipe/orders is no longer Missing: it has drifted.')
  })
})

describe('grouping', () => {
  test('makes many at once one message, worst first, with a bounded list', async () => {
    const { clock, turn, sent, settled } = given()
    for (let i = 0; i < 300; i += 1) {
      turn(`Pipe/p${String(i).padStart(3, '0')}`, i === 299 ? 'OutcomeUnknown' : 'Failed')
      await clock.advance(10)
    }
    await clock.advance(MINUTE)
    const [first, ...others] = sent()
    expect(others).toEqual([])
    expect(first).toMatchObject({ total: 300, more: 200, sentence: '300 resources need attention.' })
    expect(first?.news).toHaveLength(100)
    expect(first?.news[0]?.key).toBe('Pipe/p299')
    expect(settled('delivered')).toBe(300)
  })

  test('is not put off by news that keep coming', async () => {
    const { clock, turn, sent } = given()
    for (let i = 0; i < 30; i += 1) {
      turn(`Pipe/p${i}`, 'Missing')
      await clock.advance(SECOND)
    }
    expect(sent().length).toBeGreaterThanOrEqual(2)
    await clock.advance(MINUTE)
    expect(sent().flatMap(({ news }) => news)).toHaveLength(30)
  })

  test('is not put off by a resource that goes from one trouble to the next', async () => {
    const { clock, turn, told } = given()
    for (let i = 0; i < 10; i += 1) {
      turn('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Missing')
      await clock.advance(1_100)
    }
    expect(told()).toEqual([['Pipe/orders bad']])
  })

  test('folds what turns back before it is told, and counts it', async () => {
    const { clock, turn, told, settled } = given()
    turn('Pipe/orders', 'Failed')
    await clock.advance(5 * SECOND)
    turn('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(told()).toEqual([])
    expect(settled('folded')).toBe(1)
  })
})

describe('flapping', () => {
  test('is told as one when the window ends, with how often it changed', async () => {
    const { clock, turn, told, sent } = given()
    turn('Pipe/orders', 'Failed')
    await clock.advance(30 * SECOND)
    turn('Pipe/orders', 'Ready')
    await clock.advance(30 * SECOND)
    expect(told()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
    for (let i = 0; i < 7; i += 1) {
      turn('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Ready')
      await clock.advance(30 * SECOND)
    }
    expect(told()).toHaveLength(2)
    await clock.advance(10 * MINUTE)
    expect(told()).toHaveLength(3)
    expect(sent()[2]).toMatchObject({
      sentence: 'Pipe/orders failed, after 7 changes.',
      news: [{ changes: 7 }],
    })
  })

  test('that ends where it began is not told again', async () => {
    const { clock, turn, told } = given()
    for (let i = 0; i < 8; i += 1) {
      turn('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Ready')
      await clock.advance(30 * SECOND)
    }
    await clock.advance(MINUTE * 30)
    expect(told()).toHaveLength(2)
  })

  test('does not hold up the end of a trouble, nor another trouble', async () => {
    const { clock, turn, told } = given()
    for (const status of ['Failed', 'Missing', 'Ready', 'Drifted', 'Ready'] as const) {
      turn('Pipe/orders', status)
      await clock.advance(30 * SECOND)
    }
    expect(told().flat()).toEqual(
      ['bad', 'bad', 'good', 'bad', 'good'].map((change) => `Pipe/orders ${change}`),
    )
  })

  test('between ever new troubles is told four times in the window', async () => {
    const { clock, turn, told } = given()
    for (let i = 0; i < 15; i += 1) {
      turn('Pipe/orders', 'Drifted', { message: `field ${i}` })
      await clock.advance(30 * SECOND)
    }
    expect(told()).toHaveLength(4)
    await clock.advance(10 * MINUTE)
    expect(told()).toHaveLength(5)
  })

  test('holds up nobody else', async () => {
    const { clock, turn, told } = given()
    for (const status of ['Failed', 'Ready', 'Failed'] as const) {
      turn('Pipe/flapping', status)
      await clock.advance(30 * SECOND)
    }
    turn('Pipe/other', 'Missing')
    await clock.advance(30 * SECOND)
    expect(told().at(-1)).toEqual(['Pipe/other bad'])
  })
})

describe('limits', () => {
  test('keep to so many messages in any such time, and what waits goes into the next', async () => {
    const { clock, turn, told } = given({ groupWaitMs: 0, rateLimit: { requests: 2, windowMs: MINUTE } })
    for (let i = 0; i < 6; i += 1) {
      turn(`Pipe/p${i}`, 'Missing')
      await clock.advance(SECOND)
    }
    expect(told()).toHaveLength(2)
    await clock.advance(MINUTE)
    expect(told()).toEqual([
      ['Pipe/p0 bad'],
      ['Pipe/p1 bad'],
      ['Pipe/p2 bad', 'Pipe/p3 bad', 'Pipe/p4 bad', 'Pipe/p5 bad'],
    ])
  })

  test('leave one entry for a resource, however often it changes while a receiver is away', async () => {
    const { clock, turn, events, target } = given({ deliveries: Array.from({ length: 50 }, () => AGAIN) })
    for (let i = 0; i < 500; i += 1) {
      turn('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Missing')
      target.created({ key: 'Pipe/orders', pipeId: `p-${i}`, at: i, revision: '' })
      await clock.advance(SECOND)
    }
    const waiting = eventsOf(events, 'NotificationsWaiting').map(({ count }) => count)
    expect(Math.max(...waiting)).toBe(2)
  })
})

describe('failures', () => {
  test('are tried again with the same bytes, longer and longer apart', async () => {
    const { clock, turn, parcels, events, settled } = given({ deliveries: [AGAIN, AGAIN, AGAIN] })
    turn('Pipe/orders', 'Missing')
    await clock.advance(5 * MINUTE)
    expect(parcels).toHaveLength(4)
    expect(new Set(parcels.map(({ body }) => body)).size).toBe(1)
    const waits = eventsOf(events, 'NotificationFailed').map(({ retryInMs }) => retryInMs)
    expect(waits).toEqual([1_500, 3_000, 6_000])
    expect(eventsOf(events, 'NotificationFailed').map(({ first }) => first)).toEqual([true, false, false])
    expect(eventsOf(events, 'NotificationSent')).toMatchObject([{ attempt: 4, recovered: true }])
    expect(settled('delivered')).toBe(1)
  })

  test('end in a message of how things stand by then, and nothing is lost however long it takes', async () => {
    const { clock, turn, told, settled } = given({ deliveries: Array.from({ length: 30 }, () => AGAIN) })
    turn('Pipe/a', 'Missing')
    turn('Pipe/b', 'Missing')
    await clock.advance(10 * MINUTE)
    turn('Pipe/a', 'Ready')
    turn('Pipe/c', 'Missing')
    await clock.advance(6 * 60 * MINUTE)
    expect(told().at(-1)).toEqual(['Pipe/b bad', 'Pipe/c bad'])
    expect(settled('lost')).toBe(0)
    expect(settled('delivered')).toBe(2)
  })

  test('wait as long as the receiver says', async () => {
    const slow: Delivery = { result: 'again', code: '429', why: 'HTTP 429', retryAfterMs: 120_000 }
    const { clock, turn, parcels } = given({ deliveries: [slow] })
    turn('Pipe/orders', 'Missing')
    await clock.advance(2 * MINUTE)
    expect(parcels).toHaveLength(1)
    await clock.advance(30 * SECOND)
    expect(parcels).toHaveLength(2)
  })

  test('of an address are tried again a minute apart at least, and the news is kept', async () => {
    const gone: Delivery = { result: 'address', code: '404', why: 'HTTP 404', retryAfterMs: undefined }
    const { clock, turn, parcels, settled } = given({ deliveries: [gone, gone] })
    turn('Pipe/orders', 'Missing')
    await clock.advance(60 * SECOND)
    expect(parcels).toHaveLength(1)
    await clock.advance(3 * MINUTE)
    expect(settled('delivered')).toBe(1)
  })

  test('of a message that is refused lose it, with a count and a line', async () => {
    const refused: Delivery = { result: 'refused', code: '400', why: 'HTTP 400: no', retryAfterMs: undefined }
    const { clock, turn, told, settled, events } = given({ deliveries: [refused] })
    turn('Pipe/orders', 'Missing')
    turn('Pipe/other', 'Missing')
    await clock.advance(MINUTE)
    expect(settled('lost')).toBe(2)
    expect(eventsOf(events, 'NotificationFailed')).toMatchObject([
      { retryInMs: undefined, message: 'HTTP 400: no' },
    ])
    turn('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(told().at(-1)).toEqual(['Pipe/orders good'])
  })
})

describe('a restart', () => {
  test('tells nothing twice, and what turned meanwhile', async () => {
    const first = given()
    first.turn('Pipe/a', 'Missing')
    first.turn('Pipe/b', 'Missing')
    first.turn('Pipe/c', 'Ready')
    await first.clock.advance(MINUTE)
    const second = given({ before: first.target.told })
    second.turn('Pipe/a', 'Missing')
    second.turn('Pipe/b', 'Ready')
    second.turn('Pipe/c', 'Failed')
    await second.clock.advance(MINUTE)
    expect(second.told()).toEqual([['Pipe/c bad', 'Pipe/b good']])
  })

  test('repeats under the same id what may not have arrived', async () => {
    const before: ToldTarget = { told: new Map(), createdUntil: 0 }
    const [first, second] = [given({ before, deliveries: [AGAIN, AGAIN] }), given({ before })]
    for (const { turn, clock } of [first, second]) {
      turn('Pipe/a', 'Missing', { since: 5 })
      turn('Pipe/b', 'Drifted', { since: 6 })
      await clock.advance(12 * SECOND)
    }
    expect(first.settled('delivered')).toBe(0)
    expect(second.sent()[0]?.id).toBe(first.sent()[0]?.id)
    expect(second.sent()[0]?.news.map(({ id }) => id)).toEqual(first.sent()[0]?.news.map(({ id }) => id))
  })
})

describe('the stop', () => {
  test('tells at once what was being gathered', async () => {
    const { turn, told, target, saves } = given()
    turn('Pipe/orders', 'Missing')
    await target.stop(new AbortController().signal)
    expect(told()).toEqual([['Pipe/orders bad']])
    expect(saves()).toBe(1)
  })

  test('leaves to the next start what a receiver that fails cannot be told', async () => {
    const { clock, turn, parcels, target } = given({ deliveries: [AGAIN] })
    turn('Pipe/orders', 'Missing')
    await clock.advance(10 * SECOND)
    await target.stop(new AbortController().signal)
    expect(parcels).toHaveLength(1)
    expect(target.told.told.size).toBe(0)
    await clock.advance(60 * MINUTE)
    expect(parcels).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })
})
