import { describe, test } from 'vitest'
import { LIMIT_MS, until } from '../support/until.ts'
import type { Live } from '../support/live.ts'
import { createStory, type StartOptions, type Story } from './support/story.ts'

/*
 * Rows 2 and 12, and the times of design §4: how long a 404 takes to be believed, and how often a pipe is replaced. Where
 * hours are told, the clocks of the program run ten or twenty times as fast; the times here are those of the machine.
 */

const SPEED = 10
const FAST: StartOptions = { speed: SPEED }
/** Where more than a few minutes have to go by. */
const FASTER = 20
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)

/** So many pipes, made an hour ago and seen just now. */
async function settled(story: Story, count: number, options: StartOptions): Promise<Live> {
  for (const name of names(count)) story.writePipe(name)
  await story.created(names(count))
  const live = await story.start(['--interval', '2s'], options)
  await until('each to be seen', () =>
    story.platform.world.pipes.every(({ id }) => story.platform.gets(id).length > 0),
  )
  for (const name of names(count)) await live.says(`Pipe/${name}`, 'Ready')
  return live
}

/** When a pipe was not found, from some time on: times of the machine. */
function misses({ platform }: Story, id: string, since = 0): readonly number[] {
  return platform.gets(id).flatMap(({ status, at }) => (status === 404 && at >= since ? [at] : []))
}

describe.concurrent('row 2: a created pipe that no GET ever finds', () => {
  test.for([
    { what: 'beside others that are found', others: 3 },
    { what: 'that is the only one', others: 0 },
  ])('is held and told, and never replaced: $what', async ({ others }, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    for (const name of names(others)) story.writePipe(name)
    platform.decide = ({ operation, text }) =>
      operation === 'createPipe' && text.startsWith('{"name":"orders"')
        ? { before: () => void platform.world.hidden.add(platform.world.pipes.at(-1)?.id ?? '') }
        : undefined
    story.writePipe('orders')
    const live = await story.start(['--interval', '5s'], { speed: FASTER })
    const made = await until('the pipe to be made', () =>
      platform.world.pipes.find(({ name }) => name === 'orders'),
    )
    const [create] = platform.posts('orders')
    // Seven minutes of the program saw four creates once; here it is ten, and for one alone it is twenty.
    const ms = ((others === 0 ? 20 : 10) * MINUTE_MS) / FASTER
    await until(
      'it to be looked for all that time, or made again',
      () =>
        platform.posts('orders').length > 1 || (misses(story, made.id).at(-1) ?? 0) - (create?.at ?? 0) > ms,
      ms + LIMIT_MS,
    )
    expect(platform.posts('orders')).toHaveLength(1)
    const held = await live.says('Pipe/orders', 'NeverSeen')
    expect(held.pipeId).toBe(made.id)
    expect(held.message).toContain(made.id)
    await live.stop()
    const again = await story.start(['--interval', '1s'], FAST)
    const looks = misses(story, made.id).length
    await until('three more looks', () => misses(story, made.id).length >= looks + 3)
    await again.says('Pipe/orders', 'NeverSeen')
    platform.world.hidden.clear()
    const ready = await again.says('Pipe/orders', 'Ready')
    expect(ready.pipeId).toBe(made.id)
    expect(platform.posts()).toHaveLength(others + 1)
  })

  test('a person’s word replaces it, once', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    for (const name of names(3)) story.writePipe(name)
    platform.decide = ({ operation, text }) =>
      operation === 'createPipe' &&
      text.startsWith('{"name":"orders"') &&
      platform.posts('orders').length === 1
        ? { before: () => void platform.world.hidden.add(platform.world.pipes.at(-1)?.id ?? '') }
        : undefined
    story.writePipe('orders')
    const live = await story.start(['--interval', '2s'], FAST)
    const held = await live.says('Pipe/orders', 'NeverSeen')
    const id = held.pipeId ?? 'none'
    const other = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a99'
    await live.reads(() => story.writePipe('orders', { policy: { recreate: other } }))
    const looks = misses(story, id).length
    await until('three more looks', () => misses(story, id).length >= looks + 3)
    expect(platform.posts('orders')).toHaveLength(1)
    await live.reads(() => story.writePipe('orders', { policy: { recreate: id } }))
    const ready = await live.says('Pipe/orders', 'Ready')
    expect(ready.pipeId).toBe(platform.world.named('orders')[1]?.id)
    const after = platform.gets(ready.pipeId ?? '').length
    await until('three more looks', () => platform.gets(ready.pipeId ?? '').length >= after + 3)
    expect(platform.posts('orders')).toHaveLength(2)
    // The word is about that pipe: it stays without effect on the next.
    await live.stop()
    const again = await story.start(['--interval', '1s'])
    await again.says('Pipe/orders', 'Ready')
    expect(platform.posts('orders')).toHaveLength(2)
  })
})

