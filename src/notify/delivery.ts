import type { Clock } from '../lib/clock.ts'
import { connectWords, isTlsFailure, proxyWords } from '../lib/connect-words.ts'
import { echoMask } from '../lib/echo.ts'
import { excerptOf } from '../lib/excerpt.ts'
import type { ProxyFault } from '../lib/proxy.ts'
import { type ReplyHeaders, retryAfterMs } from '../lib/retry-after.ts'
import { type Address, readAddress, type ReadSecret, readSigningKey } from './address.ts'
import { signedHeaders } from './webhook.ts'

/** One attempt takes no longer, in ms. */
const ATTEMPT_MS = 10_000

/** More of a reply is not read: what it says beyond is for nobody. */
const MOST_REPLY_BYTES = 16 * 1024

/** Where and how a target is reached. */
export interface Route {
  readonly urlFile: string
  /** Only of a webhook. */
  readonly keyFile: string | undefined
  readonly allowInsecureHttp: boolean
}

/** What is sent; the same bytes at every attempt. */
export interface OutgoingMessage {
  readonly id: string
  readonly body: string
}

/** What became of an attempt. Words never hold an address, a key or a whole reply. */
export type Delivery =
  | { readonly result: 'delivered'; readonly code: string }
  | {
      /**
       * `again`: soon, or when the receiver said. `address`: not until somebody does something; what it says is kept.
       * `refused`: this message will never be taken.
       */
      readonly result: 'again' | 'address' | 'refused'
      /** HTTP status, or the class of the failure. */
      readonly code: string
      readonly why: string
      readonly retryAfterMs: number | undefined
    }
  | { readonly result: 'stopped' }

export interface Posting {
  readonly origin: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  /** Nothing is sent later than this: on the monotonic clock. */
  readonly notAfter: number
  readonly maxReplyBytes: number
}

/** What was seen of the receiver; the body as far as it arrived. */
export type Posted =
  | {
      readonly type: 'reply'
      readonly status: number
      readonly headers: ReplyHeaders
      readonly body: string
    }
  | {
      readonly type: 'silence'
      readonly why: 'timeout' | 'error' | 'too late'
      readonly code: string | undefined
      /** Why there was no way through a proxy; `undefined`: that is not what happened. */
      readonly fault: ProxyFault | undefined
    }
  | { readonly type: 'stopped' }

/** Posts once. Never throws, follows no redirect, and ends within its time. */
export type Post = (posting: Posting, signal: AbortSignal) => Promise<Posted>

/** What the notifier needs of the world; whoever composes it brings it. */
export interface DeliveryParts {
  /** As `Term.confirm`: only the process that acts tells anybody anything. */
  readonly confirm: () => Promise<number>
  readonly post: Post
  readonly readSecret: ReadSecret
  readonly clock: Clock
  readonly userAgent: string
}

/** Sends a message once. Never throws, follows no redirect, and ends within its time. */
export async function deliver(
  message: OutgoingMessage,
  route: Route,
  { confirm, post, readSecret, clock, userAgent }: DeliveryParts,
  signal: AbortSignal,
): Promise<Delivery> {
  const reading = await readAddress(route.urlFile, {
    readSecret,
    allowInsecureHttp: route.allowInsecureHttp,
  })
  if (!reading.found) return noAddress(reading.why)
  const { address } = reading
  const signing = route.keyFile === undefined ? undefined : await readSigningKey(route.keyFile, readSecret)
  // Unsigned, the receiver would refuse it, or learn to take what is not signed.
  if (signing?.found === false) return noAddress(signing.why)
  let notAfter
  try {
    notAfter = await confirm()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { result: 'again', code: 'NotLeading', why, retryAfterMs: undefined }
  }
  const posting = {
    origin: address.origin.reveal(),
    path: address.path.reveal(),
    headers: {
      'content-type': 'application/json',
      'user-agent': userAgent,
      ...signedHeaders(message, signing?.key, clock.now()),
    },
    body: message.body,
    timeoutMs: ATTEMPT_MS,
    notAfter,
    maxReplyBytes: MOST_REPLY_BYTES,
  }
  return judge(await post(posting, signal), {
    now: clock.now(),
    secrets: [...secretsOf(address), signing?.key.reveal() ?? ''],
  })
}

