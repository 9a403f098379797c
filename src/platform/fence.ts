import { notSent } from '../contract/remote-error.ts'

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
      // Whatever it is: it is not certain, and nothing was sent.
      throw notSent('NotLeading', error instanceof Error ? error.message : String(error))
    }
  }
}
