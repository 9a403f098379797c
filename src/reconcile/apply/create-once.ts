import { remoteNameOf } from '../../kinds/lookup.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { withSecrets } from '../../kinds/secret-ref.ts'
import { sha256 } from '../../lib/digest.ts'
import type { Action } from '../../plan/action.ts'
import { isAllowed } from '../../plan/write-limits.ts'
import { attemptDigest } from '../../plan/gates.ts'
import { SEND_WITHIN_MS } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord, Seen } from '../../plan/record.ts'
import { openIntent } from '../../plan/transitions.ts'
import { type Acted, DecisionOutdated, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import { type Assessment, wantedPipe } from '../gather/assess.ts'
import { noteReply } from '../state/observations.ts'
import { historyEntry } from '../state/record-io.ts'
import { settleCreated, settleFailure, settleUnknown, type Created } from './create-outcome.ts'
import { mismatchOf } from './replied-id.ts'
import { createOutcomeOf } from './outcome-of-error.ts'
import type { CreatePermit, Reply } from '../../contract/platform.ts'
import type { OutcomeOutbox, PendingOutcome } from './outcome-outbox.ts'
import { revealed } from '../gather/body-secrets.ts'

/** Ms. Reads before a create that are this much too old mean that the process was paused. */
const GOOD_FOR_MS = 5_000
/** Time to write the outcome to a slow disk: ms. */
const WRITTEN_MS = 5_000

interface Sending {
  readonly action: Action
  readonly permit: CreatePermit
  readonly request: ReconcileRequest
}

/**
 * Writes the intent, sends one POST, writes the outcome. The caller must decide again after it got `permit`, the place
 * in the request budget. Only the deadline ends a sent request.
 * @throws {LedgerError} {@link LedgerConflict}: no request was sent, or another attempt now has the record
 */
export async function createOnce(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  assessment: Assessment,
  sending: Sending,
): Promise<Acted> {
  const { input, entry, secrets } = assessment
  const { key } = input.desired
  const { body } = wantedPipe(assessment)
  const sent = { ...body, ...input.knownStates?.startPaused }
  const text = JSON.stringify(withSecrets(sent, (path) => revealed(context, secrets, path)))
  if (context.fail !== undefined) await context.fail('before-intent')
  sending.request.signal.throwIfAborted()
  const { record, outcome, reply } = await outbox.during(key, () =>
    sendOnce(context, outbox, assessment, { ...sending, text }),
  )
  if (reply === undefined || outcome.result !== 'done') return { outcome, record, history: [] }
  const about = { key, entry, body, reply, readAt: undefined }
  return { outcome: noteReply(context, about, outcome), record, history: [] }
}

async function sendOnce(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  assessment: Assessment,
  { action, permit, request, text }: Sending & { readonly text: string },
): Promise<Created> {
  const { key } = assessment.input.desired
  const intentId = context.newId()
  const begunAt = context.clock.monotonic()
  const goodForMs = permit.deadlineMs + GOOD_FOR_MS + permit.waitedMs
  if (begunAt - assessment.gathered.since > goodForMs) throw new DecisionOutdated(key)
  const notAfter = begunAt + SEND_WITHIN_MS
  const about = { reason: action.reason, intentId, deadlineMs: permit.deadlineMs }
  const opened = await recordIntent(context, outbox, assessment, about)
  const { intent, service, platformName: name } = opened
  if (intent === undefined || service === undefined || name === undefined)
    throw new Error('an opened record has an intent, a service and a name')
  try {
    const { attempt, revision } = intent
    context.emit({ type: 'CreateStarted', key, intentId, attempt, revision })
    await context.fail?.('after-intent')
  } catch (error) {
    await outbox.persist(
      key,
      unsent(context, { intentId, opened, why: 'Pipewright failed after it recorded the attempt' }),
    )
    throw error
  }

  const attempt = { opened, intent, access: permit.service, request }
  let reply: Reply<RemoteResource>
  const { lastWrites } = context.store
  const created = { serviceId: service.serviceId, name }
  try {
    reply = await permit.send({ body: text, intentId, notAfter })
    lastWrites.noteEnd({ key, created })
  } catch (error) {
    lastWrites.noteEnd({ key, created, isFailed: true })
    const form = createOnceKindOf(context.profile, key).idForm
    const outcome = createOutcomeOf(error, { now: context.clock.now(), form })
    return outcome.result === 'failed'
      ? settleFailure(context, outbox, attempt, outcome)
      : settleUnknown(context, outbox, attempt, outcome)
  }
  const { requestId, value } = reply
  const mismatch = mismatchOf(context, { key, service, name }, reply)
  const at = context.clock.now()
  if (mismatch !== undefined) {
    const seen = { at, httpStatus: 200, requestId, what: mismatch, pipeId: undefined }
    return settleUnknown(context, outbox, attempt, { result: 'unknown', requestId, seen })
  }
  const { revision } = intent
  const remote = { id: value.id, origin: 'created', at, revision, requestId } as const
  const facts = { pipeId: value.id, inPlaceOf: opened.former?.remote.id }
  return settleCreated(context, outbox, attempt, { remote, reply, why: { reason: 'Created', facts } })
}

async function recordIntent(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  assessment: Assessment,
  opening: Pick<Action, 'reason'> & { readonly intentId: string; readonly deadlineMs: number },
): Promise<LedgerRecord> {
  const { input, entry, service } = assessment
  const { recorded } = input
  const { key } = recorded
  const { reason, intentId, deadlineMs } = opening
  const { manifest, fingerprint } = wantedPipe(assessment)
  if (!service.usable) throw new Error(`a create of ${key} needs a service`)
  const { revision } = context.store
  const sendBy = context.store.steadyNow() + SEND_WITHIN_MS
  const opened = openIntent(
    { ...recorded, file: entry?.position.file, line: entry?.position.line },
    {
      intent: {
        id: intentId,
        reason,
        requestDigest: sha256(attemptDigest(fingerprint)),
        revision,
        openedAt: context.clock.now(),
        sendBy,
        endBy: sendBy + deadlineMs + WRITTEN_MS,
        lastsMs: createOnceKindOf(context.profile, key).createLastsMs,
        isAllowed: isLetThrough(context, recorded) ? true : undefined,
      },
      service: service.identity,
      platformName: remoteNameOf(manifest),
      fingerprint,
      replaces: recorded.remote?.id,
    },
  )
  // Noted before the write to disk: an equal manifest (a possible rename) must wait for this create.
  context.store.note(opened)
  try {
    const because = { reason: 'New', facts: { is: 'created' } } as const
    const about = { action: 'intent', reason, because, result: 'started', intentId, revision } as const
    const started = historyEntry(context, key, about)
    const written = await context.ledger.swap(opened, [started])
    context.store.note(written)
    return written
  } catch (error) {
    if (recorded.version > 0) context.store.note(recorded)
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
