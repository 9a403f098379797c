import { sameId } from '../lib/same-id.ts'
import { earlierOf } from './create-limit.ts'
import { undecidedIntent } from './outcome-unknown.ts'
import type { Reason } from './reason.ts'
import type { Fingerprint, Intent, LedgerRecord, Remote, Replaced, Seen, ServiceIdentity } from './record.ts'

/*
 * How a record may change around a create (design §5). Pure; the ledger's compare-and-set makes each of them
 * exclusive. A refused transition throws: that is a bug of the caller, and the last fence before a second POST.
 */

/** What is about to be asked for. */
export interface Opening {
  readonly intentId: string
  readonly reason: Reason
  readonly requestDigest: string
  readonly revision: string
  readonly service: ServiceIdentity
  readonly platformName: string
  readonly fingerprint: Fingerprint
  /** The id of a pipe that is believed to be gone, and is to be replaced. */
  readonly replaces: string | undefined
  /** ms since the epoch. */
  readonly now: number
  /** As {@link Intent.sendBy} and {@link Intent.endBy}. */
  readonly sendBy: number
  readonly endBy: number
  /** As {@link Intent.isAllowed}. */
  readonly isAllowed: boolean
}

/** @throws {IntentRefused} when the key has another pipe, or an intent that may have made one */
export function openIntent(record: LedgerRecord, opening: Opening): LedgerRecord {
  const { remote, intent, former } = record
  if (remote !== undefined && remote.id !== opening.replaces)
    throw new IntentRefused(record, `it has ${remote.id}`)
  if (intent?.state === 'open' || intent?.state === 'unknown')
    throw new IntentRefused(record, `intent ${intent.id} has no outcome`)
  if (former !== undefined) throw new IntentRefused(record, `${former.remote.id} was not given back`)
  const { service, platformName, applied } = record
  return {
    ...record,
    service: opening.service,
    platformName: opening.platformName,
    applied: opening.fingerprint,
    remote: undefined,
    former: remote && { remote, service, platformName, applied },
    intent: {
      id: opening.intentId,
      attempt: (intent?.attempt ?? 0) + 1,
      reason: opening.reason,
      requestDigest: opening.requestDigest,
      revision: opening.revision,
      openedAt: opening.now,
      sendBy: opening.sendBy,
      endBy: opening.endBy,
      state: 'open',
      seen: undefined,
      saidEarlyAt: undefined,
      isAllowed: opening.isAllowed ? true : undefined,
      earlier: earlierOf(record, Math.min(opening.now, opening.sendBy)),
    },
  }
}

/**
 * A record that was put back to before an intent, with that intent again, because its pipe is known.
 * @param opened as it was when the intent was written
 * @returns undefined when it has another pipe, or an attempt that may have made one
 */
export function reopenIntent(record: LedgerRecord, opened: LedgerRecord): LedgerRecord | undefined {
  const { remote, intent: last } = record
  const { service, platformName, applied, former, intent } = opened
  const isReplaced = remote === undefined || sameId(remote.id, former?.remote.id)
  if (intent === undefined || undecidedIntent(record) !== undefined || !isReplaced) return undefined
  const attempt = Math.max(intent.attempt, last?.attempt ?? 0)
  return {
    ...record,
    service,
    platformName,
    applied,
    remote: undefined,
    former,
    intent: { ...intent, attempt },
  }
}

/** The pipe of the intent is known. @param replaced counts it, if it replaces another pipe */
export function succeedIntent(
  record: LedgerRecord,
  intent: Intent,
  { remote, replaced }: { readonly remote: Remote; readonly replaced: Replaced },
): LedgerRecord {
  const isReplacement = record.former !== undefined || record.remote !== undefined
  return {
    ...record,
    remote,
    former: undefined,
    replaced: isReplacement ? replaced : record.replaced,
    change: undefined,
    command: undefined,
    corrections: undefined,
    removal: undefined,
    left: undefined,
    backoff: undefined,
    allowed: undefined,
    intent: { ...own(record, intent), state: 'succeeded', seen: undefined },
  }
}

