import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { expect, test } from 'vitest'
import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import { blankRecord, type Fingerprint, type Remote } from '../../src/plan/record.ts'
import { dismissIntent, openIntent } from '../../src/plan/transitions.ts'
import { createOutcomeOutbox, type CreateEnd } from '../../src/reconcile/apply/outcome-outbox.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const KEY = 'Pipe/orders'
const FINGERPRINT: Fingerprint = { digest: 'd', fields: {}, secrets: {} }
const PIPE: Remote = {
  id: 'pipe-1',
  origin: 'created',
  at: 1,
  revision: 'r',
  requestId: undefined,
  seenAt: undefined,
  saidGoneAt: undefined,
  refutedAt: undefined,
}
const SEEN = { at: 1, httpStatus: undefined, requestId: undefined, what: 'a cut', pipeId: undefined }
const CREATED: CreateEnd = { type: 'created', remote: PIPE }
const UNKNOWN: CreateEnd = { type: 'unknown', seen: SEEN }

/** @param replaces the id of a pipe that the key has already */
async function given(replaces?: string) {
  const clock = createFakeClock()
  const ledger = createMemoryLedger({ emit: () => undefined })
  const remote = replaces === undefined ? undefined : { ...PIPE, id: replaces }
  const before = { ...blankRecord(KEY), remote }
  const opened = await ledger.swap(
    openIntent(before, {
      intentId: 'intent-1',
      reason: 'New',
      requestDigest: 'x',
      revision: 'r',
      service: { name: 's', organizationId: 'o', serviceId: 'i' },
      platformName: 'orders',
      fingerprint: FINGERPRINT,
      replaces,
      now: clock.now(),
      sendBy: clock.now(),
      endBy: clock.now(),
      isAllowed: false,
    }),
    [],
  )
  const intent = opened.intent
  if (intent === undefined) throw new Error('an opened record has an intent')
  const store = createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock })
  return { clock, ledger, opened, intent, outbox: createOutcomeOutbox({ ledger, clock, store }) }
}

test('an id that comes after a person said "nothing was created" is recorded all the same', async () => {
  const { ledger, opened, intent, outbox, clock } = await given()
  await ledger.swap(dismissIntent(opened, intent, { now: clock.now(), found: 'created nothing' }), [])
  await outbox.persist(KEY, {
    intentId: intent.id,
    opened,
    end: CREATED,
    history: [],
  })
  expect(await ledger.get(KEY)).toMatchObject({ remote: { id: 'pipe-1' }, intent: { state: 'succeeded' } })
})

test('an id that comes after a person forgot the key is recorded all the same', async () => {
  const { ledger, opened, intent, outbox } = await given()
  await ledger.remove(opened, [])
  await outbox.persist(KEY, {
    intentId: intent.id,
    opened,
    end: CREATED,
    history: [],
  })
  expect(await ledger.get(KEY)).toMatchObject({ remote: { id: 'pipe-1' } })
})

test('a failure that comes after a word does not take the word back', async () => {
  const { ledger, opened, intent, outbox, clock } = await given()
  await ledger.swap(dismissIntent(opened, intent, { now: clock.now(), found: 'created nothing' }), [])
  await outbox.persist(KEY, {
    intentId: intent.id,
    opened,
    end: UNKNOWN,
    history: [],
  })
  expect(await ledger.get(KEY)).toMatchObject({ intent: { state: 'dismissed' } })
  const forgotten = await ledger.get(KEY)
  await ledger.remove(forgotten ?? opened, [])
  await outbox.persist(KEY, {
    intentId: intent.id,
    opened,
    end: UNKNOWN,
    history: [],
  })
  expect(await ledger.get(KEY)).toBeUndefined()
})

test('an id that comes after a person said so, when the former pipe was given back, takes its place', async () => {
  const { ledger, opened, intent, outbox, clock } = await given('pipe-0')
  const dismissed = await ledger.swap(
    dismissIntent(opened, intent, { now: clock.now(), found: 'created nothing' }),
    [],
  )
  expect([dismissed.remote?.id, dismissed.former]).toEqual(['pipe-0', undefined])
  await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history: [] })
  expect(await ledger.get(KEY)).toMatchObject({ remote: { id: 'pipe-1' }, replaced: { count: 1 } })
})
