import { describe, expect, test } from 'vitest'
import { isObject, type Json } from '../../src/lib/json.ts'
import { startWithPipe, type Method, type PipeAsker } from './ask.ts'
import { at } from './look.ts'
import type { PipeState } from './states.ts'

/* How a pipe of the strict server goes from state to state: by commands, edits and readings, never by time. */

/** What a reply says of the state, or the status of one that is refused. */
async function stateOf(
  world: PipeAsker,
  [method, path, body]: readonly [Method, string, Json?],
): Promise<Json | undefined> {
  const { status, result } = await world.askPipe(method, path, body)
  return status === 200 && isObject(result) ? result['state'] : status
}

const READ = ['GET', ''] as const

function command(word: string) {
  return ['PATCH', '/state', { command: word }] as const
}

const TABLE = { sourceSchemaName: 'public', sourceTable: 'notes', targetTable: 'notes' }
const ADDRESSES = { sourceSchemaName: 'public', sourceTable: 'addresses', targetTable: 'customer_addresses' }

function patch(arm: Json) {
  return ['PATCH', '', { source: { postgres: arm } }] as const
}

interface Row {
  readonly pipe: string
  readonly from: PipeState
  readonly by: readonly [Method, string, Json?]
  /** Of the reply, and of the readings after it. */
  readonly seen: readonly (PipeState | number)[]
}

describe('the reply has the old state, and each reading is one step on', () => {
  test.each<readonly [why: string, row: Row]>([
    [
      'a stream stops',
      {
        pipe: 'orders',
        from: 'Running',
        by: command('stop'),
        seen: ['Running', 'Stopping', 'Stopped', 'Stopped'],
      },
    ],
    [
      'a database pauses',
      { pipe: 'customers', from: 'Snapshot', by: command('stop'), seen: ['Snapshot', 'Pausing', 'Paused'] },
    ],
    [
      'what is at rest stays so',
      { pipe: 'customers', from: 'Paused', by: command('stop'), seen: ['Paused', 'Paused'] },
    ],
    [
      'a stream starts',
      { pipe: 'orders', from: 'Stopped', by: command('start'), seen: ['Stopped', 'Provisioning', 'Running'] },
    ],
    [
      'a database starts',
      { pipe: 'customers', from: 'Paused', by: command('start'), seen: ['Paused', 'Setup', 'Running'] },
    ],
    [
      'what failed starts',
      { pipe: 'orders', from: 'Failed', by: command('start'), seen: ['Failed', 'Provisioning', 'Running'] },
    ],
    [
      'what runs once and starts again is done in the end',
      {
        pipe: 'campaigns',
        from: 'Stopped',
        by: command('start'),
        seen: ['Stopped', 'Provisioning', 'Completed'],
      },
    ],
    [
      'what is done is copied again',
      {
        pipe: 'stock-history',
        from: 'Completed',
        by: command('resync'),
        seen: ['Completed', 'Snapshot', 'Resync', 'Completed'],
      },
    ],
    [
      'a new table starts a pipe that was paused',
      {
        pipe: 'customers',
        from: 'Paused',
        by: patch({ tableMappingsToAdd: [TABLE] }),
        seen: ['Paused', 'Snapshot', 'Running'],
      },
    ],
    [
      'a table is taken out first',
      {
        pipe: 'customers',
        from: 'Paused',
        by: patch({ tableMappingsToRemove: [ADDRESSES] }),
        seen: ['Paused', 'Modifying', 'Snapshot', 'Running'],
      },
    ],
    [
      'any edit of its source starts a database pipe that was paused',
      {
        pipe: 'customers',
        from: 'Paused',
        by: patch({ settings: { syncIntervalSeconds: 5 } }),
        seen: ['Paused', 'Snapshot', 'Running'],
      },
    ],
    [
      'a name does not',
      { pipe: 'customers', from: 'Paused', by: ['PATCH', '', { name: 'New' }], seen: ['Paused', 'Paused'] },
    ],
    [
      'an edit of what runs goes on',
      {
        pipe: 'customers',
        from: 'Running',
        by: patch({ settings: { syncIntervalSeconds: 5 } }),
        seen: ['Running', 'Running'],
      },
    ],
    [
      'a deleted pipe is there for one reading more',
      { pipe: 'orders', from: 'Failed', by: ['DELETE', ''], seen: [200, 'Failed', 404, 404] },
    ],
  ])('%s', async (_why, { pipe, from, by, seen }) => {
    await using world = await startWithPipe(pipe, from)
    const told = [await stateOf(world, by)]
    while (told.length < seen.length) told.push(await stateOf(world, READ))
    expect(told).toEqual(seen)
  })

  test('a list is a reading too, and forgets what is gone', async () => {
    await using world = await startWithPipe('orders')
    await world.askPipe('DELETE', '')
    expect(world.server.pipes().size).toBe(1)
    expect(await world.ask('GET', '/clickpipes')).toMatchObject({ result: [{ id: world.id }] })
    expect(await world.ask('GET', '/clickpipes')).toMatchObject({ status: 200, result: [] })
    expect(world.server.pipes().size).toBe(0)
  })

  test('what is being deleted is edited no more, and may be deleted again', async () => {
    await using world = await startWithPipe('orders')
    await world.askPipe('DELETE', '')
    expect(await world.askPipe('PATCH', '', { name: 'New' })).toMatchObject({ status: 409 })
    expect(await world.askPipe('PATCH', '/state', { command: 'stop' })).toMatchObject({ status: 409 })
    expect(await world.askPipe('DELETE', '')).toMatchObject({ status: 200, result: undefined })
  })
})

