import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import type { FakeRequest, Reply } from './support/fake-platform.ts'
import { ownError } from './support/fake-platform.ts'
import type { FakePipe } from './support/fake-world.ts'
import { createStory, type Story } from './support/story.ts'
import { madeByOthers } from './support/waiting.ts'
import { ANALYTICS } from '../support/manifests.ts'

/* Rows 10 and 13: which id of a reply is believed, and what becomes of one in a reply that is not whole. */

const OTHER = { name: 'billing', serviceId: '3d0e6f51-9b7c-4a25-8d13-5c2f7a9e0b66', secret: 'billing-api' }
const STRANGER = 'c1a5e6f0-7b42-4d19-9e83-0a6d2f4b8c57'

/** The usual answer of a create, with another id in it. */
function withId(id: unknown, more: Readonly<Record<string, unknown>> = {}): Reply {
  return {
    body: ({ json }) => JSON.stringify({ ...json, result: { ...(json['result'] as object), id, ...more } }),
  }
}

/** Answers creates of `orders` so, and all else as usual. */
function answerOrders(story: Story, reply: (request: FakeRequest) => Reply): void {
  story.platform.decide = (request) =>
    request.operation === 'createPipe' && request.text.startsWith('{"name":"orders"')
      ? reply(request)
      : undefined
}

interface Judged {
  readonly what: string
  /** The id in the reply, given the pipe that another key holds. */
  readonly id: (other: FakePipe) => unknown
  readonly more?: Readonly<Record<string, unknown>>
  /** How it is seen in the words; as it came, unless given. */
  readonly shown?: RegExp
}

const JUDGED: readonly Judged[] = [
  { what: 'the id of a pipe that another key holds', id: ({ id }) => id },
  { what: 'that id, in capitals', id: ({ id }) => id.toUpperCase() },
  { what: 'two dots', id: () => '..' },
  { what: 'a space', id: () => ' ', shown: /["'“‘`] ["'”’`]/ },
  { what: 'a word', id: () => 'pipe-17' },
  { what: 'a UUID with something behind it', id: () => `${STRANGER}/../x` },
  { what: 'the id of a pipe of another service', id: () => STRANGER, more: { serviceId: OTHER.serviceId } },
]

describe.concurrent('row 10: the id in the reply of a create is judged', () => {
  test.for(JUDGED)(
    '$what is not taken: the outcome is unknown, and the words hold it',
    async (judged, { expect }) => {
      await using story = await createStory([ANALYTICS, OTHER])
      const { platform } = story
      story.writePipe('refunds')
      const live = await story.start(['--interval', '1s'])
      await live.says('Pipe/refunds', 'Ready')
      const held = platform.world.pipe('refunds')
      const id = judged.id(held)
      answerOrders(story, () => withId(id, judged.more))
      await live.reads(() => story.writePipe('orders'))
      const unknown = await live.says('Pipe/orders', 'OutcomeUnknown')
      const shown = judged.shown ?? String(id)
      expect(unknown.message).toMatch(shown)
      expect(unknown.pipeId).toBeUndefined()
      expect(await live.resource('Pipe/refunds')).toMatchObject({ status: 'Ready', pipeId: held.id })
      await live.stop()
      const lock = await story.run(['lock'])
      expect(lock.stdout.split(held.id)).toHaveLength(2)
      expect(lock.stdout).not.toContain('Pipe/orders')

      const again = await story.start()
      expect((await again.says('Pipe/orders', 'OutcomeUnknown')).message).toMatch(shown)
      expect(platform.posts('orders')).toHaveLength(1)
      // What was found in the console settles it.
      const made = platform.world.pipe('orders')
      const adopted = await story.run(['resolve', 'Pipe/orders', '--adopt', made.id])
      expect(adopted.stderr).toBe('')
      expect(await again.says('Pipe/orders', 'Ready')).toMatchObject({ pipeId: made.id })
      expect(platform.posts()).toHaveLength(2)
    },
  )

  test('that of another pipe of the service, which no key holds, is not taken either', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const other = madeByOthers(story, 'of-others', ANALYTICS.serviceId)
    other.createdAt = '2026-01-01T00:00:00.000Z'
    const { id, name, createdAt } = other
    answerOrders(story, () => withId(id, { name, createdAt }))
    story.writePipe('orders')
    const live = await story.start(['--interval', '1s'])
    expect((await live.says('Pipe/orders', 'OutcomeUnknown')).message).toContain(id)
    expect(platform.posts()).toHaveLength(1)
  })

  test('one that two replies bring at once is at most one key’s', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const both = Promise.withResolvers<void>()
    platform.decide = ({ operation }) => {
      if (operation !== 'createPipe') return undefined
      if (platform.posts().length === 2) both.resolve()
      return { ...withId(STRANGER), before: () => both.promise }
    }
    for (const key of ['orders', 'refunds']) story.writePipe(key)
    const live = await story.start(['--interval', '1s'])
    const shown = await Promise.all(
      ['Pipe/orders', 'Pipe/refunds'].map((key) =>
        until(`${key} to be dealt with`, async () => {
          const resource = await live.resource(key)
          return platform.posts().length === 2 && resource?.status !== 'Progressing' ? resource : undefined
        }),
      ),
    )
    expect(shown.filter(({ pipeId }) => pipeId === STRANGER).length).toBeLessThanOrEqual(1)
    expect(shown.some(({ status }) => status === 'OutcomeUnknown')).toBe(true)
    expect(platform.posts()).toHaveLength(2)
  })

  test('one that is written in capitals is the same id, and taken', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    answerOrders(story, () => ({
      body: ({ json }) => {
        const result = json['result'] as FakePipe // as the platform answers
        return JSON.stringify({ ...json, result: { ...result, id: result.id.toUpperCase() } })
      },
    }))
    story.writePipe('orders')
    const live = await story.start(['--interval', '1s'])
    const ready = await live.says('Pipe/orders', 'Ready')
    expect(ready.pipeId?.toLowerCase()).toBe(platform.world.pipe('orders').id)
    expect(platform.posts()).toHaveLength(1)
  })
})

