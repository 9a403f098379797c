import { expect, test } from 'vitest'
import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { dismissIntent } from '../../src/plan/transitions.ts'
import { CREATED, givenIntent, KEY, PIPE, UNKNOWN } from './given-intent.ts'

/** @param replaces the id of a pipe that the key has already */
async function given(replaces?: string) {
  const ledger = createMemoryLedger({ emit: () => undefined })
  const remote = replaces === undefined ? undefined : { ...PIPE, id: replaces }
  const before = await ledger.swap({ ...blankRecord(KEY), remote }, [])
  return { ledger, ...(await givenIntent(ledger, before)) }
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
