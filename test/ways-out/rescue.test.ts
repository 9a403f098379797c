import { expect, test } from 'vitest'
import { createMemoryLedger } from '../../src/ledger/memory.ts'
import { blankRecord, type Fingerprint, type RecordedPipe } from '../../src/plan/record.ts'
import { dismissIntent, leaveIntentUnknown, openIntent, succeedIntent } from '../../src/plan/transitions.ts'
import { createRescue } from '../../src/reconcile/rescue.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const KEY = 'Pipe/orders'
const FINGERPRINT: Fingerprint = { digest: 'd', fields: {}, secrets: {} }
const PIPE: RecordedPipe = { id: 'pipe-1', origin: 'created', at: 1, revision: 'r', requestId: undefined }
const SEEN = { at: 1, httpStatus: undefined, requestId: undefined, what: 'a cut' }

async function given() {
  const clock = createFakeClock()
  const ledger = createMemoryLedger({ emit: () => undefined })
  const opened = await ledger.swap(
    openIntent(blankRecord(KEY), {
      intentId: 'intent-1',
      requestDigest: 'x',
      revision: 'r',
      service: { name: 's', organizationId: 'o', serviceId: 'i' },
      platformName: 'orders',
      fingerprint: FINGERPRINT,
      giveUp: undefined,
      approved: undefined,
      now: clock.now(),
    }),
    [],
  )
  const intent = opened.intent
  if (intent === undefined) throw new Error('an opened record has an intent')
  return { clock, ledger, opened, intent, rescue: createRescue({ ledger, clock }) }
}

test('an id that comes after a person said "nothing was created" is recorded all the same', async () => {
  const { ledger, opened, intent, rescue, clock } = await given()
  await ledger.swap(dismissIntent(opened, intent, clock.now()), [])
  await rescue.persist(KEY, {
    intentId: intent.id,
    opened,
    settle: (record, own) => succeedIntent(record, own, PIPE),
    history: [],
  })
  expect(await ledger.get(KEY)).toMatchObject({ pipe: { id: 'pipe-1' }, intent: { state: 'succeeded' } })
})

test('an id that comes after a person forgot the key is recorded all the same', async () => {
  const { ledger, opened, intent, rescue } = await given()
  await ledger.remove(opened, [])
  await rescue.persist(KEY, {
    intentId: intent.id,
    opened,
    settle: (record, own) => succeedIntent(record, own, PIPE),
    history: [],
  })
  expect(await ledger.get(KEY)).toMatchObject({ pipe: { id: 'pipe-1' } })
})

test('a failure that comes after a word does not take the word back', async () => {
  const { ledger, opened, intent, rescue, clock } = await given()
  await ledger.swap(dismissIntent(opened, intent, clock.now()), [])
  await rescue.persist(KEY, {
    intentId: intent.id,
    opened,
    settle: (record, own) => leaveIntentUnknown(record, own, SEEN),
    history: [],
  })
  expect(await ledger.get(KEY)).toMatchObject({ intent: { state: 'failed' } })
  const forgotten = await ledger.get(KEY)
  await ledger.remove(forgotten ?? opened, [])
  await rescue.persist(KEY, {
    intentId: intent.id,
    opened,
    settle: (record, own) => leaveIntentUnknown(record, own, SEEN),
    history: [],
  })
  expect(await ledger.get(KEY)).toBeUndefined()
})
