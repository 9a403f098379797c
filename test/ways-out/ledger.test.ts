import { describe, expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import type { Ledger } from '../../src/reconcile/ports.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createWorkspace } from '../support/workspace.ts'
import { watchLedger } from '../../src/daemon/ledger-watch.ts'
import { retryCreate } from '../../src/reconcile/person-retry.ts'
import { createWorld } from '../../src/reconcile/world.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { LedgerConflict, LedgerError } from '../../src/reconcile/ports.ts'
import { createLedgerFile } from '../../src/ledger/create.ts'
import { createLedger } from '../../src/ledger/ledger.ts'
import { openWriteStore } from '../../src/ledger/write-store.ts'

const ORDERS = 'Pipe/orders'
const clock = createFakeClock()

function open(url: string, mode: 'owner' | 'writer'): Promise<Ledger> {
  return openLedger(url, { mode, init: 'auto', clock, emit: () => undefined })
}

/** A create of unknown outcome. */
const UNKNOWN: LedgerRecord = {
  ...blankRecord(ORDERS),
  intent: {
    id: '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11',
    attempt: 1,
    reason: 'New',
    requestDigest: 'x',
    revision: 'r',
    openedAt: clock.now() - 3_600_000,
    sendBy: clock.now() - 3_600_000,
    endBy: clock.now() - 3_600_000,
    state: 'unknown',
    seen: undefined,
    saidEarlyAt: undefined,
  },
}

describe('a ledger with others at it', () => {
  test('tells that somebody else wrote, and not that we did', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    await using owner = await open(url, 'owner')
    await using writer = await open(url, 'writer')
    const before = await owner.othersWrites()
    const own = await owner.swap(blankRecord('Pipe/own'), [])
    expect(await owner.othersWrites()).toBe(before)
    const other = await writer.swap(blankRecord('Pipe/other'), [])
    expect(await owner.othersWrites()).not.toBe(before)
    expect(await owner.versions()).toEqual(
      new Map([
        ['Pipe/other', other.version],
        ['Pipe/own', own.version],
      ]),
    )
  })

  test('gives back no record that somebody else wrote a moment ago or longer', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    await using owner = await open(url, 'owner')
    await using writer = await open(url, 'writer')
    const first = await owner.swap(blankRecord(ORDERS), [])
    expect(await owner.current(first)).toBe(first)
    const second = await writer.swap({ ...first, line: 7 }, [])
    await clock.advance(100)
    expect(await owner.current(first)).toStrictEqual(second)
    await writer.remove(second, [])
    await clock.advance(100)
    expect(await owner.current(first)).toBeUndefined()
  })

  test('refuses a write over what somebody else has just written, and sees it from then on', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    await using owner = await open(url, 'owner')
    await using writer = await open(url, 'writer')
    const first = await owner.swap(blankRecord(ORDERS), [])
    const second = await writer.swap({ ...first, line: 7 }, [])
    expect(await owner.current(first)).toBe(first)
    await expect(owner.swap({ ...first, line: 9 }, [])).rejects.toThrow(LedgerConflict)
    expect(await owner.current(first)).toStrictEqual(second)
  })

  test('reads a record again after a write that failed: it may be on disk all the same', async () => {
    using workspace = createWorkspace()
    const file = workspace.path('ledger.db')
    createLedgerFile(file, clock.now())
    const { store, hashKey } = openWriteStore({
      file,
      busyTimeoutMs: 0,
      historyLimit: 10,
      beforeMigration: () => undefined,
      beforeCommit: undefined,
    })
    let fails = false
    const write: typeof store.write = (work, room) => {
      const result = store.write(work, room)
      if (fails) throw new LedgerError('io', 'the disk says that it is full')
      return result
    }
    await using ledger = createLedger({
      store: { ...store, write },
      hashKey,
      emit: () => undefined,
      monotonic: () => 0,
    })
    const first = await ledger.swap(blankRecord(ORDERS), [])
    fails = true
    await expect(ledger.swap({ ...first, line: 7 }, [])).rejects.toThrow(LedgerError)
    expect(await ledger.current(first)).toMatchObject({ line: 7, version: 2 })
  })

  test('tells whether it is owned, by whomever, and asking takes nothing from anyone', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    {
      await using writer = await open(url, 'writer')
      expect(await writer.owned()).toBe(false)
      await using owner = await open(url, 'owner')
      expect([await writer.owned(), await owner.owned()]).toEqual([true, true])
      await expect(open(url, 'owner')).rejects.toMatchObject({ code: 'locked' })
    }
    await using writer = await open(url, 'writer')
    expect(await writer.owned()).toBe(false)
  })

  test('in memory nobody else can write', async () => {
    await using ledger = await open('memory:', 'owner')
    const before = await ledger.othersWrites()
    const { version } = await ledger.swap(blankRecord(ORDERS), [])
    expect(await ledger.othersWrites()).toBe(before)
    expect(await ledger.versions()).toEqual(new Map([[ORDERS, version]]))
    expect(await ledger.owned()).toBe(true)
  })

  test('the watch asks for exactly the keys that others wrote or removed, and for none without reason', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    const time = createFakeClock()
    await using owner = await open(url, 'owner')
    await using writer = await open(url, 'writer')
    const world = createWorld({ hashKey: owner.hashKey, clock: time })
    const removed = await owner.swap(blankRecord('Pipe/removed'), [])
    for (const record of [removed, await owner.swap(blankRecord('Pipe/same'), [])]) world.note(record)
    const told: (readonly string[])[] = []
    const end = await watchLedger({
      ledger: owner,
      world,
      clock: time,
      emit: () => undefined,
      onWritten: (keys) => told.push(keys),
    })
    world.note(await owner.swap(blankRecord('Pipe/own'), []))
    await time.advance(3_000)
    expect(told).toEqual([])
    await writer.swap(blankRecord(ORDERS), [])
    await writer.remove(removed, [])
    await time.advance(1_000)
    expect(told).toEqual([[ORDERS, 'Pipe/removed']])
    end()
    await writer.swap(blankRecord('Pipe/late'), [])
    await time.advance(5_000)
    expect(told).toHaveLength(1)
    expect(time.pending).toBe(0)
  })
})

