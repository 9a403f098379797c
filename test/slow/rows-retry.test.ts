import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { nameIn, type FakePlatform } from './support/fake-platform.ts'
import type { Live } from '../support/live.ts'
import { untilStill } from './support/still.ts'
import { createStory, type Story } from './support/story.ts'

/*
 * Row 8, the processes: one that stands still between the intent and its bytes, and a person who says too early that a
 * create made nothing.
 */

const MINUTE_MS = 60_000
/** Longer than a create may wait between its intent and its bytes, which is 5 s. */
const STILL_MS = 6_500
const RETRY = ['resolve', 'Pipe/orders', '--retry'] as const
const A_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d/

const STILL = [
  { where: 'between its intent and its connection', failpoint: 'after-intent' },
  { where: 'between its connection and its bytes', failpoint: 'after-connect' },
] as const

/** A daemon whose create stands still at a failpoint, for longer than it may. */
async function standingStill(story: Story, failpoint: string): Promise<Live> {
  story.writePipe('orders')
  const env = { PIPEWRIGHT_FAILPOINT: `${failpoint}=pause` }
  const live = await story.start(['--interval', '1s', '--request-timeout', '20s'], { env })
  await untilStill(live.program.pid)
  await pause(STILL_MS)
  return live
}

/** The ids of the intents of `orders`, oldest first. */
async function intentsOf(live: Live): Promise<readonly string[]> {
  const items = await live.history('Pipe/orders')
  return [...new Set(items.flatMap(({ intentId }) => (intentId === undefined ? [] : [intentId])))]
}

function keysSent(platform: FakePlatform): readonly (string | undefined)[] {
  return platform.posts().map(({ idempotencyKey }) => idempotencyKey)
}

describe.concurrent('row 8: a process that stood still', () => {
  test.for(STILL)(
    '$where sends nothing afterwards, and knows that it did not',
    async ({ failpoint }, { expect }) => {
      await using story = await createStory()
      const { platform } = story
      const live = await standingStill(story, failpoint)
      live.program.signal('SIGCONT')
      const ready = await live.says('Pipe/orders', 'Ready')
      expect(ready.pipeId).toBe(platform.world.pipe('orders').id)
      const [first, second, ...more] = await intentsOf(live)
      expect(more).toEqual([])
      expect(keysSent(platform)).toEqual([second])
      const told = (await live.history('Pipe/orders')).filter(({ intentId }) => intentId === first)
      expect(told.map(({ result }) => result)).toContain('failed')
    },
  )

  test.for(STILL)(
    '$where is not believed to be over when a person says so, and sends nothing after that',
    async ({ failpoint }, { expect }) => {
      await using story = await createStory()
      const { platform } = story
      const live = await standingStill(story, failpoint)
      const early = await story.run([...RETRY, '--request-timeout', '100ms'])
      expect(early.stdout).toBe('')
      expect(early.code).toBe(1)
      expect(early.stderr).toMatch(A_TIME)
      expect(early.stderr).toContain('--force')
      // The process did not say that it ended: two minutes are not enough, fifteen are.
      const later = await story.run(RETRY, { aheadMs: 14 * MINUTE_MS })
      expect(later.code).toBe(1)
      const late = await story.run(RETRY, { aheadMs: 16 * MINUTE_MS })
      expect(late.stderr).toBe('')
      expect(late.code).toBe(0)
      live.program.signal('SIGCONT')
      await live.says('Pipe/orders', 'Ready')
      const [first] = await intentsOf(live)
      expect(keysSent(platform)).toHaveLength(1)
      expect(keysSent(platform)).not.toContain(first)
      expect(platform.world.pipes).toHaveLength(1)
    },
  )

  test('for less than it may goes on as if nothing had been', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    story.writePipe('orders')
    const live = await story.start([], { env: { PIPEWRIGHT_FAILPOINT: 'after-connect=pause' } })
    await untilStill(live.program.pid)
    live.program.signal('SIGCONT')
    await live.says('Pipe/orders', 'Ready')
    expect(keysSent(platform)).toEqual(await intentsOf(live))
    expect(platform.posts()).toHaveLength(1)
  })

  test('and was forced by a person still sends nothing of the first', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await standingStill(story, 'after-connect')
    const forced = await story.run([...RETRY, '--force'])
    expect(forced.code).toBe(0)
    expect(forced.stdout + forced.stderr).toMatch(/second|twice|two/)
    live.program.signal('SIGCONT')
    await live.says('Pipe/orders', 'Ready')
    expect(platform.posts()).toHaveLength(1)
    expect(platform.world.pipes).toHaveLength(1)
  })
})

/** Whether the other pipe was looked at three more times: then the key in question was looked at, too. */
function looks({ platform }: Story): () => boolean {
  const { id } = platform.world.pipe('other')
  const before = platform.gets(id).length
  return () => platform.gets(id).length >= before + 3
}

/** Takes the line out, and writes it again when that was read: a look at the console lies between them. */
async function writeAgain(story: Story, live: Live, intent: string): Promise<void> {
  await live.reads(() => story.writePipe('orders'))
  await live.reads(() => story.writePipe('orders', { policy: { retryCreate: intent } }))
}

