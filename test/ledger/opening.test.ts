import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import {
  chmod,
  copyFile,
  mkdir,
  open,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, test } from 'vitest'
import { openLedger, unbindLedger } from '../../src/ledger/open.ts'
import type { SqliteLedgerOptions } from '../../src/ledger/open-sqlite-ledger.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { asAnotherUser } from './another-user.ts'
import { blank, CLOCK, entry, FACTS, fullRecord, ignore, openFile, ORDERS } from './samples.ts'
import { folderForTest } from '../support/folders.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = folderForTest()
  await chmod(folder, 0o755)
  file = join(folder, 'ledger.db')
})

function openWith(options: Partial<SqliteLedgerOptions> = {}) {
  return openFile(file, options)
}

async function makeLedger(): Promise<void> {
  await using ledger = await openWith()
  await ledger.swap(fullRecord(ORDERS), [entry(ORDERS, 'made')])
}

/** Open files in the ledger's folder. */
function handles(): readonly string[] {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return '' // closed meanwhile
    }
  })
  return links.filter((path) => path.startsWith(folder))
}

/** Changes the closed file as no program of ours would. */
function tamper(sql: string): void {
  using db = new DatabaseSync(file)
  db.exec(sql)
}

function tampered(sql: string) {
  return () => makeLedger().then(() => tamper(sql))
}

describe('a new ledger', () => {
  test('is made with its folder, whole, for this user only, and leaves nothing else', async () => {
    file = join(folder, 'a', 'b', 'ledger.db')
    await makeLedger()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['ledger.db', 'ledger.db.lock'])
    using db = new DatabaseSync(file, { readOnly: true })
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' })
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 4 })
  })

  test('has a key of its own, which stays', async () => {
    const first = await openWith()
    const key = Buffer.from(first.hashKey)
    await first[Symbol.asyncDispose]()
    await using again = await openWith()
    await using other = await openWith({ file: join(folder, 'other.db') })
    expect(Buffer.from(again.hashKey)).toEqual(key)
    expect(Buffer.from(other.hashKey)).not.toEqual(key)
  })

  test('is not made by an owner that may not: it is missing', async () => {
    file = join(folder, 'sub', 'ledger.db')
    const opening = openWith({ init: 'never' })
    await expect(opening).rejects.toMatchObject({ code: 'missing' })
    await expect(opening).rejects.toThrow('--ledger-init=never forbids a first run')
    expect(await readdir(folder)).toEqual([])
  })

  test('is never made by a reader', async () => {
    await expect(openWith({ mode: 'reader' })).rejects.toMatchObject({ code: 'missing' })
    expect(await readdir(folder)).toEqual([])
  })
})