/** Replies are as varied as the facts allow. */
const SEEDS = Array.from({ length: 20 }, (_, index) => `seed-${index}`)

describe('what a reply tells late, or not at all', () => {
  test('a new size is 0 or nothing in two replies, and there in the third', async () => {
    const told: unknown[][] = []
    for (const seed of SEEDS) {
      await using world = await startWithPipe('orders', 'Running', { seed })
      const replies = [
        await world.askPipe('PATCH', '/scaling', { replicas: 7 }),
        await world.askPipe('GET', ''),
        await world.askPipe('GET', ''),
      ]
      told.push(replies.map(({ result }) => (isObject(result) ? at(result, 'scaling.replicas') : 'none')))
    }
    expect(told.map(([, , last]) => last)).toEqual(SEEDS.map(() => 7))
    expect(new Set(told.flatMap(([first, second]) => [first, second]))).toEqual(new Set([0, null, undefined]))
  })

  test('no secret that was changed', async () => {
    await using world = await startWithPipe('orders')
    const credentials = { username: 'planted-user', password: 'planted-text' }
    const replies = [
      await world.askPipe('PATCH', '', { source: { kafka: { credentials } } }),
      await world.askPipe('GET', ''),
      await world.ask('GET', '/clickpipes'),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(JSON.stringify(replies)).not.toContain('planted')
    expect(JSON.stringify(world.body())).toContain('planted')
  })

  test('settings, by themselves, of a stream, and none of a database', async () => {
    await using stream = await startWithPipe('sessions')
    const put = await stream.askPipe('PUT', '/settings', { object_storage_concurrency: 9 })
    const got = await stream.askPipe('GET', '/settings')
    for (const { result } of [put, got])
      expect(result).toMatchObject({ object_storage_concurrency: 9, clickhouse_max_insert_threads: 2 })
    await using database = await startWithPipe('customers')
    expect(await database.askPipe('GET', '/settings')).toMatchObject({ status: 404 })
  })
})

describe('what somebody else does to it', () => {
  test('is there at the next reading', async () => {
    await using world = await startWithPipe('orders')
    world.server.setBody(world.id, { ...world.body(), name: 'Other' })
    world.server.setStates(world.id, 'Degraded')
    expect(await world.askPipe('GET', '')).toMatchObject({ result: { name: 'Other', state: 'Degraded' } })
    expect([...world.server.states().values()]).toEqual(['Degraded'])
  })
})