describe.concurrent('a pipe that goes missing again and again', () => {
  test('is replaced at most once an hour, then once in two', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const { world } = platform
    const first = await settled(story, 4, FAST)
    const newest = () => world.named('p0').at(-1)?.id ?? 'none'
    const replacedBy = async (live: Live, count: number) => {
      world.hidden.add(newest())
      await until('it to be replaced', () => world.named('p0').length === count)
      expect(await live.says('Pipe/p0', 'Ready')).toMatchObject({ pipeId: newest() })
      await until('the new one to be seen', () => platform.gets(newest()).length > 0)
    }
    const heldBack = async (live: Live) => {
      world.hidden.add(newest())
      const held = await live.says('Pipe/p0', 'ReplacedRecently')
      expect(held.pipeId).toBe(newest())
      // Some minutes of the program, by the looks at another pipe.
      const { id } = world.pipe('p1')
      const looks = platform.gets(id).length
      await until('many looks', () => platform.gets(id).length >= looks + 30)
    }
    await replacedBy(first, 2)
    await heldBack(first)
    await first.stop()
    expect(world.named('p0')).toHaveLength(2)

    // More than an hour later.
    const second = await story.start(['--interval', '2s'], { ...FAST, aheadMs: 1.5 * HOUR_MS })
    await replacedBy(second, 3)
    await second.stop()
    // One hour more is not enough the second time, two are.
    const third = await story.start(['--interval', '2s'], { ...FAST, aheadMs: 2.9 * HOUR_MS })
    await third.says('Pipe/p0', 'Ready')
    await heldBack(third)
    await third.stop()
    expect(world.named('p0')).toHaveLength(3)
    const fourth = await story.start(['--interval', '2s'], { ...FAST, aheadMs: 4 * HOUR_MS })
    await replacedBy(fourth, 4)
    expect(platform.posts('p0')).toHaveLength(4)
  })

  test('with no sibling to ask, it takes fifteen minutes instead of one', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    await settled(story, 1, { speed: FASTER })
    const { id } = platform.world.pipe('p0')
    platform.world.hidden.add(id)
    const create = await until(
      'it to be replaced',
      () => platform.posts()[1],
      (20 * MINUTE_MS) / FASTER + 30_000,
    )
    const [firstMiss] = misses(story, id)
    // The clocks of the two are not read at the same moment.
    expect(create.at - (firstMiss ?? Infinity)).toBeGreaterThan((15 * MINUTE_MS) / FASTER - 500)
  })

  test('is not replaced within the first minute of its life, and a minute of 404s after that', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    for (const name of names(4)) story.writePipe(name)
    const live = await story.start(['--interval', '2s'], FAST)
    for (const name of names(4)) await live.says(`Pipe/${name}`, 'Ready')
    const { id } = platform.world.pipe('p0')
    await until('it to be seen', () => platform.gets(id).some(({ status }) => status === 200))
    platform.world.hidden.add(id)
    const create = await until('it to be replaced', () => platform.posts('p0')[1])
    const [made] = platform.posts('p0')
    expect(create.at - (made?.at ?? 0)).toBeGreaterThan((2 * MINUTE_MS) / SPEED - 500)
  })
})

describe.concurrent('row 12: the wall clock is no witness', () => {
  test.for([
    { way: 'an hour ahead', ms: HOUR_MS },
    { way: 'an hour back', ms: -HOUR_MS },
  ])(
    '$way, while a pipe is looked for by a person again and again: it takes a minute all the same',
    async ({ ms }, { expect }) => {
      await using story = await createStory()
      const { platform } = story
      const live = await settled(story, 4, { ...FAST, aheadMs: 0 })
      const { id } = platform.world.pipe('p0')
      platform.world.hidden.add(id)
      const look = async () => {
        const count = platform.gets(id).length
        live.program.signal('SIGHUP')
        await until('another look', () => platform.gets(id).length > count || platform.posts('p0').length > 1)
      }
      for (let count = 0; count < 3; count += 1) await look()
      story.shiftClock(ms)
      for (let count = 0; count < 3; count += 1) await look()
      const create = await until('it to be replaced', () => platform.posts('p0')[1])
      const [firstMiss] = misses(story, id)
      expect(create.at - (firstMiss ?? Infinity)).toBeGreaterThan(MINUTE_MS / SPEED - 500)
    },
  )

  test('an hour while the process was down: a new one counts anew', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const first = await settled(story, 4, {})
    const { id } = platform.world.pipe('p0')
    platform.world.hidden.add(id)
    for (let count = 1; count <= 3; count += 1) {
      first.program.signal('SIGHUP')
      await until('another look', () => misses(story, id).length >= count)
    }
    await first.says('Pipe/p0', 'MissingUnconfirmed')
    await first.stop()
    const restarted = performance.now()
    await story.start(['--interval', '2s'], { ...FAST, aheadMs: HOUR_MS })
    const create = await until('it to be replaced', () => platform.posts('p0')[1])
    const [firstMiss] = misses(story, id, restarted)
    expect(create.at - (firstMiss ?? Infinity)).toBeGreaterThan(MINUTE_MS / SPEED - 500)
    expect(misses(story, id, restarted).length).toBeGreaterThanOrEqual(3)
  })

  test('a process that stood still for two minutes has not looked for two minutes', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await settled(story, 4, FAST)
    const { id } = platform.world.pipe('p0')
    platform.world.hidden.add(id)
    await until('the first miss', () => misses(story, id).length === 1)
    live.program.signal('SIGSTOP')
    const since = performance.now()
    await until('two minutes of the program', () => performance.now() > since + (2 * MINUTE_MS) / SPEED)
    live.program.signal('SIGCONT')
    const create = await until('it to be replaced', () => platform.posts('p0')[1])
    expect(misses(story, id).filter((at) => at < create.at).length).toBeGreaterThanOrEqual(3)
  })
})
