import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Catalog } from '../../src/contract/catalog.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { ParsedFile } from '../../src/manifest/validate/parse-file.ts'
import { limitGroupOf } from '../../src/plan/create-limit.ts'
import { blankRecord, type Intent, type LedgerRecord } from '../../src/plan/record.ts'
import { createStateStore, type Observation, type StateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { ORGANIZATION, OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'
import { pipe, service } from './manifests.ts'
import { createModelDirectory, createReader } from './model-directory.ts'

const NAMES = ['a', 'b', 'c', 'd'] as const

/** Over after a minute. */
const SUSPENDED = { suspend: { reason: 'a test', until: '2026-01-01T00:01:00Z' } }

const SERVICE_IDS = [SERVICE_ID, SERVICE_ID.toUpperCase(), OTHER_SERVICE_ID] as const

const oneName = fc.constantFrom(...NAMES)
const step = fc.oneof(
  fc.record({
    type: fc.constant('read'),
    wanted: fc.subarray([...NAMES]),
    suspended: fc.subarray([...NAMES]),
    locked: fc.subarray([...NAMES]),
    serviceId: fc.constantFrom(...SERVICE_IDS),
  }),
  fc.record({
    type: fc.constant('record'),
    name: oneName,
    serviceId: fc.constantFrom('s-1', 's-2'),
    what: fc.constantFrom(
      'nothing',
      'an intent',
      'a pipe that was just made',
      'a pipe',
      'a pipe that was never seen',
      'a pipe that replaced another',
    ),
  }),
  fc.record({ type: fc.constant('observe'), name: oneName, found: fc.boolean() }),
  fc.record({ type: fc.constant('forget'), name: oneName }),
  fc.record({ type: fc.constant('wait'), ms: fc.constantFrom(1_000, 59_000, 3_599_000) }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const keyOf = (name: string): Key => `Pipe/${name}`

const parsed = new Map<string, ParsedFile>()

/** One reading after the other, so that what stays as it was stays the same object. */
function createReadings(): (step: Extract<Step, { type: 'read' }>) => Catalog {
  const directory = createModelDirectory(parsed)
  const reader = createReader(directory)
  return ({ wanted, suspended, locked, serviceId }) => {
    directory.files.clear()
    directory.files.set('service.yaml', service('analytics', serviceId))
    for (const each of wanted)
      directory.files.set(`${each}.yaml`, pipe(each, { policy: suspended.includes(each) ? SUSPENDED : {} }))
    const { catalog } = reader.read(new Map())
    return { ...catalog, locks: new Map(locked.map((name) => [keyOf(name), 'a pipe'])) }
  }
}

function recordOf({ name, serviceId, what }: Extract<Step, { type: 'record' }>, at: number): LedgerRecord {
  const blank = { ...blankRecord(keyOf(name)), version: 1 }
  const identity = { name: 'analytics', organizationId: 'o', serviceId }
  if (what === 'nothing') return blank
  if (what === 'an intent') return { ...blank, service: identity, intent: intentOf('unknown', at) }
  const remote = {
    id: `id-${name}`,
    origin: 'created',
    at,
    revision: '',
    requestId: undefined,
    seenAt: what === 'a pipe that was never seen' ? undefined : at,
    saidGoneAt: undefined,
    refutedAt: undefined,
  } as const
  const replaced = what === 'a pipe that replaced another' ? { replaced: { count: 1, at } } : {}
  const intent = what === 'a pipe that was just made' ? { intent: intentOf('succeeded', at) } : {}
  return { ...blank, service: identity, remote, ...replaced, ...intent }
}

function intentOf(state: Intent['state'], at: number): Intent {
  const times = { openedAt: at, sendBy: at, endBy: at }
  return { id: 'i', reason: 'Created', requestDigest: '', revision: '', attempt: 1, state, ...times }
}

function observationOf(found: boolean, at: number): Observation {
  const nothing = {
    readAt: undefined,
    misses: undefined,
    credential: undefined,
    state: undefined,
    shownState: undefined,
  }
  return { ...nothing, at, found, reply: undefined, unsettled: 0 }
}

function wantedIn(store: StateStore, now: number): number {
  return store.creations(now).reduce((sum, { wanted }) => sum + wanted, 0)
}

/** By service, with what was made there. */
function creationsIn(store: StateStore, now: number) {
  const made = [SERVICE_ID, OTHER_SERVICE_ID, 's-1', 's-2'].map((serviceId) =>
    store.creationsIn(
      limitGroupOf({ organizationId: serviceId.startsWith('s-') ? 'o' : ORGANIZATION, serviceId }),
      now,
    ),
  )
  return made.map((each) => ({ wanted: each.wanted, made: each.made.map(({ at }) => at) }))
}

/** After each step what the store says, and what one says that was told all of it only now. */
async function counts(
  steps: readonly Step[],
): Promise<
  readonly { readonly kept: number; readonly anew: number; readonly all: readonly [unknown, unknown] }[]
> {
  const clock = createFakeClock()
  const storeOf = () => createStateStore({ profile: DEFAULT, hashKey: new Uint8Array(32), clock })
  const store = storeOf()
  const readings = createReadings()
  let catalog: Catalog | undefined
  const observations = new Map<Key, Observation>()

  function anew(): StateStore {
    const fresh = storeOf()
    if (catalog !== undefined) fresh.setCatalog(catalog)
    for (const record of store.records()) fresh.note(record)
    for (const [key, observation] of observations) fresh.noteObservation(key, observation)
    return fresh
  }

  async function take(each: Step): Promise<void> {
    switch (each.type) {
      case 'read':
        catalog = readings(each)
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
        return clock.advance(each.ms)
    }
  }

  const all = []
  for (const each of steps) {
    await take(each)
    const now = clock.now()
    const fresh = anew()
    all.push({
      kept: wantedIn(store, now),
      anew: wantedIn(fresh, now),
      all: [creationsIn(store, now), creationsIn(fresh, now)] as const,
    })
  }
  return all
}

test('the number of pipes that want to be created is what counting them all anew gives, whatever happened', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const first: Step = {
        type: 'read',
        wanted: [...NAMES],
        suspended: [],
        locked: [],
        serviceId: SERVICE_ID,
      }
      const all = await counts([first, ...steps])
      expect(all.map(({ kept }) => kept)).toEqual(all.map(({ anew }) => anew))
      for (const {
        all: [kept, anew],
      } of all)
        expect(kept).toEqual(anew)
    }),
    { numRuns: 400 },
  )
})

