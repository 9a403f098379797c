import type { Operation } from '../kinds/definition.ts'
import type { Seen } from './http-exchange.ts'
import { faultOfReply, type ProxyOnWay } from './network.ts'
import type { ReplyBody } from './wire.ts'
import {
  type Effect,
  type ErrorClass,
  type RemoteErrorFacts,
  RemoteError,
  whatIsRefused,
} from '../contract/remote-error.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import { Secret } from '../lib/secret.ts'
import { excerptOf } from '../lib/excerpt.ts'
import { retryAfterMs } from '../lib/retry-after.ts'
import { connectWords, isClientCertificateRefused, proxyWords } from '../lib/connect-words.ts'
import { formatDuration } from '../lib/duration.ts'

/** Everything that may be known of a request that did not end as it should. */
export interface Failure {
  readonly operation: Operation
  readonly seen: Exclude<Seen, { readonly type: 'stopped' }>
  /** The body of the reply as far as it could be understood; for `silence`, of nothing. */
  readonly body: ReplyBody
  /** Equal for equal credentials: those that it was sent with. */
  readonly credential: string
  /** Where a person looks for them, in words. */
  readonly source: string
  /** Masks every secret that was sent. */
  readonly mask: SecretMask['mask']
  /** Where it was sent: the origin. */
  readonly origin: string
  /** On the way there; `undefined`: none. */
  readonly proxy: ProxyOnWay | undefined
  readonly timeoutMs: number
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/*
 * The error classes of design §6, in one place. `none` is what provably did nothing; all else that a create may
 * have done is `unknown`. A read changes nothing, whatever becomes of it. "The platform's own" is a reply in its envelope:
 * the status of the reply, and a UUID as request id. Anything else may come from somebody between, after the work.
 *
 * | seen                                        | class       | transient | effect of a create or an upsert     |
 * |---------------------------------------------|-------------|-----------|-------------------------------------|
 * | no connection: refused, DNS, TLS, timeout   | Unavailable | yes       | none                                |
 * | no way through the proxy                    | Unavailable | yes       | none                                |
 * | 407 of the proxy that a request was sent to | Unavailable | yes       | none                                |
 * | reset, cut or timeout on a ready connection | Unavailable | yes       | unknown                             |
 * | 2xx without what the interface promises     | BadReply    | yes       | unknown                             |
 * | 3xx                                         | Redirected  | no        | unknown                             |
 * | 401, 403                                    | AuthFailed  | no        | none if the platform's own          |
 * | 404 of the platform's own, to a reading or  | Missing     | no        | –                                   |
 * |     a deletion                              |             |           |                                     |
 * | 404 of somebody between, to one of those,   | Unavailable | yes       | –                                   |
 * |     or one that a cache between kept        |             |           |                                     |
 * | 424, 425                                    | ServiceIdle | no        | none if the platform's own          |
 * | 429                                         | Throttled   | no        | none                                |
 * | 408, 444, 460, 463, 499, 5xx                | Unavailable | yes       | unknown                             |
 * | any other 4xx                               | Rejected    | no        | none if the platform's own          |
 */

/** The error of a request that did not end in the reply the interface promises. */
export function classify(failure: Failure): RemoteError {
  const { operation, seen, body, now } = failure
  const kind = kindOf(failure)
  const known = {
    class: kind,
    effect: operation.does === 'read' ? ('none' as const) : effectOf(kind, failure),
    httpStatus: seen.type === 'reply' ? seen.status : undefined,
    requestId: body.requestId,
    reply: seen.type === 'reply' ? new Secret(seen.body) : undefined,
    retryAfterMs: seen.type === 'reply' ? retryAfterMs(seen.headers, now) : undefined,
    transient: kind === 'Unavailable' || kind === 'BadReply',
    repliedId: operation.does === 'create' ? body.repliedId : undefined,
    proxy: failure.proxy?.address.origin,
    credential: failure.credential,
    refused:
      kind === 'AuthFailed' && seen.type === 'reply'
        ? { source: failure.source, what: whatIsRefused(seen.status) }
        : undefined,
  }
  const excerpt = seen.type === 'reply' ? excerptOf(seen.body, failure) : ''
  const facts: RemoteErrorFacts = { ...known, what: seenWords(failure, known, excerpt) }
  return new RemoteError(failureWords(failure, facts), facts)
}

/** Statuses of proxies that lost their client or the platform in the middle: the request may have been carried out. */
const GIVEN_UP_BETWEEN: ReadonlySet<number> = new Set([408, 444, 460, 463, 499])

/** Requests to which a 404 says that there is nothing. */
const ASKS_FOR_WHAT_IS_THERE: ReadonlySet<Operation['does']> = new Set(['read', 'delete'])

/** What a request that went out can have met. */
type SeenClass = Exclude<ErrorClass, 'NotLeading'>

function kindOf({ operation, seen, body, proxy }: Failure): SeenClass {
  if (seen.type === 'silence' || faultOfReply(seen, proxy) !== undefined) return 'Unavailable'
  const { status } = seen
  if (status < 300) return 'BadReply'
  if (status < 400) return 'Redirected'
  if (status === 401 || status === 403) return 'AuthFailed'
  // An alert has no envelope to tell the platform's own 404 by, and nothing that is created.
  if (status === 404 && ASKS_FOR_WHAT_IS_THERE.has(operation.does) && operation.api === 'services')
    return body.isPlatforms && !isKept(seen) ? 'Missing' : 'Unavailable'
  if (status === 424 || status === 425) return 'ServiceIdle'
  if (status === 429) return 'Throttled'
  if (GIVEN_UP_BETWEEN.has(status) || status >= 500) return 'Unavailable'
  return 'Rejected'
}

/** Classes that say in clear words that nothing was done, when it is the platform that says so. */
const REFUSED: ReadonlySet<ErrorClass> = new Set(['AuthFailed', 'Rejected', 'Missing', 'ServiceIdle'])

function effectOf(kind: ErrorClass, { seen, body, proxy }: Failure): Effect {
  if (seen.type === 'silence') return seen.sent ? 'unknown' : 'none'
  if (kind === 'Throttled' || faultOfReply(seen, proxy) !== undefined) return 'none'
  return REFUSED.has(kind) && body.isPlatforms ? 'none' : 'unknown'
}

/** The setting that says where the requests of an interface go. */
export const BASE_URL_FLAG: Readonly<Record<Operation['api'], string>> = {
  services: '--base-url',
  alerts: '--alerts-base-url',
}

const DOING: Readonly<Record<Operation['does'], string>> = {
  create: 'Creating',
  read: 'Reading',
  upsert: 'Applying',
  update: 'Changing',
  delete: 'Deleting',
}

/** The failure in one sentence: what was asked, what was seen, and what it means for a person. */
export function failureWords({ operation }: Failure, facts: RemoteErrorFacts): string {
  const { does, noun } = operation
  const effect = does === 'create' && facts.effect === 'unknown' ? `; the ${noun} may have been created` : ''
  const request = facts.requestId === undefined ? '' : ` (request ${facts.requestId})`
  return `${DOING[does]} the ${noun} failed: ${facts.what}${effect}${request}`
}

type Known = Omit<RemoteErrorFacts, 'what' | 'class'> & { readonly class: SeenClass }

/** What was seen. @param excerpt of the reply, fit to be shown */
export function seenWords(failure: Failure, facts: Known, excerpt: string): string {
  const { seen, operation, origin, proxy, body } = failure
  if (seen.type === 'silence') return silenceWords(seen, failure)
  const fault = faultOfReply(seen, proxy)
  if (fault !== undefined) return `nothing was sent to ${origin}: ${proxyWords(fault)}`
  const words = REPLY_WORDS[facts.class](seen, facts, operation)
  const answered = `${origin} answered ${seen.status}, ${words}${quoted(excerpt)}${idWords(facts.repliedId, failure)}`
  // Also one that joins, where it reads TLS: its authority is in --ca-file then.
  return proxy !== undefined && !body.isPlatforms
    ? `${answered}; it may be the proxy ${proxy.address.origin} that answered`
    : answered
}

/** Longest id that is shown in full, in characters: what is longer is no id. */
const LONGEST_ID = 64

function idWords(id: string | undefined, { mask }: Failure): string {
  if (id === undefined) return ''
  const shown = mask(id)
    .slice(0, LONGEST_ID)
    .replace(/[\p{C}\p{Z}]/gu, ' ')
  return `; the reply held the id "${shown}${id.length > LONGEST_ID ? '…' : ''}"`
}

type SeenReply = Extract<Failure['seen'], { readonly type: 'reply' }>
type SeenSilence = Extract<Failure['seen'], { readonly type: 'silence' }>

const REPLY_WORDS: Readonly<
  Record<SeenClass, (seen: SeenReply, facts: Known, operation: Operation) => string>
> = {
  BadReply: ({ end }) => END_WORDS[end],
  Redirected: (_seen, _facts, operation) =>
    `a redirect, which is never followed with credentials (check ${BASE_URL_FLAG[operation.api]})`,
  AuthFailed: (_seen, { refused }) => `it refused the credentials in ${refused?.source}`,
  Missing: (_seen, _facts, { noun }) => `it knows no such ${noun}`,
  Throttled: (_seen, facts) => `too many requests${waitWords(facts)}`,
  ServiceIdle: (_seen, facts) => `the service is idle or still waking up${idleWords(facts)}`,
  Rejected: () => 'it refused the request',
  Unavailable: (seen) => {
    if (seen.status !== 404) return 'it could not carry out the request'
    return isKept(seen)
      ? 'from a cache in between (it has an "Age"). Let nothing there keep answers of the platform'
      : 'but not as the platform does. Check the base URL, and any proxy in between'
  },
}

/** Whether a cache in between answered, with what it kept (RFC 9111, 5.1): that says nothing of how things are now. */
function isKept({ headers }: SeenReply): boolean {
  return headers['age'] !== undefined
}

const END_WORDS: Readonly<Record<SeenReply['end'], string>> = {
  whole: 'but not with what the interface promises',
  cut: 'but the connection was cut before the reply was complete',
  late: 'but the reply was not complete in time',
  'too large': 'but the reply is too large',
}

function quoted(excerpt: string): string {
  return excerpt === '' ? '' : `: ${excerpt}`
}

function idleWords(facts: Known): string {
  return facts.retryAfterMs === undefined
    ? ''
    : `; it says to try again in ${formatDuration(facts.retryAfterMs)}`
}

function waitWords(facts: Known): string {
  return facts.retryAfterMs === undefined ? '' : `; it says to wait ${formatDuration(facts.retryAfterMs)}`
}

function silenceWords(seen: SeenSilence, { origin, proxy, timeoutMs }: Failure): string {
  const limit = formatDuration(timeoutMs)
  const through = proxy === undefined ? '' : ` through the proxy ${proxy.address.origin}`
  if (seen.fault !== undefined) return `no connection to ${origin}: ${proxyWords(seen.fault)}`
  if (seen.why === 'too late') {
    return `nothing was sent to ${origin}, because too much time had passed since the decision`
  }
  if (seen.why === 'timeout') {
    return seen.sent
      ? `no reply from ${origin}${through} within ${limit}`
      : `no connection to ${origin}${through} within ${limit}`
  }
  const code = seen.code ?? 'no code'
  if (seen.sent && isClientCertificateRefused(code))
    return `${origin} ended the connection: ${connectWords(code)} (${code})`
  if (seen.sent) return `the connection to ${origin}${through} was cut before a reply came (${code})`
  return `no connection to ${origin}${through}: ${connectWords(code)} (${code})`
}
