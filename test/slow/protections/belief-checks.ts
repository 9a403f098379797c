import { until } from '../../support/until.ts'
import { ownError } from '../support/fake-platform.ts'
import type { Live } from '../../support/live.ts'
import { createStory, type Story } from '../support/story.ts'
import type { Check } from './mutation.ts'
import { ANALYTICS } from '../../support/manifests.ts'

/* Checks of what is believed of a pipe that is not found, and of what is kept of it. */

/** All clocks of the programs run so many times as fast. */
const SPEED = 10
const FAST = { speed: SPEED }
const MINUTE_MS = 60_000
const KEY = 'Pipe/orders'

/** @param tell what is broken, in words; undefined: nothing */
export function storyCheck(name: string, tell: (story: Story) => Promise<string | undefined>): Check {
  return {
    name,
    async run({ main }) {
      await using story = await createStory([ANALYTICS], { main })
      const fault = await tell(story)
      return fault === undefined ? [] : [fault]
    },
  }
}

/** A second pipe for `orders`, in words. */
function twice({ platform }: Story): string | undefined {
  const pipes = platform.world.named('orders')
  return pipes.length > 1 ? `law 1: ${pipes.length} pipes orders` : undefined
}

/** `orders`, and a sibling, which were both found by a reading. */
async function seen(story: Story, live: Live): Promise<string> {
  const { platform } = story
  for (const name of ['orders', 'sibling']) {
    await live.says(`Pipe/${name}`, 'Ready')
    const { id } = platform.world.named(name).at(-1) ?? { id: '' }
    await until(`${name} to be found`, () => platform.gets(id).some(({ status }) => status === 200))
  }
  return platform.world.pipe('orders').id
}

/** `orders`, which a GET does not find any more, and of which a person said that it is gone; no daemon runs. */
async function saidGone(story: Story): Promise<string> {
  for (const name of ['orders', 'sibling']) story.writePipe(name)
  const live = await story.start(['--interval', '1s'])
  const id = await seen(story, live)
  await live.stop()
  story.platform.world.hidden.add(id)
  const said = await story.run(['resolve', KEY, '--recreate'])
  if (said.code !== 0) throw new Error(said.stderr)
  return id
}

/** Replies 404 to a GET of this pipe. */
function misses({ platform }: Story, id: string): number {
  return platform.gets(id).filter(({ status }) => status === 404).length
}

export function refusedReplacement(): Check {
  return storyCheck('a replacement that is refused gives the id back', async (story) => {
    const { platform } = story
    const id = await saidGone(story)
    platform.decide = ({ operation }) =>
      operation === 'createPipe' && platform.posts('orders').length === 2
        ? { ...ownError(400), before: () => platform.world.hidden.clear() }
        : undefined
    const live = await story.start(['--interval', '1s'])
    await until('the refusal', () => platform.posts('orders')[1]?.status === 400)
    await until(
      'it to be found again, or made again',
      async () => (await live.resource(KEY))?.status === 'Ready' || twice(story) !== undefined,
    )
    return twice(story) ?? ((await live.resource(KEY))?.pipeId === id ? undefined : 'law 2: the id is lost')
  })
}

export function comesBackAtTheLastLook(): Check {
  return storyCheck('a pipe that comes back for the look before the POST is kept', async (story) => {
    const { platform } = story
    const id = await saidGone(story)
    const before = misses(story, id)
    platform.decide = (request) => {
      if (request.id === id && misses(story, id) > before) platform.world.hidden.clear()
      return undefined
    }
    const finds = () => platform.gets(id).filter(({ status }) => status === 200).length
    const found = finds()
    // No other reading comes in between.
    await story.start(['--interval', '1h'])
    await until('the first reading', () => misses(story, id) > before)
    await until('it to be found, or made again', () => finds() > found || twice(story) !== undefined)
    return twice(story)
  })
}

export function siblingUnreadable(): Check {
  return storyCheck('a pipe is not found while its only sibling cannot be read', async (story) => {
    const { platform } = story
    const names = ['orders', 'sibling']
    for (const name of names) story.writePipe(name)
    await story.created(names)
    const live = await story.start(['--interval', '2s'], FAST)
    const id = await seen(story, live)
    const { id: sibling } = platform.world.pipe('sibling')
    platform.decide = (request) => (request.id === sibling ? ownError(503) : undefined)
    platform.world.hidden.add(id)
    const missed = () => platform.gets(id).filter(({ status }) => status === 404)
    await until('it to be missed for two minutes of the program, or made again', () => {
      const [first, last] = [missed()[0], missed().at(-1)]
      return (
        platform.posts('orders').length > 1 ||
        (last?.at ?? 0) - (first?.at ?? Infinity) > (2 * MINUTE_MS) / SPEED
      )
    })
    return twice(story)
  })
}

export function neverFound(): Check {
  return storyCheck('a created pipe that no GET ever finds', async (story) => {
    const { platform } = story
    const { world } = platform
    for (const name of ['orders', 'sibling']) story.writePipe(name)
    platform.decide = ({ operation, text }) =>
      operation === 'createPipe' && text.includes('"name":"orders"')
        ? { before: () => world.named('orders').forEach(({ id }) => world.hidden.add(id)) }
        : undefined
    const live = await story.start(['--interval', '2s'], FAST)
    await until(
      'it to be held, or made again',
      async () => (await live.resource(KEY))?.reason === 'NeverSeen' || twice(story) !== undefined,
    )
    return twice(story)
  })
}

export function goesTwice(): Check {
  return storyCheck('a pipe that goes missing again, soon after it was replaced', async (story) => {
    const { platform } = story
    const { world } = platform
    const first = await saidGone(story)
    const live = await story.start(['--interval', '2s'], FAST)
    const second = await until('the replacement', () => world.named('orders').find(({ id }) => id !== first))
    await until('it to be found', () => platform.gets(second.id).some(({ status }) => status === 200))
    world.hidden.add(second.id)
    await until(
      'it to be held, or replaced again',
      async () =>
        (await live.resource(KEY))?.reason === 'ReplacedRecently' || world.named('orders').length > 2,
    )
    return world.named('orders').length > 2 ? 'two replacements within an hour' : undefined
  })
}
