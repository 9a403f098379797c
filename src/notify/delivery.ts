import type { Event } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import { connectWords, isTlsFailure, proxyWords } from '../lib/connect-words.ts'
import type { ProxyFault } from '../lib/proxy.ts'
import { backoffMs, type ReplyHeaders, retry, retryAfterMs } from '../lib/retry.ts'
import type { Secret } from '../lib/secret.ts'
import { webhookHeaders, type createMessage } from './message.ts'
import type { SecretReading } from '../contract/secrets.ts'
import { MORE_FILES } from '../lib/files.ts'
import { parseTarget, type WebhookUrl } from '../lib/webhook-url.ts'

const MAX_RETRIES = 7
const RETRY = { firstMs: 1_000, maxMs: 60_000 }

/** Read before each attempt, because a mounted secret can change. */
export type Target =
  | { readonly url: URL; readonly secret: Secret | undefined }
  | { readonly url: undefined; /** Never the content of a file. */ readonly why: string }

export interface Posting {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Latest start of the request, in ms of the monotonic clock. */
  readonly notAfter: number
}

export type Posted =
  | { readonly type: 'reply'; readonly status: number; readonly headers: ReplyHeaders }
  | {
      readonly type: 'silence'
      readonly why: 'timeout' | 'error' | 'too late'
      readonly code: string | undefined
      readonly fault: ProxyFault | undefined
    }
  | { readonly type: 'stopped' }

export interface DeliveryParts {
  readonly readTarget: () => Promise<Target>
  /** Never throws, follows no redirect, ends within seconds. */
  readonly post: (posting: Posting, signal: AbortSignal) => Promise<Posted>
  /** Throws if this process is not leader. */
  readonly confirm: () => Promise<number>
  readonly clock: Clock
  readonly random: () => number
  readonly userAgent: string
  readonly onAttempt: (attempt: PostAttempt) => void
}

/** `code`: HTTP status, or the class of the failure. */
interface PostAttempt extends Pick<
  Extract<Event, { type: 'NotificationFailed' }>,
  'id' | 'attempt' | 'code' | 'durationMs' | 'retryInMs'
> {
  /** Why it failed, without URL, secret or reply. Undefined after a delivery. */
  readonly message: string | undefined
}

/** HTTP statuses after which the same request can soon work. */
const LATER: ReadonlySet<string> = new Set(['408', '425', '429'])

export class DeliveryError extends Error {
  readonly code: string
  readonly retryAfterMs: number | undefined

  constructor(code: string, message: string, waitMs?: number) {
    super(message)
    this.name = 'DeliveryError'
    this.code = code
    this.retryAfterMs = waitMs
  }

  get isRefusal(): boolean {
    return /^[34]/.test(this.code) && !LATER.has(this.code)
  }
}

/**
 * @throws {DeliveryError} if the last attempt fails
 * @throws the signal's reason
 */
export async function deliver(
  message: ReturnType<typeof createMessage>,
  parts: DeliveryParts,
  { signal, retries = MAX_RETRIES }: { readonly signal: AbortSignal; readonly retries?: number | undefined },
): Promise<void> {
  const { clock, random, onAttempt } = parts
  let startedAt = 0
  const result = await retry(
    async () => {
      startedAt = clock.monotonic()
      return send(message, parts, signal).catch((error: unknown) => {
        if (error instanceof DeliveryError) return error
        throw error
      })
    },
    (tried, attempt) => {
      const about = { id: message.id, attempt, durationMs: clock.monotonic() - startedAt }
      if (!(tried instanceof DeliveryError)) {
        onAttempt({ ...about, code: tried, message: undefined, retryInMs: undefined })
        return undefined
      }
      const isLast = attempt > retries || tried.isRefusal
      const retryInMs = isLast ? undefined : (tried.retryAfterMs ?? backoffMs(attempt, RETRY, random))
      onAttempt({ ...about, code: tried.code, message: tried.message, retryInMs })
      return retryInMs
    },
    { clock, signal },
  )
  if (result instanceof DeliveryError) throw result
}

