import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import { LedgerError } from '../contract/ledger.ts'

/** So soon a person sees what became of their command. */
const POLL_MS = 1_000

export interface WatchOptions {
  readonly clock: Pick<Clock, 'after'>
  /** A number that changes when somebody else has written; cheap enough for every second. @throws {LedgerError} */
  readonly counter: () => number
  /** As in `Ledger.watch`. */
  readonly onWritten: () => Promise<void>
  readonly emit: Emit
}

/**
 * Watches for what others write, by asking once a second. A ledger that cannot be read is not reported here: the next
 * reconcile of any key does.
 * @returns ends it
 * @throws {LedgerError}
 */
export function watchWrites({ clock, counter, onWritten, emit }: WatchOptions): () => void {
  let last = counter()
  let ended = false
  let cancel: (() => void) | undefined

  async function poll(): Promise<void> {
    try {
      const now = counter()
      if (now === last || ended) return
      await onWritten()
      last = now
    } catch (error) {
      if (error instanceof LedgerError) return
      const bug = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
      emit({ type: 'Bug', message: 'what others wrote to the ledger could not be followed', error: bug })
    }
  }

  function wait(): void {
    if (ended) return
    cancel = clock.after(POLL_MS, () => void poll().finally(wait))
  }

  wait()
  return () => {
    ended = true
    cancel?.()
  }
}
