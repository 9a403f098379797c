/** A reply can ask for nonsense, or for a time meant for a person. */
const LONGEST_WAIT_MS = 15 * 60_000

/** From these values, it is a Unix time in seconds (2001 and later) or in milliseconds. */
const UNIX_SECONDS_FROM = 1e9
const UNIX_MILLISECONDS_FROM = 1e11

/** Keys are lower-case names. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * At most 15 minutes. `Retry-After` (seconds or an HTTP date), else `X-RateLimit-Reset` (seconds from now, or
 * a Unix time). Undefined: no future time.
 * @param now ms since the epoch
 */
export function retryAfterMs(headers: ReplyHeaders, now: number): number | undefined {
  const waits = [
    retryAfter(first(headers['retry-after']), now),
    reset(first(headers['x-ratelimit-reset']), now),
  ]
  const wait = waits.find((ms) => ms !== undefined && ms > 0)
  return wait === undefined ? undefined : Math.min(Math.ceil(wait), LONGEST_WAIT_MS)
}

function retryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const seconds = numberOf(text)
  if (seconds !== undefined) return seconds * 1_000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : date - now
}

function reset(text: string | undefined, now: number): number | undefined {
  const value = text === undefined ? undefined : numberOf(text)
  if (value === undefined) return undefined
  if (value >= UNIX_MILLISECONDS_FROM) return value - now
  if (value >= UNIX_SECONDS_FROM) return value * 1_000 - now
  return value * 1_000
}

function numberOf(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}

function first(value: string | readonly string[] | undefined): string | undefined {
  const text = typeof value === 'string' ? value : value?.[0]
  return text?.trim()
}
