import { expect, test, vi } from 'vitest'
import { LedgerError } from '../../src/contract/ledger.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { dismissIntent } from '../../src/plan/transitions.ts'
import { createOutcomeOutbox } from '../../src/reconcile/apply/outcome-outbox.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { entry } from '../ledger/samples.ts'
import { intent, recordedPipe } from '../plan/inputs.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/* A create ends with an id. Meanwhile something else happened to the record of its key. */

const KEY = 'Pipe/orders'
const PIPE = recordedPipe('pipe-1', { seenAt: undefined })
const OTHER = { ...PIPE, id: 'pipe-0' }
const SETTLED = { remote: { id: 'pipe-1' }, intent: { id: 'intent-1', state: 'succeeded' } }
const HISTORY = [entry(KEY, 'what came of it')]

type Given = Awaited<ReturnType<typeof given>>

/** A create is under way. @param fields of the record before it */
async function given(fields: Partial<LedgerRecord> = {}) {
  const { ledger } = openMemoryLedger({ emit: () => undefined })
  const clock = createFakeClock()
  const before = await ledger.swap({ ...blankRecord(KEY), ...fields }, [])
  const { remote, service, platformName, applied } = before
  const open = intent('open', { id: 'intent-1' })
  const former = remote && { remote, service, platformName, applied }
  const opened = await ledger.swap(
    { ...before, remote: undefined, former, intent: open, platformName: 'orders' },
    [],
  )
  const store = createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock })
  const outbox = createOutcomeOutbox({ ledger, clock, store })
  return { ledger, clock, before, opened, open, persist: persisted }

  function persisted(end: Parameters<typeof outbox.persist>[1]['end'] = { type: 'created', remote: PIPE }) {
    return outbox.persist(KEY, { intentId: open.id, opened, end, history: HISTORY })
  }
}

/** The record is restored as it was before its intent. @param fields what else happens to it */
function restored(fields: Partial<LedgerRecord> = {}) {
  return async ({ ledger, before, opened }: Given): Promise<void> => {
    await ledger.remove(opened, [])
    await ledger.swap({ ...before, version: 0, ...fields }, [])
  }
}

test.for<readonly [what: string, (world: Given) => unknown, record: object, before?: Partial<LedgerRecord>]>([
  ['after a person forgot the key', ({ ledger, opened }) => ledger.remove(opened, []), SETTLED],
  [
    'that replaces another pipe',
    restored(),
    { ...SETTLED, platformName: 'orders', replaced: { count: 1, id: 'pipe-0' } },
    { remote: OTHER },
  ],
  [
    'and a later attempt had no effect',
    restored({ intent: intent('failed', { id: 'intent-3', attempt: 3 }) }),
    { ...SETTLED, intent: { ...SETTLED.intent, attempt: 3 } },
  ],
  [
    'and another attempt might have worked',
    restored({ intent: intent('open', { id: 'intent-2' }) }),
    { intent: { id: 'intent-2', state: 'open' } },
  ],
  ['and it has another pipe', restored({ remote: OTHER }), { remote: { id: 'pipe-0' } }],
  [
    'and another process gave its pipe to another key',
    async ({ ledger }) => {
      await ledger.swap({ ...blankRecord('Pipe/renamed'), remote: PIPE }, [])
      ledger.toRead.set('Pipe/renamed', {})
    },
    {
      intent: {
        state: 'unknown',
        seen: { what: expect.stringContaining('pipe-1", which belongs to Pipe/renamed') },
      },
    },
  ],
])('the id of a create is kept, or told: %s', async ([, meanwhile, record, before]) => {
  const world = await given(before)
  await meanwhile(world)
  await world.persist()
  expect(await world.ledger.get(KEY)).toMatchObject(record)
  expect(await world.ledger.history({ key: KEY, limit: 1 })).toEqual(HISTORY)
})

test('a failure does not take the word of a person back', async () => {
  const { ledger, opened, open, persist } = await given()
  await ledger.swap(dismissIntent(opened, open, { now: 1, found: 'created nothing' }), [])
  await persist({ type: 'failed', seen: { at: 1, httpStatus: 500, requestId: undefined, what: 'a cut' } })
  expect(await ledger.get(KEY)).toMatchObject({ intent: { state: 'dismissed' } })
})

test('an id that the ledger does not take is written after a wait', async () => {
  const { ledger, clock, persist } = await given()
  vi.spyOn(ledger, 'settle').mockRejectedValueOnce(new LedgerError('io', 'the disk is full'))
  const written = persist()
  await clock.settle()
  expect(clock.pending).toBe(1)
  await clock.advance(1_000)
  expect(await written).toMatchObject(SETTLED)
})

test('an id is written to the record that has moved, and not to the one that has its key now', async () => {
  const { ledger, opened, persist } = await given()
  await ledger.move(opened, { ...opened, key: 'Pipe/renamed', version: 0 }, [])
  const other = await ledger.swap({ ...blankRecord(KEY), intent: intent('open') }, [])
  const written = await persist()
  expect(written).toMatchObject({ key: 'Pipe/renamed', ...SETTLED })
  expect(await ledger.list()).toEqual([other, written])
})
