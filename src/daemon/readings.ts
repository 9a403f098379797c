import type { LoadResult, Source } from '../manifest/source.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { createdOf, recordedOf } from '../reconcile/state/recorded.ts'
import { createSerial, type TriggerCause } from './watcher.ts'
import type { Catalog, Entry } from '../contract/catalog.ts'
import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'

type ReadingCause = TriggerCause | 'asked' | 'start'

/** `normal`: a mass removal is rejected, and three reads must agree that a key is gone. */
type Acceptance = 'force' | 'normal'

export interface ReadingContext {
  readonly durationMs: number
  /** Monotonic ms. */
  readonly startedAt: number
  readonly cause: ReadingCause
  readonly tokens: readonly string[]
}

const AGAIN_MS = 500

export function createReadings(options: {
  readonly context: ReconcileContext
  readonly source: Source
  readonly stopping: AbortSignal
  readonly onLoaded: (result: LoadResult, context: ReadingContext) => void
  readonly onFailed: (message: string, context: ReadingContext) => void
}) {
  const { context, source, stopping } = options
  const { store, clock } = context
  const loads = createSerial(load)
  let cause: ReadingCause = 'start'
  let asked: string[] = []
  let acceptance: Acceptance = 'normal'
  let attempted = false
  let lastLoadAt: number | undefined
  let cancelAgain: (() => void) | undefined

  async function load(): Promise<void> {
    const startedAt = clock.monotonic()
    const [tokens, why, accept] = [asked, cause, acceptance]
    asked = []
    acceptance = 'normal'
    cancelAgain?.()
    cancelAgain = undefined
    const about = () => ({ durationMs: clock.monotonic() - startedAt, startedAt, cause: why, tokens })
    try {
      const result = await source.load(
        recordedOf(store.records()),
        {
          accept,
          created: createdOf(store.records()),
          // `stamps` compares only sizes and times of files. `bytes` compares their contents.
          trust: why === 'full' || tokens.length > 0 ? 'bytes' : 'stamps',
        },
        stopping,
      )
      lastLoadAt = clock.now()
      options.onLoaded(result, about())
    } catch (error) {
      if (!stopping.aborted) options.onFailed(error instanceof Error ? error.message : String(error), about())
    } finally {
      attempted = true
    }
  }

  function read(why: ReadingCause): Promise<void> {
    cause = why
    return loads.run()
  }

  return {
    nudge: (why: TriggerCause) => void read(why),
    /** Reads all bytes, because a person asked. @param accept `force`: every removal is accepted */
    request(token: string, accept: Acceptance) {
      asked.push(token)
      if (accept === 'force') acceptance = accept
      void read('asked')
    },
    start: () => void read('start'),
    refresh: () => read('asked'),
    readAgain() {
      if (stopping.aborted) return
      cancelAgain ??= clock.after(AGAIN_MS, () => void read('asked'))
    },
    get attempted() {
      return attempted
    },
    /** ms since the epoch. */
    get lastLoadAt() {
      return lastLoadAt
    },
    /** Waits for the read in progress. Abort `stopping` first to end it. */
    async stop() {
      cancelAgain?.()
      await loads.stop()
    },
  }
}

/** Keys to reconcile although their manifests are unchanged. */
export function listAffected(
  before: Catalog | undefined,
  next: Catalog,
  records: Iterable<LedgerRecord>,
): readonly Key[] {
  return [
    ...changedMistakes(before, next),
    ...changedLocks(before?.locks, next),
    // A reconcile cancels a pending deletion if a manifest now claims the pipe.
    ...[...records].flatMap(({ key, removal }) => (removal === undefined ? [] : [key])),
  ]
}

function changedLocks(
  before: ReadonlyMap<Key, string> | undefined,
  { locks, entries }: Catalog,
): readonly Key[] {
  if (before === locks) return []
  return [...entries.keys()].filter((key) => before?.get(key) !== locks.get(key))
}

/** Keys of invalid manifests whose mistakes changed, so the shown message is outdated. */
function changedMistakes(before: Catalog | undefined, { entries }: Catalog): readonly Key[] {
  return [...entries.values()].flatMap((entry) => {
    const { key, state } = entry
    const known = before?.entries.get(key)
    if (state !== 'invalid' || known === undefined || known === entry) return []
    return mistakesOf(known) === mistakesOf(entry) ? [] : [key]
  })
}

function mistakesOf({ findings, stated }: Entry): string {
  return JSON.stringify([stated, findings.map(({ message, line, column }) => [message, line, column])])
}

const REMEMBERED = 100

/** Tracks requests by `POST /-/reconcile` and SIGHUP. */
export function createRequests(newId: () => string) {
  /** Pending keys by token. Undefined until the directory is read. */
  const requests = new Map<string, Set<Key> | undefined>()
  return {
    open() {
      const token = newId()
      requests.set(token, undefined)
      for (const oldest of requests.keys()) {
        if (requests.size <= REMEMBERED) break
        requests.delete(oldest)
      }
      return token
    },
    expect(token: string, keys: readonly Key[]) {
      if (requests.has(token)) requests.set(token, new Set(keys))
    },
    /** Called when a reconcile begins. @returns function to call at its end */
    request(key: Key) {
      // A reconcile does not answer requests that come after its start.
      const answered = [...requests.values()].filter((pending) => pending?.has(key))
      return () => {
        for (const pending of answered) pending?.delete(key)
      }
    },
    progress(token: string) {
      if (!requests.has(token)) return undefined
      const pending = requests.get(token)
      return { done: pending?.size === 0, pending: pending?.size ?? 0 }
    },
  }
}
