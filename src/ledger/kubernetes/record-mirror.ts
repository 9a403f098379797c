import type { Clock } from '../../lib/clock.ts'
import type { Key } from '../../kinds/key.ts'
import type { Emit } from '../../contract/events.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-error.ts'
import { isLater, type ClusterApi, type KubeObject, type WatchEvent } from './cluster-api.ts'
import { type Loss, lossOf } from './losses.ts'
import { ignoredWords, isRecordOf, keptOf, objectName, type Kept } from './record-object.ts'
import { watchRecords } from './record-watch.ts'

/** The objects of a ledger as this process knows them: listed, watched, and written by itself. */
export interface Mirror extends AsyncDisposable {
  get(key: Key): Mirrored | undefined
  all(): Iterable<Mirrored>
  /** Reads all of it as it is at some moment after this was called. @throws {ClusterError} */
  relist(): Promise<void>
  /** Reads one object again: a write of it was refused. @throws {ClusterError} */
  refresh(key: Key): Promise<void>
  /**
   * Writes, by one after the other for each key. What the API says of it meanwhile is not somebody else's.
   * @returns the object as written
   */
  writing(key: Key, write: () => Promise<KubeObject>): Promise<KubeObject>
  /** The place of a new line in the history of all: behind every one that this process has seen. */
  nextSeq(): number
  /** Grows with each write that is not of this process. */
  othersWrites(): number
  /** Calls this soon after somebody else has written. @returns ends it */
  onOthers(heard: () => void): () => void
  /** Begins to watch; until then nothing changes but by {@link relist} and by writes of one's own. */
  follow(): void
  /** How often its records were written, as far as their versions say. It becomes less only when they are put back to an earlier state. */
  writes(): number
}

export interface Mirrored {
  readonly kept: Kept
  readonly resourceVersion: string
}

export interface MirrorOptions {
  readonly api: ClusterApi
  /** Of the collection. */
  readonly path: string
  readonly selector: string
  readonly ledger: string
  readonly clock: Clock
  /** The API went silent, or is heard again. */
  readonly onSilence: (why: string | undefined) => void
  /** A record was put back to an earlier state, or deleted. */
  readonly onSetBack: (loss: Loss) => void
  /** What is no record, and was written by somebody else. */
  readonly onUnreadable: (error: LedgerError) => void
  /** An object has the label of the ledger, and is none of its records, in words: once for each. */
  readonly onIgnored: (what: string) => void
}

