import type { Fingerprint, Intent, LedgerRecord, RecordedPipe, Seen, ServiceIdentity } from './record.ts'

/*
 * How a record may change around a create (design §5). Pure; the ledger's compare-and-set makes each of them
 * exclusive. A refused transition throws: that is a bug of the caller, and the last fence before a second POST.
 */

/** What is about to be asked for. */
export interface Opening {
  readonly intentId: string
  readonly requestDigest: string
  readonly revision: string
  readonly service: ServiceIdentity
  readonly platformName: string
  readonly fingerprint: Fingerprint
  /** The id of a pipe that is confirmed to be gone and is given up for this. */
  readonly giveUp: string | undefined
  /** The id of the unknown intent that a person said created nothing. */
  readonly approved: string | undefined
  /** ms since the epoch. */
  readonly now: number
}

/** @throws {IntentRefused} when the key has a pipe, or an intent that may have made one */
export function openIntent(record: LedgerRecord, opening: Opening): LedgerRecord {
  const { pipe, intent } = record
  if (pipe !== undefined && pipe.id !== opening.giveUp)
    throw new IntentRefused(record, `it has pipe ${pipe.id}`)
  const undecided = intent?.state === 'open' || intent?.state === 'unknown'
  if (undecided && intent.id !== opening.approved)
    throw new IntentRefused(record, `intent ${intent.id} has no outcome`)
  return {
    ...record,
    service: opening.service,
    platformName: opening.platformName,
    applied: opening.fingerprint,
    pipe: undefined,
    misses: undefined,
    intent: {
      id: opening.intentId,
      attempt: (intent?.attempt ?? 0) + 1,
      requestDigest: opening.requestDigest,
      revision: opening.revision,
      openedAt: opening.now,
      state: 'open',
      seen: undefined,
    },
  }
}

/** The reply carried an id. */
export function succeedIntent(record: LedgerRecord, intent: Intent, pipe: RecordedPipe): LedgerRecord {
  return {
    ...record,
    pipe,
    misses: undefined,
    backoff: undefined,
    intent: { ...own(record, intent), state: 'succeeded', seen: undefined },
  }
}

/** The request certainly had no effect. */
export function failIntent(record: LedgerRecord, intent: Intent, seen: Seen): LedgerRecord {
  return { ...record, intent: { ...own(record, intent), state: 'failed', seen } }
}

/** The request may have had an effect; only a person's word ends this. */
export function leaveIntentUnknown(record: LedgerRecord, intent: Intent, seen: Seen): LedgerRecord {
  return { ...record, intent: { ...own(record, intent), state: 'unknown', seen } }
}

/** A person found that a request without an outcome created nothing: the next attempt needs a new intent. */
export function dismissIntent(record: LedgerRecord, dismissed: Intent, now: number): LedgerRecord {
  const intent = own(record, dismissed)
  if (intent.state !== 'open' && intent.state !== 'unknown') {
    throw new IntentRefused(record, `intent ${intent.id} is settled: ${intent.state}`)
  }
  const { httpStatus, requestId } = intent.seen ?? { httpStatus: undefined, requestId: undefined }
  const seen: Seen = { at: now, httpStatus, requestId, what: 'a person said that it created nothing' }
  return { ...record, backoff: undefined, intent: { ...intent, state: 'failed', seen } }
}

/** A pipe that exists is taken over; a request without an outcome is settled by that. */
export function adoptPipe(
  record: LedgerRecord,
  adopted: {
    readonly pipe: RecordedPipe
    readonly service: ServiceIdentity
    readonly platformName: string
    readonly fingerprint: Fingerprint
  },
): LedgerRecord {
  return {
    ...record,
    pipe: adopted.pipe,
    service: adopted.service,
    platformName: adopted.platformName,
    applied: adopted.fingerprint,
    misses: undefined,
    backoff: undefined,
    intent: record.intent === undefined ? undefined : { ...record.intent, state: 'succeeded' },
  }
}

function own(record: LedgerRecord, intent: Intent): Intent {
  if (record.intent?.id !== intent.id)
    throw new IntentRefused(record, `intent ${intent.id} is no longer its last one`)
  return record.intent
}

/** A create that must not go out. */
export class IntentRefused extends Error {
  constructor(record: LedgerRecord, why: string) {
    super(`no create for ${record.key}: ${why}`)
    this.name = 'IntentRefused'
  }
}
