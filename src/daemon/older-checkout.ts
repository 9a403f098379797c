import type { Clock } from '../lib/clock.ts'
import { NotLeading } from '../contract/leadership.ts'

/** Longest time for which another checkout keeps a process from acting: ms. */
const LONGEST_MS = 5 * 60_000

/**
 * Keeps a process from acting on a checkout that may be older than the one that was acted on before it took over: what was removed or
 * renamed since then would be created again. Until it has the same revision, or another one than when it took over, since its checkout is
 * followed then; and for five minutes at most.
 */
export interface OlderCheckout {
  /** @throws {NotLeading} */
  check(): void
}

export function createOlderCheckout(parts: {
  readonly clock: Pick<Clock, 'monotonic'>
  /** What the process before acted on; undefined: nobody knows. */
  readonly before: string | undefined
  /** What this process has read last. */
  readonly revision: () => string
}): OlderCheckout {
  const { clock, before, revision } = parts
  const since = clock.monotonic()
  let first: string | undefined
  let isOver = before === undefined

  return {
    check() {
      if (isOver) return
      const now = revision()
      first ??= now
      isOver = now === before || now !== first || clock.monotonic() - since >= LONGEST_MS
      if (isOver) return
      throw new NotLeading(
        `the manifests here are at revision ${now}, and the process before this one acted on ${before}. It goes on once they are the same, ` +
          'or are read as another revision, or after five minutes.',
        false,
      )
    },
  }
}
