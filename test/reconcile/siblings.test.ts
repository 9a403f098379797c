import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { expect, test } from 'vitest'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { siblingFoundAt } from '../../src/reconcile/gather/siblings.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { recordedPipe } from '../plan/inputs.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

/* What is known of other keys: who is a witness, and who holds an id. */

const ID = '00000000-0000-4000-8000-000000000001'
const NEW_ID = '00000000-0000-4000-8000-000000000002'

function made(name: string, id: string): LedgerRecord {
  return {
    ...blankRecord(`Pipe/${name}`),
    service: { name: 'analytics', organizationId: ORGANIZATION, serviceId: SERVICE_ID },
    remote: recordedPipe(id),
  }
}

function storeOf(...records: readonly LedgerRecord[]) {
  const store = createStateStore({ profile: DEFAULT, hashKey: new Uint8Array(32), clock: createFakeClock() })
  for (const record of records) store.note(record)
  return store
}

test('a pipe that was read with other credentials is no witness: they may see what these do not', () => {
  const clock = createFakeClock()
  const missed = made('missed', ID)
  const store = storeOf(missed, made('beside', NEW_ID))
  const seen = {
    at: 0,
    readAt: 7,
    found: true,
    misses: undefined,
    state: undefined,
    shownState: undefined,
    reply: undefined,
  }
  store.noteObservation('Pipe/beside', { ...seen, credential: 'theirs', unsettled: 0 })
  expect(siblingFoundAt({ store, clock }, missed, 'ours')).toBeUndefined()
  expect(siblingFoundAt({ store, clock }, missed, 'theirs')).toBe(7)
})

test('the id of a pipe that is being replaced still belongs to its key', () => {
  const { remote, ...record } = made('replaced', ID)
  if (remote === undefined) throw new Error('it has none')
  const store = storeOf({ ...record, former: { remote } })
  expect(store.holderOf(ID.toUpperCase(), 'Pipe/other')).toBe('Pipe/replaced')
  expect(store.holderOf(ID, 'Pipe/replaced')).toBeUndefined()
})
