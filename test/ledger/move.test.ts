import {
  cpSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { readArchiveText } from '../../src/ledger/archive.ts'
import { exportLedger, moveLedger, openLedger } from '../../src/ledger/open.ts'
import { MIGRATIONS } from '../../src/ledger/table-schema.ts'
import { isOf, modelForEach } from '../kubernetes/model-for-each.ts'
import { runHere } from '../support/command.ts'
import { blank, entry, ignore, ORDERS } from './samples.ts'

/* `pipewright ledger export --move`: a ledger that goes on elsewhere is not used any more. */

const MOVED = /was moved to another ledger on 20\d\d-.*would create them again/
const never = new AbortController().signal

const model = modelForEach()
const OPTIONS = { clock: model.clock, emit: ignore }

const open = (url: string) => openLedger(url, { ...OPTIONS, mode: 'owner', init: 'auto', leaseMs: 1_000 })

async function fill(url: string): Promise<void> {
  const { ledger, leadership } = await open(url)
  await using _ = ledger
  const term = await leadership.acquire(never, 'wait')
  await ledger.swap(blank(ORDERS), [entry(ORDERS, 'made')])
  await term.release()
}

const file = () => model.workspace.path('ledger.ndjson')
const moving = (url: string) => runHere(['ledger', 'export', file(), '--move', '--ledger', url])
const importing = (url: string) => runHere(['ledger', 'import', file(), '--ledger', url])

const keepNothing = () => expect.unreachable('the disk is full')

describe.each([
  ['sqlite', () => `sqlite:${model.workspace.path('old.db')}`, 'kubernetes:new'],
  ['kubernetes', () => 'kubernetes:old', 'kubernetes:new'],
])('from %s', (_, urlOf, next) => {
  test('one that was moved is not acted with, nor written to; it can be read, and says it', async () => {
    const url = urlOf()
    await fill(url)
    const before = await exportLedger(url, OPTIONS)
    const { code, stdout } = await moving(url)
    expect(code).toBe(0)
    expect(stdout).toContain('Exported 1 records')
    expect(stdout).toContain(`now refuses to use ${url}`)
    expect(readArchiveText(readFileSync(file(), 'utf8'))).toStrictEqual(before)
    await expect(open(url)).rejects.toThrow(MOVED)
    model.workspace.write('manifests/.keep', '')
    for (const command of ['run', 'apply']) {
      const words = [command, '--manifests', model.workspace.path('manifests'), '--ledger', url]
      const ended = await runHere([...words, '--base-url', 'http://127.0.0.1:9'])
      expect(ended.stderr).toMatch(MOVED)
      expect(ended.stderr).toContain('To return to this ledger')
      expect(ended.code).toBe(1)
    }
    for (const words of [
      ['status'],
      ['history'],
      ['lock'],
      ['ledger', 'export', model.workspace.path('again')],
    ]) {
      const read = await runHere([...words, '--ledger', url])
      expect(read.stderr).toContain(`${url} was moved to another ledger on 20`)
      expect(read.stdout + read.stderr).toMatch(/Pipe\/orders|has no pipe|Exported 1 records/)
    }
    rmSync(file())
    expect(await moving(url)).toMatchObject({ code: 0 })
    expect(readArchiveText(readFileSync(file(), 'utf8'))).toStrictEqual(before)
  })

  test('what was exported goes on elsewhere, and back again', async () => {
    const url = urlOf()
    await fill(url)
    expect(await importing(next)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be read: ENOENT'),
    })
    expect(await exporting('ledger.ndjson', url)).toMatchObject({ code: 0, stderr: '' })
    await moving(url)
    expect(await importing(next)).toMatchObject({ code: 0, stderr: '' })
    await goesOn(next)
    expect((await exportLedger(next, OPTIONS)).records.map(({ key }) => key)).toEqual([ORDERS, 'Pipe/second'])
    const back = await importing(url)
    expect(back.code).toBe(1)
    expect(back.stderr).toMatch(/moved to another ledger on 20.*(another file|kubectl -n \S+ delete)/)
    expect(await moving(next)).toMatchObject({ code: 0 })
    await expect(open(next)).rejects.toThrow(MOVED)
    const aside = `sqlite:${model.workspace.path('back.db')}`
    expect(await importing(aside)).toMatchObject({ code: 0, stderr: '' })
    const { ledger } = await open(aside)
    expect(await ledger.list()).toHaveLength(2)
    await ledger[Symbol.asyncDispose]()
  })

  test('an export that cannot be kept leaves it as it was', async () => {
    const url = urlOf()
    await fill(url)
    await expect(moveLedger(url, keepNothing, { ...OPTIONS, signal: never })).rejects.toThrow(
      'the disk is full',
    )
    await goesOn(url)
  })

  test('a record that no import accepts is neither moved nor exported', async () => {
    const url = urlOf()
    await fill(url)
    damage(url)
    for (const { code, stderr } of [await moving(url), await exporting('ledger.ndjson', url)])
      expect([code, stderr]).toEqual([1, expect.stringContaining('the record of Pipe/orders')])
    expect(existsSync(file())).toBe(false)
    await (await open(url)).ledger[Symbol.asyncDispose]()
  })

  test('while a process acts with it, nothing is exported and nothing marked', async () => {
    const url = urlOf()
    await fill(url)
    const { ledger, leadership } = await open(url)
    const term = await leadership.acquire(never, 'wait')
    const { code, stderr } = await moving(url)
    expect(code).toBe(1)
    expect(stderr).toMatch(/another process owns the ledger|another process is the leader/)
    expect(existsSync(file())).toBe(false)
    const plain = await exporting('ledger.ndjson', url)
    expect([plain.code, plain.stderr]).toEqual([
      0,
      expect.stringContaining('a running process uses this ledger'),
    ])
    await term.release()
    await ledger[Symbol.asyncDispose]()
    await goesOn(url)
  })
})