/** A create of unknown outcome, and somebody who is quicker, so many times. */
async function contended(times: number) {
  const ledger = await open('memory:', 'owner')
  await ledger.swap(UNKNOWN, [])
  let left = times
  /** Somebody is quicker, so many times. */
  const crowded: Ledger = {
    ...ledger,
    async swap(next, history) {
      if (left > 0) {
        left -= 1
        throw new LedgerConflict(next.key, next.version)
      }
      return ledger.swap(next, history)
    },
  }
  const deps = {
    ledger: crowded,
    world: createWorld({ hashKey: ledger.hashKey, clock }),
    clock,
    get platform(): never {
      throw new Error('the platform has no part in this')
    },
    get secrets(): never {
      throw new Error('nor have secrets')
    },
  }
  return { ledger, deps }
}

describe("a person's word beside another writer", () => {
  test('reads again and says it again', async () => {
    const { ledger, deps } = await contended(3)
    expect(await retryCreate(deps, ORDERS, { force: false })).toMatchObject({
      result: 'done',
      intentId: UNKNOWN.intent?.id,
    })
    expect(await ledger.get(ORDERS)).toMatchObject({ intent: { state: 'dismissed', attempt: 1 } })
    expect(await ledger.history({ key: ORDERS, limit: 9 })).toMatchObject([
      { action: 'intent', reason: 'RetryApproved' },
    ])
  })

  test('but not without end', async () => {
    const { ledger, deps } = await contended(99)
    expect(await retryCreate(deps, ORDERS, { force: false })).toMatchObject({ result: 'refused' })
    expect(await ledger.get(ORDERS)).toMatchObject({ intent: { state: 'unknown' } })
  })
})
