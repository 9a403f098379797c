import { expect, test } from 'vitest'
import type { Engine } from '../../src/cli/compose.ts'
import { openWebhook } from '../../src/cli/compose-webhook.ts'
import type { Settings } from '../../src/config/settings.ts'
import { createEventBus } from '../../src/contract/events.ts'
import { LedgerError, type Notes } from '../../src/contract/ledger.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/* The memory of the webhook is read before the first message, however often it takes. */

const SETTINGS = {
  webhookUrl: { url: new Secret('https://hooks.example') },
  credentialsDir: '/nowhere/credentials',
  secretsDir: '/nowhere/secrets',
  allowInsecureHttp: false,
  sandbox: false,
  publicUrl: undefined,
  proxies: undefined,
  caFile: undefined,
  ledger: 'kubernetes:ledger',
} as unknown as Settings // nothing else of them is asked for

async function opening(notes: Notes, giveUp: AbortSignal, clock = createFakeClock()) {
  const said: (string | undefined)[] = []
  const remembered: unknown[] = []
  const problems = { remember: (all: unknown) => remembered.push(all), list: () => undefined }
  const parts = {
    engine: { reconciler: { problems }, context: { clock } } as unknown as Engine, // nothing else of it is asked for
    notes,
    events: createEventBus(),
  }
  parts.events.listen((event) => void said.push('message' in event ? event.message : undefined))
  const webhook = await openWebhook(SETTINGS, parts, { confirm: async () => Infinity }, giveUp)
  await webhook?.[Symbol.asyncDispose]()
  return { isOpen: webhook !== undefined, said, remembered: remembered.length }
}

const away = new LedgerError('io', 'the ledger cannot be reached')

test('it is read again after it could not be read, and that is said', async () => {
  const clock = createFakeClock()
  let left = 1
  const read = async () => {
    left -= 1
    if (left === 0) throw away
    return undefined
  }
  const notes = { read, write: async () => undefined }
  const opened = opening(notes, new AbortController().signal, clock)
  await clock.advance(1_000)
  expect(await opened).toEqual({ isOpen: true, said: [away.message], remembered: 1 })
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
