import { formatDuration } from '../lib/duration.ts'
import type { Operation } from '../reconcile/events.ts'
import type { ErrorClass, RemoteErrorFacts } from '../reconcile/remote-error.ts'
import type { Failure } from './failure.ts'

const OPERATION_WORDS: Readonly<Record<Operation, string>> = {
  createPipe: 'creating the pipe',
  getPipe: 'reading the pipe',
  upsertQueryEndpoint: 'setting the query endpoint',
  getAlert: 'reading the alert',
}

/** The setting that says where each operation goes. */
export const BASE_URL_FLAG: Readonly<Record<Operation, string>> = {
  createPipe: '--base-url',
  getPipe: '--base-url',
  upsertQueryEndpoint: '--base-url',
  getAlert: '--alerts-base-url',
}

/** The failure in one sentence: what was asked, what was seen, and what it means for a person. */
export function failureWords(failure: Failure, facts: RemoteErrorFacts, excerpt: string): string {
  const { seen, operation, origin } = failure
  const what =
    seen.type === 'silence'
      ? silenceWords(seen, failure)
      : `${origin} answered ${seen.status}, ${REPLY_WORDS[facts.class](seen, facts, operation)}${quoted(excerpt)}`
  const effect =
    operation === 'createPipe' && facts.effect === 'unknown' ? '; the pipe may have been created' : ''
  const request = facts.requestId === undefined ? '' : ` (request ${facts.requestId})`
  return `${OPERATION_WORDS[operation]} failed: ${what}${effect}${request}`
}

type SeenReply = Extract<Failure['seen'], { readonly type: 'reply' }>
type SeenSilence = Extract<Failure['seen'], { readonly type: 'silence' }>

const REPLY_WORDS: Readonly<
  Record<ErrorClass, (seen: SeenReply, facts: RemoteErrorFacts, operation: Operation) => string>
> = {
  BadReply: ({ end }) => END_WORDS[end],
  Redirected: (_seen, _facts, operation) =>
    `a redirect; credentials never follow one, so correct ${BASE_URL_FLAG[operation]}`,
  AuthFailed: () => 'it refused the credentials',
  Missing: () => 'it knows no such pipe',
  Throttled: (_seen, facts) => `it asks us to wait${waitWords(facts)}`,
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

function waitWords(facts: RemoteErrorFacts): string {
  return facts.retryAfterMs === undefined ? '' : ` for ${formatDuration(facts.retryAfterMs)}`
}

function silenceWords(seen: SeenSilence, { origin, timeoutMs }: Failure): string {
  const limit = formatDuration(timeoutMs)
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
