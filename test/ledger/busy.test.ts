import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import { CLOCK, openFile } from './samples.ts'

const ACTIVITY = { command: 'run', process: 12, host: 'pod-0', startedAt: 1 } as const

/** Long, so that a busy machine does not look like it. */
const WAIT_MS = 1_500
const NEARLY_MS = 1_400

test('room that is there is not taken for a ledger that can be written again', async () => {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'ledger-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const file = join(folder, 'ledger.db')
  const said: (string | undefined)[] = []
  const emit = (event: Event) => void said.push('result' in event ? event.result : event.type)
  const ledger = stack.use(await openFile(file, { emit, busyTimeoutMs: 20 }))
  const note = () => ledger.noteActivity(ACTIVITY, new Map())

  using other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  await expect(note()).rejects.toMatchObject({ code: 'io' })
  await ledger.prepareIntent()
  expect(said).toEqual(['failed'])
  other.exec('ROLLBACK')
  await note()
  expect(said).toEqual(['failed', 'written'])
})

test('another writer is waited for again after a while, also when nothing got through', async () => {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'ledger-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const file = join(folder, 'ledger.db')
  let now = 0
  const clock = { ...CLOCK, monotonic: () => now }
  const ledger = stack.use(await openFile(file, { clock, busyTimeoutMs: WAIT_MS }))
  const failsAfter = async () => {
    const started = performance.now()
    await expect(ledger.noteActivity(ACTIVITY, new Map())).rejects.toMatchObject({ code: 'io' })
    return performance.now() - started
  }

  using other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  expect(await failsAfter()).toBeGreaterThan(NEARLY_MS)
  now += 9_000
  expect(await failsAfter()).toBeLessThan(NEARLY_MS)
  await ledger.list() // says nothing of writes
  now += 1_000
  await ledger.list()
  expect(await failsAfter()).toBeGreaterThan(NEARLY_MS)
  expect(await failsAfter()).toBeLessThan(NEARLY_MS)
})
