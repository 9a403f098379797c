import { type Clock, sleep } from './clock.ts'

/** The wait doubles each time `count` grows by 1. @param random from 0 to below 1, for full jitter. Default: no jitter */
export function backoffMs(
  count: number,
  { firstMs, maxMs = Infinity }: { readonly firstMs: number; readonly maxMs?: number },
  random = () => 1,
): number {
  return Math.round(random() * Math.min(maxMs, firstMs * 2 ** (count - 1)))
}

/**
 * @param attempt returns a failure as a value; if it throws, the retries end
 * @param waitMs returns the wait before the next attempt, or undefined to stop
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  waitMs: (result: T, number: number) => number | undefined,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T> {
  for (let number = 1; ; number += 1) {
    const result = await attempt()
    const delayMs = waitMs(result, number)
    if (delayMs === undefined) return result
    await sleep(clock, delayMs, signal)
  }
}

/** Limits the wait that a reply asks for, because the value can be wrong. */
const LONGEST_WAIT_MS = 15 * 60_000

/** From these values on, a number is a Unix time in seconds or milliseconds. */
const UNIX_SECONDS_FROM = 1e9
const UNIX_MS_FROM = 1e11

export type ReplyHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * How long a reply asks to wait, at most 15 minutes: `Retry-After` (seconds or an HTTP date), else
 * `X-RateLimit-Reset` (seconds from now or a Unix time). Undefined: no header gives a future time.
 * @param now ms since the epoch
 */
export function retryAfterMs(headers: ReplyHeaders, now: number): number | undefined {
  const after = retryAfter(first(headers['retry-after']), now)
  const wait = after > 0 ? after : reset(first(headers['x-ratelimit-reset']), now)
  return wait > 0 ? Math.min(Math.ceil(wait), LONGEST_WAIT_MS) : undefined
}

function retryAfter(text: string, now: number): number {
  const seconds = numberOf(text)
  return Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1_000
}

function reset(text: string, now: number): number {
  const value = numberOf(text)
  if (value >= UNIX_MS_FROM) return value - now
  return value * 1_000 - (value >= UNIX_SECONDS_FROM ? now : 0)
}

function numberOf(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN
}

function first(value: string | readonly string[] = ''): string {
  return ([value].flat()[0] ?? '').trim()
}
