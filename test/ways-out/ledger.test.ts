import type { ReconcileContext } from '../../src/reconcile/context.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test, vi } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { type Ledger, LedgerConflict } from '../../src/contract/ledger.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createWorkspace } from '../support/workspace.ts'
import { syncStoreFromLedger } from '../../src/reconcile/state/record-io.ts'
import { retryCreate } from '../../src/reconcile/operator/resolve.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { intent } from '../plan/inputs.ts'

const ORDERS = 'Pipe/orders'
const clock = createFakeClock()

async function open(url: string, mode: 'owner' | 'reader'): Promise<Ledger> {
  return (await openLedger(url, { mode, init: 'auto', clock, emit: () => undefined })).ledger
}

/** A create of unknown outcome. */
const UNKNOWN: LedgerRecord = {
  ...blankRecord(ORDERS),
  intent: { ...intent('unknown'), sendBy: clock.now() - 3_600_000, endBy: clock.now() - 3_600_000 },
}

describe('a ledger with others at it', () => {
  test('tells whether it is owned, by whomever, and asking takes nothing from anyone', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    const read = () => open(url, 'reader')
    {
      await using owner = await open(url, 'owner')
      await using reader = await read()
      expect([await reader.owned(), await owner.owned()]).toEqual([true, true])
      await expect(open(url, 'owner')).rejects.toMatchObject({ code: 'locked' })
    }
    await using reader = await read()
    expect(await reader.owned()).toBe(false)
  })

  test('in memory nobody else can write', async () => {
    await using ledger = await open('memory:', 'owner')
    const end = await ledger.watch(() => expect.unreachable())
    const { version } = await ledger.swap(blankRecord(ORDERS), [])
    await clock.advance(5_000)
    expect(await ledger.list()).toMatchObject([{ key: ORDERS, version }])
    expect(await ledger.owned()).toBe(true)
    end()
  })

  test('what others wrote or removed is caught up with, and nothing else', async () => {
    await using ledger = await open('memory:', 'owner')
    const store = createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock })
    const known = { ledger, store }
    const removed = await ledger.swap(blankRecord('Pipe/removed'), [])
    for (const record of [removed, await ledger.swap(blankRecord('Pipe/same'), [])]) store.note(record)
    store.note(blankRecord('Pipe/about-to-be-written'))
    expect(await syncStoreFromLedger(known)).toEqual([])
    const written = await ledger.swap(blankRecord(ORDERS), [])
    await ledger.remove(removed, [])
    for (const key of [ORDERS, 'Pipe/removed', 'Pipe/same'] as const) ledger.toRead.set(key, {})
    expect(await syncStoreFromLedger(known)).toEqual([ORDERS, 'Pipe/removed'])
    expect([store.record(ORDERS), store.record('Pipe/removed')]).toEqual([written, undefined])
    expect(await syncStoreFromLedger(known)).toEqual([])
  })

  test('the records of a file are read again only after a write of ours failed', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    await using owner = await open(url, 'owner')
    const reads = vi.spyOn(owner, 'get')
    const known = {
      ledger: owner,
      store: createStateStore({ profile: DEFAULT, hashKey: owner.hashKey, clock }),
    }
    const looksAfter = async (work: () => Promise<unknown>) => {
      reads.mockClear()
      await work()
      await syncStoreFromLedger(known)
      return reads.mock.calls.length
    }
    expect(await looksAfter(async () => undefined), 'nothing').toBe(0)
    expect(await looksAfter(() => owner.swap(blankRecord(ORDERS), [])), 'ours').toBe(0)
    const refused = () => expect(owner.swap(blankRecord(ORDERS), [])).rejects.toThrow('no longer at version')
    expect(await looksAfter(refused), 'ours, refused').toBe(1)
    expect(await looksAfter(async () => undefined), 'nothing').toBe(0)
  })

  test('an answer that is older than what was written meanwhile takes nothing back', async () => {
    await using ledger = await open('memory:', 'owner')
    const store = createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock })
    const first = await ledger.swap(blankRecord(ORDERS), [])
    const slow: Ledger = {
      ...ledger,
      async get(key) {
        const record = await ledger.get(key)
        store.note(await ledger.swap({ ...first, line: 7 }, []))
        ledger.toRead.set(key, {})
        return record
      },
    }
    ledger.toRead.set(ORDERS, {})
    await syncStoreFromLedger({ ledger: slow, store })
    expect(store.record(ORDERS)).toMatchObject({ line: 7, version: 2 })
    expect([...ledger.toRead.keys()], 'written during the read').toEqual([ORDERS])
  })
})

test('a command whose record changes meanwhile is refused, and says to run it again', async () => {
  const ledger = await open('memory:', 'owner')
  await ledger.swap(UNKNOWN, [])
  const crowded: Ledger = {
    ...ledger,
    async swap(next) {
      throw new LedgerConflict(next.key, next.version)
    },
  }
  const store = createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock })
  const context = { profile: DEFAULT, ledger: crowded, store, clock } as unknown as ReconcileContext
  expect(await retryCreate(context, ORDERS, { force: false })).toEqual({
    result: 'refused',
    message: 'The record of Pipe/orders changed while this command ran. Run the command again.',
  })
  expect(await ledger.get(ORDERS)).toMatchObject({ intent: { state: 'unknown' } })
})
