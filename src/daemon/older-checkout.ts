import type { Clock } from '../lib/clock.ts'
import { NotLeading } from '../contract/leadership.ts'

/** Longest time for which another checkout keeps a process from acting: ms. */
const LONGEST_MS = 5 * 60_000

/**
 * Keeps a process from acting on a checkout that may be older than the one that was acted on before it took over: what was removed or
 * renamed since then would be created again. Until it has the same revision, or has left it behind, or has another one than when it took
 * over, since its checkout is followed then; and for five minutes at most.
 */
export interface OlderCheckout {
  /** Another revision was read, and is accepted. */
  noteRead(revision: string): void
  /** While this process stands by: the one that acts does so on this. Undefined: it does not say. */
  noteLeader(revision: string | undefined): void
  /** A process that acted before acted on this. Undefined: nobody knows. */
  begin(before: string | undefined): void
  /** @throws {NotLeading} */
  check(): void
}

export function createOlderCheckout(clock: Pick<Clock, 'monotonic'>): OlderCheckout {
  /** What was read since this process and the one that acts had the same: it has left that behind, and not what it read before that. */
  const read = new Set<string>()
  let now: string | undefined
  let leader: string | undefined
  let hasBegun = false
  let waiting: { readonly for: string; readonly since: number; readonly at: string | undefined } | undefined

  function isOver({ for: before, since, at }: NonNullable<typeof waiting>): boolean {
    return read.has(before) || (at !== undefined && now !== at) || clock.monotonic() - since >= LONGEST_MS
  }

  function forgetWhenSame(): void {
    if (now === undefined || now !== leader) return
    read.clear()
    read.add(now)
  }

  return {
    noteLeader(revision) {
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
    check() {
      if (waiting === undefined) return
      if (!isOver(waiting)) {
        throw new NotLeading(
          `the manifests here are at revision ${now ?? 'none'}, and the process before this one acted on ${waiting.for}. It continues once ` +
            'they are the same, or are read as another revision, or after five minutes.',
          false,
        )
      }
      waiting = undefined
    },
  }
}
