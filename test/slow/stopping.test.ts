import { describe, expect, test } from 'vitest'
import { reachedLine } from '../support/failpoints.ts'
import type { Sandbox } from '../../src/sandbox/sandbox-server.ts'
import { type Program, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { creates, stopInTheMiddle, type Stopping } from './support/stopping.ts'

/** The longest that the sandbox takes. */
const LONG_MS = 600_000

/** So that the grace is not what ends it. */
const NEVER_BY_ITSELF = { settings: ['--request-timeout', '1h', '--shutdown-grace', '2h'] }

const ONE_PIPE = { command: 'run', pipes: 1, settings: [], latencyMs: 0 } as const

async function inTheMiddle(_: Program, platform: Sandbox): Promise<void> {
  await until('the create to be on its way', () => creates(platform) === 1)
}

async function stopped(program: Program): Promise<void> {
  program.signal('SIGTERM')
  await until('the program to say that it stops', () => program.log().some(({ msg }) => msg === 'Stopping'))
}

/** One reconcile goes on and on, reading after reading: it waits for the budget. */
async function untilOneWaits(program: Program): Promise<void> {
  const url = await urlOf(program)
  let looks = 0
  await until('the second pipe to wait', async () => {
    const { detail } = (await (await fetch(`${url}/healthz`)).json()) as { readonly detail: string }
    looks = detail.startsWith('1 running') ? looks + 1 : 0
    return looks === 10
  })
}

describe.concurrent('told to stop in the middle of a create', () => {
  const finishing: readonly (readonly [string, Stopping])[] = (['run', 'apply'] as const).map((command) => [
    `${command} finishes it, keeps the id, and ends`,
    {
      ...ONE_PIPE,
      command,
      latencyMs: 1_500,
      async stop(program, platform) {
        await inTheMiddle(program, platform)
        program.signal('SIGTERM')
      },
    },
  ])
  test.each(finishing)('%s', async (_, stopping) => {
    const { ended, posts, pipes, recorded, intent, afterwards, output } = await stopInTheMiddle(stopping)
    expect({ ended, posts, pipes, intent, recorded: typeof recorded }, output).toEqual({
      ended: 0,
      posts: 1,
      pipes: 1,
      intent: 'succeeded',
      recorded: 'string',
    })
    expect(afterwards).toMatchObject({ status: 'Ready', posts: 0 })
  })

  test('a second signal ends it at once, and the next process says OutcomeUnknown', async () => {
    const result = await stopInTheMiddle({
      ...ONE_PIPE,
      ...NEVER_BY_ITSELF,
      latencyMs: LONG_MS,
      async stop(program, platform) {
        await inTheMiddle(program, platform)
        await stopped(program)
        program.signal('SIGTERM')
      },
    })
    expect(result.ended, result.output).toBe(1)
    expect(result).toMatchObject({ posts: 1, recorded: undefined, intent: 'open' })
    expect(result.afterwards).toMatchObject({ status: 'OutcomeUnknown', posts: 0 })
    expect(result.afterwards.message).toContain('Pipewright was stopped before it knew the outcome')
  })

  test('the end of the grace does the same', async () => {
    const failpoint = 'after-intent=hang'
    const result = await stopInTheMiddle({
      ...ONE_PIPE,
      failpoint,
      settings: ['--request-timeout', '500ms', '--shutdown-grace', '2600ms'],
      async stop(program) {
        const line = reachedLine({ at: 'after-intent', action: 'hang' })
        await until('the create to hang', () => program.stderr().includes(line))
        program.signal('SIGTERM')
      },
    })
    expect(result.ended, result.output).toBe(1)
    expect(result).toMatchObject({ posts: 0, pipes: 0, recorded: undefined, intent: 'open' })
    expect(result.afterwards).toMatchObject({ status: 'OutcomeUnknown', posts: 0 })
  })

  test('a create that still waits for the request budget is not sent, and leaves no intent', async () => {
    const result = await stopInTheMiddle({
      ...ONE_PIPE,
      pipes: 2,
      settings: [
        ...NEVER_BY_ITSELF.settings,
        '--api-budget',
        '1/1h',
        '--concurrency',
        '1',
        '--log-level',
        'debug',
      ],
      async stop(program, platform) {
        await inTheMiddle(program, platform)
        await until('the first pipe to be done', () =>
          program.log().some(({ key, msg }) => key === 'Pipe/p1' && msg === 'Reconciled'),
        )
        await untilOneWaits(program)
        program.signal('SIGTERM')
      },
    })
    expect(result.ended, result.output).toBe(0)
    expect(result).toMatchObject({ posts: 1, recorded: undefined, intent: undefined })
    expect(result.afterwards).toMatchObject({ status: 'Ready', posts: 1 })
    expect(result.pipes).toBe(1)
  })
})
