import { describe, expect, test } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { openMemoryLedger } from '../../src/ledger/sqlite-ledger.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { dismissIntent, failIntent } from '../../src/plan/transitions.ts'
import { entry } from '../ledger/samples.ts'
import { CREATED, givenIntent, KEY, PIPE, SEEN, UNKNOWN, withIntent } from './given-intent.ts'

/** @param replaces the id of a pipe that the key has already */
async function given(replaces?: string) {
  const ledger = openMemoryLedger({ emit: () => undefined }).ledger
  const remote = replaces === undefined ? undefined : { ...PIPE, id: replaces }
  const before = await ledger.swap({ ...blankRecord(KEY), remote }, [])
  return { ledger, ...(await givenIntent(ledger, before)) }
}

type Given = Awaited<ReturnType<typeof given>>

test('an id that comes after a person said "nothing was created" is recorded all the same', async () => {
  const { ledger, opened, intent, outbox, clock } = await given()
  await ledger.swap(dismissIntent(opened, intent, { now: clock.now(), found: 'created nothing' }), [])
  await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history: [] })
  expect(await ledger.get(KEY)).toMatchObject({ remote: { id: 'pipe-1' }, intent: { state: 'succeeded' } })
})

test('an id that comes after a person forgot the key is recorded all the same', async () => {
  const { ledger, opened, intent, outbox } = await given()
  await ledger.remove(opened, [])
  await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history: [] })
  expect(await ledger.get(KEY)).toMatchObject({ remote: { id: 'pipe-1' } })
})

test('a failure that comes after a word does not take the word back', async () => {
  const { ledger, opened, intent, outbox, clock } = await given()
  await ledger.swap(dismissIntent(opened, intent, { now: clock.now(), found: 'created nothing' }), [])
  await outbox.persist(KEY, { intentId: intent.id, opened, end: UNKNOWN, history: [] })
  expect(await ledger.get(KEY)).toMatchObject({ intent: { state: 'dismissed' } })
  const forgotten = await ledger.get(KEY)
  await ledger.remove(forgotten ?? opened, [])
  await outbox.persist(KEY, { intentId: intent.id, opened, end: UNKNOWN, history: [] })
  expect(await ledger.get(KEY)).toBeUndefined()
})

test('an id that comes after a person said so, when the former pipe was given back, takes its place', async () => {
  const { ledger, opened, intent, outbox, clock } = await given('pipe-0')
  const dismissed = await ledger.swap(
    dismissIntent(opened, intent, { now: clock.now(), found: 'created nothing' }),
    [],
  )
  expect([dismissed.remote?.id, dismissed.former]).toEqual(['pipe-0', undefined])
  await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history: [] })
  expect(await ledger.get(KEY)).toMatchObject({ remote: { id: 'pipe-1' }, replaced: { count: 1 } })
})

describe('an intent whose record has moved meanwhile', () => {
  const TO = blankRecord('Pipe/renamed')
  const moved = async ({ ledger, opened }: Given, key = TO.key) =>
    ledger.move(
      (await ledger.list()).find(({ intent }) => intent?.id === opened.intent?.id) ?? opened,
      { ...opened, key, version: 0 },
      [],
    )
  const history: readonly HistoryEntry[] = [entry(KEY, 'what came of it')]

  test.each([
    ['an id', CREATED, { remote: { id: PIPE.id }, intent: { state: 'succeeded' } }],
    ['that nothing is known', UNKNOWN, { intent: { state: 'unknown' } }],
  ] as const)('%s is written where it is by then, and nowhere else', async (_what, end, expected) => {
    const world = await given()
    const { ledger, opened, intent, outbox } = world
    await moved(world)
    const written = await outbox.persist(KEY, { intentId: intent.id, opened, end, history })
    expect(written).toMatchObject({ key: TO.key, ...expected })
    expect(await ledger.list()).toEqual([written])
    expect(await ledger.history({ key: TO.key, limit: 1 })).toMatchObject([{ message: 'what came of it' }])
  })

  test('nor where its key was given to another one', async () => {
    const world = await given()
    const { ledger, opened, intent, outbox } = world
    const there = await moved(world)
    const other = await ledger.swap(withIntent(blankRecord(KEY), 'intent-2'), [])
    await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history })
    expect(await ledger.get(KEY)).toEqual(other)
    expect(await ledger.get(there.key)).toMatchObject({ remote: { id: PIPE.id } })
  })

  test('also after it has moved twice, and when it could not be written at once', async () => {
    const world = await given()
    const { ledger, opened, intent, outbox } = world
    await moved(world)
    await moved(world, 'Pipe/again')
    outbox.remember(KEY, { intentId: intent.id, opened, end: CREATED, history })
    await outbox.recover(KEY)
    expect(outbox.pending.size).toBe(0)
    expect(await ledger.list()).toMatchObject([{ key: 'Pipe/again', remote: { id: PIPE.id } }])
  })
})

