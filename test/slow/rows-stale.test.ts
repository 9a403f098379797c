import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import type { Live } from '../support/live.ts'
import { untilStill } from './support/still.ts'
import { createStory, type Story } from './support/story.ts'

/*
 * Rows 1, 2 and 8 together: a process stands still between the last look at the old pipe and its intent, so that the look is
 * old when the intent is begun; words of a person that come too early, or stay longer than they were meant; and a replacement
 * that is held back.
 */

const MINUTE_MS = 60_000
/** Longer than an intent may wait for its bytes, which is 5 s. */
const STILL_MS = 6_500
const BEFORE = { PIPEWRIGHT_FAILPOINT: 'before-intent=pause' }
const A_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d/
const NAMES = ['p0', 'p1', 'p2', 'p3']

async function observationOf({ platform }: Story, id: string, times: number): Promise<void> {
  const looks = platform.gets(id).length
  await until(
    'more looks, or a create',
    () => platform.posts('p0').length > 1 || platform.gets(id).length >= looks + times,
    MINUTE_MS,
  )
}

/** Pipes that were made an hour ago and seen just now. */
async function seen(story: Story): Promise<Live> {
  for (const name of NAMES) story.writePipe(name)
  await story.created(NAMES)
  const live = await story.start(['--interval', '1s'])
  for (const name of NAMES) await live.says(`Pipe/${name}`, 'Ready')
  return live
}

describe.concurrent('a process that stands still between its last look and its intent', () => {
  test('and the pipe that it was to replace came back: it is kept', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    for (const name of NAMES) story.writePipe(name)
    await story.created(NAMES)
    const live = await story.start(['--interval', '2s'], { speed: 5, env: BEFORE })
    const { id } = platform.world.pipe('p0')
    await until('it to be seen', () => platform.gets(id).length > 0)
    platform.world.hidden.add(id)
    await until(
      'it to come to its intent',
      () => live.program.stderr().includes('before-intent reached'),
      MINUTE_MS,
    )
    await untilStill(live.program.pid)
    platform.world.hidden.clear()
    await pause(STILL_MS)
    live.program.signal('SIGCONT')
    await observationOf(story, id, 3)
    expect(platform.posts('p0')).toHaveLength(1)
    expect(await live.says('Pipe/p0', 'Ready')).toMatchObject({ pipeId: id })
  })
})

describe.concurrent('a word about a pipe', () => {
  test('that it is to be made again replaces none that is there, from Git and from the shell', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await seen(story)
    const { id } = platform.world.pipe('p0')
    await live.reads(() => story.writePipe('p0', { policy: { recreate: id } }))
    await observationOf(story, id, 3)
    const said = await story.run(['resolve', 'Pipe/p0', '--recreate'])
    expect(said.code).toBe(1)
    expect(said.stderr).toContain(id)
    await observationOf(story, id, 3)
    expect(platform.posts('p0')).toHaveLength(1)
  })

  test('that it is to be made again, left in Git while the pipe was there, does not outlive a lost permission', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await seen(story)
    const { id } = platform.world.pipe('p0')
    await live.reads(() => story.writePipe('p0', { policy: { recreate: id } }))
    await observationOf(story, id, 3)
    platform.world.hidden.add(id)
    await until(
      'two misses, or a create',
      () =>
        platform.posts('p0').length > 1 ||
        platform.gets(id).filter(({ status }) => status === 404).length >= 2,
      2 * MINUTE_MS,
    )
    expect(platform.posts('p0')).toHaveLength(1)
    platform.world.hidden.clear()
    expect(await live.says('Pipe/p0', 'Ready', MINUTE_MS)).toMatchObject({ pipeId: id })
  })

  test('that it is to be forgotten is too early while its create may still be on its way', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform, workspace } = story
    platform.decide = ({ operation }) =>
      operation === 'createPipe' && platform.posts().length === 1
        ? { work: false, sends: 'nothing', ends: 'reset' }
        : undefined
    story.writePipe('orders')
    const live = await story.start(['--interval', '1s'])
    await live.says('Pipe/orders', 'OutcomeUnknown')
    rmSync(join(workspace.manifests, 'orders.yaml'))
    await live.says('Pipe/orders', 'Orphaned')
    const early = await story.run(['forget', 'Pipe/orders'])
    expect(early.code).toBe(1)
    expect(early.stderr).toMatch(A_TIME)
    story.writePipe('orders')
    await live.says('Pipe/orders', 'OutcomeUnknown')
    expect(platform.posts()).toHaveLength(1)
  })
})

test('a pipe that comes back while its replacement is held back is seen at the next look', async ({
  expect,
}) => {
  await using story = await createStory()
  const { platform } = story
  const { world } = platform
  for (const name of NAMES) story.writePipe(name)
  await story.created(NAMES)
  const live = await story.start(['--interval', '2s'], { speed: 10 })
  const { id: first } = world.pipe('p0')
  await until('it to be seen', () => platform.gets(first).length > 0)
  world.hidden.add(first)
  await until('it to be replaced', () => world.named('p0').length === 2, MINUTE_MS)
  const second = world.named('p0')[1]?.id ?? 'none'
  await until('the new one to be seen', () => platform.gets(second).some(({ status }) => status === 200))
  world.hidden.add(second)
  await live.says('Pipe/p0', 'ReplacedRecently', MINUTE_MS)
  world.hidden.delete(second)
  // Half an hour of the program would be late; its interval is two seconds.
  expect(await live.says('Pipe/p0', 'Ready', MINUTE_MS)).toMatchObject({ pipeId: second })
  expect(platform.posts('p0')).toHaveLength(2)
})
