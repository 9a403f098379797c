import { createHmac } from 'node:crypto'
import type { Secret } from '../lib/secret.ts'
import { pageOf, plain, type Message, type MessageContext } from './message.ts'
import { sentenceOf, type Notification } from './notification.ts'

/** Notification listed in one message of a webhook. */
export const MOST_IN_WEBHOOK = 100

const LONGEST_TEXT = 2_500

/** The body of a webhook (`docs/notifications.md`). Fields may come; none goes or changes its meaning within a version. */
export function webhookBody(message: Message, context: MessageContext): string {
  const { id, at, sentence, listed, more, total, counts } = message
  return JSON.stringify({
    version: 1,
    id,
    time: timeOf(at),
    sentence,
    total,
    counts,
    more,
    page: pageOf(context, undefined),
    sender: { app: 'pipewright', version: context.version, sandbox: context.sandbox },
    news: listed.map((notification) => itemOf(notification, context)),
  })
}

function itemOf(notification: Notification, context: MessageContext) {
  const { key, change, severity, labels, status, condition, reason, before, changes, revision, file, line } =
    notification
  const slash = key.indexOf('/')
  return {
    id: notification.id,
    key,
    kind: key.slice(0, slash),
    name: key.slice(slash + 1),
    labels,
    change,
    severity,
    sentence: sentenceOf(notification),
    status,
    condition,
    reason,
    message: plain(notification.message, LONGEST_TEXT),
    nextStep: nextStepOf(notification, context),
    before,
    changes,
    since: notification.since > 0 ? timeOf(notification.since) : undefined,
    revision,
    file,
    line,
    pipeId: notification.pipeId,
    page: pageOf(context, notification),
  }
}

function nextStepOf(notification: Notification, context: MessageContext): string | undefined {
  const step = notification.change === 'bad' ? context.nextStep(notification.key) : undefined
  return step === undefined ? undefined : plain(step, LONGEST_TEXT)
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

/**
 * The headers of Standard Webhooks (standardwebhooks.com): HMAC-SHA256 over id, time and body, so that neither can be
 * changed and an old message cannot be sent again later.
 * @param key its bytes; or, after `whsec_`, its bytes in base64
 * @param now ms since the epoch
 */
export function signedHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  key: Secret | undefined,
  now: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (key === undefined) return headers
  const hash = createHmac('sha256', keyBytes(key)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${hash}` }
}

const ENCODED = 'whsec_'

function keyBytes(key: Secret): Buffer {
  const text = key.reveal()
  return text.startsWith(ENCODED)
    ? Buffer.from(text.slice(ENCODED.length), 'base64')
    : Buffer.from(text, 'utf8')
}
