import { expect, test } from 'vitest'
import { openNotifier } from '../../src/cli/compose-notifier.ts'
import type { Settings } from '../../src/config/settings.ts'
import { LedgerError, type Notes } from '../../src/contract/ledger.ts'
import { openMemoryLedger } from '../../src/ledger/memory-backend.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { ignore } from '../ledger/samples.ts'

/* What was sent before is read before anything is sent, however often it takes. */

const SETTINGS = {
  notifications: [],
  allowInsecureHttp: false,
  sandbox: false,
  publicUrl: undefined,
  proxies: undefined,
  caFile: undefined,
  ledger: 'kubernetes:ledger',
} as unknown as Settings // nothing else of them is asked for

async function opening(notes: Notes, giveUp: AbortSignal) {
  const { ledger } = openMemoryLedger({ emit: ignore })
  const said: (string | undefined)[] = []
  const parts = {
    ledger,
    notes,
    board: createBoard(),
    emit: (event: { type: string; message?: string | undefined }) => void said.push(event.message),
    confirm: async () => Infinity,
  }
  const notifier = await openNotifier(SETTINGS, parts, giveUp)
  await notifier?.[Symbol.asyncDispose]()
  return { isOpen: notifier !== undefined, said }
}

const away = new LedgerError('io', 'the ledger cannot be reached')

test('it is read again after it could not be read, and that is said', async () => {
  let left = 1
  const read = async () => {
    left -= 1
    if (left === 0) throw away
    return undefined
  }
  const notes = { read, write: async () => undefined }
  expect(await opening(notes, new AbortController().signal)).toEqual({ isOpen: true, said: [away.message] })
})

test('it is given up when this process does not act any more', async () => {
  const giveUp = new AbortController()
  const read = async () => {
    giveUp.abort()
    throw away
  }
  const { isOpen } = await opening({ read, write: async () => undefined }, giveUp.signal)
  expect(isOpen).toBe(false)
})

test('what is no fault of the way there is thrown', async () => {
  const notes = { read: () => Promise.reject(new Error('a bug')), write: async () => undefined }
  await expect(opening(notes, new AbortController().signal)).rejects.toThrow('a bug')
})
