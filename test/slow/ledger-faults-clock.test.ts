import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { ENDPOINT } from '../support/manifests.ts'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { Scenario } from './scenario.ts'
import { aged, createScenario, eachFound } from './scenario.ts'
import { fastClocks } from './support/fast-clocks.ts'
import type { Live } from '../support/live.ts'

/* The wall clock of the real program jumps an hour, either way, while it runs and while it does not. */

const HOUR_MS = 3_600_000
/** Of the clocks of a program of which only its own minutes matter. */
const SPEED = 5
const JUMPS = [
  { way: 'an hour ahead', ms: HOUR_MS },
  { way: 'an hour back', ms: -HOUR_MS },
] as const

function jump({ workspace }: Scenario, ms: number): void {
  workspace.write('clock', String(ms))
}

/** @param speed of all clocks and timers of the program; 1: as those of the machine */
function start({ workspace, ...scenario }: Scenario, speed = 1): Promise<Live> {
  const env = { ...fastClocks(speed), CLOCK_SHIFT_FILE: workspace.path('clock') }
  return scenario.start(['--interval', '2s'], { env })
}

describe.concurrent('a clock that jumps', () => {
  test.for(JUMPS)(
    '$way, in a quiet world: nothing is created, nothing changes',
    async ({ ms }, { expect }) => {
      await using scenario = await createScenario()
      jump(scenario, 0)
      scenario.workspace.write('manifests/endpoint.yaml', ENDPOINT)
      for (const name of ['a', 'b']) scenario.writePipe(name)
      const first = await start(scenario)
      for (const key of ['Pipe/a', 'Pipe/b', 'QueryEndpoint/analytics']) await first.says(key, 'Ready')
      jump(scenario, ms)
      const seen = scenario.platform.requests().length
      await until('two more looks at each', () => scenario.platform.requests().length >= seen + 4)
      for (const { status } of await resourcesOf(first.url)) expect(status).toBe('Ready')
      await first.stop()
      jump(scenario, 0)
      const second = await start(scenario)
      for (const key of ['Pipe/a', 'Pipe/b', 'QueryEndpoint/analytics']) await second.says(key, 'Ready')
      expect(scenario.creates().toSorted()).toEqual(['a', 'b'])
    },
  )

  test.for(JUMPS)(
    '$way, while a refused create waits: it is tried again soon',
    async ({ ms }, { expect }) => {
      await using scenario = await createScenario()
      jump(scenario, 0)
      scenario.platform.faults.add({
        operation: 'createPipe',
        times: 1,
        fault: { type: 'rate-limit', seconds: 6, header: 'retry-after' },
      })
      scenario.writePipe('a')
      const live = await start(scenario)
      await live.says('Pipe/a', 'RateLimited')
      jump(scenario, ms)
      await live.says('Pipe/a', 'Ready', 40_000)
      expect(scenario.creates()).toEqual(['a', 'a'])
    },
  )

  test.for(JUMPS)(
    '$way, across a restart with a create of unknown outcome: it stays unknown',
    async ({ ms }, { expect }) => {
      await using scenario = await createScenario()
      jump(scenario, 0)
      scenario.platform.faults.add({ operation: 'createPipe', times: 1, fault: { type: 'cut-after' } })
      scenario.writePipe('a')
      const first = await start(scenario)
      await first.says('Pipe/a', 'OutcomeUnknown')
      jump(scenario, ms)
      await pause(5_000)
      await first.stop()
      const second = await start(scenario)
      await second.says('Pipe/a', 'OutcomeUnknown')
      await pause(5_000)
      expect(await second.resource('Pipe/a')).toMatchObject({ status: 'OutcomeUnknown' })
      expect(scenario.creates()).toEqual(['a'])
    },
  )

  test.for(JUMPS)(
    '$way, while a pipe is missed: three looks are needed all the same',
    async ({ ms }, { expect }) => {
      await using scenario = await createScenario()
      const { platform } = scenario
      jump(scenario, 0)
      for (const name of ['a', 'b', 'c', 'd']) scenario.writePipe(name)
      const first = await start(scenario)
      for (const name of ['a', 'b', 'c', 'd']) await first.says(`Pipe/${name}`, 'Ready')
      await first.stop()
      await scenario.rewrite(aged)
      const live = await start(scenario, SPEED)
      for (const name of ['a', 'b', 'c', 'd']) await live.says(`Pipe/${name}`, 'Ready')
      await eachFound(scenario)
      const id = platform.pipes().find(({ name }) => name === 'a')?.id ?? ''
      platform.vanish(id)
      await live.says('Pipe/a', 'MissingUnconfirmed')
      jump(scenario, ms)
      await until('the pipe to be created anew', () => scenario.creates().length === 5, 60_000)
      const misses = platform
        .requests()
        .filter(({ path, answer }) => path.endsWith(id) && answer?.status === 404)
      expect(misses.length).toBeGreaterThanOrEqual(3)
      await live.says('Pipe/a', 'Ready')
      expect(scenario.creates().toSorted()).toEqual(['a', 'a', 'b', 'c', 'd'])
    },
  )
})
