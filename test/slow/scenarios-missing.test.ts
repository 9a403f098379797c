import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { Scenario } from './scenario.ts'
import { aged, createScenario, eachFound } from './scenario.ts'
import { fastClocks } from './support/fast-clocks.ts'
import type { Live } from '../support/live.ts'

/*
 * A 404 is believed when three in a row over at least a minute say so. The clocks of the program run five times as fast; the
 * times here are those of the machine.
 */

const SPEED = 5
const CONFIRMING_MS = 60_000 / SPEED
const LIMIT_MS = 60_000
const A_WHILE_MS = 3_000
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)

/** So many pipes, all there for long enough that a 404 counts; `report` among them are only to be reported. */
async function settled(scenario: Scenario, count: number, report: readonly string[] = []): Promise<Live> {
  for (const name of names(count)) {
    scenario.writePipe(name, report.includes(name) ? { more: 'policy: {onMissing: report}' } : {})
  }
  const first = await scenario.start()
  for (const name of names(count)) await first.says(`Pipe/${name}`, 'Ready')
  await first.stop()
  await scenario.rewrite(aged)
  const live = await start(scenario)
  await eachFound(scenario)
  for (const name of names(count)) await live.says(`Pipe/${name}`, 'Ready')
  return live
}

function start(scenario: Scenario): Promise<Live> {
  return scenario.start(['--interval', '2s'], { env: fastClocks(SPEED) })
}

function idOf({ platform }: Scenario, name: string): string {
  const pipe = platform.pipes().find((candidate) => candidate.name === name)
  if (pipe === undefined) throw new Error(`there is no pipe ${name}`)
  return pipe.id
}

describe.concurrent('a pipe that is gone', () => {
  test('is created anew after a minute of 404s, and not before; or only reported, as the policy says', async ({
    expect,
  }) => {
    await using scenario = await createScenario()
    const { platform } = scenario
    const live = await settled(scenario, 8, ['p1'])
    const before = idOf(scenario, 'p0')
    platform.vanish(before)
    platform.vanish(idOf(scenario, 'p1'))
    const held = await live.says('Pipe/p0', 'MissingUnconfirmed')
    const since = Date.now()
    expect(held.pipeId).toBe(before)
    await until('the pipe to be created anew', () => scenario.creates().length === 9, LIMIT_MS)
    expect(Date.now() - since).toBeGreaterThan(CONFIRMING_MS - 1_000)
    const misses = platform
      .requests()
      .filter(({ path, answer }) => path.endsWith(before) && answer?.status === 404)
    expect(misses.length).toBeGreaterThanOrEqual(3)
    const again = await live.says('Pipe/p0', 'Ready')
    expect(again.pipeId).toBe(idOf(scenario, 'p0'))
    const reported = await live.says('Pipe/p1', 'Missing', LIMIT_MS)
    expect(reported.message).toContain('policy.onMissing')
    await pause(A_WHILE_MS)
    expect(scenario.creates().toSorted()).toEqual([...names(8), 'p0'].toSorted())
  })

  test('counts as there when one look in between finds it', async ({ expect }) => {
    await using scenario = await createScenario()
    const { platform } = scenario
    const live = await settled(scenario, 4)
    const id = idOf(scenario, 'p0')
    platform.faults.add({
      operation: 'getPipe',
      subject: id,
      times: 2,
      fault: { type: 'status', status: 404 },
    })
    await live.says('Pipe/p0', 'MissingUnconfirmed')
    await live.says('Pipe/p0', 'Ready', LIMIT_MS)
    expect(scenario.creates()).toHaveLength(4)
  })

  test('is not gone because a proxy says 404', async ({ expect }) => {
    await using scenario = await createScenario()
    const { platform } = scenario
    const live = await settled(scenario, 4)
    const id = idOf(scenario, 'p0')
    platform.faults.add({
      operation: 'getPipe',
      subject: id,
      times: 'always',
      fault: { type: 'html', status: 404 },
    })
    await live.says('Pipe/p0', 'Unavailable', 30_000)
    await pause(CONFIRMING_MS * 1.25)
    expect(await live.resource('Pipe/p0')).toMatchObject({ reason: 'Unavailable', pipeId: id })
    expect(scenario.creates()).toHaveLength(4)
  })

  test('with a third of its service is not believed, however long it lasts', async ({ expect }) => {
    await using scenario = await createScenario()
    const { platform } = scenario
    const live = await settled(scenario, 6)
    for (const name of names(3)) platform.vanish(idOf(scenario, name))
    for (const name of names(3)) {
      const refused = await live.says(`Pipe/${name}`, 'MassMissing', LIMIT_MS)
      expect(refused.message).toMatch(/\d of \d pipes of this service/)
    }
    await pause(CONFIRMING_MS * 1.25)
    for (const name of names(3))
      expect(await live.resource(`Pipe/${name}`)).toMatchObject({ reason: 'MassMissing' })
    expect(scenario.creates()).toHaveLength(6)
  })

  test('and with it all others: nothing is created, also after a restart', async ({ expect }) => {
    await using scenario = await createScenario()
    const { platform } = scenario
    const live = await settled(scenario, 5)
    for (const name of names(5)) platform.vanish(idOf(scenario, name))
    for (const name of names(5)) await live.says(`Pipe/${name}`, 'MassMissing', LIMIT_MS)
    await live.stop()
    const again = await start(scenario)
    await pause(CONFIRMING_MS * 1.25)
    for (const { key, reason } of await resourcesOf(again.url)) {
      if (key.startsWith('Pipe/')) expect(reason).toBe('MassMissing')
    }
    expect(scenario.creates()).toHaveLength(5)
  })
})
