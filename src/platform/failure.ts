import type { Operation } from '../kinds/definition.ts'
import type { Exchanged } from './http-exchange.ts'
import type { Admission, Caller } from './admission.ts'
import { faultOfReply, type Route } from './network.ts'
import type { ReadValue, ReplyBody } from './wire.ts'
import {
  type Effect,
  type ErrorClass,
  type RemoteErrorFacts,
  RemoteError,
  whatIsRefused,
} from '../contract/remote-error.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import { Secret } from '../lib/secret.ts'
import { excerptOf, excerptOfId } from '../lib/excerpt.ts'
import { retryAfterMs } from '../lib/retry.ts'
import { connectWords, isClientCertificateRefused, proxyWords } from '../lib/connect-words.ts'
import { formatDuration } from '../lib/duration.ts'

export interface ApiCall<T> {
  readonly caller: Caller
  readonly origin: string
  readonly path: string
  readonly way: Route
  readonly readValue: ReadValue<T>
}

export interface TriedCall<T> extends ApiCall<T> {
  readonly admission: Admission
  readonly seen: Exclude<Exchanged, { readonly type: 'stopped' }>
  readonly timeoutMs: number
  readonly durationMs: number
}

interface Failure extends TriedCall<unknown> {
  readonly body: ReplyBody
  readonly mask: SecretMask['mask']
  /** Whether an earlier 404 had the same request id. Then a cache repeated the reply. */
  readonly isRepeated: boolean
  /** ms since the epoch. */
  readonly now: number
}

/*
 * Classes of failed requests. Transient: retried within seconds, if repeatable. Throttled and ServiceIdle cause a
 * longer pause instead. Effect `none`: the request provably had no effect. "The platform's own": the reply's body has
 * the status and a UUID as request id. Other replies can come from a proxy, after the platform did the work.
 *
 * | seen                                        | class       | transient | effect of a create or an upsert |
 * |---------------------------------------------|-------------|-----------|---------------------------------|
 * | no connection: refused, DNS, TLS, timeout   | Unavailable | yes       | none                            |
 * | no connection through the proxy             | Unavailable | yes       | none                            |
 * | 407 of the configured proxy                 | Unavailable | yes       | none                            |
 * | reset, cut or timeout on a ready connection | Unavailable | yes       | unknown                         |
 * | 2xx without the promised content            | BadReply    | yes       | unknown                         |
 * | 3xx                                         | Redirected  | no        | unknown                         |
 * | 401, 403                                    | AuthFailed  | no        | none if the platform's own      |
 * | the platform's own 404 (read, delete)       | Missing     | no        | –                               |
 * | other or cached 404 (read, delete)          | Unavailable | yes       | –                               |
 * | 424, 425                                    | ServiceIdle | no        | none if the platform's own      |
 * | 429                                         | Throttled   | no        | none                            |
 * | 408, 444, 460, 463, 499, 5xx                | Unavailable | yes       | unknown                         |
 * | any other 4xx                               | Rejected    | no        | none if the platform's own      |
 */

export function classify(failure: Failure): RemoteError {
  const { seen, body, now, admission, way } = failure
  const { operation } = failure.caller
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
    proxy: way.proxy?.address.origin,
    credential: admission.login.digest,
    refused:
      seen.type === 'reply' && (kind === 'AuthFailed' || isWithoutService(failure))
        ? { source: admission.login.source, what: whatIsRefused(seen.status) }
        : undefined,
  }
  const texts = kind === 'BadReply' ? 'hidden' : 'shown'
  const excerpt = seen.type === 'reply' ? excerptOf(seen.body, failure, texts) : ''
  const facts: RemoteErrorFacts = { ...known, what: seenWords(failure, known, excerpt) }
  return new RemoteError(failureWords(failure, facts), facts)
}

/** Statuses of a proxy that gives up. The platform might still have done the work. */
const GIVEN_UP_BETWEEN: ReadonlySet<number> = new Set([408, 444, 460, 463, 499])

