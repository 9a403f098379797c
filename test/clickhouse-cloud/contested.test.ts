import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/lib/json.ts'
import { contestOf, withCorrections } from '../../src/plan/corrections.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import type { Client } from './client.ts'
import {
  byHand,
  FILES,
  having,
  HOUR,
  KAFKA,
  MAPPINGS,
  MINUTE,
  passes,
  POSTGRES,
  sent,
  startOld,
  tablesIn,
} from './edited-pipes.ts'

/* Another writer keeps changing a pipe back, or it keeps failing. The client is in this process; time passes by being told so. */

/** Another writer undoes each correction. @returns when something was sent, ms since the start */
async function fight(
  client: Client,
  ms: number,
  undo: () => void,
  step = 5 * MINUTE,
): Promise<readonly number[]> {
  const times: number[] = []
  client.changes()
  for (let at = 0; at < ms; at += step) {
    undo()
    const { action } = await client.reconcile()
    if (action.type === 'update' && client.changes().length > 0) times.push(at)
    let left = step
    for (; client.status() === 'Progressing'; left -= 2_000) {
      client.skip(2_000)
      await client.reconcile()
    }
    client.skip(left)
  }
  return times
}

const hours = (times: readonly number[]) => times.map((ms) => Math.round(ms / HOUR))

describe('a field that another writer keeps changing', () => {
  test('twice, then ever more rarely, with a warning', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift: 'correct' })
    const undo = () => byHand(client, { 'settings.streaming_max_insert_wait_ms': 1500 })
    const times = await fight(client, 16 * HOUR, undo, 15 * MINUTE)
    expect(hours(times)).toEqual([0, 0, 1, 3, 7, 15])
    expect([client.status(), client.reason()]).toEqual(['Drifted', 'Drifted'])
    expect(client.message()).toContain('settings.streaming_max_insert_wait_ms')
  })

  test('looked at every half an hour', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift: 'correct' })
    const undo = () => byHand(client, { 'scaling.replicas': 5 })
    const times = await fight(client, 57 * HOUR, undo, 30 * MINUTE)
    expect(times.map((ms) => ms / HOUR)).toEqual([0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 55.5])
    expect([client.status(), client.reason()]).toEqual(['Drifted', 'Drifted'])
  })

  test('the columns and their mappings', async () => {
    await using client = await startOld(FILES)
    await client.want(FILES, { onDrift: 'correct' })
    const columns = having(FILES, {})
    const { destination } = columns as { destination: { columns: readonly Json[] } } // by the schema
    const times = await fight(client, 2 * HOUR, () =>
      byHand(client, { 'destination.columns': destination.columns.slice(1) }),
    )
    expect(hours(times)).toEqual([0, 0, 1])
  })

  test('tables, for which the pipe is stopped each time', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(POSTGRES, { onDrift: 'correct' })
    const times = await fight(client, 4 * HOUR, () =>
      byHand(client, { [MAPPINGS]: tablesIn(POSTGRES).slice(0, 1) }),
    )
    expect(hours(times)).toEqual([0, 0, 1, 3])
    expect(client.reason()).toBe('Drifted')
  })

  test('others are still corrected, except those that the same request sets', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift: 'correct' })
    await fight(client, 15 * MINUTE, () => byHand(client, { 'scaling.replicas': 5 }))
    sent(client)
    byHand(client, { 'settings.streaming_max_insert_wait_ms': 1500, 'scaling.replicaMemoryGb': 2 })
    await passes(client, 2)
    expect([sent(client), client.reason()]).toEqual([['PUT /settings'], 'Drifted'])
  })

  test('waits through a restart', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift: 'correct' })
    await fight(client, 15 * MINUTE, () => byHand(client, { 'scaling.replicas': 5 }))
    sent(client)
    await client.restart()
    await passes(client, 3)
    expect([sent(client), client.reason()]).toEqual([[], 'Drifted'])
  })

  test('is sent when it is edited, and when a person asks', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift: 'correct' })
    await fight(client, 15 * MINUTE, () => byHand(client, { 'scaling.replicas': 5 }))
    sent(client)
    await client.reconcile('asked')
    expect(sent(client)).toEqual(['PATCH /scaling'])
    await client.settle()
    byHand(client, { 'scaling.replicas': 5 })
    await client.want(having(KAFKA, { 'scaling.replicas': 4 }), { onDrift: 'correct' })
    await client.reconcile()
    expect([sent(client), client.record()?.corrections]).toEqual([['PATCH /scaling'], undefined])
  })

  test('whatever has changed for good after two corrections is in sync', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift: 'correct' })
    const times = await fight(client, 10 * MINUTE, () => byHand(client, { 'scaling.replicas': 5 }))
    expect([times.length, client.status(), client.reason()]).toEqual([2, 'Ready', 'InSync'])
  })

  test('a start and a stop', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { paused: true })
    const setRunning = () => client.server.setStates(client.id(), 'Running')
    const starts = await fight(client, 4 * HOUR, setRunning, 15 * MINUTE)
    expect(hours(starts)).toEqual([0, 0, 1, 3])
    expect([client.status(), client.reason()]).toEqual(['Drifted', 'Drifted'])
    expect(client.message()).toContain('stop')
  })

  test('a person who pauses and continues it in Git, five times in a row', async () => {
    await using client = await startOld(KAFKA)
    for (const paused of [true, false, true, false, true]) {
      await client.want(KAFKA, { paused })
      await client.settle()
      client.skip(MINUTE)
    }
    expect(sent(client)).toEqual(['stop', 'start', 'stop', 'start', 'stop'])
  })
})

