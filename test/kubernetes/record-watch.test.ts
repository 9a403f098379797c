import { afterEach, describe, expect, test } from 'vitest'
import type { ClusterApi, KubeObject } from '../../src/ledger/kubernetes/cluster-api.ts'
import { ClusterError } from '../../src/ledger/kubernetes/cluster-error.ts'
import { createLeaseObject } from '../../src/ledger/kubernetes/lease-object.ts'
import { keptOf } from '../../src/ledger/kubernetes/record-object.ts'
import { watchRecords } from '../../src/ledger/kubernetes/record-watch.ts'
import { sleep } from '../../src/lib/clock.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { mirrorOf } from '../explore/pod-ledger.ts'
import { LEDGER } from '../explore/pods.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { ignore } from '../ledger/samples.ts'

/* How often all records are read again, by how long a watch lasts and how it ends. */

const ENDED = undefined
const TOO_OLD = new ClusterError('the Kubernetes API answers 410: too old', 410)
const FORBIDDEN = new ClusterError('the Kubernetes API answers 403: no', 403)
const AWAY = new ClusterError('the Kubernetes API cannot be reached', undefined)

interface Watch {
  lastsMs: number
  end: ClusterError | undefined
  /** Why the records cannot be read. */
  unread: ClusterError | undefined
}

let stop = new AbortController()
let said: (string | undefined)[] = []
let meanwhile = async () => {}

afterEach(() => {
  stop.abort()
  stop = new AbortController()
  meanwhile = async () => {}
})

/** Begins to watch; `watch` says what becomes of each. @returns when all was read, in seconds since this was called */
function begin(clock: FakeClock, watch: Watch): readonly number[] {
  const reads: number[] = []
  const { signal } = stop
  said = []
  void watchRecords(
    {
      api: {
        versionOf: async () => '7',
        async watch() {
          const { lastsMs, end } = watch
          await sleep(clock, lastsMs, signal)
          if (end !== undefined) throw end
        },
      },
      path: '/records',
      clock,
      knownUpTo: () => '7',
      async readAll() {
        if (watch.unread !== undefined) throw watch.unread
        reads.push(Math.ceil(clock.monotonic() / 1_000))
        // Without a pause it would never end.
        if (reads.length === 50) stop.abort()
      },
      hear: ignore,
      onCurrent: async () => undefined,
      onSilence: (why) => said.push(why),
      onUnreadable: ignore,
    },
    signal,
  ).catch(ignore)
  return reads
}

describe('while no watch lasts, all records are read at once, and then less and less often', () => {
  test.each([
    ['each is ended at once, as by a proxy that does not stream', 0, ENDED],
    ['each is answered that its version is too old', 0, TOO_OLD],
    ['each is refused', 0, FORBIDDEN],
    ['each is ended after half a second', 500, ENDED],
  ])('%s', async (_, lastsMs, end) => {
    const clock = createFakeClock()
    const reads = begin(clock, { lastsMs, end, unread: undefined })
    await clock.advance(122_000)
    const first = Math.ceil(lastsMs / 1_000) + (end === FORBIDDEN ? 1 : 0)
    expect(reads).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121].map((after) => first + after))
  })
})

test('after watches that the API ended in their time, nothing is read again', async () => {
  const clock = createFakeClock()
  const reads = begin(clock, { lastsMs: 59_000, end: ENDED, unread: undefined })
  await clock.advance(600_000)
  expect(reads).toEqual([])
})

test('after each watch that lasts longer than the longest pause, and is broken off, all is read at once', async () => {
  const clock = createFakeClock()
  const reads = begin(clock, { lastsMs: 45_000, end: ENDED, unread: undefined })
  await clock.advance(200_000)
  expect(reads).toEqual([45, 90, 135, 180])
})

test('after a watch that lasted, all is read at once, and the pauses are short again', async () => {
  const clock = createFakeClock()
  const watch: Watch = { lastsMs: 0, end: ENDED, unread: undefined }
  const reads = begin(clock, watch)
  await clock.advance(20_000)
  watch.lastsMs = 100_000
  await clock.advance(110_000)
  watch.lastsMs = 0
  await clock.advance(30_000)
  expect(reads).toEqual([0, 1, 3, 7, 15, 31, 131, 132, 134, 138, 146])
})

test('after the API was away, which is said once, all is read within a second', async () => {
  const clock = createFakeClock()
  const watch: Watch = { lastsMs: 20_000, end: AWAY, unread: FORBIDDEN }
  const reads = begin(clock, watch)
  await clock.advance(50_000)
  watch.unread = undefined
  await clock.advance(1_000)
  expect([reads, said]).toEqual([[51], [AWAY.message, FORBIDDEN.message]])
})

function objectAt(resourceVersion: string): KubeObject {
  const made = { key: 'Pipe/orders', version: Number(resourceVersion), record: '{}' }
  return { ...made, metadata: { name: `${LEDGER}.pipe.orders`, uid: 'one', resourceVersion } }
}

