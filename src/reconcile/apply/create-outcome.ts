import type { Opening } from '../../plan/transitions.ts'
import { historyEntry } from '../state/record-io.ts'
import type { Key } from '../../kinds/key.ts'
import { capital, nounOf } from '../../kinds/lookup.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { timeLimit } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Failed, Outcome, Unknown } from '../../plan/outcome.ts'
import { unknownFacts } from '../../plan/outcome-unknown.ts'
import { causeOf, type Because } from '../../plan/reason.ts'
import type { Intent, LedgerRecord, Remote, Seen } from '../../plan/record.ts'
import type { ReconcileContext, ReconcileRequest } from '../context.ts'
import { readRepliedId, type ReadOfId } from './replied-id.ts'
import type { NewEntry } from '../../contract/history.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import type { RemoteFailure } from './outcome-of-error.ts'
import { forgetMisses } from '../state/observations.ts'
import type { Reply, ServiceAccess } from '../../contract/platform.ts'
import {
  type CreateEnd,
  type OutcomeOutbox,
  type PendingOutcome,
  unsavedBecause,
  unsavedOutcome,
} from './outcome-outbox.ts'
import type { BodySecrets } from '../gather/body-secrets.ts'
import { knownIds } from '../gather/surroundings.ts'

export interface Creation extends Pick<
  Opening,
  'reason' | 'service' | 'platformName' | 'fingerprint' | 'revision'
> {
  readonly key: Key
  readonly record: LedgerRecord
  readonly body: JsonObject
  readonly secrets: BodySecrets
  /** Start of the read that the decision used; monotonic ms. */
  readonly since: number
}

export interface Created {
  readonly record: LedgerRecord
  readonly outcome: Outcome
  readonly reply: Reply<RemoteResource> | undefined
}

export interface CreateAttempt {
  readonly creation: Creation
  readonly opened: LedgerRecord
  readonly intent: Intent
  readonly access: ServiceAccess
  readonly request: ReconcileRequest
}

export function settleSuccess(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  attempt: CreateAttempt,
  reply: Reply<RemoteResource>,
): Promise<Created> {
  const { creation } = attempt
  const { requestId, value } = reply
  const remote: Remote = {
    id: value.id,
    origin: 'created',
    at: context.clock.now(),
    revision: creation.revision,
    requestId,
  }
  const facts = { pipeId: value.id, inPlaceOf: creation.record.remote?.id }
  return settleCreated(context, outbox, attempt, { remote, reply, why: { reason: 'Created', facts } })
}

async function settleCreated(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  attempt: CreateAttempt,
  created: {
    readonly remote: Remote
    readonly reply: Reply<RemoteResource>
    readonly why: Because<'Created'>
  },
): Promise<Created> {
  const { creation, opened, intent } = attempt
  const { remote, reply, why } = created
  const { key, revision } = creation
  const { requestId } = reply
  const end = { type: 'created', remote } as const
  const pendingOutcome = unsavedOf(context, attempt, { end, requestId, because: why })
  context.store.claim(key, remote.id)
  // From here on, the outbox keeps the id, even if a later line throws.
  outbox.remember(key, pendingOutcome)
  await context.fail?.('before-id')
  const record = await outbox.persist(key, pendingOutcome)
  const facts = { key, intentId: intent.id, pipeId: remote.id, requestId, revision } as const
  if (record === undefined) {
    const lost = unsavedBecause(key, pendingOutcome.end)
    context.emit({ type: 'CreateFinished', outcome: 'unknown', because: lost, ...facts })
    return { record: opened, outcome: unsavedOutcome(lost, requestId), reply: undefined }
  }
  context.emit({ type: 'CreateFinished', outcome: 'created', because: why, ...facts })
  if (!isOf(attempt, record) || record.remote?.id !== remote.id) throw new LedgerConflict(key, opened.version)
  const outcome: Outcome = { result: 'done', ...why, differences: [], requestId }
  return { record, outcome, reply }
}

export async function settleFailure(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  attempt: CreateAttempt,
  outcome: RemoteFailure,
): Promise<Created> {
  const { creation, opened } = attempt
  const { requestId } = outcome
  const { remote, removal } = creation.record
  const kept =
    remote === undefined || removal?.isSent === true
      ? ''
      : ` ${capital(nounOf(creation.key))} ${remote.id} is kept.`
  const said = causeOf(outcome, creation.key)
  const failed = { ...outcome, facts: { ...outcome.facts, said: `${said}${kept}` } }
  const seen: Seen = { at: context.clock.now(), requestId, what: said }
  const pendingOutcome = unsavedOf(context, attempt, {
    end: { type: 'failed', seen },
    requestId,
    because: failed,
  })
  const record = await outbox.persist(creation.key, pendingOutcome)
  forgetMisses(context, creation.key)
  return finish(context, attempt, {
    outcome: failed,
    record: record ?? opened,
    pipeId: undefined,
  })
}

