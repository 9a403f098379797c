import { describe, expect, test } from 'vitest'
import type { Client } from './client.ts'
import {
  during,
  having,
  HOUR,
  KAFKA,
  MINUTE,
  passes,
  POSTGRES,
  sent,
  startOld,
  stateOf,
  tableNames,
  THREE_TABLES,
  withTable,
} from './edited-pipes.ts'

/* Commands to stop and to start (facts 6.1): what is said of a pipe meanwhile, and of a service that takes them and does nothing. */

type Command = 'start' | 'stop'

/** From now on such a command is answered well, and nothing comes of it. @returns how often it was given since */
function ignore(client: Client, command: Command): () => number {
  let count = 0
  client.interfere(({ body }) => {
    if (body['command'] !== command) return undefined
    count += 1
    return { status: 200, error: '' }
  })
  return () => count
}

function isTold(client: Client, reason: string): boolean {
  return JSON.stringify(client.events).includes(`"reason":"${reason}"`)
}

function ready(client: Client): string | undefined {
  return client.record()?.conditions?.Ready.reason
}

/** It rests for its change, which is put off. */
async function startResting(policy?: Parameters<Client['want']>[1]): Promise<Client> {
  const client = await startOld(POSTGRES)
  await client.want(withTable('invoices'), policy)
  await client.reconcile()
  client.server.setStates(client.id(), 'Paused')
  client.interfere(({ method, below }) =>
    method === 'PATCH' && below === '' ? { status: 424, error: 'FAILED_DEPENDENCY: idle' } : undefined,
  )
  return client
}

describe('a pipe that was stopped for its change', () => {
  test.each([{ healthyStates: undefined }, { healthyStates: ['Running', 'Snapshot'] }])(
    'is on its way for ten minutes, and unhealthy then (%j)',
    async ({ healthyStates }) => {
      await using client = await startResting(healthyStates && { healthyStates })
      await during(client, 9 * MINUTE)
      expect([client.state(), ready(client)]).toEqual(['Paused', 'Changing'])
      expect(isTold(client, 'UnhealthyState')).toBe(false)
      await during(client, 3 * MINUTE)
      expect([client.state(), ready(client)]).toEqual(['Paused', 'UnhealthyState'])
    },
  )

  test('is on its way until it runs, by any reading on the way there', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'), { healthyStates: ['Running', 'Snapshot'] })
    await client.settle()
    await passes(client, 3)
    expect([tableNames(client), client.status()]).toEqual([THREE_TABLES, 'Ready'])
    expect(isTold(client, 'UnhealthyState')).toBe(false)
  })

  test('is unhealthy where somebody else stopped it', async () => {
    await using client = await startOld(POSTGRES)
    client.server.setStates(client.id(), 'Paused')
    await client.reconcile()
    expect(ready(client)).toBe('UnhealthyState')
  })

  test('is unhealthy at once where it failed', async () => {
    await using client = await startResting()
    client.server.setStates(client.id(), 'Failed')
    await client.reconcile()
    expect(ready(client)).toBe('UnhealthyState')
  })

  test('is on its way too where policy.paused lets it start', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(POSTGRES, { paused: true })
    await client.settle()
    await client.want(POSTGRES, { paused: false })
    ignore(client, 'start')
    await during(client, 8 * MINUTE)
    expect([ready(client), isTold(client, 'UnhealthyState')]).toEqual(['Changing', false])
  })
})

const TWO_TABLES = THREE_TABLES.slice(0, 2)

interface Unheeded {
  readonly what: string
  readonly command: Command
  /** Shown meanwhile. `Pausing`: it was heeded at first. */
  readonly state: 'Running' | 'Paused' | 'Pausing'
  readonly first?: (client: Client) => unknown
  readonly wanted: Readonly<Parameters<Client['want']>>
  readonly after: unknown
}

const heeded = (client: Client): void => client.interfere(undefined)
const paused = (client: Client): void => client.server.setStates(client.id(), 'Paused')

const CHANGED = { wanted: [withTable('invoices')], after: [THREE_TABLES, 'Running', 'InSync'] } as const
const RESTING = { wanted: [POSTGRES, { paused: true }], after: [TWO_TABLES, 'Paused', 'InSync'] } as const
const STARTED = { command: 'start', state: 'Paused', after: [TWO_TABLES, 'Running', 'InSync'] } as const

