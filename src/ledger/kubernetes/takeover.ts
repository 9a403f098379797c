import { sleep, type Clock } from '../../lib/clock.ts'
import type { Emit } from '../../contract/events.ts'
import type { Leadership, Term } from '../../contract/leadership.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-api.ts'

export interface TakeoverParts {
  /** Who acts, as the Lease says. */
  readonly lease: Leadership
  /** Reads all that was written before this was called. @throws {ClusterError} {@link LedgerError} */
  readonly readAll: () => Promise<void>
  readonly clock: Clock
  readonly emit: Emit
}

const AGAIN_MS = 1_000
const never = new AbortController().signal

/** Who takes over has the Lease first, and then reads all records (design §9): the process before cannot send what is not among them. */
export function createTakeover({ lease, readAll, clock, emit }: TakeoverParts): Leadership {
  /** Reads all, however often it takes, while this process is the one that acts. @returns false: another one is */
  async function hasBegun(term: Term, signal: AbortSignal): Promise<boolean> {
    const end = AbortSignal.any([signal, term.over])
    for (;;) {
      try {
        await readAll()
        signal.throwIfAborted()
        return !term.over.aborted
      } catch (error) {
        if (!isOfApi(error)) {
          await term.release()
          throw error
        }
        emit({ type: 'LedgerRead', result: 'failed', durationMs: 0, message: error.message })
      }
      await sleep(clock, AGAIN_MS, end).catch(() => undefined)
      if (end.aborted) {
        await term.release()
        signal.throwIfAborted()
        return false
      }
    }
  }

  return {
    ...lease,
    async acquire(signal, whileTaken) {
      for (;;) {
        const term = await lease.acquire(signal, whileTaken)
        if (await hasBegun(term, signal)) return term
      }
    },
    async attempt() {
      const term = await lease.attempt()
      if (term === undefined) return undefined
      return (await hasBegun(term, never)) ? term : undefined
    },
  }
}

/** Whether it may work when it is tried again. */
function isOfApi(error: unknown): error is Error {
  return error instanceof ClusterError || (error instanceof LedgerError && error.code === 'io')
}
