import { describe, expect, test } from 'vitest'
import { platformArgs } from '../support/manifests.ts'
import { startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createScenario, type Scenario } from './scenario.ts'

/* A pipeline applies, and goes on only when everything runs. */

const HOUR_MS = 3_600_000

function applying({ workspace, platform }: Scenario, more: readonly string[] = []) {
  return startProgram(['apply', '--wait', ...platformArgs(workspace, platform.url), ...more])
}

/** Waits until a pipe that was created was also read. */
async function read({ platform }: Scenario): Promise<string> {
  return until('the pipe to be read', () => {
    const [pipe] = platform.pipes()
    return platform.requests().some(({ method, path }) => method === 'GET' && path.endsWith(pipe?.id ?? '/'))
      ? pipe?.id
      : undefined
  })
}

describe('apply --wait', () => {
  test('ends when all that was created runs, and what waited for it', async () => {
    await using scenario = await createScenario({ fixture: { times: { provisioningMs: 2_500 } } })
    scenario.writePipe('orders')
    scenario.writePipe('listed', { policy: { healthyStates: '[Running]' } })
    scenario.writePipe('later', { policy: { dependsOn: '[Pipe/orders]' } })
    const { code, stdout, stderr } = await scenario.run(['apply', '--wait'])
    expect(stdout).toContain('None of 4 needs attention.')
    expect(stdout.match(/Ready/g)).toHaveLength(4)
    expect(stderr).not.toContain('not ready')
    expect(code).toBe(0)
    expect(scenario.creates().toSorted()).toEqual(['later', 'listed', 'orders'])
    expect(scenario.platform.pipes().map(({ state }) => state)).toEqual(['Running', 'Running', 'Running'])
  })

  test('without it, the same pass ends before', async () => {
    await using scenario = await createScenario({ fixture: { times: { provisioningMs: HOUR_MS } } })
    scenario.writePipe('orders')
    const { code, stdout } = await scenario.run(['apply'])
    expect(stdout).toMatch(/Pipe\/orders +Progressing/)
    expect(code).toBe(0)
  })

  test('ends at once when one is clearly bad', async () => {
    await using scenario = await createScenario({ fixture: { times: { provisioningMs: HOUR_MS } } })
    scenario.writePipe('orders')
    await using program = applying(scenario)
    const id = await read(scenario)
    scenario.platform.change(id, { state: 'Failed' })
    expect(await program.ended).toBe(1)
    expect(program.stdout()).toMatch(/Pipe\/orders +NotReady +UnhealthyState/)
    expect(program.stderr()).not.toContain('not ready within')
  })

  test('a platform that does not answer in between does not end it', async () => {
    await using scenario = await createScenario({ fixture: { times: { provisioningMs: HOUR_MS } } })
    scenario.writePipe('orders')
    scenario.platform.faults.add({ operation: 'getPipe', times: 2, fault: { type: 'status', status: 503 } })
    await using program = applying(scenario)
    await until('the faults to be over', () => {
      const reads = scenario.platform.requests().filter(({ operation }) => operation === 'getPipe')
      return reads.some(({ answer }) => answer?.status === 200)
    })
    const [pipe] = scenario.platform.pipes()
    scenario.platform.change(pipe?.id ?? '', { state: 'Running' })
    expect(await program.ended).toBe(0)
    expect(program.stdout()).toContain('None of 2 needs attention.')
  })

  test('says what is not ready when the time is over', async () => {
    await using scenario = await createScenario({ fixture: { times: { provisioningMs: HOUR_MS } } })
    scenario.writePipe('orders')
    const { code, stderr } = await scenario.run(['apply', '--wait', '--timeout', '3s'])
    expect(code).toBe(1)
    expect(stderr).toContain('not ready within 3s: 1 of 2.')
    expect(stderr).toMatch(/^ {2}Pipe\/orders: .*Provisioning/m)
    const json = await scenario.run(['apply', '--wait', '--timeout', '1s', '-o', 'json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ unsettled: ['Pipe/orders'] })
    const wrong = await scenario.run(['apply', '--wait', '--timeout', 'soon'])
    expect(wrong.code).toBe(64)
    expect(scenario.creates()).toEqual(['orders'])
  })

  test.each(['is answered', 'hangs'])(
    'a signal ends the waiting, and nothing else: a reading %s',
    async (how) => {
      await using scenario = await createScenario({ fixture: { times: { provisioningMs: HOUR_MS } } })
      if (how === 'hangs')
        scenario.platform.faults.add({ operation: 'getPipe', times: 'always', fault: { type: 'hang' } })
      scenario.writePipe('orders')
      await using program = applying(scenario)
      await read(scenario)
      program.signal('SIGTERM')
      expect(await program.ended).toBe(1)
      expect(program.stderr()).toContain('apply was stopped before all was ready: 1 of 2.')
      expect(program.stdout()).toMatch(how === 'hangs' ? /Pipe\/orders/ : /Pipe\/orders +Progressing/)
    },
  )
})