export function createMirror(options: MirrorOptions): Mirror {
  const { api, path, selector, ledger } = options
  const objects = new Map<string, Mirrored>()
  const writes = new Map<string, Promise<unknown>>()
  /** What was heard of an object while it was being written. */
  const heardMeanwhile = new Map<string, WatchEvent>()
  const listeners = new Set<() => void>()
  /** The `uid` of each. */
  const ignored = new Set<string>()
  const closing = new AbortController()
  let others = 0
  let lastSeq = 0
  let listedAt = '0'
  let following: Promise<void> | undefined

  function note(object: KubeObject): void {
    const { name, resourceVersion } = object.metadata
    const kept = keptOf(object)
    const known = objects.get(name)?.kept
    const loss = known && lossOf(known, kept)
    if (loss !== undefined) options.onSetBack(loss)
    lastSeq = Math.max(lastSeq, kept.history.at(-1)?.seq ?? 0)
    objects.set(name, { kept, resourceVersion })
  }

  function isRecord(object: KubeObject): boolean {
    if (isRecordOf(ledger, object)) return true
    const { uid } = object.metadata
    if (!ignored.has(uid)) options.onIgnored(ignoredWords(ledger, object))
    ignored.add(uid)
    return false
  }

  /** Pipewright deletes no object: what it forgets, it keeps as forgotten. */
  function lose(name: string): void {
    const known = objects.get(name)?.kept
    objects.delete(name)
    const loss = known && lossOf(known, undefined)
    if (loss !== undefined) options.onSetBack(loss)
  }

  /** @throws {LedgerError} */
  function loseForAnother(name: string, object: KubeObject): never {
    const isKnown = objects.has(name)
    lose(name)
    if (isKnown) noteOther()
    throw new LedgerError('corrupt', ignoredWords(ledger, object))
  }

  function noteOther(): void {
    others += 1
    for (const heard of listeners) heard()
  }

  /** What the API tells; it may be late. */
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
    if (known === undefined && isGone) return
    try {
      if (isGone) lose(name)
      else note(object)
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
      options.onUnreadable(error)
      return
    }
    noteOther()
  }

  async function relist(): Promise<void> {
    const before = new Map(objects)
    const listed = await api.list(path, selector)
    const there = new Map(listed.items.filter(isRecord).map((object) => [object.metadata.name, object]))
    let isOther = false
    let unreadable: LedgerError | undefined
    for (const [name, object] of there) {
      const known = objects.get(name)
      if (known?.resourceVersion === object.metadata.resourceVersion) continue
      // It was written, or heard of, after the list was made.
      if (known !== before.get(name)) continue
      try {
        note(object)
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        unreadable = error
      }
      isOther = true
    }
    for (const [name, known] of before) {
      if (there.has(name) || objects.get(name) !== known) continue
      lose(name)
      isOther = true
    }
    listedAt = listed.resourceVersion
    if (isOther) noteOther()
    // The others are known, whatever this one holds.
    if (unreadable !== undefined) throw unreadable
  }

  async function refresh(key: Key): Promise<void> {
    const name = objectName(ledger, key)
    const before = objects.get(name)
    try {
      const object = await api.get(`${path}/${name}`)
      const { resourceVersion } = object.metadata
      const known = objects.get(name)
      if (known?.resourceVersion === resourceVersion) return
      // What was heard of meanwhile may be later. What was known before is earlier, unless it was put back.
      if (known !== undefined && known !== before && !isLater(resourceVersion, known.resourceVersion)) return
      if (isRecord(object)) note(object)
      else loseForAnother(name, object)
    } catch (error) {
      if (!(error instanceof ClusterError) || error.status !== 404) throw error
      if (!objects.has(name)) return
      lose(name)
    }
    noteOther()
  }

  return {
    get: (key) => objects.get(objectName(ledger, key)),
    all: () => objects.values(),
    relist,
    refresh,
    async writing(key, write) {
      const name = objectName(ledger, key)
      const before = writes.get(name) ?? Promise.resolve()
      const written = before.then(write)
      const settled = written.then(
        () => undefined,
        () => undefined,
      )
      writes.set(name, settled)
      try {
        const object = await written
        const known = objects.get(name)
        if (known === undefined || isLater(object.metadata.resourceVersion, known.resourceVersion))
          note(object)
        return object
      } finally {
        if (writes.get(name) === settled) {
          writes.delete(name)
          const heard = heardMeanwhile.get(name)
          heardMeanwhile.delete(name)
          if (heard !== undefined) take(heard)
        }
      }
    },
    othersWrites: () => others,
    nextSeq: () => (lastSeq += 1),
    onOthers(heard) {
      listeners.add(heard)
      return () => listeners.delete(heard)
    },
    follow() {
      const parts = { ...options, knownUpTo: () => listedAt, readAll: relist, hear }
      following ??= watchRecords(parts, closing.signal)
    },
    writes() {
      let sum = 0
      for (const { kept } of objects.values()) sum += kept.version
      return sum
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await following
    },
  }
}

/** Calls `onWritten` after others have written, one call at a time. */
export function followOthers(mirror: Mirror, onWritten: () => Promise<void>, emit: Emit): () => void {
  let running = Promise.resolve()
  let isWaiting = false

  async function run(): Promise<void> {
    isWaiting = false
    try {
      await onWritten()
    } catch (error) {
      if (error instanceof LedgerError) return
      const bug = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
      emit({ type: 'Bug', message: 'what others wrote to the ledger could not be followed', error: bug })
    }
  }

  return mirror.onOthers(() => {
    if (isWaiting) return
    isWaiting = true
    running = running.then(run)
  })
}
