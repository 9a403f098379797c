import { describe, expect, test } from 'vitest'
import { reachedLine } from '../support/failpoints.ts'
import { platformArgs, runArgs } from '../support/manifests.ts'
import { type Program, startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { type Given, given } from '../ways-out/given.ts'
import { play } from '../ways-out/story.ts'
import { endOf } from './support/end-of.ts'

/** The longest that the sandbox takes. */
const LONG_MS = 600_000

/** So that the grace is not what ends it. */
const NEVER_BY_ITSELF = ['--request-timeout', '1h', '--shutdown-grace', '2h']

function answersAfter({ platform }: Given, ms: number): void {
  platform.faults.add({ operation: 'createPipe', times: 'always', fault: { type: 'latency', ms } })
}

function start({ workspace, platform }: Given, settings: readonly string[], failpoint?: string): Program {
  const env = failpoint === undefined ? {} : { PIPEWRIGHT_FAILPOINT: failpoint }
  return startProgram(runArgs(workspace, platform.url, settings), { env })
}

async function inTheMiddle(world: Given): Promise<void> {
  await until('the create to be on its way', () => world.posts() === 1)
}

/** How it ended, and what the ledger has of the pipe then. */
async function leftBy(world: Given, program: Program) {
  const ended = await endOf(program)
  world.platform.faults.clear()
  const { intent, pipeId } = await world.status('Pipe/p1')
  return { ended, intent: intent?.state, pipeId }
}

describe.concurrent('told to stop in the middle of a create', () => {
  test.each(['run', 'apply'] as const)('%s finishes it, keeps the id, and ends', async (command) => {
    await using world = await given(['p1'])
    const { workspace, platform } = world
    answersAfter(world, 1_500)
    const place = platformArgs(workspace, platform.url)
    await using program = startProgram(
      command === 'run' ? runArgs(workspace, platform.url) : ['apply', ...place],
    )
    await inTheMiddle(world)
    program.signal('SIGTERM')
    expect(await leftBy(world, program)).toEqual({
      ended: 0,
      intent: 'succeeded',
      pipeId: world.pipeId('p1'),
    })
    await play(world, 'apply\nshows Pipe/p1 Ready\nposts 1\npipes 1')
  })

  const UNKNOWN = `apply => 1
    shows Pipe/p1 OutcomeUnknown | Pipewright was stopped before it knew the outcome`

  test('a second signal ends it at once, and the next process says OutcomeUnknown', async () => {
    await using world = await given(['p1'])
    answersAfter(world, LONG_MS)
    await using program = start(world, NEVER_BY_ITSELF)
    await inTheMiddle(world)
    program.signal('SIGTERM')
    await until('the program to say that it stops', () => program.log().some(({ msg }) => msg === 'Stopping'))
    program.signal('SIGTERM')
    expect(await leftBy(world, program)).toEqual({ ended: 1, intent: 'open', pipeId: undefined })
    await play(world, UNKNOWN, 'posts 1')
  })

  test('the end of the grace does the same', async () => {
    await using world = await given(['p1'])
    const settings = ['--request-timeout', '500ms', '--shutdown-grace', '2600ms']
    await using program = start(world, settings, 'after-intent=hang')
    const line = reachedLine({ at: 'after-intent', action: 'hang' })
    await until('the create to hang', () => program.stderr().includes(line))
    program.signal('SIGTERM')
    expect(await leftBy(world, program)).toEqual({ ended: 1, intent: 'open', pipeId: undefined })
    await play(world, UNKNOWN, 'posts 0\npipes 0')
  })
})
