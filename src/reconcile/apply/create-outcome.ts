import { historyEntry } from '../state/record-io.ts'
import { capital, nounOf } from '../../kinds/lookup.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { timeLimit } from '../../lib/clock.ts'
import type { Outcome, Unknown } from '../../plan/outcome.ts'
import { unknownFacts } from '../../plan/outcome-unknown.ts'
import { causeOf, type Because } from '../../plan/reason.ts'
import type { Intent, LedgerRecord, Remote, Seen } from '../../plan/record.ts'
import type { ReconcileContext, ReconcileRequest } from '../context.ts'
import { readRepliedId, type ReadOfId } from './replied-id.ts'
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
import { knownIds } from '../gather/surroundings.ts'

export interface Created {
  readonly record: LedgerRecord
  readonly outcome: Outcome
  readonly reply: Reply<RemoteResource> | undefined
}

interface CreateAttempt {
  readonly opened: LedgerRecord
  readonly intent: Intent
  readonly access: ServiceAccess
  readonly request: ReconcileRequest
}

export async function settleCreated(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  attempt: CreateAttempt,
  created: {
    readonly remote: Remote
    readonly reply: Reply<RemoteResource>
    readonly why: Because<'Created'>
  },
): Promise<Created> {
  const { opened } = attempt
  const { key } = opened
  const { remote, reply, why } = created
  const { requestId } = reply
  const pending = pendingOutcome(context, attempt, { type: 'created', remote }, { ...why, requestId })
  context.store.claim(key, remote.id)
  // From here on, the outbox keeps the id, even if a later line throws.
  outbox.remember(key, pending)
  await context.fail?.('before-id')
  const record = await outbox.persist(key, pending)
  const ids = { pipeId: remote.id, requestId }
  if (record === undefined) {
    const lost = unsavedBecause(key, pending.end)
    tellFinished(context, attempt, 'unknown', lost, ids)
    return { record: opened, outcome: unsavedOutcome(lost, requestId), reply: undefined }
  }
  tellFinished(context, attempt, 'created', why, ids)
  if (record.remote?.id !== remote.id) throw new LedgerConflict(key, opened.version)
  assertOurs(attempt, record)
  return { record, outcome: { result: 'done', ...why, differences: [], requestId }, reply }
}

export async function settleFailure(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  attempt: CreateAttempt,
  outcome: RemoteFailure,
): Promise<Created> {
  const { opened } = attempt
  const { key, former, removal } = opened
  const { requestId } = outcome
  const kept =
    former === undefined || removal?.isSent === true
      ? ''
      : ` ${capital(nounOf(key))} ${former.remote.id} is kept.`
  const said = causeOf(outcome, key)
  const failed = { ...outcome, facts: { ...outcome.facts, said: `${said}${kept}` } }
  const seen: Seen = { at: context.clock.now(), requestId, what: said }
  const pending = pendingOutcome(context, attempt, { type: 'failed', seen }, failed)
  const record = (await outbox.persist(key, pending)) ?? opened
  forgetMisses(context, key)
  tellFinished(context, attempt, 'failed', failed, { pipeId: undefined, requestId })
  assertOurs(attempt, record)
  return { record, outcome: failed, reply: undefined }
}

/** If the reply has an id, reads that pipe, because it might be the created one. */
export async function settleUnknown(
  context: ReconcileContext,
  outbox: OutcomeOutbox,
  attempt: CreateAttempt,
  outcome: Omit<Unknown, 'facts'>,
): Promise<Created> {
  const { opened, intent } = attempt
  const { key } = opened
  const { requestId } = outcome
  const { pipeId } = outcome.seen
  const isFree = pipeId !== undefined && context.store.holderOf(pipeId, key) === undefined
  const seen = { ...outcome.seen, pipeId: isFree ? pipeId : undefined }
  const facts = unknownFacts(opened, { ...intent, state: 'unknown', seen }, knownIds(context.store, opened))
  const because = { reason: 'OutcomeUnknown', facts } as const
  const pending = pendingOutcome(context, attempt, { type: 'unknown', seen }, { ...because, requestId })
  const written = await outbox.persist(key, pending)
  const record = written ?? opened
  if (written !== undefined && isOurs(attempt, written) && isFree) {
    const current = { ...attempt, opened: written }
    const read = await readAtOnce(context, current, pipeId)
    if (read?.is === 'the created one') {
      const why = { reason: 'Created', facts: { pipeId, isByRead: true } } as const
      return settleCreated(context, outbox, current, { ...read, why })
    }
  }
  tellFinished(context, attempt, 'unknown', because, { pipeId: seen.pipeId, requestId })
  assertOurs(attempt, record)
  return { record, outcome: { ...outcome, seen, facts }, reply: undefined }
}

/** Ms. If the read takes longer, the next reconcile reads the pipe. */
const READ_WITHIN_MS = 30_000

async function readAtOnce(
  context: ReconcileContext,
  { opened: recorded, intent, request, access }: CreateAttempt,
  pipeId: string,
): Promise<ReadOfId | undefined> {
  using limit = timeLimit(context.clock, READ_WITHIN_MS)
  try {
    const signal = AbortSignal.any([request.signal, limit.signal])
    const replied = { recorded, intent, access, pipeId, revision: intent.revision }
    return await readRepliedId(context, replied, { priority: request.priority, signal })
  } catch (error) {
    if (request.signal.aborted || limit.signal.aborted) return undefined
    throw error
  }
}

function tellFinished(
  { emit }: ReconcileContext,
  { opened: { key }, intent: { id: intentId, revision } }: CreateAttempt,
  outcome: 'created' | 'failed' | 'unknown',
  { reason, facts }: Because,
  ids: { readonly pipeId: string | undefined; readonly requestId: string | undefined },
): void {
  emit({ type: 'CreateFinished', key, intentId, outcome, ...ids, because: { reason, facts }, revision })
}

/** @throws {LedgerConflict} */
function assertOurs(attempt: CreateAttempt, record: LedgerRecord): void {
  const { key, version } = attempt.opened
  if (!isOurs(attempt, record)) throw new LedgerConflict(key, version)
}

function isOurs({ opened, intent }: CreateAttempt, record: LedgerRecord): boolean {
  return record.key === opened.key && record.intent?.id === intent.id
}

function pendingOutcome(
  context: ReconcileContext,
  { opened, intent }: CreateAttempt,
  end: CreateEnd,
  { requestId, reason, facts }: Because & { readonly requestId?: string | undefined },
): PendingOutcome {
  const { id: intentId, revision } = intent
  const entry = historyEntry(context, opened.key, {
    action: 'create',
    reason: intent.reason,
    result: end.type === 'created' ? 'done' : end.type,
    intentId,
    requestId,
    because: { reason, facts },
    revision,
  })
  return { intentId, opened, end, history: [entry] }
}