async function startFailed(): Promise<Client> {
  const client = await startOld(KAFKA)
  client.server.setStates(client.id(), 'Failed')
  await client.want(KAFKA, { paused: false })
  return client
}

/** It fails again right after each start. */
async function failing(client: Client, ms: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let at = 0, step = 0; at < ms; at += step) {
    step = at < 64 * MINUTE ? MINUTE : HOUR
    await client.reconcile()
    if (sent(client).includes('start')) times.push(at / MINUTE)
    client.server.setStates(client.id(), 'Failed')
    client.skip(step)
  }
  return times
}

describe('policy.paused: false starts a pipe that failed', () => {
  test('seven times, with growing waits, and then says so', async () => {
    await using client = await startFailed()
    expect(await failing(client, 48 * HOUR)).toEqual([0, 1, 3, 7, 15, 31, 63])
    expect([client.status(), client.reason()]).toEqual(['Drifted', 'Drifted'])
    expect(client.message()).toContain('7 starts')
    await client.restart()
    await passes(client, 2)
    expect(sent(client)).toEqual([])
  })

  test('and again when a person asks, or after an edit', async () => {
    await using client = await startFailed()
    await failing(client, 2 * HOUR)
    await client.reconcile('asked')
    expect(sent(client)).toEqual(['start'])
    client.server.setStates(client.id(), 'Failed')
    await failing(client, 2 * HOUR)
    await client.want(having(KAFKA, { 'scaling.replicas': 3 }), { paused: false })
    await client.reconcile()
    await passes(client, 1)
    expect(sent(client)).toEqual(['PATCH /scaling', 'start'])
  })

  test('and anew once it has run for a day', async () => {
    await using client = await startFailed()
    expect(await failing(client, 4 * MINUTE)).toEqual([0, 1, 3])
    client.server.setStates(client.id(), 'Running')
    await passes(client, 25, HOUR)
    client.server.setStates(client.id(), 'Failed')
    expect(await failing(client, 2 * MINUTE)).toEqual([0, 1])
  })

  test.each(['Completed', 'Degraded', 'InternalError'] as const)('not one that is %s', async (state) => {
    await using client = await startOld(KAFKA)
    client.server.setStates(client.id(), state)
    await client.want(KAFKA, { paused: false })
    await passes(client, 3)
    expect(sent(client)).toEqual([])
  })

  test('not without the policy, and not one that is to be paused', async () => {
    await using client = await startOld(KAFKA)
    client.server.setStates(client.id(), 'Failed')
    await passes(client, 3)
    expect(sent(client)).toEqual([])
    await client.want(KAFKA, { paused: true })
    await client.reconcile()
    expect(sent(client)).toEqual(['stop'])
  })
})

describe('corrections in a row', () => {
  /** When the fields were corrected; whether the next one, at the last time, waits. */
  const rows: readonly (readonly [why: string, at: readonly number[], isContested: boolean])[] = [
    ['none so far', [0], false],
    ['one', [0, 1], false],
    ['two within an hour', [0, 1, 2], true],
    ['two within an hour, of which the first is an hour ago', [0, 59, 60], true],
    ['two within an hour, an hour after the second', [0, 59, 119], false],
    ['two an hour apart', [0, 60, 61], false],
    ['three', [0, 1, 61, 62], true],
    ['three, the wait of which is over', [0, 1, 61, 181], false],
    ['three, and then long nothing', [0, 1, 61, 301, 302], false],
  ]

  test.each(rows)('%s', (_why, times, isContested) => {
    let recorded: LedgerRecord = blankRecord('Pipe/orders')
    const minutes = times.map((at) => at * MINUTE)
    const last = minutes.at(-1) ?? 0
    for (const steadyNow of minutes.slice(0, -1))
      recorded = { ...recorded, corrections: withCorrections({ recorded, steadyNow }, ['a']) }
    expect(contestOf({ recorded, steadyNow: last }, ['a']) !== undefined).toBe(isContested)
    expect(contestOf({ recorded, steadyNow: last }, ['b'])).toBeUndefined()
    expect(contestOf({ recorded, steadyNow: last, isAsked: true }, ['a'])).toBeUndefined()
  })
})