test('all is read again if the cluster is at an earlier version than the last event', async () => {
  const clock = createFakeClock()
  const lists = [objectAt('1'), objectAt('3')]
  const api: Partial<ClusterApi> = {
    list: async () => ({ items: lists.splice(0, 1), resourceVersion: '1' }),
    versionOf: async () => '2',
    async watch(_path, _from, heard, signal) {
      heard({ type: 'MODIFIED', object: objectAt('3') })
      await sleep(clock, 60_000, signal)
    },
  }
  await using mirror = mirrorOf(api as ClusterApi, clock) // it needs no other call
  await mirror.relist()
  mirror.follow()
  await clock.advance(60_000)
  expect(lists).toEqual([])
})

test('a record that is written while a read does not find it is not lost', async () => {
  const versions = ['1', '2']
  const api: Partial<ClusterApi> = {
    list: async () => ({ items: versions.splice(0, 1).map(objectAt), resourceVersion: '2' }),
    async get() {
      await mirror.relist()
      throw new ClusterError('not found', 404)
    },
  }
  const mirror = mirrorOf(api as ClusterApi, createFakeClock()) // it needs no other call
  await mirror.relist()
  await mirror.refresh('Pipe/orders')
  expect(mirror.get('Pipe/orders')?.resourceVersion).toBe('2')
})

test('of a list and what this process reads meanwhile, the later version counts', async () => {
  const versions = ['1', '3', '1']
  const reads = ['2', '4']
  const api: Partial<ClusterApi> = {
    async list() {
      const [version = ''] = versions.splice(0, 1)
      if (versions.length < 2) await mirror.refresh('Pipe/orders')
      return { items: [objectAt(version)], resourceVersion: version }
    },
    get: async () => objectAt(reads.shift() ?? ''),
  }
  const mirror = mirrorOf(api as ClusterApi, createFakeClock()) // it needs no other call
  await mirror.relist()
  for (const version of ['3', '4']) {
    await mirror.relist()
    expect(mirror.get('Pipe/orders')?.resourceVersion).toBe(version)
  }
})

test('an event that comes before the reply to a write is of another process if its version is later', async () => {
  const clock = createFakeClock()
  let hear: Parameters<ClusterApi['watch']>[2] = ignore
  const written = () => meanwhile().then(() => objectAt('1'))
  const api: Partial<ClusterApi> = {
    create: written,
    replace: written,
    versionOf: async () => '0',
    watch: (_path, _from, heard, signal) => {
      hear = heard
      return sleep(clock, 60_000, signal)
    },
  }
  await using mirror = mirrorOf(api as ClusterApi, clock) // it needs no other call
  mirror.follow()
  await clock.settle()
  for (const [event, keys] of [
    ['1', 0],
    ['3', 1],
  ] as const) {
    meanwhile = async () => hear({ type: 'MODIFIED', object: objectAt(event) })
    await mirror.write(mirror.get('Pipe/orders'), keptOf(objectAt('1')), undefined)
    expect(mirror.get('Pipe/orders')?.resourceVersion).toBe(event)
    expect(mirror.toRead.size).toBe(keys)
  }
  hear({ type: 'MODIFIED', object: objectAt('4') })
  expect(mirror.get('Pipe/orders')?.resourceVersion).toBe('4')
})

test('a new Lease after a deletion keeps the revision and the count of the one that was seen, also if it is made during a read', async () => {
  const annotations = Object.fromEntries(
    [
      ['revision', 'r2'],
      ['writes', '7'],
      ['late-for-ms', '300000'],
    ].map(([name, text]) => [`pipewright.dev/${name}`, text]),
  )
  const metadata = { name: LEDGER, uid: 'one', resourceVersion: '1', annotations }
  const written: JsonObject[] = []
  const api: Partial<ClusterApi> = {
    async get() {
      await meanwhile()
      return { metadata, spec: { holderIdentity: 'a', leaseTransitions: 1 } }
    },
    async create(_path, body) {
      written.push(body)
      return { ...body, metadata: { ...metadata, resourceVersion: '2' } }
    },
  }
  const calls = { api: api as ClusterApi, patientApi: api as ClusterApi } // it needs no other calls
  const times = { durationMs: 15_000, requestTimeoutMs: 20_000, clock: createFakeClock() }
  const of = { path: 'leases', name: LEDGER, annotations: () => ({}), onRollback: ignore }
  const lease = createLeaseObject({ ...calls, ...times, ...of })
  await lease.read()
  meanwhile = async () => void (await lease.write('b', 2, undefined))
  // The reply is older.
  expect(await lease.read()).toMatchObject({ holder: 'b', epoch: 2 })
  expect(written).toMatchObject([{ metadata: { annotations } }])
})
