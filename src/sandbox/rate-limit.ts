/** So many requests in any window of so many milliseconds, per credential. */
export interface Limit {
  readonly requests: number
  readonly windowMs: number
}

export interface RateLimit {
  /**
   * Counts one request at `now` (ms).
   * @returns `undefined` when it is within the limit, else the milliseconds until one is again; that one is not counted
   */
  admit(who: string, now: number): number | undefined
}

/** A sliding window per credential. */
export function createRateLimit(limit: Limit | undefined): RateLimit {
  const admitted = new Map<string, number[]>()
  return {
    admit(who, now) {
      if (limit === undefined) return undefined
      const recent = (admitted.get(who) ?? []).filter((at) => at > now - limit.windowMs)
      admitted.set(who, recent)
      const oldest = recent[recent.length - limit.requests]
      if (oldest !== undefined) return oldest + limit.windowMs - now
      recent.push(now)
      return undefined
    },
  }
}
