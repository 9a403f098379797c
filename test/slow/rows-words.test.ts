import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { ownError, type Reply } from './support/fake-platform.ts'
import { createStory } from './support/story.ts'
import { ANALYTICS } from '../support/manifests.ts'

/* The message of an unknown outcome: what somebody reads who was woken up, and what is copied from it. */

const LOST: Reply = { sends: 'nothing', ends: 'reset' }
const KEY = 'Pipe/orders-eu'

describe.concurrent('the message of an unknown outcome', () => {
  test('names the pipe, the service, the time, and both ways on as they are typed; once', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    platform.decide = ({ operation }) => (operation === 'createPipe' ? LOST : undefined)
    const began = Date.now()
    const live = await story.start(['--interval', '1s'])
    await live.reads(() => story.writePipe('orders-eu', { name: 'orders of Europe' }))
    const { message } = await live.says(KEY, 'OutcomeUnknown')
    const ended = Date.now()
    // As the console shows it.
    expect(message).toContain('orders of Europe')
    expect(message).toContain(ANALYTICS.name)
    expect(message).toContain(ANALYTICS.serviceId)
    const times = [...message.matchAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g)].map(([text]) =>
      Date.parse(text),
    )
    expect(times.some((at) => at >= began - 1_000 && at <= ended)).toBe(true)
    const [intent] = platform.posts()
    expect(message).toContain(intent?.idempotencyKey)
    for (const once of [
      `pipewright resolve ${KEY} --adopt`,
      `pipewright resolve ${KEY} --retry`,
      `retryCreate: ${intent?.idempotencyKey}`,
      'adopt: ',
    ]) {
      expect(message.split(once), once).toHaveLength(2)
    }
    // Lines of YAML, and where they go.
    expect(message).toMatch(/policy/)

    const status = await story.run(['status', KEY])
    expect(status.stdout.split(`pipewright resolve ${KEY} --retry`)).toHaveLength(2)
    const lines = live.program.log().filter((line) => JSON.stringify(line).includes(`resolve ${KEY} --retry`))
    expect(lines.map(({ msg }) => msg)).toHaveLength(1)
  })

  test('tells the new pipe from an older one of the same name: the id that it was to replace is named', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const names = ['a', 'b', 'c', 'orders-eu']
    for (const name of names) story.writePipe(name)
    await story.created(names)
    const { id } = platform.world.pipe('orders-eu')
    const live = await story.start(['--interval', '2s'], { speed: 5 })
    await until('it to be seen', () => platform.gets(id).length > 0)
    await live.says(KEY, 'Ready', 60_000)
    platform.world.hidden.add(id)
    platform.decide = ({ operation }) => (operation === 'createPipe' ? LOST : undefined)
    const unknown = await live.says(KEY, 'OutcomeUnknown', 60_000)
    expect(unknown.message).toContain(id)
    await live.kill()

    // Nothing of that is lost with the process.
    const again = await story.start(['--interval', '2s'])
    expect((await again.says(KEY, 'OutcomeUnknown')).message).toContain(id)
    const status = await story.run(['status', KEY])
    expect(status.stdout).toContain(id)

    // Whoever finds that the old one is there after all gets it back.
    platform.world.hidden.clear()
    const adopted = await story.run(['resolve', KEY, '--adopt', id])
    expect(adopted.stderr).toBe('')
    expect(await again.says(KEY, 'Ready')).toMatchObject({ pipeId: id })
    expect(platform.posts('orders-eu')).toHaveLength(2)
  })

  test('is what a kill between the intent of a replacement and its bytes leaves, too', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const names = ['a', 'b', 'c', 'orders-eu']
    for (const name of names) story.writePipe(name)
    await story.created(names)
    const { id } = platform.world.pipe('orders-eu')
    const env = { PIPEWRIGHT_FAILPOINT: 'after-intent=kill' }
    const live = await story.start(['--interval', '2s'], { speed: 5, env })
    await until('it to be seen', () => platform.gets(id).length > 0)
    await live.says(KEY, 'Ready')
    platform.world.hidden.add(id)
    expect(await live.program.ended).toBe('SIGKILL')
    const again = await story.start(['--interval', '2s'])
    expect((await again.says(KEY, 'OutcomeUnknown')).message).toContain(id)
    expect(platform.posts('orders-eu')).toHaveLength(1)
  })

  test('a refusal beside it is not mistaken for one', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    platform.decide = ({ operation }) => (operation === 'createPipe' ? ownError(400) : undefined)
    story.writePipe('orders-eu')
    const live = await story.start(['--interval', '1s'])
    const rejected = await live.says(KEY, 'Rejected')
    expect(rejected.message).not.toContain('resolve')
  })
})
