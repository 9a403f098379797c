import type { Event } from '../contract/events.ts'
import { NotLeading, type Term } from '../contract/leadership.ts'
import type { Clock } from '../lib/clock.ts'
import { createOlderCheckout } from './older-checkout.ts'

/** Whether this process acts. */
export interface Leading {
  /** Undefined: it stands by. */
  readonly term: Term | undefined
  /** Why the Lease cannot be renewed, in words, and since when: on the monotonic clock. */
  readonly failing: { readonly why: string; readonly since: number } | undefined
  /** Once the Lease was not renewed for as long as it lasts, another process may act. */
  readonly isActing: boolean
  /** It acts from now on. */
  begin(term: Term): void
  observe(event: Event): void
  /** It stands by, and the process that acts does so on this revision; undefined: it does not say. */
  noteLeader(revision: string | undefined): void
  /** What another process acted on, where that may be newer than the manifests here: then nothing counts as removed. */
  readonly olderThan: string | undefined
  /** A person has said that the manifests are to be taken as they are. */
  trust(): void
  /** As {@link Term.confirm}, for what the manifests that were read last ask for. */
  confirm(): Promise<number>
  /** Whether that would fail for what is known here. @throws {NotLeading} */
  assertMayAct(): void
}

export interface LeadingParts {
  readonly clock: Clock
  /** A Lease that nobody renewed for so long may be taken over: ms. */
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
      // Whoever takes over should know it soon, also where nothing has to be sent for it. What goes wrong is told by itself.
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
