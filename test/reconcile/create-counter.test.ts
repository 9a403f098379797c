import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { pipe, service } from './manifests.ts'
import { createModelDirectory, createReader } from './model-directory.ts'
import { intent, recordedPipe } from '../plan/inputs.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const IDENTITY = { name: 'analytics', organizationId: ORGANIZATION, serviceId: SERVICE_ID }

type Policy = NonNullable<Parameters<typeof pipe>[1]>['policy']

/** A store that has read manifests of pipes a, b, c, … */
function given(count: number, policy: Policy = {}) {
  const clock = createFakeClock()
  const store = createStateStore({ profile: DEFAULT, hashKey: new Uint8Array(32), clock })
  const directory = createModelDirectory(new Map())
  const reader = createReader(directory)
  const names = Array.from('abcdefghijk').slice(0, count)
  directory.files.set('service.yaml', service('analytics', SERVICE_ID))
  for (const name of names) directory.files.set(`${name}.yaml`, pipe(name, { policy: policy ?? {} }))
  function read(): void {
    store.setCatalog(reader.read(new Map()).catalog)
  }
  read()

  function note(name: string, record: Partial<LedgerRecord>): void {
    store.note({ ...blankRecord(keyOf(name)), version: 1, service: IDENTITY, ...record })
  }

  function observe(name: string, found: boolean): void {
    const nothing = { misses: undefined, credential: undefined, state: undefined, shownState: undefined }
    const observation = {
      ...nothing,
      at: clock.now(),
      readAt: undefined,
      found,
      reply: undefined,
      unsettled: 0,
    }
    store.noteObservation(keyOf(name), observation)
  }

  /** With the create of the last pipe. */
  function counts(name = names.at(-1) ?? ''): readonly [wanted: number, made: number] {
    const { wanted = 0, made = 0 } = store.createLimitReached(0, keyOf(name)) ?? {}
    return [wanted, made]
  }

  const created = recordedPipe('id', { at: clock.now(), seenAt: clock.now() })
  return { clock, store, directory, names, read, note, observe, counts, created }
}

const keyOf = (name: string): Key => `Pipe/${name}`

type Given = ReturnType<typeof given>

/** Steps, separated by `;`: what is recorded of pipe a (or b, c), what is read of it, and time. */
async function play(world: Given, text: string): Promise<void> {
  const { clock, created } = world
  const times = { openedAt: clock.now(), sendBy: clock.now(), endBy: clock.now() }
  const records: Readonly<Record<string, Partial<LedgerRecord>>> = {
    blank: {},
    unknown: { intent: intent('unknown', times) },
    failed: { intent: intent('failed', times) },
    pipe: { remote: created },
    new: { remote: created, intent: intent('succeeded', times) },
    unseen: { remote: { ...created, seenAt: undefined } },
    foreign: { remote: { ...created, foreign: ['source.kafka.tunnel'] } },
  }
  for (const step of text.split('; ').filter(Boolean)) {
    const [word = '', name = ''] = step.split(' ')
    const record = records[word]
    if (record !== undefined) world.note(name, record)
    else if (word === 'missing' || word === 'found') world.observe(name, word === 'found')
    else if (word === 'count') world.counts()
    else if (word === 'forget') world.store.drop(keyOf(name))
    else if (word === 'wait') await world.clock.advance(Number(name))
    else if (word === 'remove') {
      world.directory.files.delete(`${name}.yaml`)
      for (let reading = 0; reading < 4; reading += 1) world.read()
    } else throw new Error(`no step is "${step}"`)
  }
}

const OUT_OF_SIGHT = ['a', 'b', 'c'].map((name) => `pipe ${name}; missing ${name}`).join('; ')

test.each<readonly [string, string, readonly [number, number]]>([
  ['nothing is recorded', '', [4, 0]],
  ['a record without an id', 'blank a', [4, 0]],
  ['an intent without an outcome', 'unknown a', [3, 1]],
  ['a failed intent', 'failed a', [4, 0]],
  ['a pipe', 'pipe a', [3, 0]],
  ['a pipe that was just created', 'new a', [3, 1]],
  ['a pipe that was created an hour ago', `new a; wait ${HOUR}`, [3, 0]],
  ['a pipe that is not found', 'pipe a; missing a', [4, 0]],
  ['a pipe that is not found and was never seen', 'unseen a; missing a', [3, 0]],
  ['a pipe that is not found and had fields that no manifest can have', 'foreign a; missing a', [3, 0]],
  ['a pipe that is found again', 'pipe a; missing a; count; found a; wait 1000', [3, 0]],
  ['pipes of a service that is out of sight', OUT_OF_SIGHT, [1, 0]],
  ['a manifest that is gone', 'remove a', [3, 0]],
  ['a forgotten record', 'new a; count; forget a', [4, 0]],
])('%s', async (_, text, counted) => {
  const world = given(4)
  world.counts() // a count that is kept must not hide what comes now
  await play(world, text)
  expect(world.counts()).toEqual(counted)
})

test('a suspension counts from its end', async () => {
  const until = '2026-01-01T00:01:00Z'
  const { counts, clock } = given(4, { suspend: { reason: 'a test', until } })
  expect(counts()).toEqual([1, 0])
  await clock.advance(59_000)
  expect(counts()).toEqual([1, 0])
  await clock.advance(1_000)
  expect(counts()).toEqual([4, 0])
})

test('a key that is about to be created is counted immediately, also if the count is older', () => {
  const world = given(3)
  world.note('a', { remote: world.created })
  world.note('b', { remote: world.created })
  expect(world.counts()).toEqual([1, 0])
  world.observe('a', false)
  world.observe('b', false)
  expect(world.counts('a')).toEqual([3, 0])
})

test('a key that does not look wanted counts as wanted if it is about to be created', () => {
  const world = given(2)
  world.note('a', { remote: world.created })
  expect(world.counts()).toEqual([1, 0])
  expect(world.counts('a')).toEqual([2, 0])
})

test('a missing pipe whose own id its manifest names is wanted as any other', () => {
  const id = '11111111-1111-4111-8111-111111111111'
  const world = given(2, { adopt: id })
  world.directory.files.set('b.yaml', pipe('b'))
  world.read()
  world.note('a', { remote: { ...world.created, id } })
  world.observe('a', false)
  expect(world.counts('b')).toEqual([2, 0])
})
