import { sleep, type Clock } from '../../lib/clock.ts'
import type { Key } from '../../kinds/key.ts'
import type { Emit } from '../../contract/events.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-error.ts'
import { isLater, WATCH_S, type ClusterApi, type KubeObject, type WatchEvent } from './cluster-api.ts'
import { type Loss, lossOf } from './losses.ts'
import { keptOf, objectName, type Kept } from './record-object.ts'

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
}

const AGAIN_MS = 1_000

/** A version is too old to go on from: reading all of it again mends that. */
const GONE = 410

export function createMirror(options: MirrorOptions): Mirror {
  const { api, path, selector, ledger, clock } = options
  const objects = new Map<string, Mirrored>()
  const writes = new Map<string, Promise<unknown>>()
  /** What was heard of an object while it was being written. */
  const heardMeanwhile = new Map<string, WatchEvent>()
  const listeners = new Set<() => void>()
  const closing = new AbortController()
  let others = 0
  let lastSeq = 0
  let listedAt = '0'
  let silence: string | undefined
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

  /** Pipewright deletes no object: what it forgets, it keeps as forgotten. */
  function lose(name: string): void {
    const known = objects.get(name)?.kept
    objects.delete(name)
    const loss = known && lossOf(known, undefined)
    if (loss !== undefined) options.onSetBack(loss)
  }

  function noteOther(): void {
    others += 1
    for (const heard of listeners) heard()
  }

  /** What the API tells; it may be late. */
  function hear(event: WatchEvent): void {
    const { object, type } = event
    say(undefined)
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
    if (known === undefined && type === 'DELETED') return
    try {
      if (type === 'DELETED') lose(name)
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
    const there = new Map(listed.items.map((object) => [object.metadata.name, object]))
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

  /** After it was put back, a cluster is silent about all that happens until its versions are as great as they were. */
  async function isBefore(version: string): Promise<boolean> {
    return isLater(version, await api.versionOf(path, selector))
  }

  function say(why: string | undefined): void {
    if (silence === why) return
    silence = why
    options.onSilence(why)
  }

  async function isReadAgain(): Promise<boolean> {
    try {
      await relist()
      return true
    } catch (error) {
      if (error instanceof LedgerError) {
        options.onUnreadable(error)
        return true
      }
      say(error instanceof Error ? error.message : String(error))
      return false
    }
  }

  async function followForever(): Promise<void> {
    const { signal } = closing
    const pause = () => sleep(clock, AGAIN_MS, signal).catch(() => undefined)
    // After a watch that was broken off, the cluster may be one that was put back, and at greater versions again by now.
    let isBroken = false
    while (!signal.aborted) {
      try {
        if (isBroken || (await isBefore(listedAt))) {
          isBroken = !(await isReadAgain())
          if (isBroken) {
            await pause()
            continue
          }
        }
        const end = clock.monotonic() + (WATCH_S - 1) * 1_000
        await api.watch(path, { selector, resourceVersion: listedAt }, hear, signal)
        isBroken = clock.monotonic() < end
        say(undefined)
      } catch (error) {
        isBroken = true
        // All of it is listed again at once.
        if (error instanceof ClusterError && error.status === GONE) continue
        say(error instanceof Error ? error.message : String(error))
        await pause()
      }
    }
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
      note(object)
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
      following ??= followForever()
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
