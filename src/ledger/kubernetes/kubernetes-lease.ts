import { sleep } from '../../lib/clock.ts'
import { NotLeading, type Leader, type Leadership, type Term } from '../../contract/leadership.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { ClusterError, asLedgerError } from './cluster-error.ts'
import {
  annotationIn,
  createLeaseObject,
  lateForIn,
  REVISION_ANNOTATION,
  URL_ANNOTATION,
  type LeaseObjectOptions,
  type SeenLease,
} from './lease-object.ts'

/** Longest time between two reads of the Lease by a standby. */
const LONGEST_LOOK_MS = 1_000
export const AGAIN_MS = 1_000
export const TRIES = 10

const FORBIDDEN = 403

/** A Lease is free if it did not change for its duration. Clocks of two hosts are never compared. */
export function createKubernetesLease(
  options: LeaseObjectOptions & {
    readonly holder: string
    /** True if the ledger has no records: then no other process has acted. */
    readonly isNew: () => boolean
    /** Called when renewals begin to fail (with the reason) or work again. */
    readonly onRenewal: (failed: string | undefined) => void
  },
) {
  const { holder, durationMs, clock } = options
  const object = createLeaseObject(options)
  const seen = () => object.seen()
  const everyMs = durationMs / 5
  let failing: string | undefined
  let missingSince: number | undefined
  let term: Term | undefined
  /** Start of the last request to become leader: monotonic ms. */
  let askedAt = 0
  /** Start of the last successful renewal; undefined after a release. */
  let renewedAt: number | undefined

  function isLapsed(): boolean {
    return renewedAt !== undefined && clock.monotonic() - renewedAt >= durationMs
  }

  function tell(failed: string | undefined): void {
    const isNews = (failing === undefined) !== (failed === undefined)
    failing = failed
    if (isNews) options.onRenewal(failed)
  }

  async function read(how?: 'patiently'): Promise<SeenLease | undefined> {
    const lease = await object.read(how)
    if (lease !== undefined) missingSince = undefined
    return lease
  }

  function isFree(lease: SeenLease): boolean {
    return lease.holder === '' || clock.monotonic() - lease.since >= Math.max(lease.durationMs, durationMs)
  }

  /** Whether a missing Lease can be taken: after its duration, until which its last holder might act. */
  function isFreeWithout(): boolean {
    if (seen() === undefined && options.isNew()) return true
    missingSince ??= clock.monotonic()
    return clock.monotonic() - missingSince >= Math.max(seen()?.durationMs ?? 0, durationMs)
  }

  /** @returns the Lease with this process as holder. Undefined: another process has it or was faster */
  async function take(): Promise<SeenLease | undefined> {
    const lease = await read()
    // An earlier attempt of this process took the Lease, but its reply was lost.
    if (lease?.holder === holder) return lease
    if (lease === undefined ? !isFreeWithout() : !isFree(lease)) return undefined
    askedAt = clock.monotonic()
    try {
      return await object.write(holder, (seen()?.epoch ?? 0) + 1, lease)
    } catch (error) {
      if (error instanceof ClusterError && error.status === 409) return undefined
      throw error
    }
  }

  /** @returns undefined only if `whileTaken` is `return` */
  async function lead(
    signal: AbortSignal,
    whileTaken: 'wait' | 'refuse' | 'return',
    onLeader?: (revision: string | undefined) => void,
  ): Promise<Term | undefined> {
    let taken: SeenLease | undefined
    if (term !== undefined && !term.over.aborted) return term
    for (let tries = 1; ; tries += 1) {
      signal.throwIfAborted()
      try {
        const lease = await take()
        tell(undefined)
        if (lease !== undefined || whileTaken === 'return') return lease && begin(lease)
        onLeader?.(annotationIn(seen()?.object, REVISION_ANNOTATION))
        // If the Lease was renewed, its holder is running, so waiting does not help.
        if (whileTaken === 'refuse' && taken !== undefined && seen()?.spec !== taken.spec)
          throw new LedgerError(
            'locked',
            `another process is the leader of this ledger (${seen()?.holder ?? 'unknown'}). Run the command in its pod with "kubectl exec", name its server with --server URL, or stop it.`,
          )
        taken = seen()
      } catch (error) {
        if (!(error instanceof ClusterError)) throw error
        // Fail immediately, because a person must act first.
        const isRefused = whileTaken !== 'wait' && error.status === FORBIDDEN
        if (isRefused || (whileTaken === 'return' && tries === TRIES)) throw asLedgerError(error)
        tell(error.message)
      }
      const againMs = whileTaken === 'return' ? AGAIN_MS : Math.min(everyMs, LONGEST_LOOK_MS)
      await sleep(clock, againMs, signal)
    }
  }

  function begin({ epoch, object: taken }: SeenLease): Term {
    const over = new AbortController()
    renewedAt = askedAt
    let current: Promise<number> | undefined
    let next: Promise<number> | undefined
    let cancel: (() => void) | undefined

    const isOurs = (lease: SeenLease | undefined) => lease?.holder === holder && lease.epoch === epoch

    function end(why: string): void {
      cancel?.()
      if (!over.signal.aborted) over.abort(new NotLeading(why, true))
    }

    /** @returns until when a request may start, monotonic ms @throws {NotLeading} if no request may start */
    async function renew(): Promise<number> {
      for (let tries = 1; ; tries += 1) {
        over.signal.throwIfAborted()
        const lease = seen()
        if (!isOurs(lease)) {
          end(`${lease?.holder ?? 'another process'} became the leader`)
          continue
        }
        try {
          const begunAt = clock.monotonic()
          await object.write(holder, epoch, lease)
          tell(undefined)
          renewedAt = begunAt
          return begunAt + durationMs
        } catch (error) {
          if (!(error instanceof ClusterError)) throw error
          if (error.status === 404) end('the Lease was deleted')
          // The Lease was written by another process, or by an earlier renewal whose reply was lost.
          else if (error.status === 409 && tries < TRIES) await readAgain()
          else {
            tell(error.message)
            await endIfTakenOver()
            throw new NotLeading(`the Lease cannot be renewed: ${error.message}`, false)
          }
        }
      }
    }

    /** Reads the Lease first, because renewals can also fail without a takeover. */
    async function endIfTakenOver(): Promise<void> {
      if (!isLapsed()) return
      const lease = await read('patiently').catch(() => seen())
      if (!isOurs(lease)) end(`${lease?.holder ?? 'another process'} became the leader`)
      over.signal.throwIfAborted()
    }

    async function readAgain(): Promise<void> {
      try {
        if ((await read()) === undefined) end('the Lease was deleted')
      } catch (error) {
        if (!(error instanceof ClusterError)) throw error
        tell(error.message)
        throw new NotLeading(`the Lease cannot be read: ${error.message}`, false)
      }
    }

    function start(): Promise<number> {
      const renewal = renew().finally(() => {
        if (current === renewal) current = undefined
      })
      current = renewal
      return renewal
    }

    /** Calls during a renewal wait for the next renewal, because only a renewal after the call proves leadership. */
    function confirm(): Promise<number> {
      if (current === undefined) return start()
      next ??= current
        .catch(() => undefined)
        .then(() => {
          next = undefined
          return start()
        })
      return next
    }

    function keepOn(): void {
      cancel = clock.after(everyMs, () => {
        confirm()
          .catch(() => undefined) // reported by `onRenewal`
          .finally(() => {
            if (!over.signal.aborted) keepOn()
          })
      })
    }

    keepOn()
    term = {
      epoch,
      lateForMs: epoch > 1 || !options.isNew() ? lateForIn(taken) : undefined,
      revisionBefore: annotationIn(taken, REVISION_ANNOTATION),
      over: over.signal,
      confirm,
      endsAt: () => (renewedAt ?? -Infinity) + durationMs,
      async release() {
        cancel?.()
        if (over.signal.aborted) return
        await current?.catch(() => undefined)
        const lease = seen()
        renewedAt = undefined
        end('it was released')
        if (!isOurs(lease)) return
        try {
          await object.write('', epoch, lease)
        } catch (error) {
          if (!(error instanceof ClusterError)) throw error // only delays the takeover
        }
      },
    }
    return term
  }

  return {
    acquire: async (...how: Parameters<Leadership['acquire']>) => (await lead(...how)) as Term, // waits or throws
    attempt: (signal: AbortSignal) => lead(signal, 'return'),
    actOn: (revision: string) => object.actOn(revision),
    seen,
    read,
    failing: () => failing,
    /** Why another process might be leader. Undefined: this process renewed the Lease in time, or did not take it. */
    lapsed() {
      if (!isLapsed()) return undefined
      return `the Lease was not renewed for ${durationMs / 1_000} s, so another process might be the leader`
    },
    leader(): Leader | undefined {
      const lease = seen()
      if (lease === undefined || lease.holder === '') return undefined
      return { holder: lease.holder, epoch: lease.epoch, url: annotationIn(lease.object, URL_ANNOTATION) }
    },
    async [Symbol.asyncDispose]() {
      await term?.release()
    },
  }
}