/** A daemon, with a pipe that is well, and one whose create was cut before the work. */
async function cutOnce(story: Story, more: readonly string[], speed: number): Promise<[Live, string]> {
  const { platform } = story
  platform.decide = (request) =>
    nameIn(request) === 'orders' && platform.posts('orders').length === 1
      ? { work: false, sends: 'nothing', ends: 'reset' }
      : undefined
  story.writePipe('other')
  story.writePipe('orders')
  const live = await story.start(more, { speed })
  await live.says('Pipe/orders', 'OutcomeUnknown')
  await live.says('Pipe/other', 'Ready')
  const [intent = 'none'] = await intentsOf(live)
  return [live, intent]
}

describe.concurrent('row 8: a retry that comes too early', () => {
  test('beside a create in flight is refused, whatever the shell thinks of timeouts', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const reply = Promise.withResolvers<void>()
    platform.decide = ({ operation }) =>
      operation === 'createPipe' ? { before: () => reply.promise } : undefined
    story.writePipe('orders')
    const live = await story.start(['--interval', '1s', '--request-timeout', '20s'])
    await until('the create to arrive', () => platform.posts().length === 1)
    await pause(STILL_MS)
    const early = await story.run([...RETRY, '--request-timeout', '100ms'])
    expect(early.code).toBe(1)
    expect(early.stderr).toMatch(A_TIME)
    expect(early.stderr).toContain('--force')
    const later = await story.run(RETRY, { aheadMs: 3 * MINUTE_MS })
    expect(later.code).toBe(1)
    reply.resolve()
    const ready = await live.says('Pipe/orders', 'Ready')
    expect(ready.pipeId).toBe(platform.world.pipe('orders').id)
    expect(platform.posts()).toHaveLength(1)
  })

  const WAYS = [
    { what: 'from the shell, after a reply that was lost', kill: false },
    { what: 'from the shell, after a process that was killed', kill: true },
  ] as const
  test.for(WAYS)('$what: accepted when nothing can be on its way any more', async ({ kill }, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    platform.decide = ({ operation }) =>
      operation === 'createPipe' && platform.posts().length === 1
        ? { work: false, sends: 'nothing', ends: kill ? 'hang' : 'reset' }
        : undefined
    story.writePipe('orders')
    const first = await story.start()
    await until('the create to arrive', () => platform.posts()[0]?.whole === true)
    if (kill) await first.kill()
    else await first.says('Pipe/orders', 'OutcomeUnknown')
    if (!kill) await first.stop()
    const minutes = kill ? 15 : 2
    const early = await story.run(RETRY)
    expect(early.code).toBe(1)
    expect(early.stderr).toMatch(A_TIME)
    const tooEarly = await story.run(RETRY, { aheadMs: minutes * MINUTE_MS - 60_000 })
    expect(tooEarly.code).toBe(1)
    const live = await story.start(['--interval', '1s'])
    await live.says('Pipe/orders', 'OutcomeUnknown')
    const late = await story.run(RETRY, { aheadMs: minutes * MINUTE_MS + 30_000 })
    expect(late.stderr).toBe('')
    await live.says('Pipe/orders', 'Ready')
    expect(platform.posts()).toHaveLength(2)
    expect(platform.world.pipes).toHaveLength(1)
  })

  test('from Git, never counts, also in a later life of the process: written again after the time, it does', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const [first, intent] = await cutOnce(story, ['--interval', '1s'], 1)
    await first.reads(() => story.writePipe('orders', { policy: { retryCreate: intent } }))
    await until('three looks at another', looks(story))
    expect(platform.posts('orders')).toHaveLength(1)
    expect(await first.resource('Pipe/orders')).toMatchObject({
      message: expect.stringMatching(A_TIME),
    })
    await first.stop()
    const second = await story.start(['--interval', '1s'], { aheadMs: 3 * MINUTE_MS })
    await until('three looks at another', looks(story))
    expect(await second.resource('Pipe/orders')).toMatchObject({
      reason: 'OutcomeUnknown',
      message: expect.stringContaining('remove the line, and add it again'),
    })
    expect(platform.posts('orders')).toHaveLength(1)
    await writeAgain(story, second, intent)
    await second.says('Pipe/orders', 'Ready')
    expect(platform.posts('orders')).toHaveLength(2)
    expect(platform.world.named('orders')).toHaveLength(1)
  })

  test('from Git, in one life of the process, does not go through by itself when the time has come', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const [live, intent] = await cutOnce(story, ['--interval', '10s'], 10)
    await live.reads(() => story.writePipe('orders', { policy: { retryCreate: intent } }))
    const sentAt = platform.posts('orders')[0]?.at ?? 0
    await until(
      'three minutes of the program to go by',
      () => performance.now() - sentAt > (3 * MINUTE_MS) / 10,
      60_000,
    )
    await until('three looks at another', looks(story))
    expect(platform.posts('orders')).toHaveLength(1)
    await writeAgain(story, live, intent)
    await live.says('Pipe/orders', 'Ready')
    expect(platform.posts('orders')).toHaveLength(2)
    expect(platform.world.named('orders')).toHaveLength(1)
  })
})
