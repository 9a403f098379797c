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

const NAMES = ['a', 'b', 'c', 'd'] as const

/** Over after a minute; that counts within five seconds, and no wait is shorter. */
const SUSPENDED = { suspend: { reason: 'a test', until: '2026-01-01T00:01:00Z' } }

const oneName = fc.constantFrom(...NAMES)
const step = fc.oneof(
  fc.record({
    type: fc.constant('read'),
    wanted: fc.subarray([...NAMES]),
    suspended: fc.subarray([...NAMES]),
  }),
  fc.record({
    type: fc.constant('record'),
    name: oneName,
    serviceId: fc.constantFrom('s-1', 's-2'),
    what: fc.constantFrom('nothing', 'an intent', 'a pipe', 'a pipe', 'a pipe that was never seen'),
  }),
  fc.record({ type: fc.constant('observe'), name: oneName, found: fc.boolean() }),
  fc.record({ type: fc.constant('forget'), name: oneName }),
  fc.record({ type: fc.constant('wait'), ms: fc.constantFrom(6_000, 70_000) }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const keyOf = (name: string): Key => `Pipe/${name}`

const parsed = new Map<string, ParsedFile>()

function catalogOf({ wanted, suspended }: Extract<Step, { type: 'read' }>): Catalog {
  const directory = createModelDirectory(parsed)
  directory.files.set('service.yaml', service())
  for (const each of wanted)
    directory.files.set(`${each}.yaml`, pipe(each, { policy: suspended.includes(each) ? SUSPENDED : {} }))
  return createReader(directory).read(new Map()).catalog
}

function recordOf({ name, serviceId, what }: Extract<Step, { type: 'record' }>, at: number): LedgerRecord {
  const blank = { ...blankRecord(keyOf(name)), version: 1 }
  const identity = { name: 'analytics', organizationId: 'o', serviceId }
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

/** After each step what the store says, and what one says that was told all of it only now. */
function counts(steps: readonly Step[]): readonly { readonly kept: number; readonly anew: number }[] {
  const clock = createFakeClock()
  const storeOf = () => createStateStore({ hashKey: new Uint8Array(32), clock })
  const store = storeOf()
  let catalog: Catalog | undefined
  const observations = new Map<Key, Observation>()

  function anew(): StateStore {
    const fresh = storeOf()
    if (catalog !== undefined) fresh.setCatalog(catalog)
    for (const record of store.records()) fresh.note(record)
    for (const [key, observation] of observations) fresh.noteObservation(key, observation)
    return fresh
  }

  function take(each: Step): void {
    switch (each.type) {
      case 'read':
        catalog = catalogOf(each)
        return store.setCatalog(catalog)
      case 'record':
        return store.note(recordOf(each, clock.now()))
      case 'observe': {
        const observation = observationOf(each.found, clock.now())
        observations.set(keyOf(each.name), observation)
        return store.noteObservation(keyOf(each.name), observation)
      }
      case 'forget':
        observations.delete(keyOf(each.name))
        return store.drop(keyOf(each.name))
      case 'wait':
        return clock.jump(each.ms)
    }
  }

  return steps.map((each) => {
    take(each)
    return { kept: store.wantedCreations(clock.now()), anew: anew().wantedCreations(clock.now()) }
  })
}

test('the number of pipes that want to be created is what counting them all anew gives, whatever happened', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const all = counts([{ type: 'read', wanted: [...NAMES], suspended: [] }, ...steps])
      expect(all.map(({ kept }) => kept)).toEqual(all.map(({ anew }) => anew))
    }),
    { numRuns: 400 },
  )
})
