import type { Clock } from '../lib/clock.ts'
import { NotLeading } from '../contract/leadership.ts'

/** Longest time for which another checkout keeps a process from creating and applying: ms. */
const LONGEST_WAIT_MS = 5 * 60_000

/** Between revisions of which nobody knows which one is newer. */
const AND = '; '

/**
 * Keeps a process from acting on a checkout that may be older than the one that was acted on before it took over: what was removed or
 * renamed since then would be created again, and what was added would be removed. Until it has the same revision, or has left it behind, or
 * has another one than when it took over, since its checkout is followed then. It creates and applies after five minutes at the latest;
 * however long that lasts, nothing counts as removed.
 */
export interface OlderCheckout {
  /** Another revision was read, and is accepted. */
  noteRead(revision: string): void
  /** While this process stands by: the one that acts does so on this. Undefined: it does not say. */
  noteLeader(revision: string | undefined): void
  /** A process that acted before acted on this. Undefined: nobody knows. */
  begin(before: string | undefined): void
  /** A person has said that the manifests are to be taken as they are. */
  trust(): void
  /** What was acted on before, where that may be newer than the manifests here. */
  readonly olderThan: string | undefined
  /** What whoever takes over next is told, once this revision is acted on: until then what may be newer is named too. */
  actedOn(revision: string): string
  /** @throws {NotLeading} */
  check(): void
}

export function createOlderCheckout(clock: Pick<Clock, 'monotonic'>): OlderCheckout {
  /** What was read since this process and the one that acts had the same: it has left that behind, and not what it read before that. */
  const read = new Set<string>()
  /** What the process that acts has left behind while this one stood by. */
  const left = new Set<string>()
  let now: string | undefined
  let leader: string | undefined
  let hasBegun = false
  let waiting: { readonly for: string; readonly since: number; readonly at: string | undefined } | undefined

  function olderThan(): string | undefined {
    if (waiting === undefined) return undefined
    const { for: before, at } = waiting
    const isLeft = now !== undefined && now !== before && left.has(now)
    const isSeen = !isLeft && before.split(AND).every((revision) => read.has(revision))
    if (isSeen || (at !== undefined && now !== at)) waiting = undefined
    return waiting?.for
  }

  function forgetWhenSame(): void {
    if (now === undefined || now !== leader) return
    read.clear()
    read.add(now)
  }

  return {
    noteLeader(revision) {
      if (leader !== undefined && leader !== revision) left.add(leader)
      leader = revision
      forgetWhenSame()
    },
    noteRead(revision) {
      now = revision
      if (hasBegun && waiting === undefined) return
      read.add(revision)
      if (!hasBegun) forgetWhenSame()
      // It is followed from its first reading on.
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
