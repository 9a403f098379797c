import { idFormOf } from '../../kinds/id-form.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { withSecrets } from '../../kinds/secret-ref.ts'
import { sha256 } from '../../lib/digest.ts'
import { isAllowed } from '../../plan/write-limits.ts'
import { attemptDigest } from '../../plan/gates.ts'
import { SEND_WITHIN_MS } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord, Seen } from '../../plan/record.ts'
import { openIntent } from '../../plan/transitions.ts'
import { DecisionOutdated, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import {
  historyOf,
  settleFailure,
  settleSuccess,
  settleUnknown,
  type CreateAttempt,
  type Created,
  type Creation,
} from './create-outcome.ts'
import { mismatchOf } from './replied-id.ts'
import { createOutcomeOf } from './outcome-of-error.ts'
import type { CreatePermit, Reply } from '../../contract/platform.ts'
import type { OutcomeOutbox, PendingOutcome } from './outcome-outbox.ts'
import { revealed } from '../gather/body-secrets.ts'

/** Ms. Reads before a create that are this much too old mean that the process was paused. */
const GOOD_FOR_MS = 5_000
/** Time to write the outcome to a slow disk: ms. */
const WRITTEN_MS = 5_000

/**
 * Writes the intent, sends one POST, writes the outcome. The caller must decide again after it got `permit`, the place
 * in the request budget. Only the deadline ends a sent request.
 * @throws {LedgerError} {@link LedgerConflict}: no request was sent, or another attempt now has the record
 */
export async function createOnce(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  creation: Creation,
  { permit, request }: { readonly permit: CreatePermit; readonly request: ReconcileRequest },
): Promise<Created> {
  const text = JSON.stringify(withSecrets(creation.body, (path) => revealed(context, creation.secrets, path)))
  if (context.fail !== undefined) await context.fail('before-intent')
  request.signal.throwIfAborted()
  return outbox.during(creation.key, () => sendOnce(context, outbox, creation, { permit, request, text }))
}

async function sendOnce(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  creation: Creation,
  {
    permit,
    request,
    text,
  }: { readonly permit: CreatePermit; readonly request: ReconcileRequest; readonly text: string },
): Promise<Created> {
  const { key } = creation
  const intentId = context.newId()
  const begunAt = context.clock.monotonic()
  const goodForMs = permit.deadlineMs + GOOD_FOR_MS + permit.waitedMs
  if (begunAt - creation.since > goodForMs) throw new DecisionOutdated(key)
  const notAfter = begunAt + SEND_WITHIN_MS
  const opened = await recordIntent(context, outbox, creation, { intentId, deadlineMs: permit.deadlineMs })
  const intent = opened.intent
  if (intent === undefined) throw new Error('an opened record has an intent')
  try {
    context.emit({
      type: 'CreateStarted',
      key,
      intentId,
      attempt: intent.attempt,
      revision: creation.revision,
    })
    await context.fail?.('after-intent')
  } catch (error) {
    await outbox.persist(
      key,
      unsent(context, { intentId, opened, why: 'Pipewright failed after it recorded the attempt' }),
    )
    throw error
  }

  const attempt: CreateAttempt = { creation, opened, intent, access: permit.service, request }
  let reply: Reply<RemoteResource>
  const { lastWrites } = context.store
  const created = { serviceId: creation.service.serviceId, name: creation.platformName }
  try {
    reply = await permit.send({ body: text, intentId, notAfter })
    lastWrites.noteEnd({ key, created })
  } catch (error) {
    lastWrites.noteEnd({ key, created, isFailed: true })
    const form = idFormOf(createOnceKindOf(context.profile, key))
    const outcome = createOutcomeOf(error, { now: context.clock.now(), form })
    return outcome.result === 'failed'
      ? settleFailure(context, outbox, attempt, outcome)
      : settleUnknown(context, outbox, attempt, outcome)
  }
  const mismatch = mismatchOf(context, { key, service: creation.service, name: creation.platformName }, reply)
  if (mismatch === undefined) return settleSuccess(context, outbox, attempt, reply)
  const { requestId } = reply
  const seen = { at: context.clock.now(), httpStatus: 200, requestId, what: mismatch, pipeId: undefined }
  return settleUnknown(context, outbox, attempt, { result: 'unknown', requestId, seen })
}

async function recordIntent(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  creation: Creation,
  { intentId, deadlineMs }: { readonly intentId: string; readonly deadlineMs: number },
): Promise<LedgerRecord> {
  const { key, record, reason, revision, service, platformName, fingerprint } = creation
  const sendBy = context.store.steadyNow() + SEND_WITHIN_MS
  const opened = openIntent(record, {
    intentId,
    reason,
    requestDigest: sha256(attemptDigest(fingerprint)),
    revision,
    service,
    platformName,
    fingerprint,
    replaces: record.remote?.id,
    now: context.clock.now(),
    sendBy,
    endBy: sendBy + deadlineMs + WRITTEN_MS,
    lastsMs: createOnceKindOf(context.profile, key).createLastsMs,
    isAllowed: isLetThrough(context, record),
  })
  // Noted before the write to disk: an equal manifest (a possible rename) must wait for this create.
  context.store.note(opened)
  try {
    const because = { reason: 'New', facts: { is: 'created' } } as const
    const started = historyOf(context, creation, {
      result: 'started',
      intentId,
      requestId: undefined,
      because,
    })
    const written = await context.ledger.swap(opened, [started])
    context.store.note(written)
    return written
  } catch (error) {
    if (record.version > 0) context.store.note(record)
    else context.store.drop(key)
    // The intent might be on disk despite the error. The next reconcile records that no request was sent.
    const why = 'the attempt could not be recorded'
    outbox.remember(key, unsent(context, { intentId, opened: undefined, why }))
    throw error
  }
}

function isLetThrough({ store, maxCreates }: ReconcileContext, record: LedgerRecord): boolean {
  return maxCreates === Infinity || isAllowed(record, store.entry(record.key)?.digest, store.steadyNow())
}

function unsent(
  { clock }: ReconcileContext,
  about: Pick<PendingOutcome, 'intentId' | 'opened'> & { readonly why: string },
): PendingOutcome {
  const { intentId, opened, why } = about
  const seen: Seen = {
    at: clock.now(),
    what: `${why}, and no request was sent`,
  }
  return { intentId, opened, end: { type: 'failed', seen }, history: [] }
}
