import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test, vi } from 'vitest'
import type { Emit } from '../../src/contract/events.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { type Ledger, LedgerConflict, LedgerError } from '../../src/contract/ledger.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createWorkspace } from '../support/workspace.ts'
import { catchUp } from '../../src/reconcile/state/current-record.ts'
import { retryCreate } from '../../src/reconcile/operator/retry.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { createLedgerFile } from '../../src/ledger/location.ts'
import { createLedger } from '../../src/ledger/ledger-on-tables.ts'
import { openWriteStore } from '../../src/ledger/write-store.ts'
import { intent } from '../plan/inputs.ts'

const ORDERS = 'Pipe/orders'
const clock = createFakeClock()

function open(url: string, mode: 'owner' | 'writer'): Promise<Ledger> {
  return openLedger(url, { mode, init: 'auto', clock, emit: () => undefined })
}

/** A create of unknown outcome. */
const UNKNOWN: LedgerRecord = {
  ...blankRecord(ORDERS),
  intent: { ...intent('unknown'), sendBy: clock.now() - 3_600_000, endBy: clock.now() - 3_600_000 },
}

describe('a ledger with others at it', () => {
  test('refuses a write over what somebody else has just written, and reads what that was', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    await using owner = await open(url, 'owner')
    await using writer = await open(url, 'writer')
    const first = await owner.swap(blankRecord(ORDERS), [])
    const second = await writer.swap({ ...first, line: 7 }, [])
    await expect(owner.swap({ ...first, line: 9 }, [])).rejects.toThrow(LedgerConflict)
    expect(await owner.get(ORDERS)).toStrictEqual(second)
    await writer.remove(second, [])
    expect(await owner.get(ORDERS)).toBeUndefined()
  })

  test('reads a record again after a write that failed: it may be on disk all the same', async () => {
    using workspace = createWorkspace()
    const file = workspace.path('ledger.db')
    createLedgerFile(file, clock.now())
    const { store, hashKey } = openWriteStore({
      file,
      busyTimeoutMs: 0,
      historyLimit: 10,
      clock,
      beforeMigration: () => undefined,
      beforeCommit: undefined,
    })
    let fails = false
    const write: typeof store.write = (work, room) => {
      const result = store.write(work, room)
      if (fails) throw new LedgerError('io', 'the disk says that it is full')
      return result
    }
    await using ledger = createLedger({ store: { ...store, write }, hashKey, emit: () => undefined, clock })
    const first = await ledger.swap(blankRecord(ORDERS), [])
    fails = true
    await expect(ledger.swap({ ...first, line: 7 }, [])).rejects.toThrow(LedgerError)
    expect(await ledger.get(ORDERS)).toMatchObject({ line: 7, version: 2 })
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
    const end = await ledger.watch(() => expect.unreachable())
    const { version } = await ledger.swap(blankRecord(ORDERS), [])
    await clock.advance(5_000)
    expect(await ledger.versions()).toEqual(new Map([[ORDERS, version]]))
    expect(await ledger.owned()).toBe(true)
    end()
  })

  test('what others wrote or removed is caught up with, and nothing else', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    await using owner = await open(url, 'owner')
    await using writer = await open(url, 'writer')
    const store = createStateStore({ profile: DEFAULT, hashKey: owner.hashKey, clock })
    const known = { ledger: owner, store }
    const removed = await owner.swap(blankRecord('Pipe/removed'), [])
    for (const record of [removed, await owner.swap(blankRecord('Pipe/same'), [])]) store.note(record)
    store.note(blankRecord('Pipe/about-to-be-written'))
    expect(await catchUp(known)).toEqual([])
    const written = await writer.swap(blankRecord(ORDERS), [])
    await writer.remove(removed, [])
    expect(await catchUp(known)).toEqual([ORDERS, 'Pipe/removed'])
    expect([store.record(ORDERS), store.record('Pipe/removed')]).toEqual([written, undefined])
    expect(await catchUp(known)).toEqual([])
  })

  test('all records are looked through only after others wrote, or after a write of ours failed', async () => {
    using workspace = createWorkspace()
    const url = `sqlite:${workspace.path('ledger.db')}`
    await using owner = await open(url, 'owner')
    await using writer = await open(url, 'writer')
    const versions = vi.spyOn(owner, 'versions')
    const known = {
      ledger: owner,
      store: createStateStore({ profile: DEFAULT, hashKey: owner.hashKey, clock }),
    }
    const looksAfter = async (work: () => Promise<unknown>) => {
      versions.mockClear()
      await work()
      await catchUp(known)
      return versions.mock.calls.length
    }
    expect(await looksAfter(async () => undefined), 'at first').toBe(1)
    expect(await looksAfter(async () => undefined), 'nothing').toBe(0)
    expect(await looksAfter(() => owner.swap(blankRecord(ORDERS), [])), 'ours').toBe(0)
    expect(await looksAfter(() => writer.swap(blankRecord('Pipe/theirs'), [])), 'theirs').toBe(1)
    const refused = () => expect(owner.swap(blankRecord(ORDERS), [])).rejects.toThrow('no longer at version')
    expect(await looksAfter(refused), 'ours, refused').toBe(1)
    expect(await looksAfter(async () => undefined), 'nothing').toBe(0)
  })

  test('a record that is as it was known is that one itself', async () => {
    using workspace = createWorkspace()
    await using ledger = await open(`sqlite:${workspace.path('ledger.db')}`, 'owner')
    const written = await ledger.swap(blankRecord(ORDERS), [])
    expect(await ledger.get(ORDERS, written)).toBe(written)
    // Such a one is in memory when it could not be written.
    expect(await ledger.get(ORDERS, { ...written, line: 3 })).toEqual(written)
    const next = await ledger.swap({ ...written, line: 7 }, [])
    expect(await ledger.get(ORDERS, written)).toEqual(next)
    expect(await ledger.get('Pipe/other')).toBeUndefined()
    await ledger.remove(next, [])
    expect(await ledger.get(ORDERS, next)).toBeUndefined()
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
        return record
      },
    }
    await catchUp({ ledger: slow, store })
    expect(store.record(ORDERS)).toMatchObject({ line: 7, version: 2 })
  })
})

