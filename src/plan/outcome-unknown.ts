import type { Key } from '../kinds/key.ts'
import { sameId } from '../lib/same-id.ts'
import type { DecideInput } from './input.ts'
import type { Intent, LedgerRecord } from './record.ts'

/** The last attempt of a key, when it may have created something and nobody knows (design §5). */
export function undecidedIntent({ intent }: Pick<LedgerRecord, 'intent'>): Intent | undefined {
  return intent?.state === 'open' || intent?.state === 'unknown' ? intent : undefined
}

/** The same, until a person has said in Git what became of it: also a word that waits for the end of a suspension. */
export function unansweredIntent(input: DecideInput): Intent | undefined {
  if (input.kind !== 'Pipe' || input.recorded.pipe !== undefined) return undefined
  const intent = undecidedIntent(input.recorded)
  if (input.desired.state === 'absent') return intent // whatever Git says is about a manifest that is there
  const pipeId = input.policy.adopt ?? input.surroundings.lockedId
  return pipeId !== undefined || sameId(input.policy.retryCreate, intent?.id) ? undefined : intent
}

/** What is known of an attempt whose outcome is not: time, intent, request, HTTP status, and what was seen. */
export function attemptWords(intent: Intent): string {
  const { seen } = intent
  const request = seen?.requestId === undefined ? '' : `, request ${seen.requestId}`
  const status = seen?.httpStatus === undefined ? '' : `, HTTP ${seen.httpStatus}`
  const what = seen?.what ?? 'Pipewright was stopped before it knew the outcome'
  return `at ${new Date(intent.openedAt).toISOString()} (intent ${intent.id}${request}${status}): ${what}`
}

/** What is known of it, and each way out, word for word as the manifest and the shell take it. */
export function outcomeUnknownWords(key: Key, intent: Intent): string {
  return (
    `The pipe may or may not have been created ${attemptWords(intent)}. Look for it in the console. ` +
    `If it is there, set policy.adopt: <its id>, or run "pipewright resolve ${key} --adopt <its id>"; ` +
    `if it is not, set policy.retryCreate: ${intent.id}, or run "pipewright resolve ${key} --retry".`
  )
}
