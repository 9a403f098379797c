import type { Event } from '../contract/events.ts'
import { NotLeading, type Term } from '../contract/leadership.ts'
import type { Clock } from '../lib/clock.ts'
import { createOlderCheckout } from './older-checkout.ts'

export interface Leading {
  /** Undefined: standby. */
  readonly term: Term | undefined
  /** Why the Lease cannot be renewed, and since when: monotonic ms. */
  readonly failing: { readonly why: string; readonly since: number } | undefined
  /** False after a lease duration without renewal: another process might act. */
  readonly isActing: boolean
  begin(term: Term): void
  observe(event: Event): void
  /** For a standby: the leader's revision. Undefined: the leader does not say. */
  noteLeader(revision: string | undefined): void
  /** Another process acted on this revision, which might be newer. While set, no resource counts as removed. */
  readonly olderThan: string | undefined
  /** A person accepts the manifests as they are. */
  trust(): void
  /** {@link Term.confirm} for the revision read last. */
  confirm(): Promise<number>
  /** The local part of {@link confirm}. @throws {NotLeading} */
  assertMayAct(): void
}

export interface LeadingParts {
  readonly clock: Clock
  /** Without renewal for so long, another process can take the Lease: ms. */
  readonly leaseMs: number
  /** Of the manifests in force. */
  readonly revision: () => string
  /** As `Leadership.actOn`. */
  readonly actOn: (revision: string) => void
}

export function createLeading({ clock, leaseMs, revision: inForce, actOn }: LeadingParts): Leading {
  const checkout = createOlderCheckout(clock)
  let term: Term | undefined
  let failing: Leading['failing']

  async function confirm(): Promise<number> {
    const acting = mayAct()
    actOn(checkout.actedOn(inForce()))
    return acting.confirm()
  }

  function mayAct(): Term {
    if (term === undefined) throw new NotLeading('this process does not act', false)
    checkout.check()
    return term
  }

  return {
    get term() {
      return term
    },
    get failing() {
      return failing
    },
    get isActing() {
      if (term === undefined || term.over.aborted) return false
      return failing === undefined || clock.monotonic() - failing.since < leaseMs
    },
    begin(taken) {
      term = taken
      checkout.begin(taken.revisionBefore)
    },
    observe(event) {
      if (event.type === 'LeaseRenewed')
        failing = event.message === undefined ? undefined : { why: event.message, since: clock.monotonic() }
      if (event.type !== 'SourceLoaded') return
      if (event.problem === undefined) checkout.noteRead(event.revision.id)
      // The next leader needs the revision, even without a request. Failures are reported elsewhere.
      if (term !== undefined) confirm().catch(() => undefined)
    },
    get olderThan() {
      return checkout.olderThan
    },
    trust: () => checkout.trust(),
    noteLeader: (revision) => checkout.noteLeader(revision),
    confirm,
    assertMayAct: () => void mayAct(),
  }
}
