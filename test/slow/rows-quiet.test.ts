import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { ownError } from './support/fake-platform.ts'
import type { Live } from '../support/live.ts'
import { createStory, keyIdOf, type Story } from './support/story.ts'
import { ANALYTICS } from '../support/manifests.ts'

/* A quiet restart: after any of the stories, a new process with the same manifests writes nothing anywhere. */

/** What a process may say of itself while nothing happens. */
const OF_ITSELF = new Set(['Started', 'Manifests read', 'Watch mode changed', 'Stopping', 'Stopped'])

interface Ending {
  readonly what: string
  /** Brings it about, up to a rest. */
  readonly story: (story: Story) => Promise<Live>
  /** What `Pipe/orders` says at the rest, before and after. */
  readonly reason: string
  /** What its service says there; `InUse` when absent. */
  readonly service?: string
}

const names = ['a', 'b', 'c', 'orders']

async function replaced(story: Story): Promise<Live> {
  const { platform } = story
  for (const name of names) story.writePipe(name)
  await story.created(names)
  const live = await story.start(['--interval', '2s'], { speed: 5 })
  const { id } = platform.world.pipe('orders')
  await until('it to be seen', () => platform.gets(id).length > 0)
  platform.world.hidden.add(id)
  await until('it to be replaced', () => platform.world.named('orders').length === 2, 60_000)
  await live.says('Pipe/orders', 'Ready')
  return live
}

const ENDINGS: readonly Ending[] = [
  { what: 'a replacement', story: replaced, reason: 'Ready' },
  {
    what: 'a replacement that was refused, and a pipe that came back',
    async story(story) {
      const { platform } = story
      for (const name of names) story.writePipe(name)
      await story.created(names)
      const live = await story.start(['--interval', '2s'], { speed: 5 })
      const { id } = platform.world.pipe('orders')
      await until('it to be seen', () => platform.gets(id).length > 0)
      platform.world.hidden.add(id)
      platform.decide = ({ operation }) =>
        operation === 'createPipe'
          ? { ...ownError(403), before: () => platform.world.hidden.clear() }
          : undefined
      await until('it to be refused', () => platform.posts('orders').length === 2, 60_000)
      await live.says('Pipe/orders', 'Ready', 60_000)
      platform.decide = () => undefined
      return live
    },
    reason: 'Ready',
  },
  {
    what: 'a permission that was lost and given back',
    async story(story) {
      const { platform } = story
      for (const name of names) story.writePipe(name)
      const live = await story.start(['--interval', '1s'])
      for (const name of names) await live.says(`Pipe/${name}`, 'Ready')
      platform.world.forbidden.add(keyIdOf(ANALYTICS.secret))
      await until('it to be noticed', async () => {
        const shown = await Promise.all(names.map((name) => live.resource(`Pipe/${name}`)))
        return shown.some((pipe) => pipe?.status !== 'Ready')
      })
      platform.world.forbidden.clear()
      for (const name of names) await live.says(`Pipe/${name}`, 'Ready', 60_000)
      return live
    },
    reason: 'Ready',
  },
  {
    what: 'an unknown outcome',
    async story(story) {
      story.platform.decide = ({ operation }) =>
        operation === 'createPipe' ? { sends: 'nothing', ends: 'reset' } : undefined
      story.writePipe('orders')
      const live = await story.start(['--interval', '1s'])
      await live.says('Pipe/orders', 'OutcomeUnknown')
      return live
    },
    reason: 'OutcomeUnknown',
    service: 'Unanswered',
  },
  {
    what: 'an id that was not taken',
    async story(story) {
      story.platform.decide = ({ operation }) =>
        operation === 'createPipe'
          ? {
              body: ({ json }) =>
                JSON.stringify({ ...json, result: { ...(json['result'] as object), id: '..' } }),
            }
          : undefined
      story.writePipe('orders')
      const live = await story.start(['--interval', '1s'])
      await live.says('Pipe/orders', 'OutcomeUnknown')
      return live
    },
    reason: 'OutcomeUnknown',
  },
  {
    what: 'an outcome that one GET settled',
    async story(story) {
      story.platform.decide = ({ operation }) =>
        operation === 'createPipe' ? { sends: Infinity, ends: 'reset' } : undefined
      story.writePipe('orders')
      const live = await story.start(['--interval', '1s'])
      await live.says('Pipe/orders', 'Ready')
      return live
    },
    reason: 'Ready',
  },
  {
    what: 'a pipe that was never seen',
    async story(story) {
      const { platform } = story
      platform.decide = ({ operation }) =>
        operation === 'createPipe'
          ? { before: () => void platform.world.hidden.add(platform.world.pipes.at(-1)?.id ?? '') }
          : undefined
      story.writePipe('orders')
      const live = await story.start(['--interval', '1s'], { speed: 5 })
      await live.says('Pipe/orders', 'NeverSeen', 60_000)
      return live
    },
    reason: 'NeverSeen',
  },
]

describe.concurrent('a restart is quiet', () => {
  test.for(ENDINGS)('after $what', async (ending, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await ending.story(story)
    await live.says('Pipe/orders', ending.reason)
    // It has a turn of its own once its service has answered.
    await live.says('Service/analytics', ending.service ?? 'InUse')
    const before = await live.history()
    await live.stop()
    const writes = () => platform.requests.filter(({ method }) => method !== 'GET').length
    const sent = writes()
    const again = await story.start(['--interval', '1s'], { speed: 5 })
    await again.says('Pipe/orders', ending.reason)
    const reconciles = new Set<number | undefined>()
    await until(
      'four reconciles',
      async () => reconciles.add((await again.resource('Pipe/orders'))?.lastReconciledAt).size >= 4,
      60_000,
    )
    await again.says('Pipe/orders', ending.reason)
    expect(writes()).toBe(sent)
    expect((await again.history()).slice(before.length)).toEqual([])
    await again.stop()
    const said = again.program.log().filter(({ msg }) => typeof msg === 'string' && !OF_ITSELF.has(msg))
    expect(said.map(({ msg, key, detail }) => ({ msg, key, detail }))).toEqual([])
  })
})
