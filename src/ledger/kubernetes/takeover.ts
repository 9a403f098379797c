import { aborted, sleep, type Clock } from '../../lib/clock.ts'
import type { Emit } from '../../contract/events.ts'
import type { Leadership, Term } from '../../contract/leadership.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError } from './cluster-error.ts'
import { AGAIN_MS, TRIES } from './kubernetes-lease.ts'

/** Ms without the Lease after {@link TRIES} failed reads, so another process can try. */
const LET_GO_MS = 5_000

/** Reads all records before this process acts, because they hold the previous leader's intents. */
export function createTakeover(parts: {
  readonly lease: Leadership
  readonly readAll: () => Promise<void>
  readonly clock: Clock
  readonly emit: Emit
}): Leadership {
  const { lease, readAll, clock, emit } = parts

  /** @returns false: the records cannot be read or another process acts; the Lease is released */
  async function hasBegun(term: Term, signal: AbortSignal): Promise<boolean> {
    const end = AbortSignal.any([signal, term.over])
    for (let tries = 1; tries <= TRIES && !end.aborted; tries += 1) {
      try {
        const isRead = await Promise.race([readAll().then(() => true), aborted(end)])
        if (isRead === true) return true
        break
      } catch (error) {
        if (end.aborted) break
        if (!(error instanceof ClusterError || (error instanceof LedgerError && error.code === 'io'))) {
          await term.release()
          throw error
        }
        emit({ type: 'LedgerRead', result: 'failed', durationMs: 0, message: error.message })
      }
      await sleep(clock, AGAIN_MS, end).catch(() => undefined)
    }
    await term.release()
    signal.throwIfAborted()
    return false
  }

  return {
    ...lease,
    async acquire(signal, ...how) {
      for (;;) {
        const term = await lease.acquire(signal, ...how)
        if (await hasBegun(term, signal)) return term
        await sleep(clock, LET_GO_MS, signal)
      }
    },
    async attempt(signal) {
      const term = await lease.attempt(signal)
      if (term === undefined) return undefined
      return (await hasBegun(term, signal)) ? term : undefined
    },
  }
}
