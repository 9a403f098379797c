import { describe, expect, test } from 'vitest'
import { ALERT, ORGANIZATION, OTHER_SERVICE_ID, SERVICE_ID, serviceManifest } from '../support/manifests.ts'
import type { Live } from '../support/live.ts'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createScenario, type Scenario } from './scenario.ts'

/* The create limit with the real program: each service by itself, and over an hour. */

const FAST = ['--api-budget', '1000/1s']

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

function commit(scenario: Scenario, prefix: string, count: number, service = 'analytics'): readonly string[] {
  const all = names(prefix, count)
  for (const name of all) scenario.writePipe(name, { service })
  return all
}

async function decided(live: Live, all: readonly string[]): Promise<void> {
  const keys = new Set(all.map((name) => `Pipe/${name}`))
  await until('all of them to be decided', async () => {
    const shown = (await resourcesOf(live.url)).filter(({ key }) => keys.has(key))
    return (
      shown.length === keys.size && shown.every(({ status }) => status === 'Ready' || status === 'Refused')
    )
  })
}

describe('the create limit', () => {
  test('30 pipes of one service hold no other, and every place names the service', async () => {
    await using scenario = await createScenario({
      fixture: {
        alerts: [ALERT],
        services: [SERVICE_ID, OTHER_SERVICE_ID].map((serviceId) => ({
          organizationId: ORGANIZATION,
          serviceId,
        })),
      },
    })
    const other = serviceManifest({ name: 'other', serviceId: OTHER_SERVICE_ID, secret: 'analytics-api' })
    scenario.workspace.write('manifests/other.yaml', other)
    const many = commit(scenario, 'many', 30)
    scenario.writePipe('one', { service: 'other' })
    const planned = await scenario.run(['plan'], FAST)
    expect(planned.stdout).toContain('than the create limit lets pass in service analytics (30 pending)')
    const live = await scenario.start(FAST)
    await live.says('Pipe/one', 'Ready')
    await decided(live, many)
    expect(scenario.creates()).toEqual(['one'])

    const said = 'In service analytics, 30 creations are pending, and the create limit is 25 (--max-creates).'
    const get = async (path: string): Promise<unknown> => (await fetch(`${live.url}/api/v1/${path}`)).json()
    expect(await get('overview')).toMatchObject({
      createLimit: {
        on: true,
        services: [{ service: 'analytics', wanted: 30, made: 0, held: 30 }],
      },
    })
    expect(await get('attention')).toMatchObject({
      items: [{ reason: 'CreateLimit', service: 'analytics', count: 30, message: said }],
    })
    expect((await scenario.run(['status'])).stdout.replaceAll(/\s+/g, ' ')).toContain(said)
    expect((await live.resource('Pipe/many-0'))?.message).toContain(said)
    expect(await live.metric('pipewright_create_limit_on')).toBe(1)
    expect((await scenario.run(['allow', '--service', 'other'])).stdout).toContain(
      'The create limit holds nothing back in service other.',
    )
    expect((await scenario.run(['allow', '--service', 'analytics'])).code).toBe(0)
    await until('all to be created', () => scenario.creates().length === 31)
    await until('the limit to be off', async () => (await live.metric('pipewright_create_limit_on')) === 0)
    // What a person allowed does not count against the next one.
    scenario.writePipe('next')
    await live.says('Pipe/next', 'Ready')
  })

  test('72 in three commits do not pass, over a kill, a pass of apply and names of one service', async () => {
    await using scenario = await createScenario()
    for (const [name, serviceId] of [
      ['same', SERVICE_ID],
      ['loud', SERVICE_ID.toUpperCase()],
    ] as const) {
      const text = serviceManifest({ name, serviceId, secret: 'analytics-api' })
      scenario.workspace.write(`manifests/${name}.yaml`, text)
    }
    const first = await scenario.start(FAST)
    await decided(first, commit(scenario, 'a', 24))
    expect(scenario.creates()).toHaveLength(24)
    await first.kill()

    const second = commit(scenario, 'b', 24, 'same')
    const applied = await scenario.run(['apply'], FAST)
    expect(applied.code).toBe(1)
    const live = await scenario.start(FAST)
    const third = commit(scenario, 'c', 24, 'loud')
    await decided(live, [...second, ...third])
    expect(scenario.creates()).toHaveLength(24)
    expect((await live.resource('Pipe/c-0'))?.message).toContain(
      'In service loud, 48 creations are pending, 24 were made within the last hour, and the create limit is 25',
    )
  })
})