async function send(
  message: ReturnType<typeof createMessage>,
  { readTarget, post, confirm, clock, userAgent }: DeliveryParts,
  signal: AbortSignal,
): Promise<string> {
  const target = await readTarget()
  if (target.url === undefined) throw new DeliveryError('NoAddress', target.why)
  const { url, secret } = target
  const notAfter = await confirm().catch((error: unknown) => {
    throw new DeliveryError('NotLeading', error instanceof Error ? error.message : String(error))
  })
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    ...webhookHeaders(message, secret, clock.now()),
  }
  const posted = await post({ url, headers, body: message.body, notAfter }, signal)
  if (posted.type === 'stopped') throw new DeliveryError('Stopped', 'Pipewright stops')
  if (posted.type === 'silence') {
    const isTimeout = posted.why === 'timeout'
    throw new DeliveryError(
      isTimeout ? 'Timeout' : 'Connection',
      isTimeout ? 'no reply in time' : failureOf(posted),
    )
  }
  const code = String(posted.status)
  if (posted.status >= 200 && posted.status < 300) return code
  const isRedirect = posted.status >= 300 && posted.status < 400
  const why = isRedirect ? `HTTP ${code}: a redirect, which is never followed` : `HTTP ${code}`
  throw new DeliveryError(code, why, retryAfterMs(posted.headers, clock.now()))
}

/** Shows only codes, because an error's text can name the receiver. */
function failureOf({ fault, code = 'no code' }: Extract<Posted, { type: 'silence' }>): string {
  if (fault !== undefined) return proxyWords(fault)
  return `the connection failed${isTlsFailure(code) ? `: ${connectWords(code)}` : ` (${code})`}`
}

/** Never throws. */
export async function resolveTarget(
  settings: {
    readonly webhookUrl: WebhookUrl
    readonly secretFile: string | undefined
    readonly allowInsecureHttp: boolean
  },
  readSecret: (file: string) => SecretReading | Promise<SecretReading>,
): Promise<Target> {
  const { webhookUrl, secretFile, allowInsecureHttp } = settings
  const reading = 'file' in webhookUrl ? await readSecret(webhookUrl.file) : undefined
  if (reading?.found === false) return { url: undefined, why: unreadable(reading) }
  const from = 'file' in webhookUrl ? `the URL in ${webhookUrl.file}` : '--webhook-url'
  const text = 'url' in webhookUrl ? webhookUrl.url.reveal() : (reading?.value.reveal() ?? '')
  const parsed = parseTarget(text, allowInsecureHttp)
  if (typeof parsed === 'string') return { url: undefined, why: `${from} ${parsed}` }
  if (secretFile === undefined) return { url: parsed, secret: undefined }
  const secret = await readSecret(secretFile)
  // No message is sent, because receivers must refuse unsigned messages.
  if (!secret.found) return { url: undefined, why: unreadable(secret) }
  return isSecret(secret.value)
    ? { url: parsed, secret: secret.value }
    : { url: undefined, why: `the secret in ${secretFile} must be base64 after whsec_` }
}

function isSecret(secret: Secret): boolean {
  const text = secret.reveal()
  return !text.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)
}

function unreadable({ file, why, misplaced }: SecretReading & { readonly found: false }): string {
  if (misplaced !== undefined)
    return `the file ${file} cannot be read, but ${misplaced} is in --secrets-dir. Move it to --credentials-dir`
  switch (why) {
    case 'no descriptor':
      return `the file ${file} could not be opened: too many open files. ${MORE_FILES}`
    case 'linked':
      return `the file ${file} links into --secrets-dir, where manifests could name it. Use another file`
    case 'credential': // happens only for secrets of sources
    case 'absent':
      return `there is no file ${file}`
    case 'unreadable':
      return `the file ${file} cannot be read, or is too large`
    case 'empty':
      return `the file ${file} is empty`
  }
}
