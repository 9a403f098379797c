import { isObject, type JsonObject } from '../../src/lib/json.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { decodeRecord } from '../../src/ledger/codec.ts'
import { unanswered } from '../../src/ledger/kubernetes/cluster-error.ts'
import type { ClusterApi, KubeObject } from '../../src/ledger/kubernetes/cluster-api.ts'
import { keptOf, storedOf, type Kept } from '../../src/ledger/kubernetes/record-object.ts'
import { createObjectStore, objectsIn } from '../support/object-store.ts'
import { judgeWritten } from './laws.ts'
import { LEASES, podAt, podsOf, RECORDS } from './pods.ts'
import { choose, forever, tell, type Run } from './run.ts'

/* The store of a cluster: objects, each written over the version that its writer saw. A request of it may be lost on its way there or back. */

export interface Caller {
  readonly name: string
  readonly pod: number | undefined
  readonly isDead: boolean
  /** Whether everything is answered, and at once. */
  readonly isQuiet: boolean
  die(): Promise<never>
  /** Anything may happen before this goes on. */
  stand(where: string): Promise<void>
}

export function clusterOf(run: Run, caller: Caller): ClusterApi {
  const store = createObjectStore(podsOf(run.model), (path) => {
    const { certainAt } = podsOf(run.model)
    if (path.startsWith(RECORDS)) follow(run)
    if (caller.pod === undefined) return
    if (path.startsWith(RECORDS)) certainAt.delete(caller.pod)
    else certainAt.set(caller.pod, podAt(run.model, caller.pod).behindMs)
  })

  async function read<T>(work: () => T): Promise<T> {
    return caller.isDead ? forever() : work()
  }

  async function write(what: string, work: () => KubeObject): Promise<KubeObject> {
    if (caller.isDead) return forever()
    if (caller.isQuiet) return work()
    await caller.stand(`before it ${what}`)
    const { crashes, faults } = run.world
    const taken = choose(run, [
      { name: 'answered', cost: 0 },
      faults.includes('api') && { name: 'lost', cost: 1 },
      faults.includes('api') && { name: 'cut', cost: 1 },
      crashes && { name: 'dies before', cost: 1 },
      crashes && { name: 'dies after', cost: 1 },
    ])
    if (taken === 'dies before') {
      tell(run, `  Process ${caller.name} is killed before it ${what}.`)
      return caller.die()
    }
    if (taken === 'cut') {
      tell(run, `  The API cannot be reached when it ${what}.`)
      throw unanswered('cut')
    }
    const written = work()
    if (taken === 'lost') {
      tell(run, `  It ${what}, and no reply of the API comes.`)
      throw unanswered('cut')
    }
    if (taken === 'dies after') {
      tell(run, `  Process ${caller.name} is killed right after it ${what}.`)
      return caller.die()
    }
    await caller.stand(`after it ${what}, before the reply comes`)
    return written
  }

  return {
    aheadMs: () => 0,
    get: (path) => read(() => store.get(path)),
    list: (path) => read(() => store.list(path)),
    create: (path, object) => write(whatIsIn(path, object), () => store.create(path, object)),
    replace: (path, object) => write(whatIsIn(path, object), () => store.replace(path, object)),
    versionOf: () => Promise.reject(new Error('nothing of it is watched')),
    watch: () => Promise.reject(new Error('nothing of it is watched')),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function textIn(object: JsonObject, field: string): string {
  const text = object[field]
  return typeof text === 'string' ? text : ''
}

function whatIsIn(path: string, object: JsonObject): string {
  if (path.startsWith(LEASES)) {
    const spec = isObject(object['spec']) ? object['spec'] : {}
    return spec['holderIdentity'] === '' ? 'releases the Lease' : 'writes the Lease'
  }
  const text = object['record']
  if (typeof text !== 'string') return `writes that ${textIn(object, 'key')} is forgotten`
  const { key, intent, remote } = JSON.parse(text) as LedgerRecord // ours
  const of =
    remote === undefined ? intent && `intent ${intent.state}` : `pipe ${Number(remote.id.slice(-12))}`
  return `writes the record of ${key}${of === undefined ? '' : ` (${of})`}`
}

const keptIn = new WeakMap<KubeObject, Kept>()
const recordIn = new WeakMap<KubeObject, LedgerRecord>()

function keptAt(object: KubeObject): Kept {
  const kept = keptIn.get(object) ?? keptOf(object)
  keptIn.set(object, kept)
  return kept
}

/** What the objects of records say, as whoever reads them all sees it. */
export function recordsIn(there: readonly KubeObject[]): Map<Key, LedgerRecord> {
  const byKey = new Map(there.map((object) => [keptAt(object).key, keptAt(object)]))
  const records = new Map<Key, LedgerRecord>()
  for (const object of there) {
    const kept = keptAt(object)
    const stored = storedOf(kept, (key) => byKey.get(key))
    if (stored === undefined) continue
    const isPlain = kept.movedFrom === undefined
    const record = (isPlain ? recordIn.get(object) : undefined) ?? decodeRecord(stored)
    if (isPlain) recordIn.set(object, record)
    records.set(kept.key, record)
  }
  return records
}

/** The records of a model are what the objects say; what changed is held against the laws. */
function follow(run: Run): void {
  const { model } = run
  const before = new Map(model.records)
  const after = recordsIn(objectsIn(podsOf(model), RECORDS))
  model.records.clear()
  for (const [key, record] of after) model.records.set(key, record)
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key)?.version !== after.get(key)?.version,
  )
  for (const key of changed) {
    model.versions += 1
    // Two at once: a record moves from one key to the other.
    const other = changed.find((each) => each !== key)
    const moved = other === undefined ? undefined : (before.get(other) ?? after.get(other))
    judgeWritten(run, { before: before.get(key), after: after.get(key), moved })
  }
}
