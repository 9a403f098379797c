import type { Event } from '../contract/events.ts'
import { NotLeading, type Term } from '../contract/leadership.ts'
import type { Clock } from '../lib/clock.ts'

export type Leading = ReturnType<typeof createLeaderState>

export function createLeaderState(parts: {
  readonly clock: Clock
  readonly revision: () => string
  readonly actOn: (revision: string) => void
}) {
  const { clock, revision: inForce, actOn } = parts
  const checkout = createOlderCheckout(clock)
  let term: Term | undefined
  let failing: string | undefined

  async function confirm(): Promise<number> {
    const acting = mayAct()
    actOn(checkout.actedOn(inForce()))
    return acting.confirm()
  }

  function mayAct(): Term {
    if (term === undefined) throw new NotLeading('this process is not the leader', false)
    checkout.check()
    return term
  }

  return {
    get term() {
      return term
    },
    /** Why the Lease cannot be renewed. */
    get failing() {
      return failing
    },
    /** False if another process might act. */
    get isActing() {
      return term !== undefined && !term.over.aborted && clock.monotonic() < term.endsAt()
    },
    begin(taken: Term) {
      term = taken
      checkout.begin(taken.revisionBefore)
    },
    observe: (event: Event) => {
      if (event.type === 'LeaseRenewed') failing = event.message
      if (event.type !== 'SourceLoaded') return
      if (event.problem === undefined) checkout.noteRead(event.revision.id)
      // Writes the revision for the next leader. An event `LeaseRenewed` reports a failure.
      if (term !== undefined) confirm().catch(() => undefined)
    },
    /** The revision last acted on by another process, if this checkout might be older. Then nothing counts as removed. */
    get olderThan() {
      return checkout.olderThan
    },
    trust: () => checkout.trust(),
    /** Called on a standby. @param revision the leader's revision; undefined: unknown */
    noteLeader: (revision: string | undefined) => checkout.noteLeader(revision),
    /** Writes the last accepted revision for the next leader, then calls {@link Term.confirm}. */
    confirm,
    /** The checks of {@link confirm} that need no request. @throws {NotLeading} */
    assertMayAct: () => void mayAct(),
  }
}

const LONGEST_WAIT_MS = 5 * 60_000

const AND = '; '

/**
 * Blocks a new leader whose checkout might be older than the revision last acted on: it would recreate removed
 * resources, and count added ones as removed. The block ends when the checkout has that revision,
 * or changes after the start. After five minutes, creates and applies continue; removals stay blocked.
 */
export function createOlderCheckout(clock: Pick<Clock, 'monotonic'>) {
  /** Revisions that this process has read since its checkout last equalled the leader's. */
  const readRevisions = new Set<string>()
  const replacedByLeader = new Set<string>()
  let now: string | undefined
  let leader: string | undefined
  let hasBegun = false
  let waiting: { readonly for: string; readonly since: number; readonly at: string | undefined } | undefined

  function olderThan(): string | undefined {
    if (waiting === undefined) return undefined
    const { for: before, at } = waiting
    const isLeft = now !== undefined && now !== before && replacedByLeader.has(now)
    const isSeen = !isLeft && before.split(AND).every((revision) => readRevisions.has(revision))
    if (isSeen || (at !== undefined && now !== at)) waiting = undefined
    return waiting?.for
  }

  function forgetWhenSame(): void {
    if (now === undefined || now !== leader) return
    readRevisions.clear()
    readRevisions.add(now)
  }

  return {
    noteLeader(revision: string | undefined) {
      if (leader !== undefined && leader !== revision) replacedByLeader.add(leader)
      leader = revision
      forgetWhenSame()
    },
    noteRead(revision: string) {
      now = revision
      if (hasBegun && waiting === undefined) return
      readRevisions.add(revision)
      if (!hasBegun) forgetWhenSame()
      if (waiting?.at === undefined && waiting !== undefined) waiting = { ...waiting, at: revision }
    },
    /** @param before revision that the previous leader acted on; undefined: unknown */
    begin(before: string | undefined) {
      hasBegun = true
      waiting = before === undefined ? undefined : { for: before, since: clock.monotonic(), at: now }
    },
    trust() {
      waiting = undefined
    },
    get olderThan() {
      return olderThan()
    },
    /** Text for the next leader: `revision`, and each revision that might be newer. */
    actedOn(revision: string) {
      const before = olderThan()?.split(AND) ?? []
      return [...before.filter((other) => other !== revision), revision].join(AND)
    },
    /** @throws {NotLeading} */
    check() {
      const before = olderThan()
      if (before === undefined || waiting === undefined) return
      const leftMs = waiting.since + LONGEST_WAIT_MS - clock.monotonic()
      if (leftMs <= 0) return
      throw new NotLeading(
        `the manifests here (revision ${now ?? 'none'}) might be older than revision ${before}, which the former leader acted on. ` +
          'Pipewright continues when it reads a revision that is not older, or after five minutes.',
        false,
        leftMs,
      )
    },
  }
}
