import type { Event } from '../contract/events.ts'
import type { Key } from '../kinds/key.ts'
import { serviceKey } from '../kinds/service/kind.ts'
import { isResync, type Action } from '../plan/action.ts'
import type { Reachability } from '../plan/input.ts'
import { bestExplanation, viewOf, withConditions } from '../contract/view.ts'
import type { Condition, Conditions, ConditionType } from '../plan/condition.ts'
import { changedConditions, isUnanswered, statusOf } from '../plan/conditions.ts'
import { wellnessOf } from '../plan/severity.ts'
import { requeueAfter } from '../plan/requeue.ts'
import type { Outcome } from '../plan/outcome.ts'
import { explained, type Because, type Reason } from '../plan/reason.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Assessment } from './gather/assess.ts'
import type { WritableBoard } from './state/status-board.ts'
import type { ReconcileContext, ReconcileRequest, ReconcileResult } from './context.ts'
import { siblingsToObserve } from './gather/siblings.ts'
import type { LedgerError } from '../contract/ledger.ts'
import { type OutcomeOutbox, unsavedBecause, unsavedOutcome } from './apply/outcome-outbox.ts'
import type { Conclusion } from './write-record.ts'

export interface Reconciliation {
  readonly context: ReconcileContext
  readonly outbox: OutcomeOutbox
  readonly board: WritableBoard
  readonly key: Key
  readonly request: ReconcileRequest
  /** Monotonic ms. */
  readonly startedAt: number
  readonly also: Set<Key>
  movedFrom: Key | undefined
}

export function publishResult(
  reconciliation: Reconciliation,
  conclusion: Conclusion,
  written: LedgerRecord,
): ReconcileResult {
  const { context, board, key, request } = reconciliation
  const { assessment, action, acted, conditions, backoff } = conclusion
  const { recorded } = assessment.gathered.question
  const { input, entry } = assessment
  const { outcome } = acted
  const { revision } = context.store
  const manifestRevision = written.manifest?.revision
  const place = { file: entry?.position.file, line: entry?.position.line }
  const changed = changedConditions(recorded.conditions, conditions)
  const observation = context.store.observation(key)
  const next = requeueAfter({
    action,
    conditions,
    backoff,
    decided: input,
    upsert: written.upsert,
    unsettledObservations: Math.max(0, (observation?.unsettled ?? 0) - 1),
    unseenForMs: unseenForMs(context, written),
    random: context.random,
  })
  const because = becauseAfter(outcome, action)
  const isDone = outcome.result === 'done' && action.type !== 'hold'
  const isDoubted = isUnanswered(action) || (isDone && conditions.Synced.status === 'False')
  const now = context.clock.now()
  board.set(
    viewOf({
      entry,
      record: written,
      observation,
      conditions,
      action: action.type,
      because:
        conditions.Valid.status === 'False'
          ? explained(action)
          : bestExplanation(conditions, isDoubted ? conditions.Synced : because),
      checkedAt: context.store.checkedAt(key),
      lastReconciledAt: now,
      nextReconcileAt: now + next.afterMs,
      dueAt: context.clock.monotonic() + next.afterMs,
    }),
  )
  const arrived = arrival(recorded.conditions, conditions, changed)
  for (const condition of outcome.result === 'stopped' ? [] : changed) {
    context.emit({
      type: 'ConditionChanged',
      key,
      condition,
      before: recorded.conditions?.[condition],
      after: conditions[condition],
      isNews: condition === arrived,
      revision,
      manifestRevision,
      ...place,
    })
  }
  tellEnd(reconciliation, {
    manifestRevision,
    action: action.type,
    because,
    result: outcome.result,
    requestId: outcome.requestId ?? assessment.requestId,
    changed: changed.length > 0 || isNews(conclusion),
    ...place,
    changeToApplyMs:
      request.changedAt === undefined ||
      outcome.result !== 'done' ||
      action.type === 'hold' ||
      action.type === 'refuse'
        ? undefined
        : context.clock.monotonic() - request.changedAt,
  })
  const isFirst = !context.store.judged.has(key)
  if (outcome.result !== 'stopped') context.store.judged.add(key)
  const also = alsoOf(context, conclusion, isFirst || changed.includes('Ready'))
  return { action, outcome, next, also, assessment }
}

type End = Event & { readonly type: 'ReconcileFinished' }

function tellEnd(
  { context, key, request, startedAt }: Reconciliation,
  {
    file,
    line,
    changeToApplyMs,
    ...end
  }: Omit<End, 'type' | 'key' | 'reconcileId' | 'revision' | 'durationMs'>,
): void {
  const { clock, store, emit } = context
  const about = { key, reconcileId: request.reconcileId, revision: store.revision, ...end }
  const durationMs = clock.monotonic() - startedAt
  emit({ type: 'ReconcileFinished', ...about, durationMs, file, line, changeToApplyMs })
}

function arrival(
  before: Conditions | undefined,
  after: Conditions,
  changed: readonly ConditionType[],
): ConditionType | undefined {
  if (before === undefined) return undefined
  const [from, to] = [statusOf(before), statusOf(after)]
  return from !== to && wellnessOf(from) !== 'bad' && wellnessOf(to) === 'good' ? changed.at(-1) : undefined
}

