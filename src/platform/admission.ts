import type { Operation } from '../kinds/definition.ts'
import type { ReadOptions } from '../contract/platform.ts'
import type { CredentialBreaker, AuthenticatedCaller } from './credential-breaker.ts'
import type { Rank } from './waiting-line.ts'
import { type BudgetPlace, type BudgetPlaces, createBudget, type Budget } from './budget.ts'
import type { Login } from './login.ts'
import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'

/** Who asks for what; the same for every attempt. */
export interface Caller {
  readonly operation: Operation
  /** Name of the service, or `alerts`: the service in the budget and the label in events. */
  readonly service: string
  readonly account: Account
  /** At once where it can. @throws {SecretUnavailableError} */
  login(): Login | Promise<Login>
}

/** Everything a request needs before it may be sent. */
export interface Admission {
  readonly login: Login
  readonly caller: AuthenticatedCaller
  readonly place: BudgetPlace
  /** As {@link BudgetPlaces}. */
  readonly spares: readonly BudgetPlace[]
}

export interface AdmitOptions extends Omit<ReadOptions, 'priority'> {
  readonly priority: Rank
  /** How many places are needed at once. */
  readonly places: 1 | 2 | 3
}

/**
 * Credentials that are there and were not refused, then a place in the budget. At once when nothing has to be waited
 * for, so that a request goes out before its caller does anything else.
 * @throws {SecretUnavailableError}
 * @throws {RemoteError} `AuthFailed` when the service pauses
 * @throws the signal's reason when it is aborted first
 */
export function admit(
  caller: Caller,
  breaker: CredentialBreaker,
  options: AdmitOptions,
): Admission | Promise<Admission> {
  const login = caller.login()
  if (login instanceof Promise) return admitLater(caller, breaker, options)
  options.signal.throwIfAborted()
  const asking = authenticated(caller, login)
  breaker.check(asking)
  const places = caller.account.budget.take(options)
  if (places === undefined) return admitLater(caller, breaker, options)
  try {
    breaker.enter(asking)
  } catch (error) {
    release(places)
    throw error
  }
  return { login, caller: asking, ...places }
}

async function admitLater(
  caller: Caller,
  breaker: CredentialBreaker,
  options: AdmitOptions,
): Promise<Admission> {
  // Before the budget, so that a request that cannot be sent takes no place in it.
  breaker.check(authenticated(caller, await caller.login()))
  const places = await caller.account.budget.acquire({ service: caller.service, ...options })
  try {
    // Again, because the wait may have been long.
    const login = await caller.login()
    options.signal.throwIfAborted()
    const asking = authenticated(caller, login)
    breaker.enter(asking)
    return { login, caller: asking, ...places }
  } catch (error) {
    release(places)
    throw error
  }
}

function release({ place, spares }: BudgetPlaces): void {
  for (const spare of spares) spare.release()
  place.release()
}

/** Who asks, together with the credentials. */
export function authenticated({ service, operation }: Caller, login: Login): AuthenticatedCaller {
  return { service, operation, digest: login.digest, source: login.source }
}

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
      const account = { budget, throttle: createThrottle(budget, options.clock) }
      accounts.set(credential, account)
      return account
    },
    entries: () => accounts.entries(),
  }
}

const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 15 * 60_000

/** A limit is over when no reply asked us to wait for so long: a budget that is set too high meets it again and again. */
const QUIET_MS = 60_000

/** Turns what a reply says about the rate into pauses of a whole budget: a 429 is never about one resource. */
export interface Throttle {
  /**
   * The platform asked us to wait.
   * @param retryAfterMs as it said, or `undefined`: then each time twice as long as the last time
   * @returns for how long nothing is sent now, in milliseconds, and whether it is the first such reply since the limit was over
   */
  slowDown(retryAfterMs: number | undefined): { readonly pauseMs: number; readonly isFirst: boolean }
  /**
   * The platform took a request.
   * @returns what is over now, if something is: the replies that asked us to wait, and the time from the first to the last
   */
  speedUp(): { readonly replies: number; readonly durationMs: number } | undefined
}

function createThrottle(budget: Budget, clock: Clock): Throttle {
  let next = FIRST_PAUSE_MS
  let limited: { readonly since: number; readonly last: number; readonly replies: number } | undefined

  function pauseFor(retryAfterMs: number | undefined): number {
    const { pausedForMs } = budget.snapshot()
    // Replies to requests that were on their way when the pause began say nothing new.
    if (retryAfterMs === undefined && pausedForMs > 0) return pausedForMs
    const pause = retryAfterMs ?? next
    if (retryAfterMs === undefined) next = Math.min(next * 2, LONGEST_PAUSE_MS)
    budget.pause(pause)
    return Math.max(pause, pausedForMs)
  }

  return {
    slowDown(retryAfterMs) {
      const now = clock.monotonic()
      const isFirst = limited === undefined
      limited = { since: limited?.since ?? now, last: now, replies: (limited?.replies ?? 0) + 1 }
      return { pauseMs: pauseFor(retryAfterMs), isFirst }
    },
    speedUp() {
      next = FIRST_PAUSE_MS
      if (limited === undefined || clock.monotonic() - limited.last < QUIET_MS) return undefined
      const { replies, since, last } = limited
      limited = undefined
      return { replies, durationMs: last - since }
    },
  }
}
