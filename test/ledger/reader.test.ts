import { chmod, copyFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { asAnotherUser } from './another-user.ts'
import { ACTIVITY, blank, CLOCK, entry, openFile, ORDERS } from './samples.ts'
import { folderForTest } from '../support/folders.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = folderForTest()
  file = join(folder, 'ledger.db')
  await using ledger = await openAs('owner')
  await ledger.swap(blank(ORDERS), [entry(ORDERS, 'made')])
})

function openAs(mode: 'owner' | 'reader', path = file): Promise<Ledger> {
  return openFile(path, { mode })
}

function manyRows(count: number): string {
  return Array.from({ length: count }, (_, i) => `('row ${i}', '${'x'.repeat(4_000)}')`).join(', ')
}

/** The ledger as a writer leaves it that is killed in the middle. */
async function copyInMidWrite(): Promise<string> {
  const copy = join(folder, 'copy.db')
  using db = new DatabaseSync(file)
  db.exec('PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM record')
  // More than is kept in memory: pages of a transaction that is not committed are in the file.
  db.exec(`INSERT INTO meta (name, value) VALUES ${manyRows(200)}`)
  await copyFile(file, copy)
  await copyFile(`${file}-journal`, `${copy}-journal`)
  return copy
}

/** Names, sizes and times of everything in the folder. */
async function traces(): Promise<readonly string[]> {
  const names = (await readdir(folder)).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name))
      return `${name} ${size} ${mtimeMs}`
    }),
  )
}

describe('a reader', () => {
  test('changes nothing on disk', async () => {
    const before = await traces()
    await using ledger = await openAs('reader')
    expect(await ledger.list()).toStrictEqual([blank(ORDERS, { version: 1 })])
    expect(await ledger.history({ key: ORDERS, limit: 5 })).toHaveLength(1)
    expect(ledger.hashKey).toHaveLength(32)
    await ledger[Symbol.asyncDispose]()
    expect(await traces()).toEqual(before)
  })

  test('of a ledger that was never owned, such as a copy, says so, and makes no lock', async () => {
    await rm(`${file}.lock`)
    const before = await traces()
    await using ledger = await openAs('reader')
    expect(await ledger.owned()).toBe(false)
    expect(await traces()).toEqual(before)
  })

  test('cannot write', async () => {
    await using ledger = await openAs('reader')
    await expect(ledger.swap(blank('Pipe/b'), [])).rejects.toMatchObject({ code: 'io' })
    await expect(ledger.swap(blank('Pipe/b'), [])).rejects.toThrow('it was opened read-only')
  })

  test('works beside an owner, and sees what it writes', async () => {
    await using owner = await openAs('owner')
    await using reader = await openAs('reader')
    const first = await reader.get(ORDERS)
    await owner.swap(blank(ORDERS, { version: 1, line: 5 }), [])
    expect([first?.version, (await reader.get(ORDERS))?.version]).toEqual([1, 2])
  })

  test('sees what an owner wrote that came and went while nobody looked', async () => {
    await using reader = await openAs('reader')
    expect((await reader.get(ORDERS))?.version).toBe(1)
    for (const version of [1, 2]) {
      await using owner = await openAs('owner')
      await owner.swap(blank(ORDERS, { version }), [])
    }
    expect((await reader.get(ORDERS))?.version).toBe(3)
  })

  test('works where nothing can be written', async () => {
    await chmod(file, 0o444)
    await asAnotherUser(folder, async () => {
      await using reader = await openAs('reader')
      expect(await reader.list()).toHaveLength(1)
    })
  })

  test('of a ledger whose last write was cut short undoes that', async () => {
    const copy = await copyInMidWrite()
    await using reader = await openAs('reader', copy)
    expect(await reader.list()).toStrictEqual([blank(ORDERS, { version: 1 })])
  })

  test('of a ledger whose last write was cut short, where nothing can be written, says to copy it', async () => {
    const copy = await copyInMidWrite()
    for (const path of [copy, `${copy}-journal`]) await chmod(path, 0o444)
    await asAnotherUser(folder, async () => {
      await expect(openAs('reader', copy)).rejects.toMatchObject({ code: 'io' })
      await expect(openAs('reader', copy)).rejects.toThrow('Copy it, together with its -journal file')
    })
    for (const path of [copy, `${copy}-journal`]) await chmod(path, 0o644)
    await using owner = await openAs('owner', copy)
    expect(await owner.list()).toHaveLength(1)
  })

  test('of an older version says what brings it up to date, and leaves it', async () => {
    {
      using db = new DatabaseSync(file)
      db.exec('PRAGMA user_version = 0')
    }
    const before = await traces()
    await expect(openAs('reader')).rejects.toThrow('has an older format. Run `pipewright run`')
    expect(await traces()).toEqual(before)
  })
})

