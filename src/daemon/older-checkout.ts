import type { Clock } from '../lib/clock.ts'
import { NotLeading } from '../contract/leadership.ts'

/** Of creates and applies. */
const LONGEST_WAIT_MS = 5 * 60_000

/** Between revisions with unknown order. */
const AND = '; '

/**
 * Blocks a new leader whose checkout might be older than the revision last acted on: it would recreate
 * removed resources and treat added ones as removed. Ends when the checkout reaches that revision, or
 * changes after the start. Creates and applies continue after five minutes; removals stay blocked.
 */
export interface OlderCheckout {
  /** A new accepted revision. */
  noteRead(revision: string): void
  /** As `Leading.noteLeader`. */
  noteLeader(revision: string | undefined): void
  /** @param before revision that the previous leader acted on; undefined: unknown */
  begin(before: string | undefined): void
  trust(): void
  /** As `Leading.olderThan`. */
  readonly olderThan: string | undefined
  /** Revisions for the next leader: this one, and each that might be newer. */
  actedOn(revision: string): string
  /** @throws {NotLeading} */
  check(): void
}

export function createOlderCheckout(clock: Pick<Clock, 'monotonic'>): OlderCheckout {
  /** Since this process last had the leader's revision. */
  const readRevisions = new Set<string>()
  /** While this process was standby. */
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
    noteLeader(revision) {
      if (leader !== undefined && leader !== revision) replacedByLeader.add(leader)
      leader = revision
      forgetWhenSame()
    },
    noteRead(revision) {
      now = revision
      if (hasBegun && waiting === undefined) return
      readRevisions.add(revision)
      if (!hasBegun) forgetWhenSame()
      // The checkout is followed from its first read.
      if (waiting?.at === undefined && waiting !== undefined) waiting = { ...waiting, at: revision }
    },
    begin(before) {
      hasBegun = true
      waiting = before === undefined ? undefined : { for: before, since: clock.monotonic(), at: now }
    },
    trust() {
      waiting = undefined
    },
    get olderThan() {
      return olderThan()
    },
    actedOn(revision) {
      const before = olderThan()?.split(AND) ?? []
      return [...before.filter((other) => other !== revision), revision].join(AND)
    },
    check() {
      const before = olderThan()
      if (before === undefined || waiting === undefined) return
      const leftMs = waiting.since + LONGEST_WAIT_MS - clock.monotonic()
      if (leftMs <= 0) return
      throw new NotLeading(
        `the manifests here are at revision ${now ?? 'none'}, and the process before this one acted on ${before}. It continues once ` +
          'they are the same, or are read as another revision, or after five minutes.',
        false,
        leftMs,
      )
    },
  }
}
