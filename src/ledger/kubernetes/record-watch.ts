import { sleep, type Clock } from '../../lib/clock.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-error.ts'
import { isLater, WATCH_S, type ClusterApi, type WatchEvent } from './cluster-api.ts'

export interface RecordWatchParts {
  readonly api: Pick<ClusterApi, 'versionOf' | 'watch'>
  /** Of the collection. */
  readonly path: string
  readonly selector: string
  readonly clock: Clock
  /** The version up to which everything is known. */
  readonly knownUpTo: () => string
  /** Reads all of it. @throws {ClusterError} {@link LedgerError} it is read, and not all of it is a record */
  readonly readAll: () => Promise<void>
  readonly hear: (event: WatchEvent) => void
  /** The API went silent, or is heard again. */
  readonly onSilence: (why: string | undefined) => void
  readonly onUnreadable: (error: LedgerError) => void
}

/** After a request that failed. */
const AGAIN_MS = 1_000
/** All of it is read no more often than that, at first, while no watch lasts; then half as often each time, down to the second one. */
const APART_MS = 1_000
const LONGEST_APART_MS = 30_000

/** A version is too old to go on from: reading all of it again mends that. */
const GONE = 410

/** Hears what happens to the records of a ledger, until the signal ends it. */
export async function watchRecords(parts: RecordWatchParts, signal: AbortSignal): Promise<void> {
  const { api, path, selector, clock, knownUpTo, readAll, hear, onSilence, onUnreadable } = parts
  let silence: string | undefined
  let readAt = -Infinity
  let apartMs = APART_MS

  function say(why: string | undefined): void {
    if (silence === why) return
    silence = why
    onSilence(why)
  }

  function pause(ms: number): Promise<void> {
    return sleep(clock, ms, signal).catch(() => undefined)
  }

  /** After it was put back, a cluster is silent about all that happens until its versions are as great as they were. */
  async function isBefore(version: string): Promise<boolean> {
    return isLater(version, await api.versionOf(path, selector))
  }

  /**
   * At once after a watch that lasted; otherwise a proxy that ends each one would have all of it read all the time.
   * @returns false: it could not be read
   */
  async function isReadAgain(): Promise<boolean> {
    const passedMs = clock.monotonic() - readAt
    if (passedMs < apartMs) await pause(apartMs - passedMs)
    if (signal.aborted) return false
    try {
      await readAll()
    } catch (error) {
      if (!(error instanceof LedgerError)) {
        say(error instanceof Error ? error.message : String(error))
        return false
      }
      onUnreadable(error)
    }
    apartMs = passedMs < WATCH_S * 1_000 ? Math.min(2 * apartMs, LONGEST_APART_MS) : APART_MS
    readAt = clock.monotonic()
    return true
  }

  // After a watch that was broken off, the cluster may be one that was put back, and at greater versions again by now.
  let isBroken = false
  while (!signal.aborted) {
    try {
      if (isBroken || (await isBefore(knownUpTo()))) {
        isBroken = !(await isReadAgain())
        if (isBroken) {
          await pause(AGAIN_MS)
          continue
        }
      }
      const end = clock.monotonic() + (WATCH_S - 1) * 1_000
      const from = { selector, resourceVersion: knownUpTo() }
      const heard = (event: WatchEvent) => {
        say(undefined)
        hear(event)
      }
      await api.watch(path, from, heard, signal)
      isBroken = clock.monotonic() < end
      say(undefined)
    } catch (error) {
      isBroken = true
      // All of it is read again.
      if (error instanceof ClusterError && error.status === GONE) continue
      say(error instanceof Error ? error.message : String(error))
      await pause(AGAIN_MS)
    }
  }
}