interface Cut {
  readonly what: string
  readonly reply: Reply
}

const WITH_ID: readonly Cut[] = [
  { what: 'cut before its end, the JSON in it whole', reply: { sends: Infinity, ends: 'close' } },
  { what: 'reset before its end, the JSON in it whole', reply: { sends: Infinity, ends: 'reset' } },
  { what: 'not ended in time, the JSON in it whole', reply: { sends: Infinity, ends: 'hang' } },
  { what: 'a 500 after the work', reply: { status: 500, work: true } },
  { what: 'a 502 after the work', reply: { status: 502, work: true } },
]

describe.concurrent('row 13: an id in a reply that does not count', () => {
  test.for(WITH_ID)('$what: one GET settles it', async ({ reply }, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    answerOrders(story, () => reply)
    story.writePipe('orders')
    const live = await story.start(['--request-timeout', '2s'])
    const ready = await live.says('Pipe/orders', 'Ready')
    const made = platform.world.pipe('orders')
    expect(ready.pipeId).toBe(made.id)
    expect(platform.gets(made.id).length).toBeGreaterThanOrEqual(1)
    const found = (await live.history('Pipe/orders')).find(({ reason }) => reason === 'FoundByRead')
    expect(found?.message).toContain(made.id)
    await live.stop()
    const again = await story.start()
    await again.says('Pipe/orders', 'Ready')
    expect(platform.posts()).toHaveLength(1)
  })

  const NOT_SETTLED: readonly {
    readonly what: string
    readonly change: (story: Story, made: FakePipe) => void
  }[] = [
    {
      what: 'the GET does not find it',
      change: ({ platform }, { id }) => void platform.world.hidden.add(id),
    },
    {
      what: 'it was made before the intent',
      change(_, made) {
        made.createdAt = '2026-01-01T00:00:00.000Z'
      },
    },
    {
      what: 'it has another name',
      change(_, made) {
        made.name = 'orders-of-others'
      },
    },
    {
      what: 'the GET fails',
      change({ platform }) {
        const before = platform.decide
        platform.decide = (request) => (request.operation === 'getPipe' ? ownError(503) : before(request))
      },
    },
  ]
  test.for(NOT_SETTLED)(
    '$what: the outcome stays unknown, the id in the words',
    async ({ change }, { expect }) => {
      await using story = await createStory()
      const { platform } = story
      answerOrders(story, () => ({ status: 500, work: true, before: () => change(story, madeLast(story)) }))
      story.writePipe('orders')
      const live = await story.start()
      const unknown = await live.says('Pipe/orders', 'OutcomeUnknown')
      const { id } = madeLast(story)
      expect(unknown.message).toContain(id)
      expect(unknown.pipeId).toBeUndefined()
      expect(platform.gets(id).length).toBeGreaterThanOrEqual(1)
      expect(platform.posts()).toHaveLength(1)
    },
  )

  test.for([
    { what: 'a number', id: '12345678901234567890' },
    { what: 'a number with an exponent', id: '1e400' },
  ])('$what is shown as it came, digit by digit', async ({ id }, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    answerOrders(story, () => ({
      body: ({ json }) =>
        JSON.stringify(json).replace(/"result":\{(.*?)"id":"[^"]*"/, `"result":{$1"id":${id}`),
    }))
    story.writePipe('orders')
    const live = await story.start()
    expect((await live.says('Pipe/orders', 'OutcomeUnknown')).message).toContain(id)
    expect(platform.posts()).toHaveLength(1)
  })

  test('an id in JSON that was cut behind it is not lost', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    answerOrders(story, () => ({
      body: ({ json }) => {
        const { id, ...rest } = json['result'] as FakePipe // as the platform answers
        const long = { comment: 'x'.repeat(2_000) }
        return JSON.stringify({ ...json, result: { ...long, id, ...rest } })
      },
      sends: 2_200,
    }))
    story.writePipe('orders')
    const live = await story.start()
    const settled = await until('the create to end', async () => {
      const shown = await live.resource('Pipe/orders')
      return shown?.status === 'Ready' || shown?.status === 'OutcomeUnknown' ? shown : undefined
    })
    const { id } = madeLast(story)
    expect([settled.pipeId, settled.message].join(' ')).toContain(id)
    expect(platform.posts()).toHaveLength(1)
  })
})

function madeLast({ platform }: Story): FakePipe {
  const made = platform.world.pipes.at(-1)
  if (made === undefined) throw new Error('no pipe was made')
  return made
}
