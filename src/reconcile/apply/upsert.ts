import { historyEntry, saveRecord } from '../state/record-io.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { isReadable, type UpsertKind } from '../../kinds/definition.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import { isResync, type Action } from '../../plan/action.ts'
import { withCorrections } from '../../plan/corrections.ts'
import { correctedBy } from '../../plan/decide-read-upsert.ts'
import type { Because } from '../../plan/reason.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import { DecisionOutdated, type Acted, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import type { Assessment } from '../gather/assess.ts'
import type { Reply } from '../../contract/platform.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { decideAgain } from './decision.ts'
import { outcomeOf } from './outcome-of-error.ts'
import { noteFound } from '../state/observations.ts'
import { maskTexts, replyMask } from '../../kinds/mask.ts'

type Upsert = Action & { readonly type: 'upsert' }

export async function upsert(
  context: ReconcileContext,
  first: Assessment,
  action: Upsert,
  request: ReconcileRequest,
): Promise<Acted> {
  const { key } = first.input.desired
  const { access, kind } = upsertOf(first)
  const decided = { type: action.type, first, access, request } as const
  const before = first.gathered.question.recorded
  let journaled = before
  let asked = first
  let attempts = 0
  let reply: Reply<RemoteResource>
  try {
    reply = await context.platform.upsert(
      kind,
      access,
      async (looks) => {
        const attempt = { journaled, isRead: true, looks }
        const { assessment, action: now } = await decideAgain(context, decided, attempt)
        if (isReadable(kind) && !takesNoMore(now, action)) throw new DecisionOutdated(key)
        asked = assessment
        if (attempts === 0) journaled = await recordUnknown(context, asked, before)
        attempts += 1
        return JSON.stringify(upsertOf(asked).body)
      },
      request,
    )
  } catch (error) {
    if (attempts === 0 || error instanceof DecisionOutdated || error instanceof LedgerConflict) throw error
    const outcome = outcomeOf(error, request.signal)
    const isNone = error instanceof RemoteError && error.facts.effect === 'none'
    if (isNone) return { outcome, record: { ...before, version: journaled.version }, history: [] }
    const because = outcome.result === 'failed' ? outcome : action
    const line = { action: 'upsert', because, result: 'unknown' } as const
    // Also after a request at the interval, which is not journaled: it can arrive after an edit.
    const record = isReadable(kind) ? journaled : { ...journaled, applied: undefined }
    return { outcome, record, history: [historyEntry(context, key, line)] }
  } finally {
    context.store.lastWrites.noteEnd({ key })
  }
  const { value, requestId } = reply
  const { input, entry } = asked
  const { body, fingerprint, identity } = upsertOf(asked)
  const at = context.clock.now()
  const { revision } = context.store
  const compared = compareBody(kind.fields, body, value as JsonObject) // parsed JSON
  const seen = { key, entry, body, reply, readAt: undefined, differences: compared }
  const differences = noteFound(context, seen)
  const corrected = correctedBy(action)
  const kept = maskTexts(kind.configured(value), replyMask(context.mask, body))
  const record: LedgerRecord = {
    ...input.recorded,
    version: journaled.version,
    service: identity,
    applied: fingerprint,
    removal: undefined,
    backoff: undefined,
    upsert: {
      at,
      revision,
      requestId,
      reply: kept,
      ...(isLatePossible(kind, before) && { mightBeLate: true }),
    },
    corrections: corrected.length === 0 ? undefined : withCorrections(input, corrected),
  }
  const stalled = differences.length > 0
  const because: Because<'Stalled' | 'Applied'> = stalled
    ? {
        reason: 'Stalled',
        facts: {
          fields: differences.map(({ field }) => field),
          ...(isReadable(kind) && { again: 'in an hour' }),
        },
      }
    : { reason: 'Applied', facts: undefined }
  const history = historyEntry(context, key, {
    action: 'upsert',
    reason: action.reason,
    because,
    at,
    revision,
    requestId,
  })
  const news = isResync(action) && !stalled ? [] : [history]
  return { outcome: { result: 'done', ...because, differences, requestId }, record, history: news }
}

/** Whether an earlier request with another body was not answered: it might still arrive. */
function isLatePossible(kind: UpsertKind, before: LedgerRecord): boolean {
  return !isReadable(kind) && before.upsert !== undefined && before.applied === undefined
}

/** Clears `applied`: if the reply gets lost and the edit is undone, the old body must be sent again. */
async function recordUnknown(
  context: ReconcileContext,
  asked: Assessment,
  before: LedgerRecord,
): Promise<LedgerRecord> {
  const { fingerprint, identity } = upsertOf(asked)
  if (before.applied?.digest === fingerprint.digest && !asked.input.desired.otherService) return before
  const { clock, store } = context
  await forgetOthers(context, before.key, identity)
  const unanswered = { at: clock.now(), revision: store.revision }
  const { service = identity, upsert: last = unanswered } = before
  return saveRecord(context, { ...before, service, upsert: last, applied: undefined })
}

/** Other records of this endpoint no longer tell what is in force. Their manifests can return. */
async function forgetOthers(
  context: ReconcileContext,
  key: Key,
  { serviceId }: ServiceIdentity,
): Promise<void> {
  for (const other of context.store.records()) {
    const isSame = kindOf(other.key) === kindOf(key) && sameId(other.service?.serviceId, serviceId)
    if (isSame && other.key !== key && other.applied !== undefined)
      await saveRecord(context, { ...other, applied: undefined })
  }
}

function takesNoMore(now: Upsert, before: Upsert): boolean {
  const decided = new Set(before.takesAway)
  return now.takesAway.every((name) => decided.has(name))
}

export function withWhatIsThere(
  context: ReconcileContext,
  { input, body, service, requestId }: Assessment,
): LedgerRecord {
  const { recorded, observed, desired } = input
  const there = observed.status === 'found' ? observed.there : undefined
  if (desired.fingerprint === undefined || !service.usable || there === undefined) return recorded
  const reply = maskTexts(there, replyMask(context.mask, body))
  return {
    ...recorded,
    service: service.identity,
    applied: desired.fingerprint,
    backoff: undefined,
    upsert: { at: context.clock.now(), revision: context.store.revision, requestId, reply },
  }
}

function upsertOf({ input, body, service }: Assessment) {
  const { fingerprint, key } = input.desired
  if (input.lifecycle !== 'upsert' || body === undefined || fingerprint === undefined || !service.usable) {
    throw new Error(`an upsert of ${key} was decided without a valid manifest`)
  }
  return { kind: input.kind, body, fingerprint, access: service.access, identity: service.identity }
}
