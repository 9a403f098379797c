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
  /** A process that acted before acted on this. Undefined: nobody knows. */
  begin(before: string | undefined): void
  /** @throws {NotLeading} */
  check(): void
}

export function createOlderCheckout(clock: Pick<Clock, 'monotonic'>): OlderCheckout {
  const read = new Set<string>()
  let now: string | undefined
  let waiting: { readonly for: string; readonly since: number; readonly at: string | undefined } | undefined

  function isOver({ for: before, since, at }: NonNullable<typeof waiting>): boolean {
    return read.has(before) || (at !== undefined && now !== at) || clock.monotonic() - since >= LONGEST_MS
  }

  return {
    noteRead(revision) {
      now = revision
      read.add(revision)
      // It is followed from its first reading on.
      if (waiting?.at === undefined && waiting !== undefined) waiting = { ...waiting, at: revision }
    },
    begin(before) {
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
