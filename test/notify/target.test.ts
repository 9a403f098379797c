import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { Delivery, OutgoingMessage } from '../../src/notify/delivery.ts'
import type { Filter } from '../../src/notify/filter.ts'
import { createTarget } from '../../src/notify/target.ts'
import type { SentState } from '../../src/notify/sent-state.ts'
import type { Status } from '../../src/plan/severity.ts'
import type { Event } from '../../src/contract/events.ts'
import type { ResourceStatus } from '../../src/contract/status.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { CONTEXT, EVERYTHING, eventsOf, resourceStatus } from './given.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

interface Sent {
  readonly id: string
  readonly sentence: string
  readonly news: readonly {
    readonly key: string
    readonly change: string
    readonly changes: number
    readonly message: string
    readonly id: string
  }[]
  readonly more: number
  readonly total: number
}

interface Given {
  readonly filter?: Partial<Filter>
  readonly groupWaitMs?: number
  readonly rateLimit?: { readonly requests: number; readonly windowMs: number }
  readonly before?: SentState
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
  const messages: OutgoingMessage[] = []
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
    before: options.before ?? { alerts: new Map(), createdUntil: 0 },
    context: CONTEXT,
    resource: (key) => board.get(key),
    async deliver(message) {
      messages.push(message)
      await options.holdUntil
      return left.shift() ?? DELIVERED
    },
    onSent: () => {
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
    messages,
    saves: () => saves,
    sent: () => messages.map(({ body }) => JSON.parse(body) as Sent),
    /** A resource has this status from now on. */
    put: (key: Key, status: Status, over: Parameters<typeof resourceStatus>[2] = {}) => {
      board.set(key, resourceStatus(key, status, over))
      target.observe(key)
    },
    /** What was sent, message by message. */
    changes: () =>
      messages.map(({ body }) =>
        (JSON.parse(body) as Sent).news.map(({ key, change }) => `${key} ${change}`),
      ),
    settled: (result: string) =>
      eventsOf(events, 'NotificationsSettled')
        .filter((event) => event.result === result)
        .reduce((sum, { count }) => sum + count, 0),
  }
}

