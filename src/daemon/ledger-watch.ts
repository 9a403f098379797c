import type { Key } from '../kinds/key.ts'
import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../reconcile/events.ts'
import { LedgerError, type Ledger } from '../reconcile/ports.ts'
import type { World } from '../reconcile/world.ts'

/** So soon a person sees what became of their command. */
const LOOK_MS = 1_000

export interface LedgerWatchOptions {
  readonly ledger: Ledger
  /** What we know of the records. */
  readonly world: Pick<World, 'records'>
  readonly clock: Clock
  readonly emit: Emit
  /** Keys whose record somebody else wrote, moved or removed; also one that we are just writing ourselves. */
  readonly onWritten: (keys: readonly Key[]) => void
}

/**
 * Watches for what others write to the ledger: a person's `adopt`, `resolve` or `forget` beside the daemon.
 * To be called before the records are read for the first time, so that nothing falls between. A ledger that cannot be
 * read is not told here: the next turn of any key does.
 * @returns ends it
 * @throws {LedgerError}
 */
export async function watchLedger(options: LedgerWatchOptions): Promise<() => void> {
  const { ledger, world, clock, emit, onWritten } = options
  let last = await ledger.othersWrites()
  let ended = false
  let cancel: (() => void) | undefined

  async function look(): Promise<void> {
    try {
      const mark = await ledger.othersWrites()
      if (mark === last) return
      const keys = changedKeys(await ledger.versions(), world.records())
      last = mark
      if (keys.length > 0 && !ended) onWritten(keys)
    } catch (error) {
      if (error instanceof LedgerError) return
      const bug = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
      emit({ type: 'Bug', message: 'the look at what others wrote to the ledger threw', error: bug })
    }
  }

  function wait(): void {
    if (ended) return
    cancel = clock.after(LOOK_MS, () => void look().finally(wait))
  }

  wait()
  return () => {
    ended = true
    cancel?.()
  }
}

function changedKeys(versions: ReadonlyMap<Key, number>, records: Iterable<{ key: Key; version: number }>) {
  const known = new Map<Key, number>()
  for (const { key, version } of records) known.set(key, version)
  const written = [...versions].filter(([key, version]) => known.get(key) !== version).map(([key]) => key)
  const removed = [...known.keys()].filter((key) => !versions.has(key))
  return [...written, ...removed].toSorted()
}
