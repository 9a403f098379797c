/** `spec/api.md` 5. */
export interface Credential {
  readonly keyId: string
  readonly keySecret: string
}

export interface Access {
  readonly credentials: readonly Credential[]
  /** For the alert operation. */
  readonly alertTokens: readonly string[]
}

/** `who`: without the secret. */
export type Authorization =
  { readonly verdict: 'right'; readonly who: string } | { readonly verdict: 'wrong' | 'absent' }

/** `Basic base64(keyId:keySecret)`. */
export function checkBasic(header: string | undefined, access: Access): Authorization {
  const sent = read('basic', header)
  if (sent === undefined) return { verdict: header === undefined ? 'absent' : 'wrong' }
  const pair = Buffer.from(sent, 'base64').toString('utf8')
  const known = access.credentials.find(({ keyId, keySecret }) => `${keyId}:${keySecret}` === pair)
  return known === undefined ? { verdict: 'wrong' } : { verdict: 'right', who: known.keyId }
}

/** `Bearer <ACCESS_TOKEN>`. */
export function checkBearer(header: string | undefined, access: Access): Authorization {
  const token = read('bearer', header)
  if (token === undefined) return { verdict: header === undefined ? 'absent' : 'wrong' }
  const place = access.alertTokens.indexOf(token)
  return place < 0 ? { verdict: 'wrong' } : { verdict: 'right', who: `alert token ${place + 1}` }
}

function read(scheme: string, header: string | undefined): string | undefined {
  const parts = header?.split(' ') ?? []
  return parts.length === 2 && parts[0]?.toLowerCase() === scheme ? parts[1] : undefined
}

/** Per credential, in a sliding window. */
export interface Limit {
  readonly requests: number
  readonly windowMs: number
}

export interface RateLimit {
  /** @param now ms @returns undefined: counted. Else ms until the next request is allowed; not counted. */
  admit(who: string, now: number): number | undefined
}

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
