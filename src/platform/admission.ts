import type { Operation } from '../kinds/definition.ts'
import type { ReadOptions } from '../contract/platform.ts'
import type { CredentialBreaker, AuthenticatedCaller } from './credential-breaker.ts'
import { type BudgetPlaces, createBudget, type Budget, type Rank } from './budget.ts'
import type { Login } from './login.ts'
import type { Clock } from '../lib/clock.ts'
import { backoffMs } from '../lib/retry.ts'

export interface Caller {
  readonly operation: Operation
  /** Name of the service, or `alerts`. */
  readonly service: string
  /** Organization and service. Empty for alerts. */
  readonly ids: string
  /** @throws {SecretUnavailableError} */
  login(): Promise<AccountLogin>
}

interface AccountLogin extends Login {
  readonly account: Account
}

export interface Admission extends BudgetPlaces {
  readonly login: AccountLogin
  readonly caller: AuthenticatedCaller
}

interface AdmitOptions extends Omit<ReadOptions, 'priority'> {
  readonly priority: Rank
  readonly places: number
}

/**
 * Waits until the request budget allows a request.
 * @throws {SecretUnavailableError}
 * @throws {RemoteError} `AuthFailed` or `ServiceIdle` after a refusal, `Throttled` if the queue is full
 */
export async function admit(
  caller: Caller,
  breaker: CredentialBreaker,
  options: AdmitOptions,
): Promise<Admission> {
  const before = await caller.login()
  // Checked before the wait, because a blocked request must not use the budget.
  breaker.check(authenticated(caller, before))
  const places = await before.account.budget.acquire({ service: caller.service, ...options })
  try {
    // Reads the secret again, because it might have changed during the wait.
    const login = await caller.login()
    options.signal.throwIfAborted()
    const asking = authenticated(caller, login)
    breaker.enter(asking)
    return { login, caller: asking, ...places }
  } catch (error) {
    for (const place of [...places.spares, places.place]) place.release()
    throw error
  }
}

export function authenticated(
  { service, ids, operation }: Pick<Caller, 'service' | 'ids' | 'operation'>,
  login: Login,
): AuthenticatedCaller {
  return { service, operation, ids, digest: `${login.digest} ${ids}`, source: login.source }
}

/** State of one credential, because the platform counts requests per credential. */
interface Account {
  readonly budget: Budget
  readonly throttle: ReturnType<typeof createThrottle>
  /** Paths of services that answered a read or a list. */
  readonly read: Set<string>
  readonly notFoundIds: Set<string>
}

export function createAccounts(options: Parameters<typeof createBudget>[0]) {
  const accounts = new Map<string, Account>()
  const byLogin = new Map<string, Account>()

  function accountOf(credential: string): Account {
    return accounts.getOrInsertComputed(credential, () => {
      const budget = createBudget(options)
      const throttle = createThrottle(budget, options.clock)
      return { budget, throttle, read: new Set(), notFoundIds: new Set() }
    })
  }

  return {
    of: accountOf,
    /** Credentials with the same login share an account. */
    join(credential: string, login: Login): AccountLogin {
      const account = byLogin.getOrInsertComputed(login.digest, () => accountOf(credential))
      accounts.set(credential, account)
      return { ...login, account }
    },
    entries: () => accounts.entries(),
  }
}

const PAUSE = { firstMs: 5_000, maxMs: 15 * 60_000 }

/** ms without a 429 after which the platform's limit counts as over. */
const QUIET_MS = 60_000

function createThrottle(budget: Budget, clock: Clock) {
  let pauses = 0
  let limited: { readonly since: number; readonly last: number; readonly replies: number } | undefined

  function pauseFor(retryAfterMs: number | undefined): number {
    const { pausedForMs } = budget.snapshot()
    // Without `Retry-After`, a 429 does not extend a pause, because its request was sent before the pause.
    if (retryAfterMs === undefined && pausedForMs > 0) return pausedForMs
    if (retryAfterMs === undefined) pauses += 1
    const pause = retryAfterMs ?? backoffMs(pauses, PAUSE)
    budget.pause(pause)
    return Math.max(pause, pausedForMs)
  }

  return {
    /** @returns the pause in ms, and whether the platform's limit has just begun */
    slowDown(retryAfterMs: number | undefined) {
      const now = clock.monotonic()
      const isFirst = limited === undefined
      limited = { since: limited?.since ?? now, last: now, replies: (limited?.replies ?? 0) + 1 }
      return { pauseMs: pauseFor(retryAfterMs), isFirst }
    },
    /** @returns when the limit ends: number of 429 replies, and the ms from the first to the last */
    speedUp() {
      pauses = 0
      if (limited === undefined || clock.monotonic() - limited.last < QUIET_MS) return undefined
      const { replies, since, last } = limited
      limited = undefined
      return { replies, durationMs: last - since }
    },
  }
}
