import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/lib/json.ts'
import { contestOf, withCorrections } from '../../src/plan/corrections.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { having, type Client } from './client.ts'
import {
  FILES,
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
import { byHand, play, story, want, type Step } from './story.ts'

/* Another writer keeps changing a pipe back, or it keeps failing. The client is in this process; time passes by being told so. */

/** Another writer undoes each correction. @param step a look, ms. @param expected when something was sent, hours since the start */
function fight(hours: number, undo: Step, expected: readonly number[], step = 5 * MINUTE): Step {
  return async (client) => {
    const times: number[] = []
    client.changes()
    for (let at = 0; at < hours * HOUR; at += step) {
      await play(client, undo)
      const { action } = await client.reconcile()
      if (action.type === 'update' && client.changes().length > 0) times.push(at / HOUR)
      let left = step
      for (; client.status() === 'Progressing'; left -= 2_000) {
        client.skip(2_000)
        await client.reconcile()
      }
      client.skip(left)
    }
    client.changes()
    expect(times).toEqual(expected)
  }
}

const CORRECTED = 'want KAFKA onDrift=correct'
/** Five minutes apart. */
const TWICE = [0, 1 / 12]
const MORE_REPLICAS = byHand({ 'scaling.replicas': 5 })

describe('a field that another writer keeps changing', () => {
  test('twice, then ever more rarely, with a warning', () =>
    story(
      startOld(KAFKA),
      CORRECTED,
      fight(
        16,
        byHand({ 'settings.streaming_max_insert_wait_ms': 1500 }),
        [0, 0.25, 1.25, 3.25, 7.25, 15.25],
        15 * MINUTE,
      ),
      'shows Drifted; is Drifted; says settings.streaming_max_insert_wait_ms',
    ))

  test('looked at every half an hour', () =>
    story(
      startOld(KAFKA),
      CORRECTED,
      fight(57, MORE_REPLICAS, [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 55.5], 30 * MINUTE),
      'shows Drifted; is Drifted',
    ))

  test('the columns and their mappings', () => {
    const { destination } = FILES as { destination: { columns: readonly Json[] } } // by the schema
    const fewer = byHand({ 'destination.columns': destination.columns.slice(1) })
    return story(startOld(FILES), 'want FILES onDrift=correct', fight(2, fewer, [...TWICE, 13 / 12]))
  })

  test('tables, for which the pipe is stopped each time', () =>
    story(
      startOld(POSTGRES),
      'want POSTGRES onDrift=correct',
      fight(4, byHand({ [MAPPINGS]: tablesIn(POSTGRES).slice(0, 1) }), [...TWICE, 13 / 12, 37 / 12]),
      'is Drifted',
    ))

  test('others are still corrected, except those that the same request sets', () =>
    story(
      startOld(KAFKA),
      CORRECTED,
      fight(0.25, MORE_REPLICAS, TWICE),
      byHand({ 'settings.streaming_max_insert_wait_ms': 1500, 'scaling.replicaMemoryGb': 2 }),
      '2 passes; sends PUT /settings; is Drifted',
    ))

  test('waits through a restart', () =>
    story(
      startOld(KAFKA),
      CORRECTED,
      fight(0.25, MORE_REPLICAS, TWICE),
      'restart; 3 passes; sends nothing; is Drifted',
    ))

  test('is sent when it is edited, and when a person asks', () =>
    story(
      startOld(KAFKA),
      CORRECTED,
      fight(0.25, MORE_REPLICAS, TWICE),
      'turn asked; sends PATCH /scaling; settle',
      MORE_REPLICAS,
      want(having(KAFKA, { 'scaling.replicas': 4 }), { onDrift: 'correct' }),
      'turn; sends PATCH /scaling',
      (client) => expect(client.record()?.corrections).toBeUndefined(),
    ))

  test('whatever has changed for good after two corrections is in sync', () =>
    story(startOld(KAFKA), CORRECTED, fight(1 / 6, MORE_REPLICAS, TWICE), 'shows Ready; is InSync'))

  test('a start and a stop', () =>
    story(
      startOld(KAFKA),
      'want KAFKA paused=true',
      fight(4, 'state Running', [0, 0.25, 1.25, 3.25], 15 * MINUTE),
      'shows Drifted; is Drifted; says stop',
    ))

  test('a person who pauses and continues it in Git, five times in a row', () =>
    story(
      startOld(KAFKA),
      ...[true, false, true, false, true].map((paused) => `want KAFKA paused=${paused}; settle; 1 min`),
      'sends stop, start, stop, start, stop',
    ))
})

/** Minutes, each wait twice as long as the one before. */
const STARTS = [0, 1, 3, 7, 15, 31, 63]

async function startFailed(): Promise<Client> {
  const client = await startOld(KAFKA)
  await play(client, 'state Failed; want KAFKA paused=false')
  return client
}

/** It fails again right after each start. @param expected when it was started, minutes since the start */
function failing(minutes: number, expected: readonly number[]): Step {
  return async (client) => {
    const times: number[] = []
    for (let at = 0, step = 0; at < minutes; at += step) {
      step = at < 64 ? 1 : 60
      await client.reconcile()
      if (sent(client).includes('start')) times.push(at)
      client.server.setStates(client.id(), 'Failed')
      client.skip(step * MINUTE)
    }
    expect(times).toEqual(expected)
  }
}

describe('policy.paused: false starts a pipe that failed', () => {
  test('seven times, with growing waits, and then says so', () =>
    story(
      startFailed(),
      failing(48 * 60, STARTS),
      'shows Drifted; is Drifted; says 7 starts; restart; 2 passes; sends nothing',
    ))

  test('and again when a person asks, or after an edit', () =>
    story(
      startFailed(),
      failing(120, STARTS),
      'turn asked; sends start; state Failed',
      failing(120, [1, 3, 7, 15, 31, 63]),
      'want REPLICAS paused=false; turn; 1 passes; sends PATCH /scaling, start',
    ))

  test('and anew once it has run for a day', () =>
    story(
      startFailed(),
      failing(120, STARTS),
      'state Running',
      (client) => passes(client, 25, HOUR),
      'state Failed',
      failing(2, [0, 1]),
    ))

  test.each(['Completed', 'Degraded', 'InternalError'])('not one that is %s', (state) =>
    story(startOld(KAFKA), `state ${state}; want KAFKA paused=false; 3 passes; sends nothing`),
  )

  test('not without the policy, and not one that is to be paused', () =>
    story(startOld(KAFKA), 'state Failed; 3 passes; sends nothing; want KAFKA paused=true; turn; sends stop'))
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