describe('a file that is not as it should be', () => {
  test.each<[what: string, code: string, words: string, damage: () => Promise<unknown>]>([
    ['is no SQLite file', 'corrupt', 'is not an SQLite file', () => writeFile(file, 'hello '.repeat(500))],
    ['is empty', 'corrupt', 'is empty', () => writeFile(file, '')],
    ['is another SQLite file', 'corrupt', 'not a ledger of', async () => tamper('CREATE TABLE t (a)')],
    ['is cut short', 'corrupt', 'damaged', () => makeLedger().then(() => cutShort())],
    ['is cut to its first page', 'corrupt', 'damaged', () => makeLedger().then(() => cutShort(4_096))],
    ['has garbage where nobody looks at first', 'corrupt', 'damaged', () => makeLedger().then(overwrite)],
    ['is gone, but its log is not', 'corrupt', 'is gone, while', () => writeFile(`${file}-wal`, 'frames')],
    ['has lost its key', 'corrupt', 'has no hash key', tampered(`DELETE FROM meta WHERE name = 'hash_key'`)],
    ['has a short key', 'corrupt', 'has no hash key', tampered(`UPDATE meta SET value = x'00'`)],
    ['comes from a newer version', 'newer', 'only versions up to 4', tampered('PRAGMA user_version = 7')],
    ['is a directory', 'io', 'is a directory', () => mkdir(file)],
  ])('%s: %s', async (_, code, words, damage) => {
    await damage()
    const before = await contentOf(file)
    for (const mode of ['owner', 'reader'] as const) {
      const opening = openWith({ mode })
      await expect(opening).rejects.toMatchObject({ name: 'LedgerError', code })
      await expect(opening).rejects.toThrow(words)
      await expect(opening).rejects.toThrow(file)
    }
    expect(await contentOf(file)).toEqual(before)
    expect(handles()).toEqual([])
  })

  test('what a corrupt one needs is said: a backup, not deleting it', async () => {
    await writeFile(file, 'x'.repeat(5_000))
    await expect(openWith()).rejects.toThrow(/Do not delete it: .* Restore it from a backup\./)
    await rm(file)
    await makeLedger() // and the lock was given back
  })

  test.each([
    ['no JSON', `'{'`],
    ['empty', `'{}'`],
    ['of another key', `replace(body, '"Pipe/orders"', '"Pipe/other"')`],
    ['of another version', `replace(body, '"version":1', '"version":2')`],
    ['with a field that nobody knows', `replace(body, '"version":1', '"version":1,"extra":1')`],
    ['with five wrong fields', `'{"version":"x","file":1,"line":"x","service":1}'`],
  ])('a record that is %s is corrupt, and named, and hides no other', async (_, body) => {
    await makeLedger()
    tamper(`UPDATE record SET body = ${body}`)
    await using ledger = await openWith()
    const full = fullRecord('Pipe/third')
    const other = await ledger.swap(
      { ...full, intent: full.intent && { ...full.intent, id: 'i-of-third' } },
      [],
    )
    expect(await ledger.withIntent('i-of-third')).toEqual(other)
    for (const reading of [ledger.get(ORDERS), ledger.list()]) {
      await expect(reading).rejects.toMatchObject({ code: 'corrupt' })
      await expect(reading).rejects.toThrow(/the record of Pipe\/orders .* \(([^;]*;){0,2}[^;]*\)\. /)
    }
  })

  test('a record of a kind that this version does not know is corrupt, and named', async () => {
    await makeLedger()
    tamper(`UPDATE record SET key = 'Pump/orders', body = replace(body, '"Pipe/orders"', '"Pump/orders"')`)
    await using ledger = await openWith()
    await expect(ledger.list()).rejects.toMatchObject({ code: 'corrupt' })
    await expect(ledger.list()).rejects.toThrow('a record of "Pump/orders", which is not a valid key')
  })

  test('conditions that another version wrote are left out; they are worked out anew', async () => {
    await makeLedger()
    tamper(`UPDATE record SET body = replace(body, '"InSync"', '"NotKnownYet"')`)
    await using ledger = await openWith()
    expect(await ledger.get(ORDERS)).toStrictEqual({
      ...fullRecord(ORDERS),
      version: 1,
      conditions: undefined,
    })
  })

  test.each([
    ['under the name of before', `'"CreateLimit"', '"CreateBrake"'`, true],
    ['with a message', `',"facts":${JSON.stringify(FACTS)}', ',"message":"as asked"'`, false],
    ['with facts of another reason', `'"wanted"', '"waitsFor"'`, false],
  ])('a condition that was written %s is read', async (_how, change, isKnown) => {
    await makeLedger()
    tamper(`UPDATE record SET body = replace(body, ${change})`)
    await using ledger = await openWith()
    const { conditions } = fullRecord(ORDERS)
    const { facts: written, ...Synced } = conditions?.Synced ?? {}
    const read = (await ledger.get(ORDERS))?.conditions
    expect(read).toStrictEqual({ ...conditions, Synced: isKnown ? { ...Synced, facts: written } : Synced })
  })
})

test.each<[string, (ledger: Ledger) => Promise<unknown>]>([
  ['write', (ledger) => ledger.swap(blank('Pipe/c'), [])],
  ['read', (ledger) => ledger.list()],
])('a copy that is one write older is noticed before the next %s', async (_, touch) => {
  await using ledger = await openWith()
  await ledger.swap(blank('Pipe/a'), [])
  const copy = await readFile(file)
  await ledger.swap(blank('Pipe/b'), [])
  await writeFile(file, copy)
  await expect(touch(ledger)).rejects.toThrow('an older copy was written over it')
})

