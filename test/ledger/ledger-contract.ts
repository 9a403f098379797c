import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { blankRecord } from '../../src/plan/record.ts'
import type { Emit, Event } from '../../src/contract/events.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { LedgerConflict, LedgerError, type Ledger } from '../../src/contract/ledger.ts'
import { ACTIVITY, blank, entry, fullRecord, ORDERS } from './samples.ts'

/** Every home keeps the same promises (`Ledger` in contract/ledger.ts). @param open a new one each time, with a clock that stands still */
export function describeLedger(home: string, open: (emit: Emit) => Promise<Ledger>): void {
  let ledger: Ledger
  let events: Event[]

  describe(`a ledger at ${home}`, () => {
    beforeEach(async () => {
      events = []
      ledger = await open((event) => events.push(event))
    })

    afterEach(async () => {
      await ledger[Symbol.asyncDispose]()
    })

    test('knows nothing at first', async () => {
      expect(await ledger.get(ORDERS)).toBeUndefined()
      expect(await ledger.list()).toEqual([])
      expect(await ledger.withIntent('any')).toBeUndefined()
      expect(await ledger.history({ key: undefined, limit: 10 })).toEqual([])
      expect(ledger.hashKey).toHaveLength(32)
    })

    test.each([
      ['with every field', fullRecord(ORDERS)],
      ['with none', blankRecord(ORDERS)],
    ])('gives back a record %s as it was written, one version on', async (_, record) => {
      const written = await ledger.swap(record, [])
      expect(written).toStrictEqual({ ...record, version: 1 })
      expect(await ledger.get(ORDERS)).toStrictEqual(written)
      expect(await ledger.list()).toStrictEqual([written])
      const { intent } = written
      expect(await ledger.withIntent(intent?.id ?? 'other')).toStrictEqual(intent && written)
    })

    test('gives back the same record while it is at its version, and never when it was changed or is gone', async () => {
      const first = await ledger.swap(blank(ORDERS), [])
      expect(await ledger.get(ORDERS)).toBe(first)
      const second = await ledger.swap({ ...first, line: 7 }, [])
      expect(second).toStrictEqual({ ...first, line: 7, version: 2 })
      expect(await ledger.get(ORDERS)).toStrictEqual(second)
      await ledger.remove(second, [])
      expect(await ledger.get(ORDERS)).toBeUndefined()
    })

    test('lists records in the order of their keys', async () => {
      for (const key of ['Pipe/b', 'Alert/z', 'Pipe/a', 'Service/a'] as const)
        await ledger.swap(blank(key), [])
      const keys = (await ledger.list()).map((record) => record.key)
      expect(keys).toEqual(['Alert/z', 'Pipe/a', 'Pipe/b', 'Service/a'])
    })

    test.each([
      ['a first write where there is a record', 0],
      ['a write over an older version', 1],
      ['a write over a version that never was', 3],
    ])('refuses %s, and writes nothing of it', async (_, version) => {
      await ledger.swap(await ledger.swap(blank(ORDERS), []), [])
      await expect(ledger.swap(blank(ORDERS, { version, line: 9 }), [entry(ORDERS, 'x')])).rejects.toThrow(
        LedgerConflict,
      )
      await expect(ledger.remove(blank(ORDERS, { version }), [entry(ORDERS, 'x')])).rejects.toThrow(
        LedgerConflict,
      )
      expect([...ledger.toRead.keys()]).toEqual([ORDERS])
      expect(await ledger.get(ORDERS)).toStrictEqual(blank(ORDERS, { version: 2 }))
      expect(await ledger.history({ key: undefined, limit: 10 })).toEqual([])
    })

    test('never gives a version twice to a key, so that a forgotten record is not mistaken for its successor', async () => {
      const before = await ledger.swap(await ledger.swap(blank(ORDERS), []), [])
      await ledger.remove(before, [])
      await expect(ledger.swap(before, [])).rejects.toThrow(LedgerConflict)
      expect(await ledger.list()).toEqual([])
      let next = await ledger.swap(blank(ORDERS), [])
      for (let i = 0; i < 3; i++) next = await ledger.swap(next, [])
      expect(next.version).toBeGreaterThanOrEqual(before.version + 4)
      await expect(ledger.swap({ ...before, line: 1 }, [])).rejects.toThrow(LedgerConflict)
    })

    test('moves a record to another key, all or nothing', async () => {
      const from = await ledger.swap(fullRecord('Pipe/old'), [])
      const to = { ...from, key: 'Pipe/new', version: 0 } as const
      const moved = await ledger.move(from, to, [entry('Pipe/new', 'moved')])
      expect(moved).toStrictEqual({ ...to, version: 2 })
      expect(await ledger.list()).toStrictEqual([moved])
      expect(await ledger.history({ key: 'Pipe/new', limit: 9 })).toStrictEqual([entry('Pipe/new', 'moved')])
    })

    test.each([
      ['its old version is not the current one', 7, 0],
      ['the new key is taken', 1, 0],
      ['the new key is at another version', 1, 5],
    ])('moves nothing when %s', async (_, fromVersion, toVersion) => {
      const from = await ledger.swap(blank('Pipe/old'), [])
      const taken = await ledger.swap(blank('Pipe/new'), [])
      const to = blank('Pipe/new', { version: toVersion })
      const moving = ledger.move({ ...from, version: fromVersion }, to, [entry('Pipe/new', 'x')])
      await expect(moving).rejects.toThrow(LedgerConflict)
      expect([...ledger.toRead.keys()].toSorted()).toEqual(['Pipe/new', 'Pipe/old'])
      expect(await ledger.list()).toStrictEqual([taken, from])
      expect(await ledger.history({ key: undefined, limit: 9 })).toEqual([])
    })

    test('moves onto a record whose version is known', async () => {
      const from = await ledger.swap(blank('Pipe/old'), [])
      const taken = await ledger.swap(blank('Pipe/new'), [])
      expect((await ledger.move(from, { ...taken, line: 4 }, [])).line).toBe(4)
      expect(await ledger.get('Pipe/old')).toBeUndefined()
    })

    test('moves a record to a key that another one has left', async () => {
      const [first, other] = [await ledger.swap(blank('Pipe/a'), []), await ledger.swap(blank('Pipe/c'), [])]
      const moved = await ledger.move(first, { ...first, key: 'Pipe/b', version: 0 }, [])
      const next = await ledger.move(other, { ...other, key: 'Pipe/a', version: 0 }, [])
      expect(await ledger.list()).toStrictEqual([next, moved])
    })

    test('a record cannot move to its own key: that is a bug', async () => {
      const record = await ledger.swap(blank(ORDERS), [])
      await expect(ledger.move(record, record, [])).rejects.toThrow('bug')
    })

    test('tells the history newest first, of all or of one key, up to a limit', async () => {
      const condition: HistoryEntry = {
        type: 'condition',
        key: ORDERS,
        at: 2,
        revision: 'abc',
        requestId: 'r',
        message: 'two',
        condition: 'Ready',
        status: 'False',
        reason: 'UnhealthyState',
      }
      const record = await ledger.swap(blank(ORDERS), [entry(ORDERS, 'one'), condition])
      await ledger.swap(blank('Alert/lag'), [entry('Alert/lag', 'three')])
      await ledger.remove(record, [entry(ORDERS, 'four')])

      const all = await ledger.history({ key: undefined, limit: 100 })
      expect(all).toStrictEqual([
        entry(ORDERS, 'four'),
        entry('Alert/lag', 'three'),
        condition,
        entry(ORDERS, 'one'),
      ])
      expect(await ledger.history({ key: ORDERS, limit: 2 })).toStrictEqual([all[0], all[2]])
      expect(await ledger.history({ key: undefined, limit: 1 })).toStrictEqual([all[0]])
      expect(await ledger.history({ key: 'Pipe/none', limit: 5 })).toEqual([])
    })

    test('reports every write, with how it ended', async () => {
      const record = await ledger.swap(blank(ORDERS), [])
      await expect(ledger.swap(blank(ORDERS), [])).rejects.toThrow(LedgerConflict)
      await ledger.remove(record, [])
      await ledger.get(ORDERS)
      await ledger.noteActivity(ACTIVITY, new Map())
      const written = { type: 'LedgerWritten', result: 'written', durationMs: 0, message: undefined }
      const conflict = 'the record of Pipe/orders is no longer at version 0: another write came first'
      expect(events).toEqual([written, { ...written, result: 'conflict', message: conflict }, written])
    })

    test('refuses a record that is far too large, as a bug of ours', async () => {
      const writing = ledger.swap(blank(ORDERS, { platformName: 'x'.repeat(70_000) }), [])
      await expect(writing).rejects.toThrow(/bug: the record of Pipe\/orders has 7\d{4} bytes/)
      await expect(writing).rejects.not.toThrow(LedgerError)
      expect(await ledger.get(ORDERS)).toBeUndefined()
      expect(events).toMatchObject([{ result: 'failed' }])
    })

    test('refuses a record that it could not read back, as a bug of ours', async () => {
      const replaced = { count: Number.NaN, at: 1 }
      await expect(ledger.swap(blank(ORDERS, { replaced }), [])).rejects.toThrow(/bug: .*replaced\.count/)
      expect(await ledger.get(ORDERS)).toBeUndefined()
    })

    test('writes nothing of a record whose history cannot be written', async () => {
      const bad = { ...entry(ORDERS, 'x'), at: 1n as unknown as number }
      await expect(ledger.swap(blank(ORDERS), [bad])).rejects.toThrow('BigInt')
      expect(await ledger.get(ORDERS)).toBeUndefined()
    })

    test('is of no use once closed, and may be closed twice', async () => {
      await ledger[Symbol.asyncDispose]()
      await ledger[Symbol.asyncDispose]()
      const uses: readonly (() => Promise<unknown>)[] = [
        () => ledger.activity(),
        () => ledger.get(ORDERS),
        () => ledger.history({ key: ORDERS, limit: 1 }),
        () => ledger.noteActivity({ command: 'run', process: 1, host: 'h', startedAt: 0 }, new Map()),
        () => ledger.owned(),
        () => ledger.assertCanSettle(),
        () => ledger.swap(blank(ORDERS), []),
        () => ledger.withIntent('any'),
      ]
      for (const use of uses) await expect(use(), String(use)).rejects.toThrow('the ledger is closed')
    })
  })
}