function isNews({ action, acted, backoff }: Conclusion): boolean {
  if (action.type === 'adopt') return acted.outcome.result === 'done' || backoff?.failures === 1
  return (
    action.type === 'create' ||
    action.type === 'update' ||
    action.type === 'delete' ||
    (action.type === 'upsert' && !isResync(action))
  )
}

function unseenForMs({ store, clock }: ReconcileContext, { key, remote }: LedgerRecord): number | undefined {
  if (remote === undefined || remote.seenAt !== undefined) return undefined
  return store.ageMs(key) ?? Math.max(0, clock.now() - remote.at)
}

function alsoOf(
  context: ReconcileContext,
  { assessment, action, acted, conditions }: Conclusion,
  readyIsNews: boolean,
): readonly Key[] {
  const { input, service } = assessment
  const { key } = input.desired
  const also: Key[] = readyIsNews
    ? context.store.dependents(key).filter((other) => waits(context, other, conditions.Ready))
    : []
  // A pipe of another service is read there.
  if (service.usable && input.lifecycle !== 'reference' && !input.desired.otherService) {
    const contact = contactOf(acted.outcome, assessment)
    if (contact !== undefined && context.store.noteContact(service.access, contact))
      also.push(serviceKey(service.access.name))
  }
  if (action.reason === 'Orphaned' && readyIsNews) also.push(...context.store.successors(key))
  if (action.reason === 'MissingUnconfirmed') also.push(...siblingsToObserve(context, input.recorded))
  return also
}

function contactOf(outcome: Outcome, assessment: Assessment): Reachability | undefined {
  if (outcome.result === 'failed') {
    if (outcome.reason === 'AuthFailed')
      return {
        type: 'refused',
        what: outcome.facts.refuses ?? 'the credentials',
        said: ofService(outcome, outcome.facts.said),
      }
    if (outcome.reason === 'Unavailable')
      return { type: 'unreachable', said: ofService(outcome, outcome.facts.said) }
    if (outcome.reason === 'RateLimited') return undefined
  }
  const { requestId, gathered } = assessment
  const { answer, listing, since } = gathered
  const isAnswer = [listing, answer && 'reply' in answer ? answer : undefined].some(
    (each) => each !== undefined && each.askedAt >= since,
  )
  return isAnswer || (outcome.requestId ?? requestId) !== undefined ? { type: 'answered' } : undefined
}

function ofService({ what }: Outcome & { readonly result: 'failed' }, said: string): string {
  return what === undefined ? said : `The last request with the credentials of this service failed: ${what}.`
}

const WAITS_FOR_ANOTHER: ReadonlySet<Reason> = new Set(['DependencyNotReady', 'AuthFailed'])

/** Whether the key might have waited for the key that is now `ready`. If so, it skips its back-off. */
function waits({ store }: ReconcileContext, key: Key, ready: Condition): boolean {
  const reason = store.record(key)?.conditions?.Synced.reason
  if (reason === 'Unavailable') return ready.status === 'True'
  return reason !== undefined && WAITS_FOR_ANOTHER.has(reason)
}

function becauseAfter(outcome: Outcome, action: Action): Because {
  switch (outcome.result) {
    case 'done':
      return outcome.reason === undefined ? action : outcome
    case 'failed':
      return outcome
    case 'unknown':
      return { reason: 'OutcomeUnknown', facts: outcome.facts }
    case 'stopped':
      return action
  }
}

const LEDGER_RETRY_MS = 5_000

export function reportLedgerFailure(reconciliation: Reconciliation, error: LedgerError): ReconcileResult {
  const { context, outbox, board, key } = reconciliation
  const unsaved = outbox.pending.get(key)?.end
  const because: Because<'LedgerFailed' | 'OutcomeUnsaved'> =
    unsaved === undefined
      ? { reason: 'LedgerFailed', facts: { said: error.message } }
      : unsavedBecause(key, unsaved)
  const action: Action = { type: 'hold', ...because }
  const outcome = unsavedOutcome(because, undefined)
  const before = board.get(key)
  showFailed(reconciliation, because)
  tellEnd(reconciliation, {
    manifestRevision: context.store.manifestRevision(key),
    action: action.type,
    because,
    result: 'failed',
    requestId: undefined,
    changed: before?.reason !== because.reason,
    file: before?.file,
    line: before?.line,
    changeToApplyMs: undefined,
  })
  const next = { why: 'retry', afterMs: LEDGER_RETRY_MS } as const
  return { action, outcome, next, also: [] }
}

export function showBug(reconciliation: Reconciliation, error: unknown): void {
  const { mask } = reconciliation.context
  const text = mask.mask(error instanceof Error ? error.message : String(error))
  const said = `The reconcile failed unexpectedly: ${text}`
  showFailed(reconciliation, { reason: 'Unavailable', facts: { said } })
}

function showFailed({ context, board, key }: Reconciliation, because: Because): void {
  const before = board.get(key)
  if (before === undefined) return
  const { reason } = because
  const { Synced } = before.conditions
  const since = Synced.reason === reason ? Synced.since : context.clock.now()
  const shown = explained(because)
  const conditions: Conditions = { ...before.conditions, Synced: { status: 'Unknown', since, ...shown } }
  board.set({ ...withConditions(before, conditions, { status: 'Failed', reason }), because: shown })
}