function noAddress(why: string): Delivery {
  return { result: 'address', code: 'NoAddress', why, retryAfterMs: undefined }
}

/** Which statuses say that the address or the right to use it is wrong, and not the message. */
const ADDRESS: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410])

/** Which statuses say that it may work later. */
const LATER: ReadonlySet<number> = new Set([408, 421, 423, 424, 425, 429])

function judge(
  seen: Posted,
  context: { readonly now: number; readonly secrets: readonly string[] },
): Delivery {
  if (seen.type === 'stopped') return { result: 'stopped' }
  if (seen.type === 'silence') {
    const why = seen.why === 'timeout' ? 'no reply in time' : failedWords(seen)
    return {
      result: 'again',
      code: seen.why === 'timeout' ? 'Timeout' : 'Connection',
      why,
      retryAfterMs: undefined,
    }
  }
  const { status } = seen
  const code = String(status)
  // The head is enough: whoever says 2xx has it, however the body ends.
  if (status >= 200 && status < 300) return { result: 'delivered', code }
  const words = excerptOf(seen.body, echoMask(context.secrets))
  const why = `HTTP ${code}${words === '' ? '' : `: ${words}`}`
  if (status >= 300 && status < 400) {
    return {
      result: 'address',
      code,
      why: `HTTP ${code}: a redirect, which is never followed`,
      retryAfterMs: undefined,
    }
  }
  if (status >= 500 || LATER.has(status)) {
    return { result: 'again', code, why, retryAfterMs: retryAfterMs(seen.headers, context.now) }
  }
  return { result: ADDRESS.has(status) ? 'address' : 'refused', code, why, retryAfterMs: undefined }
}

/** Of the receiver nothing is said but the code: its address is a secret. */
function failedWords({ fault, code = 'no code' }: Extract<Posted, { type: 'silence' }>): string {
  if (fault !== undefined) return proxyWords(fault)
  const failed = `the connection failed (${code})`
  return isTlsFailure(code) ? `${failed}: ${connectWords(code)}` : failed
}

/** The parts of an address that a reply could repeat. */
function secretsOf({ origin, path }: Address): readonly string[] {
  const [plain = '', query = ''] = path.reveal().split('?')
  const words = [...plain.split('/'), ...query.split(/[&=]/)].filter((word) => word.length >= 4)
  return [`${origin.reveal()}${path.reveal()}`, ...words]
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 5 * 60_000

/** While an address is wrong, it is tried no more often than this. */
const LEAST_ADDRESS_WAIT_MS = 60_000

/**
 * How long to wait after a failed attempt, in ms: what the receiver said, or longer and longer with jitter.
 * @param failures in a row, from 1
 * @param random from 0 to below 1
 */
export function waitAfter(
  failures: number,
  failure: { readonly result: 'again' | 'address'; readonly retryAfterMs: number | undefined },
  random: number,
): number {
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 20))
  const wait = Math.round(longest * (0.5 + random / 2))
  return failure.result === 'address' ? Math.max(LEAST_ADDRESS_WAIT_MS, wait) : wait
}

/** At most so many attempts in any such time. */
export interface AttemptLimit {
  /** When the next attempt may begin, on the clock of `note`. */
  nextAt(): number
  note(now: number): void
}

export function createAttemptLimit({
  requests,
  windowMs,
}: {
  readonly requests: number
  readonly windowMs: number
}): AttemptLimit {
  let times: readonly number[] = []
  return {
    nextAt: () => (times.length < requests ? -Infinity : (times[0] ?? 0) + windowMs),
    note(now) {
      times = [...times, now].slice(-requests)
    },
  }
}