describe('what is sent', () => {
  test('a resource that turns bad, once, and once when it is good again', async () => {
    const { clock, put, changes } = given()
    put('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([])
    for (let i = 0; i < 3; i += 1) {
      put('Pipe/orders', 'Missing')
      await clock.advance(MINUTE)
    }
    expect(changes()).toEqual([['Pipe/orders bad']])
    for (let i = 0; i < 3; i += 1) {
      put('Pipe/orders', 'Ready')
      await clock.advance(MINUTE)
    }
    expect(changes()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
  })

  test('another problem of the same resource, and other fields that drift; not another wording of the same', async () => {
    const { clock, put, changes } = given()
    put('Pipe/orders', 'Failed', { message: 'no answer (request 1)' })
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Failed', { message: 'no answer (request 2)' })
    await clock.advance(20 * MINUTE)
    expect(changes()).toHaveLength(1)
    put('Pipe/orders', 'Drifted', { message: 'scaling.replicas' })
    await clock.advance(20 * MINUTE)
    put('Pipe/orders', 'Drifted', { message: 'scaling.replicas, name' })
    await clock.advance(20 * MINUTE)
    expect(changes()).toEqual([['Pipe/orders bad'], ['Pipe/orders bad'], ['Pipe/orders bad']])
  })

  test('a field that drifts behind a difference that was sent before, and its name', async () => {
    const { clock, put, sent, changes } = given()
    const known = { reason: 'NotUpdatable', message: 'scaling.replicas changed in the manifest.' } as const
    const replicas = { field: 'scaling.replicas', desired: '3', observed: '2' }
    const topics = { field: 'source.kafka.topics', desired: 'a', observed: 'b' }
    put('Pipe/orders', 'Drifted', { ...known, differences: [replicas] })
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Drifted', { ...known, differences: [replicas, topics] })
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Drifted', { ...known, differences: [topics, replicas] })
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders bad'], ['Pipe/orders bad']])
    expect(sent().map(({ news }) => news[0]?.message)).toEqual([
      'scaling.replicas changed in the manifest.',
      'scaling.replicas changed in the manifest. On the platform, source.kafka.topics differs as well.',
    ])
    await clock.advance(10 * MINUTE)
    put('Pipe/orders', 'Drifted', { ...known, differences: [replicas] })
    await clock.advance(MINUTE)
    expect(changes()).toHaveLength(3)
  })

  test('nothing of what is neither bad nor good yet', async () => {
    const { clock, put, changes } = given()
    put('Pipe/orders', 'Progressing')
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Missing')
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Progressing')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders bad']])
  })

  test('a problem that is over because somebody suspended the resource, or forgot it', async () => {
    const { clock, put, changes, target, board, sent } = given()
    put('Pipe/a', 'Missing')
    put('Pipe/b', 'Orphaned')
    await clock.advance(MINUTE)
    put('Pipe/a', 'Suspended')
    board.delete('Pipe/b')
    target.observe('Pipe/b')
    await clock.advance(MINUTE)
    expect(changes()[1]).toEqual(['Pipe/a good', 'Pipe/b forgotten'])
    expect(sent()[1]?.sentence).toBe('2 problems are over.')
  })

  test('what went without a word: a record that moved to another key', async () => {
    const { clock, put, changes, target, board } = given()
    put('Pipe/old', 'Missing')
    await clock.advance(MINUTE)
    board.delete('Pipe/old')
    for (let i = 0; i < 5; i += 1) {
      target.sweep()
      await clock.advance(5 * SECOND)
    }
    expect(changes()).toEqual([['Pipe/old bad'], ['Pipe/old forgotten']])
  })

  test('what was created, with its id', async () => {
    const { clock, put, changes, target, sent } = given()
    put('Pipe/orders', 'Progressing')
    target.created({ key: 'Pipe/orders', pipeId: 'p-1', at: clock.now(), revision: 'abc' })
    put('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders created']])
    expect(sent()[0]).toMatchObject({ sentence: 'Pipe/orders was created.', news: [{ pipeId: 'p-1' }] })
  })

  test('what was created waits for the first reading after a start, and is let go when that does not know it', async () => {
    const { clock, put, changes, target } = given()
    for (const key of ['Pipe/orders', 'Pipe/gone'] as const) {
      target.created({ key, pipeId: 'p-1', at: clock.now(), revision: 'abc' })
    }
    await clock.advance(MINUTE)
    expect(changes()).toEqual([])
    put('Pipe/orders', 'Ready')
    target.sweep()
    put('Pipe/gone', 'Ready')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders created']])
  })
})