describe('an owner beside another program', () => {
  test('that waits in vain for another one says so', async () => {
    using other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    await using owner = await openFile(file, { busyTimeoutMs: 20 })
    await expect(owner.swap(blank('Pipe/b'), [])).rejects.toMatchObject({ code: 'io' })
    other.exec('ROLLBACK')
    expect((await owner.swap(blank('Pipe/b'), [])).version).toBe(1)
  })

  test('waits for another one once, and not with each of many writes; after a success or ten seconds it waits again', async () => {
    let now = 20_000
    await using owner = await openFile(file, {
      busyTimeoutMs: 20,
      clock: { ...CLOCK, monotonic: () => now },
    })
    using other = new DatabaseSync(file)
    using exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    /** How long a write waits for another writer, from now on. Nothing: as before. */
    const waits = () =>
      exec.mock.calls.splice(0).flatMap(([sql]) => /busy_timeout = (\d+)/.exec(sql)?.[1] ?? [])
    const fail = () => expect(owner.swap(blank('Pipe/b'), [])).rejects.toMatchObject({ code: 'io' })

    other.exec('BEGIN IMMEDIATE')
    await fail()
    expect(waits()).toEqual(['0'])
    for (let count = 0; count < 3; count += 1) {
      expect(await owner.get('Pipe/b')).toBeUndefined() // who writes lets others read
      await fail()
    }
    now += 9_999
    await fail()
    expect(waits()).toEqual([])
    now += 1
    await fail()
    expect(waits()).toEqual(['20', '0'])

    other.exec('ROLLBACK')
    await owner.swap(blank('Pipe/b'), [])
    expect(waits()).toEqual(['20'])
  })

  test.each<[what: string, type: Event['type'], end: string, work: (owner: Ledger) => Promise<unknown>]>([
    ['reading', 'LedgerRead', 'read', (owner) => owner.list()],
    ['noting', 'LedgerWritten', 'written', (owner) => owner.noteActivity(ACTIVITY, new Map())],
  ])('that keeps it from %s is told each time, and the end of that once', async (_, type, end, work) => {
    const said: Event[] = []
    await using owner = await openFile(file, { emit: (event) => void said.push(event), busyTimeoutMs: 0 })
    using other = new DatabaseSync(file)
    other.exec('BEGIN EXCLUSIVE')
    for (let time = 0; time < 2; time += 1) await expect(work(owner)).rejects.toMatchObject({ code: 'io' })
    other.exec('ROLLBACK')
    for (let time = 0; time < 2; time += 1) await work(owner)
    expect(said).toMatchObject(['failed', 'failed', end].map((result) => ({ type, result, durationMs: 0 })))
  })

  test('does not take room that is there for a ledger that can be written again', async () => {
    const said: (string | undefined)[] = []
    const emit = (event: Event) => void said.push('result' in event ? event.result : event.type)
    await using owner = await openFile(file, { emit, busyTimeoutMs: 20 })
    const write = () => owner.noteActivity(ACTIVITY, new Map())
    using other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    await expect(write()).rejects.toMatchObject({ code: 'io' })
    await owner.assertCanSettle()
    expect(said).toEqual(['failed'])
    other.exec('ROLLBACK')
    await write()
    expect(said).toEqual(['failed', 'written'])
  })
})

test('a file that was replaced is read anew', async () => {
  await using reader = await openAs('reader')
  expect(await reader.list()).toHaveLength(1)
  const other = join(folder, 'other.db')
  await (await openAs('owner', other))[Symbol.asyncDispose]()
  await rename(other, file)
  using close = vi.spyOn(DatabaseSync.prototype, 'close')
  expect(await reader.list()).toEqual([])
  expect(close).toHaveBeenCalledTimes(1)
  expect(await reader.list()).toEqual([])
})
