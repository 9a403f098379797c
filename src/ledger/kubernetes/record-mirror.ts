import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { LedgerConflict, LedgerError, type Ledger } from '../../contract/ledger.ts'
import { decodeRecord } from '../codec.ts'
import { ClusterError } from './cluster-error.ts'
import { findObject, isLater, type ClusterApi, type KubeObject, type WatchEvent } from './cluster-api.ts'
import { recordRollback, writesOf } from './ledger-rollback.ts'
import {
  ignoredWords,
  isRecordOf,
  keptOf,
  objectName,
  objectOf,
  storedOf,
  type Kept,
} from './record-object.ts'
import { watchRecords } from './record-watch.ts'

export type Mirror = ReturnType<typeof createMirror>

export interface Mirrored extends Kept {
  readonly resourceVersion: string
}

/** This process's copy of a ledger's objects, from lists, watches and its own writes. */
export function createMirror(
  options: Omit<Parameters<typeof watchRecords>[0], 'knownUpTo' | 'readAll' | 'hear'> & {
    readonly api: ClusterApi
    readonly ledger: string
    readonly onRollback: (what: string) => void
    /** An object has a name of the ledger's records but is none. Called once per object. */
    readonly onIgnored: (what: string) => void
  },
) {
  const { api, path, ledger } = options
  const objects = new Map<string, Mirrored>()
  const writes = new Map<string, Promise<unknown>>()
  const heardMeanwhile = new Map<string, WatchEvent>()
  const listeners = new Set<() => void>()
  const ignored = new Set<string>()
  const toRead: Ledger['toRead'] = new Map()
  const closing = new AbortController()
  let lastSeq = 0
  let listedAt = '0'
  let following: Promise<void> | undefined

  function note(object: KubeObject) {
    const { name, resourceVersion } = object.metadata
    const kept = keptOf(object)
    const known = objects.get(name)
    compare(known, kept)
    lastSeq = Math.max(lastSeq, kept.history.at(-1)?.seq ?? 0)
    objects.set(name, { ...kept, resourceVersion })
    return [known, kept] as const
  }

  function compare(known: Kept | undefined, now: Kept | undefined): void {
    const what = known && recordRollback(known, now)
    if (what !== undefined) options.onRollback(what)
  }

  function isRecord(object: KubeObject): boolean {
    if (isRecordOf(ledger, object)) return true
    const { name, uid } = object.metadata
    if (ignored.has(uid) || !name.startsWith(`${ledger}.`)) return false
    ignored.add(uid)
    options.onIgnored(ignoredWords(ledger, object))
    return false
  }

  /** Reports a missing object as a rollback, because Pipewright keeps even the objects of removed records. */
  function lose(name: string) {
    const known = objects.get(name)
    objects.delete(name)
    compare(known, undefined)
    return [known] as const
  }

  /** The other key of a move changes, too. */
  function noteOther(changed: readonly (Kept | undefined)[]): void {
    for (const kept of changed)
      for (const key of [kept?.key, kept?.movedFrom?.key, kept?.movedTo?.key])
        if (key !== undefined) toRead.set(key, {})
    for (const heard of listeners) heard()
  }

  /** An event waits while this process writes the same object. */
  function hear(event: WatchEvent): void {
    const { object, type } = event
    listedAt = object.metadata.resourceVersion
    if (type === 'BOOKMARK') return
    const { name } = object.metadata
    if (writes.has(name)) heardMeanwhile.set(name, event)
    else take(event)
  }

  function take({ type, object }: WatchEvent): void {
    const { name, resourceVersion } = object.metadata
    const known = objects.get(name)
    if (known !== undefined && !isLater(resourceVersion, known.resourceVersion)) return
    const isGone = type === 'DELETED' || !isRecord(object)
    if (isGone && known === undefined) return
    try {
      noteOther(isGone ? lose(name) : note(object))
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
      options.onUnreadable(error)
    }
  }

  /** Reads all objects, in a state that is no older than this call. */
  async function relist(): Promise<void> {
    const before = new Map(objects)
    const listed = await api.list(path)
    const there = new Map(listed.items.filter(isRecord).map((object) => [object.metadata.name, object]))
    const changed: (Kept | undefined)[] = []
    let unreadable: LedgerError | undefined
    for (const [name, object] of there) {
      const known = objects.get(name)
      if (known?.resourceVersion === object.metadata.resourceVersion) continue
      // Skips the object, because a write or an event during the list has already changed the mirror.
      const isChanged = known !== before.get(name)
      if (
        isChanged &&
        (known === undefined || !isLater(object.metadata.resourceVersion, known.resourceVersion))
      )
        continue
      try {
        changed.push(...note(object))
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        unreadable = error
      }
    }
    for (const [name, known] of before) {
      if (there.has(name) || objects.get(name) !== known) continue
      changed.push(...lose(name))
    }
    listedAt = listed.resourceVersion
    if (changed.length > 0) noteOther(changed)
    if (unreadable !== undefined) throw unreadable
  }

  /** Also reads the key that a record moved to. Otherwise, the moved record would seem missing. */
  async function refresh(key: Key, seen: readonly Key[] = []): Promise<void> {
    await readObject(key)
    const to = get(key)?.movedTo?.key
    if (to !== undefined && !seen.includes(to)) await refresh(to, [...seen, key])
  }

  async function readObject(key: Key): Promise<void> {
    const name = objectName(ledger, key)
    const before = objects.get(name)
    const object = await findObject(api, `${path}/${name}`)
    const known = objects.get(name)
    if (object === undefined) {
      // Ignores the 404 if an event or a write during the read has changed the mirror.
      if (known === before) noteOther(lose(name))
      return
    }
    const { resourceVersion } = object.metadata
    // Ignores the reply if an event or a write during the read has brought a later version.
    if (known !== undefined && known !== before && !isLater(resourceVersion, known.resourceVersion)) return
    if (!isRecord(object)) {
      if (known !== undefined) noteOther(lose(name))
      throw new LedgerError('corrupt', ignoredWords(ledger, object))
    }
    noteOther(note(object))
  }

  function get(key: Key): Mirrored | undefined {
    return objects.get(objectName(ledger, key))
  }

  /** Runs writes of a key in sequence. Their events do not count as writes of another process. */
  async function writing(key: Key, send: () => Promise<KubeObject>): Promise<void> {
    const name = objectName(ledger, key)
    const before = writes.get(name) ?? Promise.resolve()
    const written = before.then(send)
    const settled = written.catch(() => undefined)
    writes.set(name, settled)
    try {
      const object = await written
      const known = objects.get(name)
      if (known === undefined || isLater(object.metadata.resourceVersion, known.resourceVersion)) note(object)
    } finally {
      if (writes.get(name) === settled) {
        writes.delete(name)
        const heard = heardMeanwhile.get(name)
        heardMeanwhile.delete(name)
        if (heard !== undefined) take(heard)
      }
    }
  }

  return {
    get,
    all: (): Iterable<Mirrored> => objects.values(),
    relist,
    refresh,
    /** @param over undefined: creates @throws {LedgerConflict} the mirror then has the write of another process */
    async write(over: Mirrored | undefined, kept: Kept, record: LedgerRecord | undefined): Promise<void> {
      const { key } = kept
      const conflict = () => new LedgerConflict(key, over?.version ?? 0)
      try {
        await writing(key, async () => {
          if (get(key)?.resourceVersion !== over?.resourceVersion) throw conflict()
          const object = objectOf(ledger, kept, record, over?.resourceVersion)
          return over === undefined
            ? api.create(path, object)
            : api.replace(`${path}/${objectName(ledger, key)}`, object)
        })
      } catch (error) {
        if (!(error instanceof ClusterError)) throw error
        // 409: another process wrote the object. 404: it is gone.
        const isOlder = error.status === 409 || (error.status === 404 && over !== undefined)
        if (!isOlder)
          throw new LedgerError('io', `the ledger cannot be written: ${error.message}`, { cause: error })
        await refresh(key).catch(throwAsUnreadable)
        throw conflict()
      }
    },
    toRead,
    nextSeq: () => (lastSeq += 1),
    onOthers(heard: () => void) {
      listeners.add(heard)
      return () => listeners.delete(heard)
    },
    /** Starts the watch. Before, only {@link relist} and own writes change the mirror. */
    follow() {
      const parts = { ...options, knownUpTo: () => listedAt, readAll: relist, hear }
      following ??= watchRecords(parts, closing.signal)
    },
    /** Number of writes to all records. Only a rollback lowers it. */
    writes: () => writesOf(objects.values()),
    async [Symbol.asyncDispose]() {
      closing.abort()
      await following
    },
  }
}