/** Leaves a record whose text has a version and no more. */
function damage(url: string): void {
  const body = JSON.stringify({ version: 1 })
  if (url.startsWith('sqlite:')) {
    using db = new DatabaseSync(url.slice('sqlite:'.length))
    db.prepare('UPDATE record SET body = ?').run(body)
  } else {
    const path = model.pathOf('/pipewrightrecords/')
    model.put(path, { ...model.api.objects().get(path), record: body })
  }
}

function editSecret(members: Readonly<Record<string, string>>): void {
  const path = model.pathOf('/secrets/')
  const secret = model.api.objects().get(path) as { readonly data: object }
  const edited = Object.entries(members).map(([name, text]) => [name, Buffer.from(text).toString('base64')])
  model.put(path, { ...secret, data: { ...secret.data, ...Object.fromEntries(edited) } })
}

/** Somebody still may act with it. */
async function goesOn(url: string): Promise<void> {
  const { ledger, leadership } = await open(url)
  await using _ = ledger
  const term = await leadership.acquire(never, 'wait')
  await ledger.swap(blank('Pipe/second'), [])
  await term.release()
}

const at = (name: string) => model.workspace.path(name)
const exporting = (name: string, url = `sqlite:${at('old.db')}`) =>
  runHere(['ledger', 'export', at(name), '--ledger', url])

describe('the file of an export', () => {
  test.each([
    ['the ledger', 'old.db', /it belongs to this ledger/],
    ['a hard link to it', 'hard.db', /it belongs to this ledger/],
    ['a symbolic link to it', 'soft.db', /it belongs to this ledger/],
    ['its log', 'old.db-wal', /it belongs to this ledger/],
    ['its reserve', 'old.db.reserve', /it belongs to this ledger/],
    ['a folder', '.', /not a regular file/],
    ['below a folder that is missing', 'none/x', /cannot be written: ENOENT/],
  ])('is not %s', async (_, name, says) => {
    await fill(`sqlite:${at('old.db')}`)
    linkSync(at('old.db'), at('hard.db'))
    symlinkSync('old.db', at('soft.db'))
    const before = readFileSync(at('old.db'))
    const ended = await exporting(name)
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(says)
    expect(readFileSync(at('old.db'))).toStrictEqual(before)
    expect(readdirSync(at('.')).filter((each) => each.includes('.new-'))).toEqual([])
  })

  test('replaces an older one completely, and only its owner can read it', async () => {
    await fill(`sqlite:${at('old.db')}`)
    model.workspace.write('real.ndjson', 'an older backup')
    symlinkSync('real.ndjson', at('backup'))
    const { ino } = statSync(at('real.ndjson'))
    for (const name of ['backup', 'old.db.ndjson']) expect(await exporting(name)).toMatchObject({ code: 0 })
    expect(readArchiveText(readFileSync(at('real.ndjson'), 'utf8')).records).toHaveLength(1)
    expect(statSync(at('real.ndjson')).ino).not.toBe(ino)
    expect(statSync(at('real.ndjson')).mode & 0o777).toBe(0o600)
  })
})

test('a process that stood by while the cluster was moved does not act', async () => {
  const url = 'kubernetes:old'
  await fill(url)
  const { ledger, leadership } = await open(url)
  await using _ = ledger
  expect(await moving(url)).toMatchObject({ code: 0 })
  await expect(leadership.acquire(never, 'wait')).rejects.toThrow(MOVED)
})

