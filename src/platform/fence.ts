import { NotLeading } from '../contract/leadership.ts'
import { notSent } from '../contract/remote-error.ts'

/** Passed by each request that changes something, right before it goes out. @throws {RemoteError} `NotLeading`: it must not */
export type Fence = () => Promise<void>

/** @param confirm as `Term.confirm` */
export function createFence(confirm: (() => Promise<void>) | undefined): Fence {
  return async () => {
    try {
      await confirm?.()
    } catch (error) {
      if (!(error instanceof NotLeading)) throw error
      throw notSent('NotLeading', error.message)
    }
  }
}
