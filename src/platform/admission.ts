import type { Operation } from '../reconcile/events.ts'
import type { ReadOptions } from '../reconcile/ports.ts'
import type { AuthGate, Visitor } from './credential-breaker.ts'
import type { Account } from './account.ts'
import type { BudgetPlace, BudgetPlaces } from './budget.ts'
import type { Login } from './login.ts'

/** Who asks for what; the same for every attempt. */
export interface Caller {
  readonly operation: Operation
  /** Name of the service, or `alerts`: the lane in the budget and the label in events. */
  readonly service: string
  readonly account: Account
  /** At once where it can. @throws {SecretUnavailableError} */
  login(): Login | Promise<Login>
}

/** Everything a request needs before it may be sent. */
export interface Admission {
  readonly login: Login
  readonly visitor: Visitor
  readonly place: BudgetPlace
  /** A second place, where two were asked for and the budget has room for two at all. */
  readonly spare: BudgetPlace | undefined
}

export interface AdmitOptions extends ReadOptions {
  /** How many places are needed at once. */
  readonly places: 1 | 2
}

/**
 * Credentials that are there and were not refused, then a place in the budget. At once when nothing has to be waited
 * for, so that a request goes out before its caller does anything else.
 * @throws {SecretUnavailableError}
 * @throws {RemoteError} `AuthFailed` when the service pauses
 * @throws the signal's reason when it is aborted first
 */
export function admit(caller: Caller, gate: AuthGate, options: AdmitOptions): Admission | Promise<Admission> {
  const login = caller.login()
  if (login instanceof Promise) return admitLater(caller, gate, options)
  options.signal.throwIfAborted()
  const visitor = visitorOf(caller, login)
  gate.check(visitor)
  const places = caller.account.budget.take(options)
  if (places === undefined) return admitLater(caller, gate, options)
  try {
    gate.enter(visitor)
  } catch (error) {
    release(places)
    throw error
  }
  return { login, visitor, ...places }
}

async function admitLater(caller: Caller, gate: AuthGate, options: AdmitOptions): Promise<Admission> {
  // Before the budget, so that a request that cannot be sent takes no place in it.
  gate.check(visitorOf(caller, await caller.login()))
  const places = await caller.account.budget.acquire({ lane: caller.service, ...options })
  try {
    // Again, because the wait may have been long.
    const login = await caller.login()
    options.signal.throwIfAborted()
    const visitor = visitorOf(caller, login)
    gate.enter(visitor)
    return { login, visitor, ...places }
  } catch (error) {
    release(places)
    throw error
  }
}

function release({ place, spare }: BudgetPlaces): void {
  spare?.release()
  place.release()
}

function visitorOf({ service, operation }: Caller, login: Login): Visitor {
  return { service, operation, digest: login.digest, source: login.source }
}