/** A ledger that is watched, and somebody else who writes to it. */
async function watched(onWritten: () => Promise<void>) {
  const stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  const url = `sqlite:${workspace.path('ledger.db')}`
  const time = createFakeClock()
  const bugs: string[] = []
  const emit: Emit = (event) => void (event.type === 'Bug' && bugs.push(event.error.message))
  const options = { init: 'auto', clock: time, emit } as const
  const owner = stack.use(await openLedger(url, { ...options, mode: 'owner' }))
  const writer = stack.use(await openLedger(url, { ...options, mode: 'writer' }))
  const end = await owner.watch(onWritten)
  return { owner, writer, time, bugs, end, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

describe('the watch of a ledger', () => {
  test('tells what others wrote, once, and not what we did, until it is ended', async () => {
    let calls = 0
    await using at = await watched(async () => void (calls += 1))
    await at.owner.swap(blankRecord('Pipe/own'), [])
    await at.time.advance(3_000)
    expect(calls).toBe(0)
    await at.writer.swap(blankRecord(ORDERS), [])
    await at.time.advance(3_000)
    expect(calls).toBe(1)
    at.end()
    await at.writer.swap(blankRecord('Pipe/late'), [])
    await at.time.advance(5_000)
    expect(calls).toBe(1)
    expect(at.time.pending).toBe(0)
  })

  test.each([
    [[], new LedgerError('io', 'the disk is away')],
    [['a bug'], new TypeError('a bug')],
  ])('tells again what could not be read, and %j is a bug', async (bugs, error) => {
    let calls = 0
    await using at = await watched(async () => {
      calls += 1
      if (calls === 1) throw error
    })
    await at.writer.swap(blankRecord(ORDERS), [])
    await at.time.advance(5_000)
    expect(calls).toBe(2)
    expect(at.bugs).toEqual(bugs)
    at.end()
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
  const context = {
    profile: DEFAULT,
    ledger: crowded,
    store: createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock }),
    clock,
    get platform(): never {
      throw new Error('the platform has no part in this')
    },
    get secrets(): never {
      throw new Error('nor have secrets')
    },
    get mask(): never {
      throw new Error('and nothing is masked')
    },
  }
  return { ledger, context }
}

describe("a person's word beside another writer", () => {
  test('reads again and says it again', async () => {
    const { ledger, context } = await contended(3)
    expect(await retryCreate(context, ORDERS, { force: false })).toMatchObject({
      result: 'done',
      intentId: UNKNOWN.intent?.id,
    })
    expect(await ledger.get(ORDERS)).toMatchObject({ intent: { state: 'dismissed', attempt: 1 } })
    expect(await ledger.history({ key: ORDERS, limit: 9 })).toMatchObject([
      { action: 'intent', reason: 'RetryApproved' },
    ])
  })

  test('but not without end', async () => {
    const { ledger, context } = await contended(99)
    expect(await retryCreate(context, ORDERS, { force: false })).toMatchObject({ result: 'refused' })
    expect(await ledger.get(ORDERS)).toMatchObject({ intent: { state: 'unknown' } })
  })
})
