import { NotLeading } from '../contract/leadership.ts'
import { notSent, type RemoteError } from '../contract/remote-error.ts'

/**
 * Passed by each request that changes something, right before it goes out.
 * @returns as `Term.confirm`: later than that its first byte does not go out
 * @throws {RemoteError} `NotLeading`: it must not
 */
export type Fence = () => Promise<number>

/** @param confirm as `Term.confirm` */
export function createFence(confirm: (() => Promise<number>) | undefined): Fence {
  return async () => {
    try {
      return (await confirm?.()) ?? Infinity
    } catch (error) {
      throw notLeading(error)
    }
  }
}

/** Passed before a create is prepared: what is known not to pass the fence later is not begun. @throws {RemoteError} as {@link Fence} */
export function createEarlyFence(assertMayAct: (() => void) | undefined): () => void {
  return () => {
    try {
      assertMayAct?.()
    } catch (error) {
      throw notLeading(error)
    }
  }
}

/** Whatever it is: it is not certain, and nothing was sent. */
function notLeading(error: unknown): RemoteError {
  const why = error instanceof Error ? error.message : String(error)
  return notSent('NotLeading', why, {
    retryAfterMs: error instanceof NotLeading ? error.retryAfterMs : undefined,
  })
}