/** @param then what else happens to the record before the id comes */
async function putBack(
  before: LedgerRecord,
  then: (record: LedgerRecord) => LedgerRecord = (record) => record,
) {
  const ledger = openMemoryLedger({ emit: () => undefined }).ledger
  const world = await givenIntent(ledger, await ledger.swap(before, []))
  await ledger.remove(world.opened, [])
  const found = await ledger.swap({ ...before, version: 0 }, [])
  const next = then(found)
  if (next !== found) await ledger.swap(next, [])
  const { opened, intent, outbox } = world
  const history = [entry(KEY, 'created all the same')]
  await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history })
  expect(outbox.pending.size).toBe(0)
  expect(await ledger.history({ key: KEY, limit: 1 })).toEqual(history)
  return { world, record: await ledger.get(KEY) }
}

describe('an id that comes when the record was put back to before its intent', () => {
  test('is that of the key', async () => {
    const { world, record } = await putBack({ ...blankRecord(KEY), line: 3 })
    const { service, platformName, applied } = world.opened
    expect(record).toMatchObject({ line: 3, service, platformName, applied, remote: { id: PIPE.id } })
    expect(record?.intent).toEqual({ ...world.intent, state: 'succeeded', seen: undefined })
    expect(record?.replaced).toBeUndefined()
  })

  test('is that of the key, after the pipe that it replaces', async () => {
    const { record } = await putBack({ ...blankRecord(KEY), remote: { ...PIPE, id: 'pipe-0' } })
    expect(record).toMatchObject({ remote: { id: PIPE.id }, replaced: { count: 1, id: 'pipe-0' } })
    expect(record?.former).toBeUndefined()
  })

  test('is that of the key, where a later attempt had no effect; and attempts go on from that', async () => {
    const { record } = await putBack(failed(withIntent(blankRecord(KEY), 'intent-0')), (found) =>
      failed(withIntent(failed(withIntent(found, 'intent-2')), 'intent-3')),
    )
    expect(record).toMatchObject({ remote: { id: PIPE.id }, intent: { id: 'intent-1', attempt: 3 } })
  })

  test('is only told, where another attempt may have worked', async () => {
    const { record } = await putBack(blankRecord(KEY), (found) => withIntent(found, 'intent-2'))
    expect(record).toMatchObject({ intent: { id: 'intent-2', state: 'open' } })
    expect(record?.remote).toBeUndefined()
  })

  test('is only told, where a person has given the key another pipe', async () => {
    const { record } = await putBack(blankRecord(KEY), (found) => ({
      ...found,
      remote: { ...PIPE, id: 'pipe-2', origin: 'adopted' },
    }))
    expect(record?.remote?.id).toBe('pipe-2')
    expect(record?.intent).toBeUndefined()
  })
})
function failed(record: LedgerRecord): LedgerRecord {
  const { intent } = record
  if (intent === undefined) throw new Error('it has an intent')
  return failIntent(record, intent, SEEN)
}