test('what changes while a message is under way is sent with the next', async () => {
  const hold = Promise.withResolvers<void>()
  const { clock, put, changes, target } = given({ holdUntil: hold.promise })
  put('Pipe/orders', 'Missing')
  await clock.advance(11 * SECOND)
  expect(changes()).toEqual([['Pipe/orders bad']])
  put('Pipe/orders', 'Ready')
  hold.resolve()
  await clock.advance(MINUTE)
  expect(changes()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
  expect(target.sent.alerts.size).toBe(0)
})

describe('a pipe that is new', () => {
  test('has five minutes to become healthy', async () => {
    const { clock, put, changes } = given()
    put('Pipe/quick', 'NotReady', { since: clock.now() })
    put('Pipe/slow', 'NotReady', { since: clock.now() })
    put('Alert/lag', 'NotReady', { since: clock.now() })
    await clock.advance(2 * MINUTE)
    put('Pipe/quick', 'Ready')
    expect(changes()).toEqual([['Alert/lag bad']])
    const since = clock.now() - 2 * MINUTE
    await clock.advance(3 * MINUTE)
    put('Pipe/slow', 'NotReady', { since })
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Alert/lag bad'], ['Pipe/slow bad']])
  })

  test('and none once it was', async () => {
    const { clock, target, board, changes } = given()
    const was = resourceStatus('Pipe/orders', 'NotReady', { since: clock.now() })
    const { Synced } = was.conditions
    board.set('Pipe/orders', { ...was, conditions: { ...was.conditions, Synced: { ...Synced, since: 1 } } })
    target.observe('Pipe/orders')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders bad']])
  })
})

describe('filters', () => {
  test('keep away what a target does not want: by kind, name, label and severity', async () => {
    const { clock, put, changes, target } = given({
      filter: { kinds: ['Pipe'], names: ['orders*', 'x'], labels: { team: 'pay*' }, severity: 'critical' },
    })
    const labels = { team: 'payments' }
    put('Pipe/orders-1', 'Missing', { labels })
    put('Pipe/orders-2', 'Drifted', { labels }) // a warning
    put('Pipe/orders-3', 'Missing', { labels: { team: 'growth' } })
    put('Pipe/orders-4', 'Missing')
    put('Pipe/other', 'Missing', { labels })
    put('Alert/orders', 'Missing', { labels })
    target.created({ key: 'Pipe/orders-1', pipeId: 'p', at: 1, revision: '' })
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders-1 bad']])
  })

  test('hear nothing of an incident that only hides the problem they heard of, and of its end when it is seen', async () => {
    const { clock, put, changes } = given({ filter: { severity: 'critical' } })
    const missing = { status: 'False', reason: 'Missing', message: 'it is gone', since: 1_000 } as const
    const valid = { ...missing, status: 'True', reason: 'Valid' } as const
    const invalid = { ...missing, reason: 'InvalidManifest' } as const
    const unseen = { ...missing, status: 'Unknown', reason: 'Unavailable' } as const
    put('Pipe/orders', 'Missing')
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Failed', { conditions: { Valid: valid, Synced: unseen, Ready: unseen } })
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Invalid', { conditions: { Valid: invalid, Synced: missing, Ready: missing } })
    await clock.advance(20 * MINUTE)
    put('Pipe/orders', 'Missing')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders bad']])
    put('Pipe/orders', 'NotReady', { reason: 'UnhealthyState' })
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
  })

  test('hear of the end of a problem who heard of it, also when a lesser one is left', async () => {
    const { clock, put, changes, sent } = given({ filter: { severity: 'critical' } })
    put('Pipe/orders', 'Missing')
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Drifted')
    await clock.advance(MINUTE)
    put('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
    expect(sent()[1]?.sentence).toBe('Pipe/orders is no longer Missing: it has drifted.')
  })
})

describe('grouping', () => {
  test('makes many at once one message, worst first, with a bounded list', async () => {
    const { clock, put, sent, settled } = given()
    for (let i = 0; i < 300; i += 1) {
      put(`Pipe/p${String(i).padStart(3, '0')}`, i === 299 ? 'OutcomeUnknown' : 'Failed')
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

  test('is not put off by changes that keep coming', async () => {
    const { clock, put, sent } = given()
    for (let i = 0; i < 30; i += 1) {
      put(`Pipe/p${i}`, 'Missing')
      await clock.advance(SECOND)
    }
    expect(sent().length).toBeGreaterThanOrEqual(2)
    await clock.advance(MINUTE)
    expect(sent().flatMap(({ news }) => news)).toHaveLength(30)
  })

  test('is not put off by a resource that goes from one problem to the next', async () => {
    const { clock, put, changes } = given()
    for (let i = 0; i < 10; i += 1) {
      put('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Missing')
      await clock.advance(1_100)
    }
    expect(changes()).toEqual([['Pipe/orders bad']])
  })

  test('folds what turns back before it is sent, and counts it', async () => {
    const { clock, put, changes, settled } = given()
    put('Pipe/orders', 'Failed')
    await clock.advance(5 * SECOND)
    put('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(changes()).toEqual([])
    expect(settled('folded')).toBe(1)
  })
})

describe('flapping', () => {
  test('is sent as one when the window ends, with how often it changed', async () => {
    const { clock, put, changes, sent } = given()
    put('Pipe/orders', 'Failed')
    await clock.advance(30 * SECOND)
    put('Pipe/orders', 'Ready')
    await clock.advance(30 * SECOND)
    expect(changes()).toEqual([['Pipe/orders bad'], ['Pipe/orders good']])
    for (let i = 0; i < 7; i += 1) {
      put('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Ready')
      await clock.advance(30 * SECOND)
    }
    expect(changes()).toHaveLength(2)
    await clock.advance(10 * MINUTE)
    expect(changes()).toHaveLength(3)
    expect(sent()[2]).toMatchObject({
      sentence: 'Pipe/orders failed, after 7 changes.',
      news: [{ changes: 7 }],
    })
  })

  test('that ends where it began is not sent again', async () => {
    const { clock, put, changes } = given()
    for (let i = 0; i < 8; i += 1) {
      put('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Ready')
      await clock.advance(30 * SECOND)
    }
    await clock.advance(MINUTE * 30)
    expect(changes()).toHaveLength(2)
  })

  test('does not hold up the end of a problem, nor another problem', async () => {
    const { clock, put, changes } = given()
    for (const status of ['Failed', 'Missing', 'Ready', 'Drifted', 'Ready'] as const) {
      put('Pipe/orders', status)
      await clock.advance(30 * SECOND)
    }
    expect(changes().flat()).toEqual(
      ['bad', 'bad', 'good', 'bad', 'good'].map((change) => `Pipe/orders ${change}`),
    )
  })

  test('between ever new problems is sent four times in the window', async () => {
    const { clock, put, changes } = given()
    for (let i = 0; i < 15; i += 1) {
      put('Pipe/orders', 'Drifted', { message: `field ${i}` })
      await clock.advance(30 * SECOND)
    }
    expect(changes()).toHaveLength(4)
    await clock.advance(10 * MINUTE)
    expect(changes()).toHaveLength(5)
  })

  test('holds up nobody else', async () => {
    const { clock, put, changes } = given()
    for (const status of ['Failed', 'Ready', 'Failed'] as const) {
      put('Pipe/flapping', status)
      await clock.advance(30 * SECOND)
    }
    put('Pipe/other', 'Missing')
    await clock.advance(30 * SECOND)
    expect(changes().at(-1)).toEqual(['Pipe/other bad'])
  })
})

describe('limits', () => {
  test('keep to so many messages in any such time, and what waits goes into the next', async () => {
    const { clock, put, changes } = given({ groupWaitMs: 0, rateLimit: { requests: 2, windowMs: MINUTE } })
    for (let i = 0; i < 6; i += 1) {
      put(`Pipe/p${i}`, 'Missing')
      await clock.advance(SECOND)
    }
    expect(changes()).toHaveLength(2)
    await clock.advance(MINUTE)
    expect(changes()).toEqual([
      ['Pipe/p0 bad'],
      ['Pipe/p1 bad'],
      ['Pipe/p2 bad', 'Pipe/p3 bad', 'Pipe/p4 bad', 'Pipe/p5 bad'],
    ])
  })

  test('leave one entry for a resource, however often it changes while a receiver is away', async () => {
    const { clock, put, events, target } = given({ deliveries: Array.from({ length: 50 }, () => AGAIN) })
    for (let i = 0; i < 500; i += 1) {
      put('Pipe/orders', i % 2 === 0 ? 'Failed' : 'Missing')
      target.created({ key: 'Pipe/orders', pipeId: `p-${i}`, at: i, revision: '' })
      await clock.advance(SECOND)
    }
    const waiting = eventsOf(events, 'NotificationsWaiting').map(({ count }) => count)
    expect(Math.max(...waiting)).toBe(2)
  })
})

describe('failures', () => {
  test('are tried again with the same bytes, longer and longer apart', async () => {
    const { clock, put, messages, events, settled } = given({ deliveries: [AGAIN, AGAIN, AGAIN] })
    put('Pipe/orders', 'Missing')
    await clock.advance(5 * MINUTE)
    expect(messages).toHaveLength(4)
    expect(new Set(messages.map(({ body }) => body)).size).toBe(1)
    const waits = eventsOf(events, 'NotificationFailed').map(({ retryInMs }) => retryInMs)
    expect(waits).toEqual([1_500, 3_000, 6_000])
    expect(eventsOf(events, 'NotificationFailed').map(({ first }) => first)).toEqual([true, false, false])
    expect(eventsOf(events, 'NotificationSent')).toMatchObject([{ attempt: 4, recovered: true }])
    expect(settled('delivered')).toBe(1)
  })

  test('end in a message of how things stand by then, and nothing is lost however long it takes', async () => {
    const { clock, put, changes, settled } = given({ deliveries: Array.from({ length: 30 }, () => AGAIN) })
    put('Pipe/a', 'Missing')
    put('Pipe/b', 'Missing')
    await clock.advance(10 * MINUTE)
    put('Pipe/a', 'Ready')
    put('Pipe/c', 'Missing')
    await clock.advance(6 * 60 * MINUTE)
    expect(changes().at(-1)).toEqual(['Pipe/b bad', 'Pipe/c bad'])
    expect(settled('lost')).toBe(0)
    expect(settled('delivered')).toBe(2)
  })

  test('wait as long as the receiver says', async () => {
    const slow: Delivery = { result: 'again', code: '429', why: 'HTTP 429', retryAfterMs: 120_000 }
    const { clock, put, messages } = given({ deliveries: [slow] })
    put('Pipe/orders', 'Missing')
    await clock.advance(2 * MINUTE)
    expect(messages).toHaveLength(1)
    await clock.advance(30 * SECOND)
    expect(messages).toHaveLength(2)
  })

  test('of an address are tried again a minute apart at least, and what it says is kept', async () => {
    const gone: Delivery = { result: 'address', code: '404', why: 'HTTP 404', retryAfterMs: undefined }
    const { clock, put, messages, settled } = given({ deliveries: [gone, gone] })
    put('Pipe/orders', 'Missing')
    await clock.advance(60 * SECOND)
    expect(messages).toHaveLength(1)
    await clock.advance(3 * MINUTE)
    expect(settled('delivered')).toBe(1)
  })

  test('of a message that is refused lose it, with a count and a line', async () => {
    const refused: Delivery = { result: 'refused', code: '400', why: 'HTTP 400: no', retryAfterMs: undefined }
    const { clock, put, changes, settled, events } = given({ deliveries: [refused] })
    put('Pipe/orders', 'Missing')
    put('Pipe/other', 'Missing')
    await clock.advance(MINUTE)
    expect(settled('lost')).toBe(2)
    expect(eventsOf(events, 'NotificationFailed')).toMatchObject([
      { retryInMs: undefined, message: 'HTTP 400: no' },
    ])
    put('Pipe/orders', 'Ready')
    await clock.advance(MINUTE)
    expect(changes().at(-1)).toEqual(['Pipe/orders good'])
  })
})

describe('a restart', () => {
  test('tells nothing twice, and what turned meanwhile', async () => {
    const first = given()
    first.put('Pipe/a', 'Missing')
    first.put('Pipe/b', 'Missing')
    first.put('Pipe/c', 'Ready')
    await first.clock.advance(MINUTE)
    const second = given({ before: first.target.sent })
    second.put('Pipe/a', 'Missing')
    second.put('Pipe/b', 'Ready')
    second.put('Pipe/c', 'Failed')
    await second.clock.advance(MINUTE)
    expect(second.changes()).toEqual([['Pipe/c bad', 'Pipe/b good']])
  })

  test('repeats under the same id what may not have arrived', async () => {
    const before: SentState = { alerts: new Map(), createdUntil: 0 }
    const [first, second] = [given({ before, deliveries: [AGAIN, AGAIN] }), given({ before })]
    for (const { put, clock } of [first, second]) {
      put('Pipe/a', 'Missing', { since: 5 })
      put('Pipe/b', 'Drifted', { since: 6 })
      await clock.advance(12 * SECOND)
    }
    expect(first.settled('delivered')).toBe(0)
    expect(second.sent()[0]?.id).toBe(first.sent()[0]?.id)
    expect(second.sent()[0]?.news.map(({ id }) => id)).toEqual(first.sent()[0]?.news.map(({ id }) => id))
  })
})

describe('the stop', () => {
  test('tells at once what was being gathered', async () => {
    const { put, changes, target, saves } = given()
    put('Pipe/orders', 'Missing')
    await target.stop(new AbortController().signal)
    expect(changes()).toEqual([['Pipe/orders bad']])
    expect(saves()).toBe(1)
  })

  test('leaves to the next start what does not reach a receiver that fails', async () => {
    const { clock, put, messages, target } = given({ deliveries: [AGAIN] })
    put('Pipe/orders', 'Missing')
    await clock.advance(10 * SECOND)
    await target.stop(new AbortController().signal)
    expect(messages).toHaveLength(1)
    expect(target.sent.alerts.size).toBe(0)
    await clock.advance(60 * MINUTE)
    expect(messages).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })
})
