import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import { createBudget, type Budget } from './budget.ts'

/** What the platform counts together: everything that is sent with one credential. */
export interface Account {
  readonly budget: Budget
  readonly throttle: Throttle
}

/** The accounts of a process, made as they are needed. */
export interface Accounts {
  of(credential: string): Account
  entries(): Iterable<readonly [string, Account]>
}

export function createAccounts(options: {
  readonly requests: number
  readonly windowMs: number
  readonly clock: Clock
  readonly emit: Emit
}): Accounts {
  const accounts = new Map<string, Account>()
  return {
    of(credential) {
      const known = accounts.get(credential)
      if (known !== undefined) return known
      const budget = createBudget(options)
      const account = { budget, throttle: createThrottle(budget) }
      accounts.set(credential, account)
      return account
    },
    entries: () => accounts.entries(),
  }
}

const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 15 * 60_000

/** Turns what a reply says about the rate into pauses of a whole budget: a 429 is never about one resource. */
export interface Throttle {
  /**
   * The platform asked us to wait.
   * @param retryAfterMs as it said, or `undefined`: then each time twice as long as the last time
   * @returns for how long nothing is sent now, in milliseconds
   */
  slowDown(retryAfterMs: number | undefined): number
  /** The platform took a request. */
  speedUp(): void
}

function createThrottle(budget: Budget): Throttle {
  let next = FIRST_PAUSE_MS
  return {
    slowDown(retryAfterMs) {
      const { pausedForMs } = budget.snapshot()
      // Replies to requests that were on their way when the pause began say nothing new.
      if (retryAfterMs === undefined && pausedForMs > 0) return pausedForMs
      const pause = retryAfterMs ?? next
      if (retryAfterMs === undefined) next = Math.min(next * 2, LONGEST_PAUSE_MS)
      budget.pause(pause)
      return Math.max(pause, pausedForMs)
    },
    speedUp() {
      next = FIRST_PAUSE_MS
    },
  }
}
