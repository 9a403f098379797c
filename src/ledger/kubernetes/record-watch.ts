import { sleep, type Clock } from '../../lib/clock.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-error.ts'
import { isLater, WATCH_S, type ClusterApi, type WatchEvent } from './cluster-api.ts'

interface RecordWatchParts {
  readonly api: Pick<ClusterApi, 'versionOf' | 'watch'>
  readonly path: string
  readonly clock: Clock
  /** The version up to which all changes are known. */
  readonly knownUpTo: () => string
  /** @throws {ClusterError} @throws {LedgerError} if a record is invalid; the others are read */
  readonly readAll: () => Promise<void>
  readonly hear: (event: WatchEvent) => void
  /** Called after each full read, and after each watch that ends in time: no change is unknown. */
  readonly onCurrent: () => Promise<void>
  /** Called when the watch fails (with the reason) or works again. */
  readonly onSilence: (why: string | undefined) => void
  readonly onUnreadable: (error: LedgerError) => void
}

const AGAIN_MS = 1_000
/** First delay between full reads while watches fail. It doubles up to {@link LONGEST_APART_MS}. */
const APART_MS = 1_000
const LONGEST_APART_MS = 30_000

const GONE = 410

export async function watchRecords(parts: RecordWatchParts, signal: AbortSignal): Promise<void> {
  const { api, path, clock, knownUpTo, readAll, hear, onCurrent } = parts
  const { onSilence, onUnreadable } = parts
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

  /** Waits if the last full read was recent, because a proxy can cut every watch. @returns false: not read */
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
    await onCurrent()
    return true
  }

  // After a broken watch, reads all records, because the cluster might have been restored and written to since.
  let isBroken = false
  while (!signal.aborted) {
    try {
      // A restored cluster sends no events until it is at the known version again.
      if (isBroken || isLater(knownUpTo(), await api.versionOf(path))) {
        isBroken = !(await isReadAgain())
        if (isBroken) {
          await pause(AGAIN_MS)
          continue
        }
      }
      const end = clock.monotonic() + (WATCH_S - 1) * 1_000
      const heard = (event: WatchEvent) => {
        say(undefined)
        hear(event)
      }
      await api.watch(path, knownUpTo(), heard, signal)
      isBroken = clock.monotonic() < end
      if (!isBroken) await onCurrent()
      say(undefined)
    } catch (error) {
      isBroken = true
      if (error instanceof ClusterError && error.status === GONE) continue
      say(error instanceof Error ? error.message : String(error))
      await pause(AGAIN_MS)
    }
  }
}
