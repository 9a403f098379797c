import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { ownError, type Reply } from './support/fake-platform.ts'
import { createStory } from './support/story.ts'

/* Rows 18 and 19: what is told of it all, in the history and by the exit code. */

describe.concurrent('row 18: the history', () => {
  test('gives each attempt its own reason, and names the id that was given up with the one that came for it', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const names = ['a', 'b', 'c', 'orders']
    const refused: Reply = ownError(409)
    platform.decide = ({ operation }) =>
      operation === 'createPipe' &&
      platform.posts('orders').length === 1 &&
      platform.posts().at(-1)?.status === undefined
        ? refused
        : undefined
    story.writePipe('orders')
    for (const name of names) story.writePipe(name)
    await story.created(names)
    platform.decide = () => undefined
    const old = platform.world.pipe('orders')
    const live = await story.start(['--interval', '2s'], { speed: 5 })
    await until('it to be seen', () => platform.gets(old.id).length > 0)
    platform.world.hidden.add(old.id)
    await until('it to be replaced', () => platform.world.named('orders').length === 2, 60_000)
    const made = platform.world.named('orders')[1]
    await live.says('Pipe/orders', 'Ready')

    const told = (await live.history('Pipe/orders')).filter(({ type }) => type === 'action')
    const reasonsOf = (result: string) =>
      told.flatMap((entry) => (entry.result === result ? [entry.reason] : []))
    expect(reasonsOf('started')).toEqual(['New', 'RetryFailed', 'Missing'])
    expect(reasonsOf('failed')).toEqual(['New'])
    const missing = told
      .filter(({ reason }) => reason === 'Missing')
      .map(({ message }) => message)
      .join('\n')
    expect(missing).toContain(old.id)
    expect(missing).toContain(made?.id)
    const shell = await story.run(['history', 'Pipe/orders'])
    expect(shell.stdout).toContain(old.id)
  })

  test('says that a person let an attempt be made', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    platform.decide = ({ operation }) =>
      operation === 'createPipe' && platform.posts().length === 1
        ? { work: false, sends: 'nothing', ends: 'reset' }
        : undefined
    story.writePipe('orders')
    const live = await story.start(['--interval', '1s'])
    await live.says('Pipe/orders', 'OutcomeUnknown')
    const said = await story.run(['resolve', 'Pipe/orders', '--retry'], { aheadMs: 3 * 60_000 })
    expect(said.stderr).toBe('')
    await live.says('Pipe/orders', 'Ready')
    const told = (await live.history('Pipe/orders')).filter(({ type }) => type === 'action')
    const reasons = told.flatMap(({ result, reason }) => (result === 'started' ? [reason] : []))
    expect(reasons).toEqual(['New', 'RetryApproved'])
  })
})

describe.concurrent('row 19: the end of apply', () => {
  test.for(['before-intent', 'after-intent'])(
    'is 70 when a reconcile throws (%s), and that key is not well',
    async (failpoint, { expect }) => {
      await using story = await createStory()
      for (const name of ['a', 'b']) story.writePipe(name)
      const env = { PIPEWRIGHT_FAILPOINT: `${failpoint}=throw` }
      const applied = await story.run(['apply', '--concurrency', '1'], { env })
      expect(applied.code).toBe(70)
      // It may have been made in a second reconcile of the same pass; well is only what is there.
      const bad = 2 - story.platform.world.pipes.length
      expect(applied.stdout).toMatch(
        bad === 0 ? 'None of 3 needs' : new RegExp(`${bad} of 3 needs? attention`),
      )
      const again = await until(
        'a pass that is well',
        async () => {
          const { code, stdout } = await story.run(['apply'])
          return code === 0 ? stdout : undefined
        },
        40_000,
      )
      expect(again).toContain('None of 3 needs attention.')
      expect(story.platform.posts()).toHaveLength(2)
    },
  )

  test('is no lie when it is stopped before each was reconciled', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    for (const name of ['a', 'b', 'c']) story.writePipe(name)
    const program = story.apply(['--api-budget', '1/1h'])
    await until('the first create', () => platform.posts().length === 1)
    await until('it to be dealt with', () => platform.posts()[0]?.status === 200)
    program.signal('SIGTERM')
    expect(await program.ended).not.toBe(0)
    expect(program.stdout()).not.toContain('None of 4 needs attention.')
    expect(platform.posts()).toHaveLength(1)
  })
})
