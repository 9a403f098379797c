import { expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import type { Leadership, Term } from '../../src/contract/leadership.ts'
import { LedgerError } from '../../src/contract/ledger.ts'
import { ClusterError } from '../../src/ledger/kubernetes/cluster-error.ts'
import { createTakeover } from '../../src/ledger/kubernetes/open-kubernetes-ledger.ts'
import { ignore } from '../ledger/samples.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/* A process that has the Lease, and cannot read the records. */

const MINUTE_MS = 60_000

function takeoverThat(readAll: () => Promise<void>) {
  const clock = createFakeClock()
  const [done, told]: [string[], Event[]] = [[], []]
  const over = new AbortController()
  const term: Term = {
    epoch: 1,
    lateForMs: undefined,
    revisionBefore: undefined,
    over: over.signal,
    confirm: async () => 0,
    endsAt: () => 0,
    release: async () => void done.push('released'),
  }
  const take = async () => {
    done.push('taken')
    return term
  }
  const lease: Leadership = {
    acquire: take,
    attempt: take,
    actOn: ignore,
    leader: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
  const leadership = createTakeover({ lease, readAll, clock, emit: (event) => void told.push(event) })
  return { clock, done, told, over, term, leadership }
}

async function unreadable(): Promise<never> {
  throw new ClusterError('the Kubernetes API answers 403', 403)
}

test('lets the Lease go after a while, and takes it again after another', async () => {
  const { clock, done, told, leadership } = takeoverThat(unreadable)
  const stop = new AbortController()
  const acting = leadership.acquire(stop.signal, 'wait').catch(() => undefined)
  await clock.advance(9_999)
  expect([done, told.length]).toEqual([['taken'], 10])
  await clock.advance(1)
  expect(done).toEqual(['taken', 'released'])
  await clock.advance(5_000)
  expect(done).toEqual(['taken', 'released', 'taken'])
  stop.abort()
  await clock.advance(MINUTE_MS)
  expect(await acting).toBeUndefined()
  expect(done.at(-1)).toBe('released')
})

test('does not try again where the ledger was moved, and has let the Lease go', async () => {
  const { clock, done, leadership } = takeoverThat(() =>
    Promise.reject(new LedgerError('moved', 'elsewhere')),
  )
  const attempt = leadership.attempt(new AbortController().signal).catch(String)
  await clock.advance(MINUTE_MS)
  expect([await attempt, ...done]).toEqual(['LedgerError: elsewhere', 'taken', 'released'])
})

test('ends at once when it is stopped, although a reading hangs', async () => {
  const { clock, done, leadership } = takeoverThat(() => new Promise(ignore))
  const stop = new AbortController()
  const attempt = leadership.attempt(stop.signal).catch(String)
  await clock.settle()
  stop.abort(new Error('stopped'))
  expect(await attempt).toBe('Error: stopped')
  expect(done).toEqual(['taken', 'released'])
})

test('does not act once another process has taken over, although a reading hangs', async () => {
  const { clock, leadership, over } = takeoverThat(() => new Promise(ignore))
  const attempt = leadership.attempt(new AbortController().signal)
  await clock.settle()
  over.abort()
  expect(await attempt).toBeUndefined()
})

test('acts once a reading has come to its end', async () => {
  let left = 3
  const { clock, done, leadership, term } = takeoverThat(async () => {
    left -= 1
    if (left > 0) await unreadable()
  })
  const acting = leadership.acquire(new AbortController().signal, 'wait')
  await clock.advance(MINUTE_MS)
  expect(await acting).toBe(term)
  expect(done).toEqual(['taken'])
})