test('a key that is gone counts no more for its service', async () => {
  const names = Array.from('abcdefghijk')
  const all = { type: 'read', wanted: names, suspended: [], locked: [], serviceId: SERVICE_ID }
  const pipes = names.map((name) => ({ type: 'record', name, serviceId: 's-1', what: 'a pipe' }))
  const misses = names.slice(0, 3).map((name) => ({ type: 'observe', name, found: false }))
  const gone = Array.from({ length: 4 }, () => ({ ...all, wanted: names.slice(0, 10) }))
  // More names than the steps above have.
  const counted = await counts([all, ...pipes, ...misses, ...gone] as readonly Step[])
  expect(counted.map(({ kept }) => kept)).toEqual(counted.map(({ anew }) => anew))
  // Three of eleven may be created anew; three of ten are a service that is out of sight.
  expect([counted.at(-5)?.kept, counted.at(-1)?.kept]).toEqual([3, 0])
})

const ALL = [...NAMES]
const REPLACED = {
  type: 'record',
  name: 'a',
  serviceId: 's-1',
  what: 'a pipe that replaced another',
} as const

test.each<{ readonly why: string; readonly steps: readonly Step[]; readonly last: number }>([
  {
    why: 'a suspension',
    steps: [
      { type: 'read', wanted: ALL, suspended: ALL, locked: [], serviceId: SERVICE_ID },
      { type: 'wait', ms: 59_000 },
      { type: 'wait', ms: 1_000 },
    ],
    last: 4,
  },
  {
    why: 'the wait before the next replacement',
    steps: [
      { type: 'read', wanted: ['a'], suspended: [], locked: [], serviceId: SERVICE_ID },
      REPLACED,
      { type: 'observe', name: 'a', found: false },
      { type: 'wait', ms: 3_599_000 },
      { type: 'wait', ms: 1_000 },
    ],
    last: 1,
  },
])('it grows at once when $why ends, also right after all was counted', async ({ steps, last }) => {
  const kept = (await counts(steps)).map((each) => each.kept)
  expect(kept.slice(-2)).toEqual([0, last])
})
