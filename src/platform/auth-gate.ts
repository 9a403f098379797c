import type { Clock } from '../lib/clock.ts'
import { formatDuration } from '../lib/duration.ts'
import type { Emit, Operation } from '../reconcile/events.ts'
import type { RemoteError } from '../reconcile/remote-error.ts'
import { notSent } from './not-sent.ts'

const FIRST_PROBE_MS = 30_000
const LONGEST_PROBE_MS = 15 * 60_000

/** Who asks, and with which credentials. */
export interface Visitor {
  /** Name of the service, or `alerts`. */
  readonly service: string
  readonly operation: Operation
  /** Equal for equal credentials. */
  readonly digest: string
  /** Where a person looks for the credentials, in words. */
  readonly source: string
}

/** What the platform thought of the credentials; 401 doubts them at all, 403 for this operation. */
export type Verdict = 'accepted' | 401 | 403

export interface Pause {
  readonly service: string
  /** ms since the epoch. */
  readonly since: number
  readonly message: string
}

/**
 * Keeps a service whose credentials were refused from asking again and again (design §6): it pauses, with one probe at a
 * time, until it works or its secret changes. After a 403 only the operation pauses that was forbidden: a key that
 * may not set the query endpoint may still read pipes.
 */
export interface AuthGate {
  /**
   * Looks, and sends no probe.
   * @throws {RemoteError} `AuthFailed`, effect none
   */
  check(visitor: Visitor): void
  /**
   * To be called right before a request is sent. It may be the probe; then nobody else passes until the next is due.
   * @throws {RemoteError} `AuthFailed`, effect none
   */
  enter(visitor: Visitor): void
  /** To be called when the platform said something about the credentials. */
  report(visitor: Visitor, verdict: Verdict): void
  pauses(): readonly Pause[]
}

interface Closed {
  readonly service: string
  readonly digest: string
  readonly source: string
  readonly status: 401 | 403
  /** ms since the epoch, for people. */
  readonly since: number
  /** On the monotonic clock. */
  readonly probeAt: number
  readonly probeAfterMs: number
  readonly probing: boolean
}

export function createAuthGate(options: { readonly clock: Clock; readonly emit: Emit }): AuthGate {
  const { clock, emit } = options
  const closed = new Map<string, Closed>()

  function closedFor(visitor: Visitor): readonly (readonly [string, Closed])[] {
    if (closed.size === 0) return []
    return scopesOf(visitor).flatMap((scope) => {
      const entry = closed.get(scope)
      return entry === undefined || entry.digest !== visitor.digest ? [] : [[scope, entry] as const]
    })
  }

  function check(visitor: Visitor): void {
    const now = clock.monotonic()
    const stop = closedFor(visitor).find(([, entry]) => entry.probeAt > now)
    if (stop !== undefined) throw held(stop[1], now)
  }

  function close(visitor: Visitor, status: 401 | 403): void {
    const scope = scopeOf(visitor, status)
    const before = closed.get(scope)
    const known = before?.digest === visitor.digest ? before : undefined
    // Those that were on their way when it closed tell nothing new.
    if (known !== undefined && !known.probing) return
    const probeAfterMs =
      known === undefined ? FIRST_PROBE_MS : Math.min(known.probeAfterMs * 2, LONGEST_PROBE_MS)
    const wasOpen = !isPaused(visitor.service)
    const entry: Closed = {
      service: visitor.service,
      digest: visitor.digest,
      source: visitor.source,
      status,
      since: known?.since ?? clock.now(),
      probeAt: clock.monotonic() + probeAfterMs,
      probeAfterMs,
      probing: false,
    }
    closed.set(scope, entry)
    if (wasOpen) emit({ type: 'ServicePaused', service: visitor.service, message: wordsOf(entry) })
  }

  function open(visitor: Visitor): void {
    const wasPaused = isPaused(visitor.service)
    for (const scope of scopesOf(visitor)) closed.delete(scope)
    if (wasPaused && !isPaused(visitor.service)) emit({ type: 'ServiceResumed', service: visitor.service })
  }

  function isPaused(service: string): boolean {
    return closed.values().some((entry) => entry.service === service)
  }

  return {
    check,
    enter(visitor) {
      check(visitor)
      for (const [scope, entry] of closedFor(visitor)) {
        closed.set(scope, { ...entry, probing: true, probeAt: clock.monotonic() + entry.probeAfterMs })
      }
    },
    report(visitor, verdict) {
      if (verdict !== 'accepted') close(visitor, verdict)
      else if (closed.size > 0) open(visitor)
    },
    pauses() {
      return [...closed.values()].map((entry) => ({
        service: entry.service,
        since: entry.since,
        message: wordsOf(entry),
      }))
    },
  }
}

function scopesOf(visitor: Visitor): readonly string[] {
  return [scopeOf(visitor, 401), scopeOf(visitor, 403)]
}

function scopeOf({ service, operation }: Visitor, status: 401 | 403): string {
  if (status === 403) return `${operation} of ${service}`
  // Alerts have a credential of their own; a service may be called `alerts`.
  return operation === 'getAlert' ? 'the token for alerts' : `service ${service}`
}

function wordsOf({ status, since, source }: Closed): string {
  const what = status === 401 ? 'refuses the credentials' : 'forbids this operation to the credentials'
  return `the platform ${what} (${status}) since ${new Date(since).toISOString()}; look at ${source}`
}

function held(entry: Closed, now: number): RemoteError {
  const next = formatDuration(entry.probeAt - now)
  return notSent(
    'AuthFailed',
    `${wordsOf(entry)}; one request tries again in ${next}, or as soon as the secret changes`,
  )
}