const ASKS_FOR_WHAT_IS_THERE: ReadonlySet<Operation['does']> = new Set(['read', 'delete'])

type SeenClass = Exclude<ErrorClass, 'NotLeading'>

function kindOf({ caller, seen, body, way, isRepeated }: Failure): SeenClass {
  if (seen.type === 'silence' || faultOfReply(seen, way.proxy) !== undefined) return 'Unavailable'
  const { operation } = caller
  const { status } = seen
  if (status < 300) return 'BadReply'
  if (status < 400) return 'Redirected'
  if (status === 401 || status === 403) return 'AuthFailed'
  // Not for alerts: their replies have no request id, so a 404 might come from a proxy.
  if (status === 404 && ASKS_FOR_WHAT_IS_THERE.has(operation.does) && operation.api === 'services')
    return body.isPlatforms && !isKept(seen) && !isRepeated ? 'Missing' : 'Unavailable'
  if (status === 424 || status === 425) return 'ServiceIdle'
  if (status === 429) return 'Throttled'
  if (GIVEN_UP_BETWEEN.has(status) || status >= 500) return 'Unavailable'
  return 'Rejected'
}

/** A 404 to a list, or to a create before any read worked: the API key cannot reach the service. */
function isWithoutService({ seen, body, path, caller: { operation }, admission }: Failure): boolean {
  const isNotFound = seen.type === 'reply' && seen.status === 404 && body.isPlatforms && !isKept(seen)
  if (!isNotFound || operation.api !== 'services') return false
  const isUnread = !admission.login.account.read.has(serviceOfPath(path))
  return operation.lists === true || (operation.does === 'create' && isUnread)
}

export function serviceOfPath(path: string): string {
  return /^.*\/services\/[^/]+/.exec(path)?.[0] ?? path
}

const REFUSED: ReadonlySet<ErrorClass> = new Set(['AuthFailed', 'Rejected', 'Missing', 'ServiceIdle'])

function effectOf(kind: ErrorClass, { seen, body, way }: Failure): Effect {
  if (seen.type === 'silence') return seen.sent ? 'unknown' : 'none'
  if (kind === 'Throttled' || faultOfReply(seen, way.proxy) !== undefined) return 'none'
  return REFUSED.has(kind) && body.isPlatforms ? 'none' : 'unknown'
}

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

function failureWords({ caller }: Failure, facts: RemoteErrorFacts): string {
  const { does, noun } = caller.operation
  const effect =
    does === 'create' && facts.effect === 'unknown' ? `; the ${noun} might have been created` : ''
  const request = facts.requestId === undefined ? '' : ` (request ${facts.requestId})`
  return `${DOING[does]} the ${noun} failed: ${facts.what}${effect}${request}`
}

type Known = Omit<RemoteErrorFacts, 'what' | 'class'> & { readonly class: SeenClass }

function seenWords(failure: Failure, facts: Known, excerpt: string): string {
  const { seen, caller, origin, way, body } = failure
  const { proxy } = way
  if (seen.type === 'silence') return silenceWords(seen, failure)
  const fault = faultOfReply(seen, proxy)
  if (fault !== undefined) return `no request was sent to ${origin}: ${proxyWords(fault)}`
  const words = REPLY_WORDS[facts.class](seen, facts, caller.operation)
  const { repliedId } = facts
  const id = repliedId === undefined ? '' : `; the reply held the id "${excerptOfId(repliedId, failure)}"`
  const answered = `${origin} answered ${seen.status}, ${words}${excerpt === '' ? '' : `: ${excerpt}`}${id}`
  // A proxy that decrypts TLS (--ca-file) can reply, too.
  return proxy !== undefined && !body.isPlatforms
    ? `${answered}; the proxy ${proxy.address.origin} might have answered`
    : answered
}

