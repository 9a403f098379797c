import { sameId } from '../lib/same-id.ts'
import { replacedAfter } from './missing.ts'
import { earlierOf } from './write-limits.ts'
import { undecidedIntent } from './outcome-unknown.ts'
import type { Fingerprint, Intent, LedgerRecord, Remote, Replaced, Seen, ServiceIdentity } from './record.ts'

/* A forbidden change of a record throws, because it is a bug that could lead to a second create. */

export interface Opening {
  readonly intent: Omit<Intent, 'attempt' | 'state' | 'seen' | 'saidEarlyAt' | 'earlier'>
  readonly service: ServiceIdentity
  readonly platformName: string
  readonly fingerprint: Fingerprint
  readonly replaces: string | undefined
}

/** @throws {IntentRefused} if the key has another pipe, or an intent that might have made one */
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
      ...opening.intent,
      attempt: (intent?.attempt ?? 0) + 1,
      state: 'open',
      earlier: earlierOf(record, Math.min(opening.intent.openedAt, opening.intent.sendBy)),
    },
  }
}

/**
 * Adds the intent again, after `record` was restored from an older backup.
 * @param opened the record when the intent was written
 * @returns undefined if `record` has another pipe, or a create that might have made another
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

const NOTHING_SENT = {
  change: undefined,
  command: undefined,
  corrections: undefined,
  removal: undefined,
  left: undefined,
} as const

export function succeedIntent(
  record: LedgerRecord,
  intent: Intent,
  { remote, steadyNow }: { readonly remote: Remote; readonly steadyNow: number },
): LedgerRecord {
  const isReplacement = record.former !== undefined || record.remote !== undefined
  return {
    ...record,
    remote,
    former: undefined,
    replaced: isReplacement ? replacedNow(record, steadyNow) : record.replaced,
    ...NOTHING_SENT,
    backoff: undefined,
    allowed: undefined,
    intent: { ...own(record, intent), state: 'succeeded', seen: undefined },
  }
}

function replacedNow({ replaced, former }: LedgerRecord, steadyNow: number): Replaced {
  return replacedAfter(replaced, former?.remote.id, steadyNow)
}

export function failIntent(record: LedgerRecord, intent: Intent, seen: Seen): LedgerRecord {
  const what = seen.what.length > SEEN_KEPT ? `${seen.what.slice(0, SEEN_KEPT).toWellFormed()}…` : seen.what
  const failed = { ...own(record, intent), state: 'failed', seen: { ...seen, what } } as const
  return { ...withFormer(record), intent: failed }
}

/** Characters in the record. The history has the whole text. */
const SEEN_KEPT = 500

function withFormer(record: LedgerRecord): LedgerRecord {
  const { former } = record
  if (former === undefined) return record
  const { remote, service, platformName, applied } = former
  return { ...record, remote, service, platformName, applied, former: undefined }
}

export function leaveIntentUnknown(record: LedgerRecord, intent: Intent, seen: Seen): LedgerRecord {
  return { ...record, intent: { ...own(record, intent), state: 'unknown', seen } }
}

type Dismissal = 'created nothing' | 'not known'

const DISMISSALS: Readonly<Record<Dismissal, string>> = {
  'created nothing': 'an operator confirmed that it created no resource',
  'not known': 'an operator set it aside, and its outcome is unknown',
}

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
  }
  return { ...withFormer(record), backoff: undefined, intent: { ...intent, state: 'dismissed', seen } }
}

/** @param readAt ms since the epoch when `policy.retryCreate` was read too early. Undefined: the policy was removed */
export function noteEarlyRetryCreate(
  record: LedgerRecord,
  intent: Intent,
  readAt: number | undefined,
): LedgerRecord {
  return { ...record, intent: { ...own(record, intent), saidEarlyAt: readAt } }
}

export function disproveId(record: LedgerRecord, intent: Intent): LedgerRecord {
  const { seen } = own(record, intent)
  return { ...record, intent: { ...intent, seen: seen && { ...seen, pipeId: undefined } } }
}

export function adoptRemote(
  record: LedgerRecord,
  adopted: {
    readonly remote: Remote
    readonly service: ServiceIdentity
    readonly platformName: string
    readonly fingerprint: Fingerprint
    readonly steadyNow: number
  },
): LedgerRecord {
  const { former, intent } = record
  const isReplacement = former !== undefined && !sameId(former.remote.id, adopted.remote.id)
  const settled =
    undecidedIntent(record) === undefined ? intent : intent && { ...intent, state: 'succeeded' as const }
  const isSame = sameId(record.remote?.id, adopted.remote.id)
  return {
    ...record,
    ...(!isSame && NOTHING_SENT),
    replaced: isReplacement ? replacedNow(record, adopted.steadyNow) : record.replaced,
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

export class IntentRefused extends Error {
  constructor(record: LedgerRecord, why: string) {
    super(`no create for ${record.key}: ${why}`)
    this.name = 'IntentRefused'
  }
}