/** The records that all processes see. During a rename, a record has its old key. */
export function readMirror(mirror: Mirror) {
  const decoded = new WeakMap<Mirrored, LedgerRecord>()

  function recordOf(kept: Mirrored | undefined): LedgerRecord | undefined {
    if (kept === undefined) return undefined
    const isPlain = kept.movedFrom === undefined
    const known = isPlain ? decoded.get(kept) : undefined
    if (known !== undefined) return known
    const stored = storedOf(kept, mirror.get)
    const record = stored && decodeRecord(stored)
    if (record === undefined) return undefined
    if (isPlain) decoded.set(kept, record)
    return record
  }

  function versionOf(kept: Mirrored | undefined): number | undefined {
    return kept && storedOf(kept, mirror.get)?.version
  }

  function records(): readonly LedgerRecord[] {
    const inOrder = [...mirror.all()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
    return inOrder.flatMap((mirrored) => recordOf(mirrored) ?? [])
  }

  /** Skips unreadable records: they must not block the outcomes of other keys. */
  function findRecord(isSought: (record: LedgerRecord) => boolean): LedgerRecord | undefined {
    for (const mirrored of mirror.all()) {
      try {
        const record = recordOf(mirrored)
        if (record !== undefined && isSought(record)) return record
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
      }
    }
    return undefined
  }

  function written(record: LedgerRecord): LedgerRecord {
    const mirrored = mirror.get(record.key)
    if (mirrored?.version === record.version) decoded.set(mirrored, record)
    return record
  }

  return { recordOf, versionOf, records, findRecord, written }
}

export function throwAsUnreadable(error: unknown): never {
  if (!(error instanceof ClusterError)) throw error
  throw new LedgerError('io', `the ledger cannot be read: ${error.message}`, { cause: error })
}