/** If the reply has an id, reads that pipe, because it might be the created one. */
export async function settleUnknown(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  attempt: CreateAttempt,
  outcome: Omit<Unknown, 'facts'>,
): Promise<Created> {
  const { creation, opened, intent } = attempt
  const { key } = creation
  const { requestId } = outcome
  const { pipeId } = outcome.seen
  const isFree = pipeId !== undefined && context.store.holderOf(pipeId, key) === undefined
  const seen = { ...outcome.seen, pipeId: isFree ? pipeId : undefined }
  const facts = unknownFacts(opened, { ...intent, state: 'unknown', seen }, knownIds(context.store, opened))
  const because = { reason: 'OutcomeUnknown', facts } as const
  const pendingOutcome = unsavedOf(context, attempt, { end: { type: 'unknown', seen }, requestId, because })
  const record = await outbox.persist(key, pendingOutcome)
  if (record !== undefined && isOf(attempt, record) && isFree) {
    const read = await readAtOnce(context, { ...attempt, opened: record }, pipeId)
    if (read?.is === 'the created one') {
      const why = { reason: 'Created', facts: { pipeId, isByRead: true } } as const
      return settleCreated(context, outbox, { ...attempt, opened: record }, { ...read, why })
    }
  }
  return finish(context, attempt, {
    outcome: { ...outcome, seen, facts },
    record: record ?? opened,
    pipeId: seen.pipeId,
  })
}

/** Ms. If the read takes longer, the next reconcile reads the pipe. */
const READ_WITHIN_MS = 30_000

async function readAtOnce(
  context: ReconcileContext,
  { creation, opened, intent, request, access }: CreateAttempt,
  pipeId: string,
): Promise<ReadOfId | undefined> {
  using limit = timeLimit(context.clock, READ_WITHIN_MS)
  try {
    const signal = AbortSignal.any([request.signal, limit.signal])
    const replied = { recorded: opened, intent, access, pipeId, revision: creation.revision }
    return await readRepliedId(context, replied, { priority: request.priority, signal })
  } catch (error) {
    if (request.signal.aborted || limit.signal.aborted) return undefined
    throw error
  }
}

async function finish(
  context: ReconcileContext,
  attempt: CreateAttempt,
  settled: {
    readonly outcome: Failed | Unknown
    readonly record: LedgerRecord
    readonly pipeId: string | undefined
  },
): Promise<Created> {
  const { creation, intent } = attempt
  const { key, revision } = creation
  const { outcome, record, pipeId } = settled
  const { result, requestId } = outcome
  const because = outcome.result === 'failed' ? outcome : ({ reason: 'OutcomeUnknown', ...outcome } as const)
  context.emit({
    type: 'CreateFinished',
    key,
    intentId: intent.id,
    outcome: result,
    pipeId,
    requestId,
    because: { reason: because.reason, facts: because.facts },
    revision,
  })
  if (!isOf(attempt, record)) throw new LedgerConflict(key, attempt.opened.version)
  return { record, outcome, reply: undefined }
}

function isOf({ creation, intent }: CreateAttempt, record: LedgerRecord): boolean {
  return record.key === creation.key && record.intent?.id === intent.id
}

function unsavedOf(
  context: ReconcileContext,
  { creation, opened, intent }: CreateAttempt,
  about: { readonly end: CreateEnd; readonly requestId: string | undefined; readonly because: Because },
): PendingOutcome {
  const { end, requestId, because } = about
  const result = end.type === 'created' ? 'done' : end.type
  const history = historyOf(context, creation, { result, intentId: intent.id, requestId, because })
  return { intentId: intent.id, opened, end, history: [history] }
}

export function historyOf(
  context: ReconcileContext,
  { key, revision, reason }: Creation,
  what: {
    readonly result: 'started' | 'done' | 'failed' | 'unknown'
    readonly intentId: string
    readonly requestId: string | undefined
    readonly because: Because
  },
): NewEntry {
  const action = what.result === 'started' ? 'intent' : 'create'
  return historyEntry(context, key, { action, reason, revision, ...what })
}