type SeenReply = Extract<Failure['seen'], { readonly type: 'reply' }>
type SeenSilence = Extract<Failure['seen'], { readonly type: 'silence' }>

const CHECK_IDS = 'Check organizationId and serviceId in the Service manifest'
const NO_SERVICE = `it knows no such service, or not for this API key. ${CHECK_IDS}. They might be wrong or swapped`

const REPLY_WORDS: Readonly<
  Record<SeenClass, (seen: SeenReply, facts: Known, operation: Operation) => string>
> = {
  BadReply: ({ end }, _facts, { most, noun }) =>
    END_WORDS[end] +
    (most && end === 'whole' ? `, or with at least ${most} ${noun}, so the list might not be complete` : ''),
  Redirected: (_seen, _facts, operation) =>
    `a redirect, which is never followed with credentials (check ${BASE_URL_FLAG[operation.api]})`,
  AuthFailed: ({ status }, { refused }, { api, permission }) => {
    if (status === 403)
      return `it forbids this to the credentials in ${refused?.source}. ${permission === undefined ? '' : `The key needs the permission ${permission}. `}${CHECK_IDS}`
    const pair = api === 'services' ? '. Check that key id and key secret are not swapped' : ''
    return `it refused the credentials in ${refused?.source}${pair}`
  },
  Missing: (_seen, { refused }, { noun }) =>
    refused === undefined ? `it knows no such ${noun}` : NO_SERVICE,
  Throttled: (_seen, facts) => `too many requests${waitWords(facts, 'wait')}`,
  ServiceIdle: (_seen, facts) => `the service is idle or still waking up${waitWords(facts, 'try again in')}`,
  Rejected: (_seen, { refused }) => (refused === undefined ? 'and refused the request' : NO_SERVICE),
  Unavailable: (seen) => {
    if (seen.status !== 404) return 'it could not carry out the request'
    return isKept(seen)
      ? 'from a cache in between (it has the header "Age"). Turn off the caching of replies there'
      : 'but not in the form of the platform. Check the base URL, and any proxy in between'
  },
}

/** Whether a cache replied (RFC 9111, 5.1), which does not know the current state. */
function isKept({ headers }: SeenReply): boolean {
  return headers['age'] !== undefined
}

const END_WORDS: Readonly<Record<SeenReply['end'], string>> = {
  whole: 'but without the expected content',
  cut: 'but the connection was cut before the reply was complete',
  late: 'but the reply was not complete in time',
  'too large': 'but the reply is too large',
}

function waitWords({ retryAfterMs: ms }: Known, verb: string): string {
  return ms === undefined ? '' : `; it says to ${verb} ${formatDuration(ms)}`
}

const UNREADABLE = /^HPE_|^HTTPParserError$|^UND_ERR_(?:HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/

function silenceWords(seen: SeenSilence, { origin, way: { proxy }, timeoutMs }: Failure): string {
  const limit = formatDuration(timeoutMs)
  const through = proxy === undefined ? '' : ` through the proxy ${proxy.address.origin}`
  if (seen.fault !== undefined) return `no connection to ${origin}: ${proxyWords(seen.fault)}`
  if (seen.why === 'too late') {
    return `no request was sent to ${origin}, because too much time had passed since the decision`
  }
  if (seen.why === 'timeout') {
    return seen.sent
      ? `no reply from ${origin}${through} within ${limit}`
      : `no connection to ${origin}${through} within ${limit}`
  }
  const code = seen.code ?? 'no code'
  if (seen.sent && isClientCertificateRefused(code))
    return `${origin} ended the connection: ${connectWords(code)}`
  if (seen.sent && UNREADABLE.test(code))
    return `a reply came from ${origin}${through} that is not readable HTTP (${code})`
  if (seen.sent) return `the connection to ${origin}${through} was cut before a reply came (${code})`
  return `no connection to ${origin}${through}: ${connectWords(code, seen.addresses)}`
}
