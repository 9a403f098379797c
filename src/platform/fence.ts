import { NotLeading } from '../contract/leadership.ts'
import { notSent, type RemoteError } from '../contract/remote-error.ts'

/**
 * Called right before each request that changes something.
 * @returns latest time for its first byte: monotonic ms
 * @throws {RemoteError} `NotLeading`: the request must not be sent
 */
export type Fence = () => Promise<number>

export function createFence(confirm: (() => Promise<number>) | undefined): Fence {
  return async () => {
    try {
      return (await confirm?.()) ?? Infinity
    } catch (error) {
      throw notLeading(error)
    }
  }
}

export function notLeading(error: unknown): RemoteError {
  const why = error instanceof Error ? error.message : String(error)
  return notSent('NotLeading', why, {
    retryAfterMs: error instanceof NotLeading ? error.retryAfterMs : undefined,
  })
}
