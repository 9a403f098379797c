import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { createAuthority } from './support/authority.ts'
import { stop, untilStill } from './support/still.ts'
import { createStory } from './support/story.ts'

/* A process that SIGSTOP holds for longer than its create may take. */

/** Longer than a create may wait between its intent and its bytes, which is 5 s. */
const STILL_MS = 6_500

describe.concurrent('a process that stood still', () => {
  test.for([
    { where: 'between its intent and its connection', failpoint: 'after-intent' },
    { where: 'between its connection and its bytes', failpoint: 'after-connect' },
  ])('$where sends nothing afterwards, and knows that it did not', async ({ failpoint }, { expect }) => {
    await using story = await createStory()
    story.writePipe('orders')
    const env = { PIPEWRIGHT_FAILPOINT: `${failpoint}=pause` }
    const live = await story.start(['--interval', '1s', '--request-timeout', '20s'], { env })
    await untilStill(live.program.pid)
    await pause(STILL_MS)
    live.program.signal('SIGCONT')
    const ready = await live.says('Pipe/orders', 'Ready')
    expect(ready.pipeId).toBe(story.id('orders'))
    const told = (await live.history('Pipe/orders')).filter(({ intentId }) => intentId !== undefined)
    const [first, second, ...more] = new Set(told.map(({ intentId }) => intentId))
    expect(more).toEqual([])
    expect(story.posts().map(({ idempotencyKey }) => idempotencyKey)).toEqual([second])
    expect(told.filter(({ intentId }) => intentId === first).map(({ result }) => result)).toContain('failed')
  })

  test.for<{ what: string; answerMs: number; secure?: true }>([
    { what: 'came immediately', answerMs: 0 },
    { what: 'came after the deadline', answerMs: 2_500 },
    { what: 'came under TLS', answerMs: 500, secure: true },
  ])('reads a reply that $what before it gives up', async ({ answerMs, secure }, { expect }) => {
    using authority = secure && createAuthority('127.0.0.1')
    await using story = await createStory(authority ? { tls: authority } : {})
    const { platform } = story
    const env = authority ? { NODE_EXTRA_CA_CERTS: authority.file } : {}
    const live = await story.start(['--request-timeout', '2s'], { env })
    const { pid } = live.program
    platform.whenCreated = () => stop(pid).then(() => pause(answerMs))
    story.writePipe('orders')
    const create = await until('the create to be answered', () =>
      story.posts().find(({ answer }) => answer !== undefined),
    )
    await until('its deadline to pass', () => Date.now() > create.at + 3_500)
    live.program.signal('SIGCONT')
    const ready = await live.says('Pipe/orders', 'Ready')
    expect(ready.pipeId).toBe(story.id('orders'))
    expect(story.posts()).toHaveLength(1)
  })
})
