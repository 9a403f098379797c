import { readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { takeLease } from '../../src/ledger/lease.ts'
import { MIGRATIONS, migrate, schemaVersion } from '../../src/ledger/table-schema.ts'
import { blank, entry, fullRecord, openFile, ORDERS } from './samples.ts'
import { folderForTest } from '../support/folders.ts'

/** A made-up history of schemas: the third fills what the second adds. */
const STEPS = [
  'CREATE TABLE note (text TEXT)',
  'ALTER TABLE note ADD COLUMN length INTEGER',
  'UPDATE note SET length = length(text)',
]

let db: DatabaseSync

beforeEach(() => {
  db = new DatabaseSync(':memory:')
})

afterEach(() => db.close())

describe('migrating', () => {
  test.each([
    ['an empty one goes through every step', 0, 3, 3],
    ['an older one goes through the steps it lacks', 1, 3, 3],
    ['one that is current stays as it is', 3, 3, 3],
    ['one from the future keeps its version', 3, 2, 3],
  ])('%s, and keeps what it holds', (_, before, steps, after) => {
    migrate(db, STEPS.slice(0, before))
    if (before === 1) db.exec(`INSERT INTO note VALUES ('four')`)
    migrate(db, STEPS.slice(0, steps))
    expect(schemaVersion(db)).toBe(after)
    const notes = before === 1 ? [{ text: 'four', length: 4 }] : []
    expect(db.prepare('SELECT * FROM note').all()).toEqual(notes)
  })

  test('a step that fails takes those before it back', () => {
    migrate(db, STEPS.slice(0, 1))
    expect(() => migrate(db, [...STEPS, 'NO SUCH STATEMENT'])).toThrow('syntax error')
    expect(schemaVersion(db)).toBe(1)
    expect(() => db.prepare('SELECT length FROM note')).toThrow('no such column')
    expect(db.isTransaction).toBe(false)
  })

  test('the steps that ledgers in the world have run are never changed', () => {
    migrate(db, MIGRATIONS.slice(0, 1))
    const columns = db
      .prepare(
        `SELECT m.name || '.' || c.name AS name FROM sqlite_schema m, pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY 1`,
      )
      .all()
      .map((row) => row['name'])
    expect(columns).toEqual([
      'history.body',
      'history.id',
      'history.key',
      'meta.name',
      'meta.value',
      'record.body',
      'record.key',
      'record.version',
    ])
  })
})

describe('an older ledger', () => {
  let folder: string
  let file: string

  beforeEach(async () => {
    folder = folderForTest()
    file = join(folder, 'ledger.db')
    await (await openFile(file))[Symbol.asyncDispose]()
    using older = new DatabaseSync(file)
    // as if the first version had been without its tables
    older.exec(`CREATE TABLE kept AS SELECT * FROM meta WHERE name = 'hash_key';
      DROP TABLE meta; DROP TABLE record; DROP TABLE history; PRAGMA user_version = 0`)
  })

  test('is brought up to date before it is used', async () => {
    await expect(openFile(file)).rejects.toThrow('has no hash key') // which the made-up older version kept elsewhere
    using db2 = new DatabaseSync(file)
    expect(schemaVersion(db2)).toBe(MIGRATIONS.length)
    db2.exec('INSERT OR REPLACE INTO meta SELECT * FROM kept')
    await using ledger = await openFile(file)
    expect((await ledger.swap(blank(ORDERS), [])).version).toBe(1)
  })

  test('is left alone while somebody holds it', async () => {
    const held = takeLease(file, 0)
    await expect(openFile(file)).rejects.toMatchObject({ code: 'locked' })
    using older = new DatabaseSync(file)
    expect(schemaVersion(older)).toBe(0)
    held[Symbol.dispose]()
  })
})

describe('what a record holds of the platform', () => {
  let folder: string

  beforeEach(async () => {
    folder = folderForTest()
  })

  test('is kept when the ledger is one of release 0.1.0, where it was called `pipe`', async () => {
    const release = join(import.meta.dirname, '../fixtures/releases/0.1.0')
    await cp(release, folder, { recursive: true })
    const shown = JSON.parse(readFileSync(join(release, 'expected.json'), 'utf8')) as readonly Shown[] // the release wrote it
    const ids = Object.fromEntries(
      shown.flatMap(({ key, pipeId }) => (pipeId === undefined ? [] : [[key, pipeId]])),
    )
    await using ledger = await openFile(join(folder, 'ledger.db'))
    const held = (await ledger.list()).flatMap(({ key, remote }) =>
      remote === undefined ? [] : [[key, remote.id]],
    )
    expect(Object.keys(ids)).not.toEqual([])
    expect(Object.fromEntries(held)).toEqual(ids)
  })

  test('is kept when it stands in a ledger of version 2, also what is being replaced', async () => {
    const full = { ...fullRecord(ORDERS), version: 1 }
    const { remote, former, ...rest } = full
    const { remote: gone, ...formerRest } = former ?? {}
    const older = { ...rest, pipe: remote, former: { ...formerRest, pipe: gone } }
    await (await openFile(join(folder, 'ledger.db')))[Symbol.asyncDispose]()
    {
      using file = new DatabaseSync(join(folder, 'ledger.db'))
      file.exec('PRAGMA user_version = 2')
      const insert = file.prepare('INSERT INTO record (key, version, body) VALUES (?, ?, ?)')
      insert.run(full.key, full.version, JSON.stringify(older))
      insert.run('Pipe/new', 1, JSON.stringify({ key: 'Pipe/new', version: 1 }))
    }
    await using ledger = await openFile(join(folder, 'ledger.db'))
    expect(await ledger.list()).toEqual([{ key: 'Pipe/new', version: 1 }, full])
  })
})

interface Shown {
  readonly key: string
  readonly pipeId?: string
}

describe('the history on disk', () => {
  let folder: string

  beforeEach(async () => {
    folder = folderForTest()
  })

  test('is bounded: the oldest lines go, a batch at a time', async () => {
    await using ledger = await openFile(join(folder, 'ledger.db'), { historyLimit: 100 })
    let record = blank(ORDERS)
    for (let i = 0; i < 20; i++) {
      const lines = Array.from({ length: 20 }, (_, j) => entry(ORDERS, `line ${i * 20 + j}`))
      record = await ledger.swap(record, lines)
      const kept = await ledger.history({ key: undefined, limit: 1_000 })
      expect(kept.length).toBeLessThan(100 + 64)
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(100, (i + 1) * 20))
      expect(kept[0]?.message).toBe(`line ${i * 20 + 19}`)
    }
  })
})
