import { describe, expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import type { Problem } from '../../src/contract/view.ts'
import { NotLeading } from '../../src/contract/leadership.ts'
import type { Posted } from '../../src/notify/delivery.ts'
import { openMemory, type WebhookMemory, createWebhook } from '../../src/notify/webhook.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { keys, problem, receiver, reply, SILENCE, SINCE } from './given.ts'

/* What the webhook sends of problems that begin, grow and end; when the receiver is away; and after a restart. */

const FOUND: Event = { type: 'ReconcileFinished' } as Event // the webhook asks for its type alone

interface World {
  readonly answers?: readonly Posted[]
  readonly before?: readonly Problem[]
  readonly over?: Partial<Parameters<typeof createWebhook>[0]>
}

function setUp({ answers = [], before = [], over = {} }: World = {}) {
  const clock = createFakeClock()
  const events: Event[] = []
  const saved: Problem[][] = [[...before]]
  const there = receiver(...answers)
  let problems: readonly Problem[] | undefined
  const memory: WebhookMemory = {
    before,
    unusable: undefined,
    save: async (now) => void saved.push([...now]),
  }
  const webhook = createWebhook({
    memory,
    problems: () => problems,
    words: (key) => `words of ${key}`,
    revision: () => 'abc123',
    isSandbox: false,
    publicUrl: undefined,
    emit: (event) => events.push(event),
    readTarget: async () => ({ url: new URL('https://hooks.example/T0'), secret: undefined }),
    post: there.post,
    confirm: async () => Infinity,
    clock,
    random: () => 0.5,
    userAgent: 'test',
    ...over,
  })
  return {
    ...there,
    clock,
    events,
    webhook,
    saved,
    /** The problems are these now. */
    show: async (...now: readonly Problem[]) => {
      problems = now
      webhook.observe({ ...FOUND, type: 'ProblemFound' } as Event) // as above
      await clock.advance(0)
    },
    told: () =>
      there.bodies().map(({ type, id }) => `${String(type).slice('problem.'.length)} ${String(id)}`),
  }
}

describe('what is sent', () => {
  test('a begin, growth tenfold, and an end, once each', async () => {
    const { show, told } = setUp()
    await show(problem('a'))
    await show(problem('a', { keys: keys(9) }))
    await show(problem('a', { keys: keys(10) }))
    await show(problem('a', { keys: keys(10) }))
    await show(problem('a', { keys: keys(99) }))
    await show()
    await show()
    expect(told()).toEqual(['began a', 'grew a', 'ended a'])
  })

  test('another field that drifts is a begin again', async () => {
    const { show, told } = setUp()
    await show(problem('a', { state: 'replicas' }))
    await show(problem('a', { state: 'columns' }))
    expect(told()).toEqual(['began a', 'began a'])
  })

  test('a part of a larger problem ends with its resources', async () => {
    const { show, told } = setUp()
    const cause = 'Drifted'
    await show(problem('a', { cause, keys: keys(1) }))
    await show(problem('many', { cause, keys: keys(4) }))
    expect(told()).toEqual(['began a', 'began many'])
    await show(problem('many', { cause, keys: keys(4).slice(1) }))
    await show()
    expect(told().slice(2)).toEqual(['ended a', 'ended many'])
  })

  test('the end of a problem is when it ended, although another message was on its way', async () => {
    const { show, bodies, clock } = setUp({ answers: [reply(200), SILENCE, SILENCE, SILENCE] })
    await show(problem('a'))
    await show(problem('a'), problem('b'))
    const endedAt = new Date(clock.now()).toISOString()
    await show(problem('b'))
    await clock.advance(60_000)
    expect(bodies().at(-1)).toMatchObject({ type: 'problem.ended', endedAt })
  })

  test('the end of a problem that came back in between is its last end', async () => {
    const { show, bodies, clock } = setUp({ answers: [reply(200), SILENCE, SILENCE, SILENCE] })
    await show(problem('a'))
    await show(problem('a'), problem('b'))
    await show(problem('b'))
    await show(problem('a'), problem('b'))
    await clock.advance(1_000)
    const endedAt = new Date(clock.now()).toISOString()
    await show(problem('b'))
    await clock.advance(60_000)
    expect(bodies().at(-1)).toMatchObject({ type: 'problem.ended', endedAt })
  })

  test('what ended while another message was on its way is not said to begin', async () => {
    const { show, told, clock } = setUp({ answers: [SILENCE] })
    await show(problem('a'), problem('b'))
    await show(problem('a'))
    await clock.advance(60_000)
    expect(told()).toEqual(['began a', 'began a'])
  })

  test('has words, and none of what is over', async () => {
    const { show, bodies } = setUp()
    await show(problem('a'))
    await show()
    expect(bodies().map(({ text }) => String(text).includes('words of Pipe/a'))).toEqual([true, false])
  })

  test('nothing before the first reconcile, since nothing is known', async () => {
    const { webhook, clock, posts } = setUp({ before: [problem('a')] })
    webhook.observe({ ...FOUND, type: 'SourceLoaded' } as Event) // as above
    webhook.observe({ ...FOUND, type: 'ReconcileFinished' } as Event) // as above
    await clock.advance(3_600_000)
    expect(posts).toEqual([])
  })
})

describe('a receiver that is away', () => {
  test('gets the same bytes under one id, with full jitter, seven times; then after five minutes', async () => {
    const { show, posts, clock, events } = setUp({ answers: Array.from({ length: 9 }, () => SILENCE) })
    await show(problem('a'))
    const waits = []
    for (let seen = 1; seen < 8; seen += 1) {
      const from = clock.monotonic()
      while (posts.length === seen) await clock.advance(100)
      waits.push(clock.monotonic() - from)
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    await clock.advance(299_000)
    expect(posts).toHaveLength(8)
    await clock.advance(1_000)
    expect(posts).toHaveLength(9)
    expect(new Set(posts.slice(0, 8).map(({ body }) => body)).size).toBe(1)
    await clock.advance(60_000)
    expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const news = events.flatMap((event): readonly unknown[] => {
      if (event.type === 'NotificationFailed') return [event.first]
      return event.type === 'NotificationSent' ? ['sent'] : []
    })
    expect(news).toEqual([true, ...Array.from({ length: 8 }, () => false), 'sent'])
  })

  test('is asked again when it said', async () => {
    const { show, posts, clock } = setUp({ answers: [reply(429, { 'retry-after': '40' })] })
    await show(problem('a'))
    await clock.advance(39_000)
    expect(posts).toHaveLength(1)
    await clock.advance(1_000)
    expect(posts).toHaveLength(2)
  })

  test.each([
    ['that began and ended meanwhile', [problem('a')], [], []],
    ['that began', [], [problem('a')], ['began a']],
    ['that grew', [problem('a')], [problem('a', { keys: keys(50) })], ['began a']],
  ] as const)('is not told twice of a problem %s', async (_, first, second, expected) => {
    const { show, told, clock, posts } = setUp({
      answers: [SILENCE, ...Array.from({ length: 7 }, () => SILENCE)],
    })
    await show(problem('x'), ...first)
    await clock.advance(120_000)
    const before = posts.length
    await show(problem('x'), ...second)
    await clock.advance(0)
    expect(told().slice(before)).toEqual(['began x', ...expected])
  })

  test.each([301, 400, 401, 404, 410, 413])(
    'and one that says %i holds up no other problem',
    async (status) => {
      const { show, told, clock } = setUp({ answers: [reply(status)] })
      await show(problem('a'), problem('b'))
      expect(told()).toEqual(['began a', 'began b'])
      await show(problem('a'), problem('b'), problem('c'))
      expect(told().slice(2)).toEqual(['began c'])
      await clock.advance(299_000)
      expect(told()).toHaveLength(3)
      await clock.advance(1_000)
      expect(told().slice(3)).toEqual(['began a'])
    },
  )

  test('is counted', async () => {
    const { show, events, clock } = setUp({ answers: [SILENCE] })
    await show(problem('a'), problem('b'))
    await clock.advance(1_000)
    const counts = events.flatMap((event) => (event.type === 'NotificationsWaiting' ? [event.count] : []))
    expect(counts).toEqual([2, 1, 0])
  })
})

describe('a restart', () => {
  test('repeats nothing that did not change', async () => {
    const { show, posts } = setUp({ before: [problem('a'), problem('b', { keys: keys(5) })] })
    await show(problem('a'), problem('b', { keys: keys(20) }))
    expect(posts).toEqual([])
  })

  test('sends what changed meanwhile', async () => {
    const { show, told } = setUp({ before: [problem('a'), problem('b')] })
    await show(problem('b', { keys: keys(10) }), problem('c'))
    expect(told()).toEqual(['grew b', 'began c', 'ended a'])
  })

  test('continues after a stop that could not send', async () => {
    const first = setUp({ answers: Array.from({ length: 20 }, () => SILENCE) })
    await first.show(problem('a'))
    await first.webhook.stop(new AbortController().signal)
    expect(first.saved).toEqual([[]])
    const second = setUp({ before: first.saved.at(-1) ?? [] })
    await second.show(problem('a'))
    expect(second.told()).toEqual(['began a'])
    expect(second.posts[0]?.headers['webhook-id']).toBe(first.posts[0]?.headers['webhook-id'])
  })

  test('a stop sends what is left, once', async () => {
    const { show, webhook, told } = setUp({ answers: [SILENCE] })
    await show(problem('a'))
    await webhook.stop(new AbortController().signal)
    expect(told()).toEqual(['began a', 'began a'])
  })
})

function refuse(): Promise<number> {
  return Promise.reject(new NotLeading('two has taken over', true))
}

describe('a process that does not act', () => {
  test('sends nothing, and forgets nothing', async () => {
    const { show, posts, events, saved, clock } = setUp({ over: { confirm: refuse } })
    await show(problem('a'))
    await clock.advance(1_000_000)
    expect([posts, saved]).toEqual([[], [[]]])
    expect(events.find(({ type }) => type === 'NotificationFailed')).toMatchObject({
      code: 'NotLeading',
      message: 'two has taken over',
    })
  })

  test('remembers nothing in place of the one that has taken over while it sent', async () => {
    let asked = 0
    const confirm = () => ((asked += 1) === 1 ? Promise.resolve(Infinity) : refuse())
    const { show, posts, saved } = setUp({ over: { confirm } })
    await show(problem('a'))
    expect([posts.length, saved]).toEqual([1, [[]]])
  })
})

test('a memory that cannot be written is one warning, and is written later', async () => {
  let isFull = true
  const saved: number[] = []
  const memory: WebhookMemory = {
    before: [],
    unusable: undefined,
    save: async (now) => {
      if (isFull) throw new Error('the disk is full')
      saved.push(now.length)
    },
  }
  const { show, events, clock } = setUp({ over: { memory } })
  await show(problem('a'))
  await show(problem('a'), problem('b'))
  const lost = () => events.filter(({ type }) => type === 'NotificationsForgotten')
  expect(lost()).toEqual([{ type: 'NotificationsForgotten', message: 'the disk is full' }])
  isFull = false
  await clock.advance(300_000)
  expect(saved).toEqual([2])
})

async function memoryOf(text: string | undefined): Promise<WebhookMemory & { kept(): string | undefined }> {
  let kept = text
  const notes = { read: async () => kept, write: async (next: string) => void (kept = next) }
  return { ...(await openMemory(notes)), kept: () => kept }
}

describe('the memory', () => {
  const PROBLEMS = [problem('a'), problem('b', { service: undefined, keys: keys(3), since: SINCE + 5 })]

  test('is read as it was written', async () => {
    const first = await memoryOf(undefined)
    expect(first).toMatchObject({ before: [], unusable: undefined })
    await first.save(PROBLEMS)
    expect(await memoryOf(first.kept())).toMatchObject({ before: PROBLEMS, unusable: undefined })
  })

  test.each([
    ['damaged', '{"version":2,"problems":[{'],
    ['of an earlier version', '{"version":1,"targets":{"on-call":{"createdUntil":0,"told":{}}}}'],
    ['of a later version', '{"version":3}'],
    ['empty', ''],
  ])('that is %s is not used', async (_, text) => {
    const unusable = 'it is damaged, or of another version'
    expect(await memoryOf(text)).toMatchObject({ before: [], unusable })
  })

  test('drops a problem whose reason or resource this version does not know', async () => {
    const [one] = PROBLEMS
    const unknown = [{ ...one, reason: 'FromTheFuture' }, { ...one, keys: ['Future/a'] }, one]
    const text = JSON.stringify({ version: 2, problems: unknown })
    expect(await memoryOf(text)).toMatchObject({ before: [one], unusable: undefined })
  })
})