describe('a place that is not as it should be', () => {
  test('a folder that cannot be made', async () => {
    await writeFile(join(folder, 'plain'), '')
    file = join(folder, 'plain', 'sub', 'ledger.db')
    await expect(openWith()).rejects.toMatchObject({ code: 'io' })
    await expect(openWith()).rejects.toThrow(/cannot open the ledger .*ENOTDIR/)
  })

  test('a folder that this user cannot write', async () => {
    await asAnotherUser(folder, async () => {
      await expect(openWith()).rejects.toMatchObject({ code: 'io' })
      await expect(openWith()).rejects.toThrow('the folder must exist and be writable')
    })
    expect(await readdir(folder)).toEqual([])
  })

  test.each([
    ['write', 'owner', 0o444, 'make'],
    ['read', 'reader', 0o000, 'it cannot be opened: the folder must exist'],
  ] as const)('a ledger that this user cannot %s', async (_, mode, right, words) => {
    await makeLedger()
    await chmod(file, right)
    await asAnotherUser(folder, async () => {
      await expect(openWith({ mode })).rejects.toMatchObject({ code: 'io' })
      await expect(openWith({ mode })).rejects.toThrow(words)
    })
    expect(handles()).toEqual([])
  })

  test('two names of one file share one lock', async () => {
    await using owner = await openWith()
    const link = join(folder, 'link.db')
    await symlink(file, link)
    await expect(openWith({ file: link })).rejects.toThrow(`the ledger ${file} (process ${process.pid} on `)
    expect(await owner.list()).toEqual([])
    expect(await owner.owned()).toBe(true)
    await owner.assertCanSettle()
    await owner[Symbol.asyncDispose]()
    expect(handles()).toEqual([])
  })

  test.each([
    ['removed', () => rm(file)],
    [
      'replaced',
      () =>
        copyFile(file, `${file}.bak`)
          .then(() => rm(file))
          .then(() => copyFile(`${file}.bak`, file)),
    ],
  ])('a file that is %s under an owner takes no more writes, which would not be kept', async (_, change) => {
    await makeLedger()
    await using ledger = await openWith()
    await change()
    await expect(ledger.swap(blank('Pipe/b'), [])).rejects.toMatchObject({ code: 'io' })
    await expect(ledger.swap(blank('Pipe/b'), [])).rejects.toThrow('it was removed or replaced while in use')
  })
})

describe('the name of a ledger', () => {
  const options = { init: 'auto', mode: 'owner', clock: CLOCK, emit: ignore } as const

  test.each([
    '',
    'ledger.db',
    'sqlite:',
    'sqlite::memory:',
    'sqlite://ledger.db',
    'postgres://x',
    'sqlite:a\0b',
  ])('%j is refused, with what is possible', async (url) => {
    await expect(openLedger(url, options)).rejects.toMatchObject({ name: 'LedgerError' })
    await expect(openLedger(url, options)).rejects.toThrow('Use sqlite:PATH')
  })

  test('odd characters in a path are just characters', async () => {
    file = join(folder, 'odd ?#%41 ü name.db')
    for (const mode of ['owner', 'reader'] as const) {
      await using ledger = (await openLedger(`sqlite:${file}`, { ...options, mode })).ledger
      expect(await ledger.list()).toEqual([])
    }
    expect(existsSync(file)).toBe(true)
  })
})

async function cutShort(bytes?: number): Promise<void> {
  const { size } = await stat(file)
  const handle = await open(file, 'r+')
  await handle.truncate(bytes ?? size - 5_000)
  await handle.close()
}

/** Spoils the page of an index, which opening the file does not need. */
async function overwrite(): Promise<void> {
  const handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(3_000, 0xab), 0, 3_000, (rootPage('history_by_key') - 1) * 4_096)
  await handle.close()
}

function rootPage(name: string): number {
  using db = new DatabaseSync(file, { readOnly: true })
  return Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)?.['rootpage'])
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch(() => undefined)
}

async function use(
  options: Partial<SqliteLedgerOptions>,
  ...records: readonly LedgerRecord[]
): Promise<void> {
  await using ledger = await openWith(options)
  for (const record of records) await ledger.swap(record, [])
}

test('a ledger takes another platform and profile until it has records, and keeps them until it is untied', async () => {
  const [one, two] = ['https://one.example', 'https://two.example'] as const
  for (const platform of [two, one]) await use({ platform })
  await use({ mode: 'reader', platform: two })
  await use({ profile: 'clickhouse-cloud' }, blank(ORDERS))
  await expect(use({ profile: 'default' })).rejects.toThrow('used with --profile clickhouse-cloud')
  await expect(use({ platform: two })).rejects.toThrow(`used with ${one}`)
  const options = { clock: CLOCK, emit: ignore }
  expect(await unbindLedger(`sqlite:${file}`, options)).toBe(one)
  await use({ platform: two })
  await expect(use({ platform: one })).rejects.toThrow(`used with ${two}`)
  expect(await unbindLedger('memory:', options)).toBeUndefined()
})
