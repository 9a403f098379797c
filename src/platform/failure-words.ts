import { formatDuration } from '../lib/duration.ts'
import type { Operation } from '../kinds/definition.ts'
import type { ErrorClass, RemoteErrorFacts } from '../contract/remote-error.ts'
import type { Failure } from './failure.ts'

/** The setting that says where the requests of an interface go. */
export const BASE_URL_FLAG: Readonly<Record<Operation['api'], string>> = {
  services: '--base-url',
  alerts: '--alerts-base-url',
}

const DOING: Readonly<Record<Operation['does'], string>> = {
  create: 'creating',
  read: 'reading',
  upsert: 'setting',
}

/** The failure in one sentence: what was asked, what was seen, and what it means for a person. */
export function failureWords({ operation }: Failure, facts: RemoteErrorFacts): string {
  const { does, noun } = operation
  const effect = does === 'create' && facts.effect === 'unknown' ? `; the ${noun} may have been created` : ''
  const request = facts.requestId === undefined ? '' : ` (request ${facts.requestId})`
  return `${DOING[does]} the ${noun} failed: ${facts.what}${effect}${request}`
}

type Known = Omit<RemoteErrorFacts, 'what'>

/** What was seen. @param excerpt of the reply, fit to be shown */
export function seenWords(failure: Failure, facts: Known, excerpt: string): string {
  const { seen, operation, origin } = failure
  if (seen.type === 'silence') return silenceWords(seen, failure)
  const words = REPLY_WORDS[facts.class](seen, facts, operation)
  return `${origin} answered ${seen.status}, ${words}${quoted(excerpt)}${idWords(facts.repliedId)}`
}

/** Longest id that is shown in full, in characters: what is longer is no id. */
const LONGEST_ID = 64

function idWords(id: string | undefined): string {
  if (id === undefined) return ''
  const shown = id.slice(0, LONGEST_ID).replace(/[\p{C}\p{Z}]/gu, ' ')
  return `; the reply held the id "${shown}${id.length > LONGEST_ID ? '…' : ''}"`
}

type SeenReply = Extract<Failure['seen'], { readonly type: 'reply' }>
type SeenSilence = Extract<Failure['seen'], { readonly type: 'silence' }>

const REPLY_WORDS: Readonly<
  Record<ErrorClass, (seen: SeenReply, facts: Known, operation: Operation) => string>
> = {
  BadReply: ({ end }) => END_WORDS[end],
  Redirected: (_seen, _facts, operation) =>
    `a redirect; credentials never follow one, so correct ${BASE_URL_FLAG[operation.api]}`,
  AuthFailed: () => 'it refused the credentials',
  Missing: (_seen, _facts, { noun }) => `it knows no such ${noun}`,
  Throttled: (_seen, facts) => `it asks us to wait${waitWords(facts)}`,
  ServiceIdle: (_seen, facts) => `the service is idle or still waking up${idleWords(facts)}`,
  Rejected: () => 'it refused the request',
  Unavailable: ({ status }) =>
    status === 404
      ? 'but not as the platform does; is there a proxy in between, or is the base URL wrong?'
      : 'it could not do it',
}

const END_WORDS: Readonly<Record<SeenReply['end'], string>> = {
  whole: 'but not with what the interface promises',
  cut: 'but the connection was cut before the reply was whole',
  late: 'but the reply was not whole in time',
  'too large': 'but the reply is larger than is read',
}

function quoted(excerpt: string): string {
  return excerpt === '' ? '' : `: ${excerpt}`
}

function idleWords(facts: Known): string {
  return facts.retryAfterMs === undefined
    ? ''
    : `, and asks us to come again in ${formatDuration(facts.retryAfterMs)}`
}

function waitWords(facts: Known): string {
  return facts.retryAfterMs === undefined ? '' : ` for ${formatDuration(facts.retryAfterMs)}`
}

function silenceWords(seen: SeenSilence, { origin, timeoutMs }: Failure): string {
  const limit = formatDuration(timeoutMs)
  if (seen.why === 'too late') {
    return `nothing was sent to ${origin}, because too long a time had passed since it was decided`
  }
  if (seen.why === 'timeout') {
    return seen.sent
      ? `no reply from ${origin} within ${limit}`
      : `no connection to ${origin} within ${limit}`
  }
  const code = seen.code ?? 'no code'
  if (seen.sent) return `the connection to ${origin} was cut before a reply came (${code})`
  return `no connection to ${origin}: ${connectWords(code)} (${code})`
}

/** Codes only, never the text of an error: it may repeat what was sent. */
function connectWords(code: string): string {
  if (code === 'ECONNREFUSED') return 'it was refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of the host does not resolve'
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'it took too long'
  if (/TLS|SSL|CERT|SIGNED|SIGNATURE|EPROTO/.test(code)) {
    return 'TLS failed; for a certificate authority of your own, set NODE_EXTRA_CA_CERTS'
  }
  return 'it could not be made'
}
