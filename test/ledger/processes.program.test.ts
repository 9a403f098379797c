import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { blank, openFile, ORDERS } from './samples.ts'
import { folderForTest } from '../support/folders.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))

let folder: string
let file: string
let children: ChildProcess[]

beforeEach(async () => {
  folder = folderForTest()
  file = join(folder, 'ledger.db')
  children = []
})

afterEach(async () => {
  await Promise.all(children.map(kill))
})

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, [WORKER, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

async function firstLine(child: ReturnType<typeof start>): Promise<string> {
  const lines = createInterface({ input: child.stdout })
  const [line] = (await once(lines, 'line')) as readonly string[] // what a readline event carries
  return line ?? ''
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

function open(mode: 'owner' | 'reader') {
  return openFile(file, { mode })
}

test('a second owner is refused at once, and told who holds the ledger and what to do', async () => {
  const holder = start('hold', file)
  expect(await firstLine(holder)).toBe('held')
  const opening = open('owner')
  await expect(opening).rejects.toMatchObject({ name: 'LedgerError', code: 'locked' })
  const who = `process ${holder.pid} on ${hostname()}, since 2027-01-15T08:00:00.000Z`
  await expect(opening).rejects.toThrow(`another process owns the ledger ${file} (${who})`)
  await expect(opening).rejects.toThrow('Stop the other process')
})

test('an owner with patience waits until another one ends', async () => {
  const holder = start('hold', file)
  await firstLine(holder)
  holder.kill('SIGKILL')
  await using owner = await openFile(file, { mode: 'owner', patienceMs: 60_000 })
  expect(await owner.list()).toEqual([])
})

test('an owner in this process keeps one in another process out, and lets it in when closed', async () => {
  const owner = await open('owner')
  expect(await firstLine(start('hold', file))).toMatch(/^locked: /)
  await owner[Symbol.asyncDispose]()
  expect(existsSync(`${file}.holder`)).toBe(false)
  expect(await firstLine(start('hold', file))).toBe('held')
})

test('a reader that comes and goes in the same process takes no lock from the owner', async () => {
  await (await open('owner'))[Symbol.asyncDispose]()
  await using owner = await open('owner')
  const reader = await open('reader')
  await reader.list()
  await reader[Symbol.asyncDispose]()
  await owner.swap(blank(ORDERS), [])
  expect(await firstLine(start('hold', file))).toMatch(/^locked: /)
  expect(await owner.get(ORDERS)).toBeDefined()
})

test('an owner that is killed leaves the ledger free, and what it wrote', async () => {
  const owner = start('write', file)
  expect(await firstLine(owner)).toBe('written')
  await kill(owner)
  await using ledger = await open('owner')
  expect(await ledger.get(ORDERS)).toStrictEqual(blank(ORDERS, { version: 1, platformName: 'kept' }))
})

test('a disk that is full is said in words, and what was written stays', async () => {
  // bash limits the size of files, in KiB; the ledger then meets what it meets on a full disk
  const command = `ulimit -f 300; exec "$0" "$@"`
  const child = spawn('bash', ['-c', command, process.execPath, WORKER, 'fill', file])
  children.push(child)
  const result: unknown = JSON.parse(await text(child.stdout))
  expect(result).toMatchObject({ code: 'io', message: expect.stringContaining('cannot write the ledger') })
  const { written, kept } = result as { written: number; kept: number } // matched above, but for these
  expect(written).toBeGreaterThan(3)
  expect(kept).toBe(written)
  await using ledger = await open('owner')
  expect(await ledger.list()).toHaveLength(written)
})
