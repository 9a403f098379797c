import { createHmac } from 'node:crypto'
import type { Problem } from '../contract/view.ts'
import { sha256 } from '../lib/digest.ts'
import { formatDuration } from '../lib/duration.ts'
import type { Secret } from '../lib/secret.ts'
import { REASONS } from '../plan/reason.ts'

const MAX_KEYS = 100
const MAX_KEYS_IN_TEXT = 3
/** Characters of `words`. */
const MAX_WORDS = 2_000

type ProblemChange = 'began' | 'grew' | 'ended'

interface WebhookMessage {
  readonly id: string
  readonly body: string
}

interface MessageContext {
  readonly isSandbox: boolean
  /** Without a final slash. */
  readonly publicUrl: string | undefined
  readonly revision: string
  /** ms since the epoch. */
  readonly now: number
  readonly endedAt: number
  readonly words: string | undefined
}

/** Receivers depend on the names and meanings of the fields. */
export function createMessage(
  change: ProblemChange,
  problem: Problem,
  context: MessageContext,
): WebhookMessage {
  const { id, reason, severity, service, keys, since, state } = problem
  const { isSandbox, publicUrl, revision, now, endedAt } = context
  const [key] = keys
  const page = keys.length === 1 && change !== 'ended' ? `?resource=${key}` : ''
  const url = publicUrl === undefined ? undefined : `${publicUrl}/${page}`
  const facts = {
    type: `problem.${change}`,
    timestamp: new Date(now).toISOString(),
    text: [textOf(change, problem, context), url].filter((line) => line !== undefined).join('\n'),
    id,
    problem: reason,
    severity,
    service,
    keys: keys.slice(0, MAX_KEYS),
    resources: keys.length,
    since: new Date(since).toISOString(),
    endedAt: change === 'ended' ? new Date(endedAt).toISOString() : undefined,
    revision,
    url,
    sandbox: isSandbox || undefined,
  }
  const size = change === 'grew' ? keys.length : undefined
  const name = JSON.stringify([id, change, state, size])
  return { id: `msg_${sha256(name).slice(0, 32)}`, body: JSON.stringify(facts) }
}

function textOf(
  change: ProblemChange,
  { reason, severity, keys, since }: Problem,
  { isSandbox, endedAt, words }: MessageContext,
): string {
  const named = keys.slice(0, MAX_KEYS_IN_TEXT).join(', ')
  const more = keys.length > MAX_KEYS_IN_TEXT ? ` and ${keys.length - MAX_KEYS_IN_TEXT} more` : ''
  const what = `${plain(`${named}${more}`)}: ${REASONS[reason].means} (${reason})`
  const sandbox = isSandbox ? '[sandbox] ' : ''
  if (change === 'ended')
    return `${sandbox}Ended after ${formatDuration(Math.max(0, endedAt - since))}: ${what}.`
  const grown = change === 'grew' ? ` Now ${keys.length} resources.` : ''
  const why = words === undefined ? '' : ` ${plain(words).slice(0, MAX_WORDS).toWellFormed()}`
  return `${sandbox}${severity === 'critical' ? 'Critical' : 'Warning'}: ${what}.${grown}${why}`
}

/** One line, without markup, links or mentions. */
function plain(text: string): string {
  return text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '@\u200B')
}

/**
 * Headers of Standard Webhooks (standardwebhooks.com).
 * @param secret plain text, or `whsec_` and base64
 * @param now ms since the epoch
 */
export function webhookHeaders(
  { id, body }: WebhookMessage,
  secret: Secret | undefined,
  now: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return headers
  const hash = createHmac('sha256', keyBytes(secret.reveal())).update(`${id}.${timestamp}.${body}`)
  return { ...headers, 'webhook-signature': `v1,${hash.digest('base64')}` }
}

const PREFIX = 'whsec_'

function keyBytes(text: string): Buffer {
  return text.startsWith(PREFIX)
    ? Buffer.from(text.slice(PREFIX.length), 'base64')
    : Buffer.from(text, 'utf8')
}
