import { sharedText } from '../lib/shared.ts'
import type { Condition, Conditions } from '../plan/condition.ts'
import type { Intent, LedgerRecord, RecordedPipe } from '../plan/record.ts'

/**
 * The same record in less room: a daemon holds all of them. What a schema puts together member by member takes more than
 * what is written down at once, and every record names the same few revisions.
 */
export function compactRecord(record: LedgerRecord): LedgerRecord {
  const { pipe, intent, applied, conditions } = record
  return {
    key: record.key,
    version: record.version,
    file: record.file,
    line: record.line,
    service: record.service,
    platformName: record.platformName,
    pipe: pipe && compactPipe(pipe),
    former: record.former,
    replaced: record.replaced,
    intent: intent && compactIntent(intent),
    upsert: record.upsert,
    applied: applied && { digest: applied.digest, fields: applied.fields, secrets: applied.secrets },
    backoff: record.backoff,
    conditions: conditions && compactConditions(conditions),
  }
}

function compactPipe(pipe: RecordedPipe): RecordedPipe {
  const { id, origin, at, revision, requestId, seenAt, saidGoneAt, refutedAt } = pipe
  return { id, origin, at, revision: sharedText(revision), requestId, seenAt, saidGoneAt, refutedAt }
}

function compactIntent(intent: Intent): Intent {
  return {
    id: intent.id,
    attempt: intent.attempt,
    reason: intent.reason,
    requestDigest: intent.requestDigest,
    revision: sharedText(intent.revision),
    openedAt: intent.openedAt,
    sendBy: intent.sendBy,
    endBy: intent.endBy,
    state: intent.state,
    seen: intent.seen,
    saidEarlyAt: intent.saidEarlyAt,
  }
}

function compactConditions({ Valid, Synced, Ready }: Conditions): Conditions {
  return { Valid: compactCondition(Valid), Synced: compactCondition(Synced), Ready: compactCondition(Ready) }
}

function compactCondition({ status, reason, message, since, facts }: Condition): Condition {
  return facts === undefined ? { status, reason, message, since } : { status, reason, message, since, facts }
}
