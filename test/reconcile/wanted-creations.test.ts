import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Catalog } from '../../src/contract/catalog.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { ParsedFile } from '../../src/manifest/validate/parse-file.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { createStateStore, type Observation, type StateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { pipe, service } from './manifests.ts'
import { createModelDirectory, createReader } from './model-directory.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const

const SUSPENDED = { suspend: { reason: 'a test', until: '2026-01-01T00:01:00Z' } }

const name = fc.constantFrom(...NAMES)
const step = fc.oneof(
  fc.record({
    type: fc.constant('read'),
    wanted: fc.subarray([...NAMES]),
    suspended: fc.subarray([...NAMES]),
  }),
  fc.record({
    type: fc.constant('record'),
    name,
    service: fc.constantFrom('s-1', 's-2'),
    what: fc.constantFrom('nothing', 'an intent', 'a pipe', 'a pipe that was never seen'),
  }),
  fc.record({ type: fc.constant('observe'), name, found: fc.boolean() }),
  fc.record({ type: fc.constant('forget'), name }),
  fc.record({ type: fc.constant('wait'), ms: fc.constantFrom(1_000, 6_000, 70_000) }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const parsed = new Map<string, ParsedFile>()

function catalogOf({ wanted, suspended }: Extract<Step, { type: 'read' }>): Catalog {
  const directory = createModelDirectory(parsed)
  directory.files.set('service.yaml', service())
  for (const each of wanted)
    directory.files.set(`${each}.yaml`, pipe(each, { policy: suspended.includes(each) ? SUSPENDED : {} }))
  return createReader(directory).read(new Map()).catalog
}

function recordOf({ name, service, what }: Extract<Step, { type: 'record' }>, at: number): LedgerRecord {
  const blank = { ...blankRecord(`Pipe/${name}`), version: 1 }
  const identity = { name: 'analytics', organizationId: 'o', serviceId: service }
  if (what === 'nothing') return blank
  if (what === 'an intent') {
    const intent = {
      id: 'i',
      reason: 'Created',
      requestDigest: '',
      revision: '',
      attempt: 1,
      openedAt: at,
      sendBy: at,
      endBy: at,
      state: 'unknown',
    } as const
    return { ...blank, service: identity, intent }
  }
  const remote = {
    id: `id-${name}`,
    origin: 'created',
    at,
    revision: '',
    requestId: undefined,
    seenAt: what === 'a pipe' ? at : undefined,
    saidGoneAt: undefined,
    refutedAt: undefined,
  } as const
  return { ...blank, service: identity, remote }
}

function observationOf(found: boolean, at: number): Observation {
  const nothing = { readAt: undefined, misses: undefined, credential: undefined, state: undefined }
  return { ...nothing, at, found, reply: undefined, unsettled: 0 }
}

test('the number of pipes that want to be created is what counting them all anew gives, whatever happened', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const clock = createFakeClock()
      const storeOf = () => createStateStore({ hashKey: new Uint8Array(32), clock })
      const store = storeOf()
      let catalog: Catalog | undefined
      const observations = new Map<Key, Observation>()
      const anew = (): StateStore => {
        const fresh = storeOf()
        if (catalog !== undefined) fresh.setCatalog(catalog)
        for (const record of store.records()) fresh.note(record)
        for (const [key, observation] of observations) fresh.noteObservation(key, observation)
        return fresh
      }
      for (const each of steps) {
        if (each.type === 'read') {
          catalog = catalogOf(each)
          store.setCatalog(catalog)
        } else if (each.type === 'record') store.note(recordOf(each, clock.now()))
        else if (each.type === 'observe') {
          const observation = observationOf(each.found, clock.now())
          observations.set(`Pipe/${each.name}`, observation)
          store.noteObservation(`Pipe/${each.name}`, observation)
        } else if (each.type === 'forget') {
          observations.delete(`Pipe/${each.name}`)
          store.drop(`Pipe/${each.name}`)
        } else clock.jump(each.ms)
        // A suspension that ended counts within five seconds.
        if (each.type !== 'wait' || each.ms > 5_000)
          expect(store.wantedCreations(clock.now())).toBe(anew().wantedCreations(clock.now()))
      }
    }),
    { numRuns: 200 },
  )
})