const UNHEEDED: readonly Unheeded[] = [
  { what: 'to stop for a change', command: 'stop', state: 'Running', ...CHANGED },
  { what: 'to stop for a change, and it goes on pausing', command: 'stop', state: 'Pausing', ...CHANGED },
  { what: 'to stop by policy.paused', command: 'stop', state: 'Running', ...RESTING },
  { what: 'to stop by policy.paused, and it goes on pausing', command: 'stop', state: 'Pausing', ...RESTING },
  {
    what: 'to start after a change',
    ...STARTED,
    async first(client) {
      await client.want(...CHANGED.wanted)
      await client.reconcile()
    },
    wanted: [POSTGRES],
  },
  { what: 'to start by policy.paused', ...STARTED, first: paused, wanted: [POSTGRES, { paused: false }] },
]

describe('a pipe that was told', () => {
  test.each(UNHEEDED)(
    '$what, in vain: that is told after ten minutes, and it is told again within each hour, for ever',
    async ({ command, state, first: begin, wanted, after }) => {
      await using client = await startOld(POSTGRES)
      await begin?.(client)
      await client.want(...wanted)
      if (state === 'Pausing') {
        await client.reconcile()
        client.server.setStates(client.id(), state)
      }
      const count = ignore(client, command)
      await during(client, 9 * MINUTE)
      expect(client.status()).toBe('Progressing')
      await during(client, 6 * MINUTE)
      expect([client.status(), client.reason()]).toEqual(['Drifted', 'Stalled'])
      expect(client.message()).toContain(`asked to ${command}`)
      expect(client.message()).toContain(`state is ${state}`)
      expect(count()).toBeLessThanOrEqual(6)
      await client.restart()
      const [before, first, seen] = [count(), client.events.length, client.server.seen().length]
      await during(client, 2 * HOUR)
      expect(count() - before).toBeGreaterThanOrEqual(1)
      expect(count() - before).toBeLessThanOrEqual(2)
      expect([client.status(), client.reason()]).toEqual(['Drifted', 'Stalled'])
      // It is looked at every five minutes, and now and then once more.
      expect(client.server.seen().length - seen).toBeLessThan(50)
      // That it goes on is no news.
      const news = client.events
        .slice(first)
        .filter((event) => event.type === 'ConditionChanged' && event.condition === 'Synced')
      expect(news).toEqual([])
      if (state === 'Pausing') paused(client)
      else heeded(client)
      await during(client, 70 * MINUTE)
      await passes(client, 3)
      expect([tableNames(client), stateOf(client), client.reason()]).toEqual(after)
      expect(client.record()).toMatchObject({ change: undefined, command: undefined })
    },
  )

  test('to stop, in vain, is told again at once when a person asks', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    ignore(client, 'stop')
    await during(client, 15 * MINUTE)
    expect(client.reason()).toBe('Stalled')
    heeded(client)
    await client.reconcile('asked')
    expect(sent(client)).toEqual(['stop'])
    await during(client, 5 * MINUTE)
    expect([tableNames(client), client.reason()]).toEqual([THREE_TABLES, 'InSync'])
  })

  test('to stop, and stops late, while it is not told again, is changed', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    ignore(client, 'stop')
    await during(client, 20 * MINUTE)
    expect(client.reason()).toBe('Stalled')
    paused(client)
    await during(client, 10 * MINUTE)
    expect([tableNames(client), stateOf(client), client.reason()]).toEqual([
      THREE_TABLES,
      'Running',
      'InSync',
    ])
  })

  test('to stop, in vain, for an edit that is taken back, is a person’s to stop then', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    ignore(client, 'stop')
    await during(client, 20 * MINUTE)
    await client.want(POSTGRES)
    await during(client, 10 * MINUTE)
    heeded(client)
    paused(client)
    await during(client, 20 * MINUTE)
    expect([sent(client), stateOf(client)]).toEqual([[], 'Paused'])
  })

  test('to stop, in vain, is told of a stream as well', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { paused: true })
    ignore(client, 'stop')
    await during(client, 15 * MINUTE)
    expect(client.reason()).toBe('Stalled')
  })
})

test('a stop that does not show yet is not sent again because the size is changed', async () => {
  await using client = await startOld(KAFKA)
  const count = ignore(client, 'stop')
  await client.want(KAFKA, { paused: true })
  await during(client, 5_000)
  await client.want(having(KAFKA, { 'scaling.replicas': 3 }), { paused: true })
  await during(client, 45_000)
  expect([count(), sent(client)]).toEqual([1, ['PATCH /scaling']])
})
