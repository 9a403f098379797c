import { interruptedFields } from '../plan/change-waits.ts'
import { mightHaveResource } from '../plan/gates.ts'
import { historyEntry, saveRecord } from './state/record-io.ts'
import type { Action } from '../plan/action.ts'
import { isResynced } from '../kinds/definition.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'
import type { Conditions } from '../plan/condition.ts'
import { changedConditions } from '../plan/conditions.ts'
import type { DecideInput } from '../plan/input.ts'
import { DONE, type Outcome } from '../plan/outcome.ts'
import { markAfter } from '../plan/deletion-mark.ts'
import { DIFFERENCES_KEPT, lastValidIn, type LedgerRecord, type Backoff } from '../plan/record.ts'
import type { Assessment } from './gather/assess.ts'
import { leftAfter } from './gather/deletion-facts.ts'
import { isSuspensionOver } from './state/entry-policy.ts'
import type { WritableBoard } from './state/status-board.ts'
import type { ReconcileContext, ReconcileResult, Acted } from './context.ts'
import { sameJson } from '../lib/json.ts'
import type { NewEntry } from '../contract/history.ts'
import { LedgerError } from '../contract/ledger.ts'

export interface Conclusion {
  readonly assessment: Assessment
  readonly action: Action
  readonly acted: Acted
  readonly conditions: Conditions
  readonly backoff: Backoff | undefined
}

export function writeRecord(
  context: ReconcileContext,
  conclusion: Conclusion,
): LedgerRecord | Promise<LedgerRecord> {
  const { assessment, action, acted, conditions, backoff } = conclusion
  const { entry, gathered } = assessment
  const { recorded } = gathered.question
  const manifestRevision = context.store.manifestRevision(recorded.key) ?? ''
  const next: LedgerRecord = {
    ...acted.record,
    file: entry?.position.file ?? recorded.file,
    line: entry?.position.line ?? recorded.line,
    validIn: isInUse(assessment) ? undefined : lastValidIn(recorded),
    labels: labelsOf(entry?.manifest) ?? recorded.labels,
    manifest: entry === undefined ? recorded.manifest : { digest: entry.digest, revision: manifestRevision },
    differences: differencesOf(assessment, acted.outcome, recorded.differences),
    suspension: isSuspensionOver(context.store, recorded) ? undefined : recorded.suspension,
    removal: markAfter(assessment.input, action, acted.record),
    left: leftAfter(context.store, assessment.input, acted.record),
    wanted: wantedAfter(assessment.input, acted.record),
    conditions,
    backoff,
  }
  const isSaved = !context.store.unsaved.has(recorded.key) && sameJson(next, recorded)
  if (acted.outcome.result === 'stopped' || isSaved) return acted.record
  return write(context, conclusion, next)
}

function isInUse({ input }: Assessment): boolean {
  return input.desired.state === 'valid' || input.desired.state === 'absent'
}

function wantedAfter({ lifecycle, desired }: DecideInput, record: LedgerRecord): LedgerRecord['wanted'] {
  const { fingerprint } = desired
  if (lifecycle !== 'create-once' || !mightHaveResource(record)) return undefined
  if (fingerprint === undefined) return record.wanted
  const { digest } = fingerprint
  if (digest !== record.applied?.digest) return { digest, fields: fingerprint.fields }
  return interruptedFields(record).length === 0 ? undefined : record.wanted
}

const LABELS_KEPT = 20

function labelsOf(manifest: ResourceManifest | undefined): LedgerRecord['labels'] {
  const labels = Object.entries(manifest?.metadata.labels ?? {})
  return labels.length === 0 ? undefined : Object.fromEntries(labels.slice(0, LABELS_KEPT))
}

function differencesOf(
  { input }: Assessment,
  outcome: Outcome,
  before: LedgerRecord['differences'],
): LedgerRecord['differences'] {
  const found = differencesNow(input, outcome)
  if (found === undefined) return before
  return found.length === 0 ? undefined : found.slice(0, DIFFERENCES_KEPT)
}

function differencesNow(input: DecideInput, outcome: Outcome): readonly Difference[] | undefined {
  if (outcome.result === 'done' && outcome.differences.length > 0) return outcome.differences
  if (isResynced(input.kind) && input.lifecycle === 'upsert')
    return outcome.result === 'done' && outcome.reason === 'Applied' ? [] : input.replyDiffers
  if (outcome.result === 'done' && outcome.reason !== undefined) return []
  if (input.observed.status === 'found') return input.observed.differences
  return input.observed.status === 'missing' || input.desired.state === 'absent' ? [] : undefined
}

async function write(
  context: ReconcileContext,
  { assessment, acted, conditions }: Conclusion,
  next: LedgerRecord,
): Promise<LedgerRecord> {
  const { input, gathered } = assessment
  const history = changedConditions(gathered.question.recorded.conditions, conditions).map(
    (type): NewEntry => {
      const { status, reason, facts } = conditions[type]
      const requestId = acted.outcome.requestId ?? assessment.requestId
      return {
        type: 'condition',
        condition: type,
        status,
        reason,
        because: { reason, facts },
        key: input.desired.key,
        at: context.clock.now(),
        revision: context.store.revision,
        manifestRevision: next.manifest?.revision,
        requestId,
      }
    },
  )
  try {
    const written = await saveRecord(context, next, [...acted.history, ...history])
    context.store.unsaved.delete(next.key)
    return written
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    const kept = { ...acted.record, backoff: next.backoff, removal: next.removal }
    context.store.note(kept)
    context.store.unsaved.add(next.key)
    return kept
  }
}

export async function forgetRecord(
  context: ReconcileContext,
  board: WritableBoard,
  key: Key,
  recorded: LedgerRecord,
): Promise<ReconcileResult> {
  if (recorded.version > 0) await context.ledger.remove(recorded, lastEntry(context, recorded))
  if (recorded.version > 0 || board.get(key) !== undefined) context.emit({ type: 'Forgotten', key })
  context.store.drop(key)
  board.remove(key)
  return {
    action: { type: 'observe', reason: 'Orphaned', facts: { key, isNothing: true } },
    outcome: DONE,
    next: undefined,
    also: [],
  }
}

function lastEntry(context: ReconcileContext, { key, intent, remote }: LedgerRecord): readonly NewEntry[] {
  if (intent === undefined || remote !== undefined) return []
  const because = { reason: 'Orphaned', facts: { key, isNothing: true } } as const
  const about = { requestId: intent.seen?.requestId, intentId: intent.id }
  return [historyEntry(context, key, { action: 'forget', because, ...about })]
}
