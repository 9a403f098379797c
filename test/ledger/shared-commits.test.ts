import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import { LedgerConflict, LedgerError } from '../../src/contract/ledger.ts'
import type { Key } from '../../src/kinds/key.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { CLOCK, openFile } from './samples.ts'
import { folderForTest } from '../support/folders.ts'

/** A ledger in a file whose commits are counted; `fault` is thrown by the next ones. */
async function openCounted() {
  const stack = new AsyncDisposableStack()
  const file = join(folderForTest(), 'ledger.db')
  const counted = { commits: 0, takesMs: 0, fault: undefined as (() => Error | undefined) | undefined }
  let now = 0
  const results: string[] = []
  const ledger = stack.use(
    await openFile(file, {
      clock: { ...CLOCK, monotonic: () => (now += 1) },
      emit: (event: Event) => void ('result' in event && results.push(event.result)),
      beforeCommit() {
        counted.commits += 1
        now += counted.takesMs
        const fault = counted.fault?.()
        if (fault !== undefined) throw fault
      },
    }),
  )
  counted.commits = 0
  return Object.assign(stack, { ledger, counted, results, file })
}

const KEYS = ['a', 'b', 'c'].map((name): Key => `Pipe/${name}`)
const NEW = KEYS.map((key) => blankRecord(key))
const fullDisk = () => Object.assign(new Error('database or disk is full'), { errcode: 13 })
const busy = () => Object.assign(new Error('database is locked'), { errcode: 5 })

/** Of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => void setImmediate(resolve))
}

test('changes of one turn share a commit, and each is durable when it resolves', async () => {
  await using opened = await openCounted()
  const { ledger, counted, results } = opened
  const written = await Promise.all(NEW.map((record) => ledger.swap(record, [])))
  expect(written.map(({ version }) => version)).toEqual([1, 1, 1])
  expect(counted.commits).toBe(1)
  expect(results).toEqual(['written', 'written', 'written'])
  expect((await ledger.list()).map(({ key }) => key)).toEqual(KEYS)
})

test('a change waits for others as long as a flush takes, but only if another record was written just before', async () => {
  await using opened = await openCounted()
  const { ledger, counted } = opened
  const [a, b, c] = NEW as [LedgerRecord, LedgerRecord, LedgerRecord]
  counted.takesMs = 10
  const first = await ledger.swap(a, [])
  const alone = ledger.swap(first, [])
  await turns(1)
  expect(counted.commits).toBe(2)
  await alone
  const early = ledger.swap(b, [])
  await turns(3)
  const late = ledger.swap(c, [])
  expect(counted.commits).toBe(2)
  await turns(12)
  expect(counted.commits).toBe(3)
  await Promise.all([early, late])
})

test('a conflict in a shared commit leaves the other changes', async () => {
  await using opened = await openCounted()
  const { ledger, counted, results } = opened
  const first = await ledger.swap(NEW[0] as LedgerRecord, [])
  counted.commits = 0
  results.length = 0
  const stale = { ...blankRecord(KEYS[0] as Key), line: 1 }
  const ends = await Promise.allSettled([
    ledger.swap(stale, []),
    ledger.swap({ ...first, line: 2 }, []),
    ledger.swap({ ...first, line: 3 }, []), // the one before was faster
    ledger.swap(NEW[1] as LedgerRecord, []),
  ])
  expect(ends.map((end) => (end.status === 'rejected' ? end.reason : end.value.version))).toEqual([
    expect.any(LedgerConflict),
    2,
    expect.any(LedgerConflict),
    1,
  ])
  expect(counted.commits).toBe(1)
  expect(results).toEqual(['conflict', 'written', 'conflict', 'written'])
  expect(await ledger.get(KEYS[0] as Key)).toMatchObject({ line: 2, version: 2 })
})

test('on a full disk, the outcome of a create still finds its reserved room', async () => {
  await using opened = await openCounted()
  const { ledger, counted, file } = opened
  await ledger.assertCanSettle()
  const reserve = statSync(`${file}.reserve`)
  expect(reserve.size).toBe(1_048_576)
  await ledger.assertCanSettle()
  expect(statSync(`${file}.reserve`)).toEqual(reserve)
  counted.commits = 0
  const writes = [ledger.swap(NEW[0] as LedgerRecord, []), ledger.settle(NEW[1] as LedgerRecord, [])]
  counted.fault = () => (existsSync(`${file}.reserve`) ? fullDisk() : undefined)
  const ends = await Promise.allSettled(writes)
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(counted.commits).toBe(3) // together, alone, and with the room of the reserve
  expect((await ledger.list()).map(({ key }) => key)).toEqual([KEYS[1]])
})

test('a bug in one change of a shared commit leaves the others', async () => {
  await using opened = await openCounted()
  const large = blankRecord(KEYS[0] as Key)
  const records = [{ ...large, platformName: 'x'.repeat(70_000) }, NEW[1] as LedgerRecord]
  const ends = await Promise.allSettled(records.map((record) => opened.ledger.swap(record, [])))
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('another failure is the result of all: none is tried again, and the reserve stays', async () => {
  await using opened = await openCounted()
  const { ledger, counted, file } = opened
  await ledger.assertCanSettle()
  counted.fault = busy
  await expect(ledger.settle(NEW[0] as LedgerRecord, [])).rejects.toThrow(LedgerError)
  expect([counted.commits, existsSync(`${file}.reserve`)]).toEqual([1, true])
  counted.commits = 0
  const ends = await Promise.allSettled(NEW.map((record) => ledger.settle(record, [])))
  expect(ends.map((end) => end.status === 'rejected' && end.reason)).toEqual(
    NEW.map(() => expect.any(LedgerError)),
  )
  expect(counted.commits).toBe(1)
})

test('what waits is committed when the ledger is closed', async () => {
  await using opened = await openCounted()
  const { ledger, counted } = opened
  const written = ledger.swap(NEW[0] as LedgerRecord, [])
  await ledger[Symbol.asyncDispose]()
  expect(await written).toMatchObject({ version: 1 })
  expect(counted.commits).toBe(1)
  await expect(ledger.swap(NEW[1] as LedgerRecord, [])).rejects.toThrow(LedgerError)
})
