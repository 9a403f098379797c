import type { Clock } from '../lib/clock.ts'
import { capital } from '../kinds/lookup.ts'
import { timeOf } from '../kinds/instant.ts'
import type { Operation } from '../kinds/definition.ts'
import type { Emit } from '../contract/events.ts'
import { notSent, type RemoteError, whatIsRefused } from '../contract/remote-error.ts'

/** Wait before the first probe. Each failed probe doubles it. */
const FIRST_PROBE_MS = { refused: 30_000, idle: 5_000 }
const LONGEST_PROBE_MS = 15 * 60_000

export interface AuthenticatedCaller {
  readonly service: string
  readonly operation: Operation
  readonly ids: string
  /** Of the credentials and the ids of the service: a correction of either ends a refusal. */
  readonly digest: string
  readonly source: string
}

/** 401 refuses the credentials, 403 one operation. 424 and 425: the service is idle or waking up. */
interface Refusal {
  readonly status: 401 | 403 | 424 | 425
  readonly retryAfterMs?: number | undefined
}

export type LoginVerdict = 'accepted' | Refusal

/**
 * After a refusal, blocks all requests of a service except one probe at a time, until a probe works or the secret
 * changes. A 403 blocks only the forbidden operation.
 */
export type CredentialBreaker = ReturnType<typeof createCredentialBreaker>

interface Trip {
  readonly caller: AuthenticatedCaller
  readonly status: Refusal['status']
  /** ms since the epoch. */
  readonly since: number
  /** Monotonic ms. */
  readonly probeAt: number
  readonly probeAfterMs: number
  readonly probing: boolean
}

export function createCredentialBreaker(options: { readonly clock: Clock; readonly emit: Emit }) {
  const { clock, emit } = options
  const tripped = new Map<string, Trip>()

  function trippedFor(caller: AuthenticatedCaller): readonly (readonly [string, Trip])[] {
    if (tripped.size === 0) return []
    return scopesOf(caller).flatMap((scope) => {
      const entry = tripped.get(scope)
      const isAnothers = entry !== undefined && !isIdle(entry) && entry.caller.digest !== caller.digest
      return entry === undefined || isAnothers ? [] : [[scope, entry] as const]
    })
  }

  function check(caller: AuthenticatedCaller): void {
    const now = clock.monotonic()
    const stop = trippedFor(caller).find(([, entry]) => entry.probeAt > now)
    if (stop !== undefined) throw held(stop[1], stop[1].probeAt - now, clock.now())
  }

  function trip(caller: AuthenticatedCaller, refusal: Refusal): void {
    const { status, retryAfterMs } = refusal
    const scope = scopeOf(caller, status)
    const before = tripped.get(scope)
    const known = isIdle(refusal) || before?.caller.digest === caller.digest ? before : undefined
    // Only a probe extends a pause, because other requests were sent before the pause.
    if (known !== undefined && !known.probing) return
    const first = isIdle(refusal) ? FIRST_PROBE_MS.idle : FIRST_PROBE_MS.refused
    const doubled = known === undefined ? first : Math.min(known.probeAfterMs * 2, LONGEST_PROBE_MS)
    const probeAfterMs = retryAfterMs ?? doubled
    const wasPaused = isPaused(caller.service)
    const entry: Trip = {
      caller,
      status,
      since: known?.since ?? clock.now(),
      probeAt: clock.monotonic() + probeAfterMs,
      probeAfterMs,
      probing: false,
    }
    tripped.set(scope, entry)
    if (!wasPaused)
      emit({ type: 'ServicePaused', service: caller.service, message: `${capital(wordsOf(entry))}.` })
  }

  function reset(caller: AuthenticatedCaller): void {
    const wasPaused = isPaused(caller.service)
    for (const scope of scopesOf(caller)) tripped.delete(scope)
    // Other credentials work now, so refusals of the former ones no longer count.
    for (const [scope, { caller: refused }] of tripped) {
      const isSame = refused.service === caller.service && refused.operation.api === caller.operation.api
      if (isSame && refused.digest !== caller.digest) tripped.delete(scope)
    }
    if (wasPaused && !isPaused(caller.service)) emit({ type: 'ServiceResumed', service: caller.service })
  }

  function isPaused(service: string): boolean {
    return tripped.values().some((entry) => entry.caller.service === service)
  }

  return {
    /** @throws {RemoteError} `AuthFailed` or `ServiceIdle` until the next probe */
    check,
    /** If a probe is due, this request becomes the probe, and others are refused. @throws like `check` */
    enter(caller: AuthenticatedCaller) {
      check(caller)
      for (const [scope, entry] of trippedFor(caller)) {
        tripped.set(scope, { ...entry, probing: true, probeAt: clock.monotonic() + entry.probeAfterMs })
      }
    },
    report(caller: AuthenticatedCaller, verdict: LoginVerdict) {
      if (verdict !== 'accepted') trip(caller, verdict)
      else if (tripped.size > 0) reset(caller)
    },
    probeNow(service: string) {
      for (const [scope, entry] of tripped) {
        if (entry.caller.service === service && !isIdle(entry))
          tripped.set(scope, { ...entry, probeAt: clock.monotonic() })
      }
    },
    refused: () => [...tripped.values()].filter((entry) => !isIdle(entry)).map(({ caller }) => caller),
    /** Omits a pause that no request has tested, because its resources are gone. */
    pauses() {
      const since = clock.monotonic() - LONGEST_PROBE_MS
      const tested = [...tripped.values()].filter(({ probeAt }) => probeAt > since)
      return tested.map((entry) => ({
        service: entry.caller.service,
        since: entry.since,
        message: `${capital(wordsOf(entry))}.`,
      }))
    },
  }
}

function isIdle({ status }: Pick<Refusal, 'status'>): boolean {
  return status === 424 || status === 425
}

function scopesOf(caller: AuthenticatedCaller): readonly string[] {
  return [scopeOf(caller, 401), scopeOf(caller, 403), scopeOf(caller, 424)]
}

function scopeOf({ service, operation, ids }: AuthenticatedCaller, status: Refusal['status']): string {
  if (status === 403) return `${operation.name} of ${service}`
  if (isIdle({ status })) return `the idle service ${service} ${ids}`
  // Not `service alerts`, because a service can have that name.
  return operation.api === 'alerts' ? 'the token for alerts' : `service ${service}`
}

function wordsOf(entry: Trip): string {
  const { status, since } = entry
  const { source, service } = entry.caller
  const when = timeOf(since)
  if (isIdle(entry)) return `service ${service} has been idle or waking up since ${when} (${status})`
  const what =
    status === 401 ? 'has refused the credentials' : 'has forbidden this operation to the credentials'
  return `the platform ${what} in ${source} since ${when} (${status})`
}

function held(entry: Trip, afterMs: number, now: number): RemoteError {
  const again = `${wordsOf(entry)}; no request until ${timeOf(now + afterMs)}`
  return isIdle(entry)
    ? notSent('ServiceIdle', again, { retryAfterMs: Math.ceil(afterMs) })
    : notSent('AuthFailed', `${again}, or until the secret changes`, {
        refused: { source: entry.caller.source, what: whatIsRefused(entry.status) },
      })
}