/** The request certainly had no effect. */
export function failIntent(record: LedgerRecord, intent: Intent, seen: Seen): LedgerRecord {
  const what = seen.what.length > SEEN_KEPT ? `${seen.what.slice(0, SEEN_KEPT).toWellFormed()}…` : seen.what
  const failed = { ...own(record, intent), state: 'failed', seen: { ...seen, what } } as const
  return { ...withFormer(record), intent: failed }
}

/** Of a failed attempt no more is kept here, in characters: the conditions and the history hold all of it. */
const SEEN_KEPT = 500

/** Nothing was created: what was to be replaced is the pipe of the record again. */
function withFormer(record: LedgerRecord): LedgerRecord {
  const { former } = record
  if (former === undefined) return record
  // Each by its name: what was not known of it is not known again.
  const { remote, service, platformName, applied } = former
  return { ...record, remote, service, platformName, applied, former: undefined }
}

/** The request may have had an effect; only a person ends this. */
export function leaveIntentUnknown(record: LedgerRecord, intent: Intent, seen: Seen): LedgerRecord {
  return { ...record, intent: { ...own(record, intent), state: 'unknown', seen } }
}

/** What a person knows of an attempt that they settle: that it created nothing, or, where nobody can know yet, nothing. */
export type Dismissal = 'created nothing' | 'not known'

const DISMISSALS: Readonly<Record<Dismissal, string>> = {
  'created nothing': 'a person said that it created nothing',
  'not known': 'a person set it aside; what it did is not known',
}

/** A person settled a request without an outcome: the next attempt needs a new intent. */
export function dismissIntent(
  record: LedgerRecord,
  dismissed: Intent,
  { now, found }: { readonly now: number; readonly found: Dismissal },
): LedgerRecord {
  const intent = own(record, dismissed)
  if (intent.state !== 'open' && intent.state !== 'unknown') {
    throw new IntentRefused(record, `intent ${intent.id} is settled: ${intent.state}`)
  }
  const seen: Seen = {
    at: now,
    httpStatus: intent.seen?.httpStatus,
    requestId: intent.seen?.requestId,
    what: DISMISSALS[found],
    pipeId: undefined,
  }
  return { ...withFormer(record), backoff: undefined, intent: { ...intent, state: 'dismissed', seen } }
}

/**
 * The record with what is to be known of `policy.retryCreate`, where it names this intent.
 * @param readAt when they were read while the request could still arrive: ms since the epoch; undefined: they do not stand there
 */
export function noteEarlyWords(
  record: LedgerRecord,
  intent: Intent,
  readAt: number | undefined,
): LedgerRecord {
  return { ...record, intent: { ...own(record, intent), saidEarlyAt: readAt } }
}

/** A reading showed that the id in a reply is not that of the new pipe: it is not asked for again. */
export function disproveId(record: LedgerRecord, intent: Intent): LedgerRecord {
  const { seen } = own(record, intent)
  return {
    ...record,
    intent: { ...intent, seen: seen && { ...seen, pipeId: undefined } },
  }
}

/** A pipe that exists is taken over; a request without an outcome is settled by that. */
export function adoptRemote(
  record: LedgerRecord,
  adopted: {
    readonly remote: Remote
    readonly service: ServiceIdentity
    readonly platformName: string
    readonly fingerprint: Fingerprint
    /** Counts it, if it takes the place of a pipe that was being replaced. */
    readonly replaced: Replaced
  },
): LedgerRecord {
  const { former, intent } = record
  const isReplacement = former !== undefined && !sameId(former.remote.id, adopted.remote.id)
  // One that had no effect made nothing, whatever is adopted after it.
  const settled =
    undecidedIntent(record) === undefined ? intent : intent && { ...intent, state: 'succeeded' as const }
  // What was sent to another pipe says nothing of this one.
  const isSame = sameId(record.remote?.id, adopted.remote.id)
  return {
    ...record,
    ...(!isSame && {
      change: undefined,
      command: undefined,
      corrections: undefined,
      removal: undefined,
      left: undefined,
    }),
    replaced: isReplacement ? adopted.replaced : record.replaced,
    remote: adopted.remote,
    service: adopted.service,
    platformName: adopted.platformName,
    applied: adopted.fingerprint,
    former: undefined,
    backoff: undefined,
    intent: settled,
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