test('a ledger of the cluster that another process leads meanwhile is not moved', async () => {
  const url = 'kubernetes:old'
  await fill(url)
  const objects = model.api.objects() as Map<string, { readonly metadata: object; readonly spec: object }>
  const takeOver = (path: string, { metadata, spec }: { readonly metadata: object; readonly spec: object }) =>
    objects.set(path, {
      metadata: { ...metadata, resourceVersion: '1000' },
      spec: { ...spec, holderIdentity: 'other' },
    })
  model.api.interfere((asked) => {
    if (isOf(asked, 'PUT', '/secrets/'))
      for (const [path, lease] of objects) if (path.includes('/leases/')) takeOver(path, lease)
    return undefined
  })
  const moved = moveLedger(url, keepNothing, { ...OPTIONS, signal: never })
  await expect(moved).rejects.toThrow('another process might have become the leader meanwhile')
  await goesOn(url)
})

test('a leader that does not know of an earlier move is not moved beside', async () => {
  const url = 'kubernetes:old'
  await fill(url)
  const { ledger, leadership } = await open(url)
  const term = await leadership.acquire(never, 'wait')
  editSecret({ movedAt: '2026-01-01' })
  const { code, stderr } = await moving(url)
  expect(code).toBe(1)
  expect(stderr).toContain('another process is the leader')
  expect(existsSync(file())).toBe(false)
  await term.release()
  await ledger[Symbol.asyncDispose]()
  expect((await moving(url)).code).toBe(0)
})

test.each([
  ['lost', undefined],
  ['cut', undefined],
  ['lost', { status: 503 }],
] as const)('a mark that is %s, and taken back with %s, can be repeated', async (mark, back) => {
  const url = 'kubernetes:old'
  await fill(url)
  let writes = 0
  model.api.interfere((asked) =>
    isOf(asked, 'PUT', '/secrets/') ? [mark, back][Math.min(writes++, 1)] : undefined,
  )
  const { code, stderr } = await moving(url)
  expect([code, stderr.includes('Repeat the command')]).toEqual([1, back !== undefined])
  model.api.interfere(undefined)
  if (back === undefined) await goesOn(url)
  expect((await moving(url)).code).toBe(0)
})

test('a rollback of a ledger of the cluster is accepted before it moves', async () => {
  const url = 'kubernetes:old'
  await fill(url)
  editSecret({ setBack: 'it was', setBacks: '1' })
  const { code, stderr } = await moving(url)
  expect(code).toBe(1)
  expect(stderr).toContain('pipewright ledger accept')
  expect(existsSync(file())).toBe(false)
  const accepted = 'Accepted kubernetes:old as it is, although it was. Creates continue.'
  for (const said of [accepted, 'No rollback of kubernetes:old is known.'])
    expect(await runHere(['ledger', 'accept', '--ledger', url])).toEqual({
      code: 0,
      stdout: `${said}\n`,
      stderr: '',
    })
  expect((await moving(url)).code).toBe(0)
})

async function inDb(path: string, work: (db: DatabaseSync) => unknown): Promise<void> {
  using db = new DatabaseSync(path)
  await work(db)
}

describe('the mark of a file', () => {
  test.each<[string, (from: string, to: string) => Promise<unknown> | void]>([
    ['a copy', cpSync],
    ['a backup', (from, to) => inDb(from, (db) => backup(db, to))],
    ['VACUUM INTO', (from, to) => inDb(from, (db) => db.exec(`VACUUM INTO '${to}'`))],
    ['VACUUM', (from, to) => inDb(from, (db) => db.exec('VACUUM')).then(() => cpSync(from, to))],
  ])('is there in %s, also for earlier versions of Pipewright', async (_, copy) => {
    const old = model.workspace.path('old.db')
    await fill(`sqlite:${old}`)
    await moving(`sqlite:${old}`)
    const other = model.workspace.path('other.db')
    await copy(old, other)
    await expect(open(`sqlite:${other}`)).rejects.toThrow(MOVED)
    using db = new DatabaseSync(other, { readOnly: true })
    // They refuse one that is newer than what they know.
    expect(Number(db.prepare('PRAGMA user_version').get()?.['user_version'])).toBeGreaterThan(
      MIGRATIONS.length,
    )
  })
})

test.each([['import'], ['accept']])('--move works only with export, not with %s', async (action) => {
  const ended = await runHere(['ledger', action, ...(action === 'import' ? [file()] : []), '--move'])
  expect(ended.code).toBe(64)
  expect(ended.stderr).toContain('--move works only with "export"')
})
