import { sleep, type Clock } from '../../lib/clock.ts'
import type { Emit } from '../../contract/events.ts'
import type { Leadership, Term } from '../../contract/leadership.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-api.ts'

export interface TakeoverOptions {
  readonly lease: Leadership
  /** Done by whoever has taken the Lease, before it acts. @throws {ClusterError | LedgerError} */
  readonly begin: () => Promise<void>
  readonly clock: Clock
  readonly emit: Emit
}

const AGAIN_MS = 1_000
const never = new AbortController().signal

/** A Lease whose holder reads all records after it has taken it, and before it acts. */
export function createTakeover({ lease, begin, clock, emit }: TakeoverOptions): Leadership {
  /** However often it takes, while this process is the one that acts. @returns false: another one is */
  async function hasBegun(term: Term, signal: AbortSignal): Promise<boolean> {
    const end = AbortSignal.any([signal, term.over])
    for (;;) {
      try {
        await begin()
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
