import type { Key } from '../kinds/key.ts'
import { createOnceKindOf } from '../kinds/profile.ts'
import type { Action } from '../plan/action.ts'
import { backoffAfter } from '../plan/requeue.ts'
import { conditionsAfter } from '../plan/conditions.ts'
import { attemptDigest, mightHaveResource } from '../plan/gates.ts'
import type { Backoff, LedgerRecord } from '../plan/record.ts'
import { lastWriteOf, listedKind } from './gather/listing.ts'
import { recordedAccess, sameAccess } from './gather/service-access.ts'
import { act } from './apply/act.ts'
import { decided, isForgetting, recheckBeforeForget, type Decision } from './apply/decision.ts'
import {
  DecisionOutdated,
  type Acted,
  type ReconcileContext,
  type ReconcileRequest,
  type ReconcileResult,
} from './context.ts'
import { type Assessment, assess, gather, type Gathered } from './gather/assess.ts'
import type { WritableBoard } from './state/status-board.ts'
import { createProblemTracker } from './state/problem-tracker.ts'
import { syncStoreFromLedger, readRecord } from './state/record-io.ts'
import { publishResult, type Reconciliation, reportLedgerFailure, showBug } from './report.ts'
import { forgetRecord, writeRecord } from './write-record.ts'
import { outcomeOf } from './apply/outcome-of-error.ts'
import type { CreatePermit, ServiceAccess } from '../contract/platform.ts'
import { LedgerConflict, LedgerError } from '../contract/ledger.ts'
import { moveRecord, recordToMove } from './apply/move-record.ts'
import { type CreateEnd, createOutcomeOutbox } from './apply/outcome-outbox.ts'
import { applyRetryCreatePolicy } from './apply/retry-create-policy.ts'
import type { OperatorCommand, OperatorResult } from '../contract/person-command.ts'
import { operate } from './operator/operate.ts'
import { refused } from './operator/operator.ts'

export interface Reconciler {
  /** Call it only once at a time for each key. */
  reconcile(key: Key, request: ReconcileRequest): Promise<ReconcileResult>
  /** Call it while the key is not reconciled. @throws {LedgerError} */
  operate(command: OperatorCommand, signal: AbortSignal): Promise<OperatorResult>
  /** Writes create outcomes that the ledger lacks. @param until ends retries */
  saveOutcomes(until?: AbortSignal): Promise<ReadonlyMap<Key, CreateEnd>>
  readonly problems: ReturnType<typeof createProblemTracker>
}

function isOutdated(error: unknown): boolean {
  return error instanceof LedgerConflict || error instanceof DecisionOutdated
}

/** After this many outdated decisions, other keys come first. */
const MAX_CONFLICT_RETRIES = 10
const AFTER_ROUNDS_MS = 1_000

export function createReconciler(
  context: ReconcileContext,
  board: WritableBoard,
  outbox = createOutcomeOutbox(context),
): Reconciler {
  const problems = createProblemTracker(context, board)
  return {
    saveOutcomes: (until) => outbox.recoverAll(until),
    async operate(command, signal) {
      const { key } = command
      await outbox.recover(key)
      if (outbox.pending.has(key))
        return refused(
          `The ledger cannot be written, so it lacks the result of the last create of ${key}. Make the ledger writable, then run this command again.`,
        )
      return operate(context, command, signal)
    },
    problems,
    async reconcile(key, request) {
      problems.begin()
      const reconciliation: Reconciliation = {
        context,
        outbox,
        board,
        key,
        request,
        startedAt: context.clock.monotonic(),
        also: new Set<Key>(),
        movedFrom: undefined,
      }
      const result = await retryOnConflict(reconciliation)
        .catch((error: unknown) => {
          if (!request.signal.aborted) showBug(reconciliation, error)
          throw error
        })
        .finally(() => context.store.claim(key, undefined))
      const { action, outcome } = result
      if (action.type === 'create' && outcome.result === 'unknown') problems.setReported(key)
      const also = [...new Set([...result.also, ...reconciliation.also])]
      return { ...result, also, movedFrom: reconciliation.movedFrom }
    },
  }
}

async function retryOnConflict(reconciliation: Reconciliation): Promise<ReconcileResult> {
  for (let round = 1; ; round += 1) {
    try {
      return await reconcileOnce(reconciliation, undefined)
    } catch (error) {
      if (error instanceof LedgerError) return reportLedgerFailure(reconciliation, error)
      // A conflict in each round is a bug, but an edit in each round is not.
      const isLast = round === MAX_CONFLICT_RETRIES
      if (!isOutdated(error) || (isLast && error instanceof LedgerConflict)) throw error
      if (!isLast) continue
      const facts = { after: 'decisions changed' } as const
      const action: Action = { type: 'hold', reason: 'BackingOff', facts }
      return {
        action,
        outcome: { result: 'stopped' },
        next: { why: 'retry', afterMs: AFTER_ROUNDS_MS },
        also: [],
      }
    }
  }
}

/**
 * A create is decided twice: without `permit`, and again with `permit`, after the wait for the request budget. Only
 * the second decision counts.
 * @throws {LedgerError} {@link LedgerConflict} {@link DecisionOutdated}, only before a request is sent, or if the
 * record was moved or has another attempt. Other errors become outcomes
 */
async function reconcileOnce(
  reconciliation: Reconciliation,
  permit: CreatePermit | undefined,
): Promise<ReconcileResult> {
  const { context, outbox, board, key, request } = reconciliation
  await outbox.recover(key)
  if (permit !== undefined)
    for (const other of await syncStoreFromLedger(context)) if (other !== key) reconciliation.also.add(other)
  const recorded = await applyRetryCreatePolicy(context, await readRecord(context, key))
  const assessment = assess(context, await gatherAll(reconciliation, recorded, permit))
  const from = recordToMove(context, outbox, assessment)
  if (from !== undefined) {
    await moveRecord(context, from, recorded)
    board.remove(from.key)
    reconciliation.movedFrom = from.key
    return reconcileOnce(reconciliation, permit)
  }
  const { input } = assessment
  const isRemoved = input.desired.state === 'absent' && !mightHaveResource(recorded)
  if (isRemoved || (assessment.entry === undefined && recorded.version === 0))
    return forgetRecord(context, board, key, recorded)

  // No `await` before the intent: the input could change. Only the removal of a record waits.
  const made = decided(assessment, request)
  const decision = isForgetting(made, input)
    ? await recheckBeforeForget(context, request, { ...assessment, input }, made)
    : made
  const { action } = decision
  if (action.type === 'create' && decision.outcome.result === 'done') {
    if (permit === undefined) return withPermit(reconciliation, assessment, action)
    if (!sameAccess(permit.service, accessOf(assessment))) throw new DecisionOutdated(key)
  } else permit?.release()
  const acted = await carryOut(reconciliation, assessment, decision, permit)
  const result = await conclude(reconciliation, assessment, action, acted)
  const isGone =
    action.type === 'delete' && acted.outcome.result === 'done' && !mightHaveResource(acted.record)
  if (!isGone || input.desired.state !== 'absent') return result
  await forgetRecord(context, board, key, await readRecord(context, key))
  return { ...result, next: undefined }
}

async function gatherAll(
  { context, key, request, also }: Reconciliation,
  recorded: LedgerRecord,
  permit: CreatePermit | undefined,
): Promise<Gathered> {
  const gathered = await gather(context, key, recorded, request, permit)
  for (const other of gathered.news) if (other !== key) also.add(other)
  return gathered
}

async function withPermit(
  reconciliation: Reconciliation,
  assessment: Assessment,
  action: Action,
): Promise<ReconcileResult> {
  const { context, request, key } = reconciliation
  const access = accessOf(assessment)
  const { remote } = assessment.input.recorded
  const looksFirst =
    remote !== undefined &&
    recordedAccess(context.store, assessment.input.recorded, assessment.service)?.secretName ===
      access.secretName
  const isListed = listedKind(context, key) !== undefined
  let permit: CreatePermit
  try {
    permit = await context.platform.admitCreate(createOnceKindOf(context.profile, key), access, {
      priority: request.priority,
      signal: request.signal,
      looks: (Number(looksFirst) + Number(isListed)) as 0 | 1 | 2, // each is 0 or 1
    })
  } catch (error) {
    return conclude(reconciliation, assessment, action, failed(reconciliation, assessment, error))
  }
  try {
    // Else a ledger that takes only intents would lose the id of each create.
    await reconciliation.outbox.saveIds()
    await context.ledger.assertCanSettle()
    return await reconcileOnce(reconciliation, permit)
  } finally {
    permit.release()
  }
}

function accessOf({ service, input }: Assessment): ServiceAccess {
  if (!service.usable) throw new Error(`a create of ${input.desired.key} was decided without a service`)
  return service.access
}

async function conclude(
  reconciliation: Reconciliation,
  assessment: Assessment,
  action: Action,
  acted: Acted,
): Promise<ReconcileResult> {
  const { context, key } = reconciliation
  const conditions = conditionsAfter({
    decided: assessment.input,
    action,
    outcome: acted.outcome,
    recorded: acted.record,
    state: context.store.observation(key)?.state,
    previous: assessment.gathered.question.recorded.conditions,
  })
  const backoff = nextBackoff(context, assessment, action, acted)
  const conclusion = { assessment, action, acted, conditions, backoff }
  return publishResult(reconciliation, conclusion, await writeRecord(context, conclusion))
}

function carryOut(
  reconciliation: Reconciliation,
  assessment: Assessment,
  decision: Decision,
  permit: CreatePermit | undefined,
): Acted | Promise<Acted> {
  const { context, outbox, request } = reconciliation
  const { action, outcome } = decision
  const record = assessment.input.recorded
  if (outcome.result !== 'done') return { outcome, record, history: [] }
  assertFresh(context, assessment, action)
  const acted = act(context, outbox, assessment, action, { request, permit })
  return acted instanceof Promise
    ? acted.catch((error: unknown) => failed(reconciliation, assessment, error))
    : acted
}

const WRITES: ReadonlySet<Action['type']> = new Set(['create', 'upsert', 'update', 'delete'])

/**
 * @throws {Error} a bug: a read began before the key's last write ended
 * @throws {DecisionOutdated} a read began before another key's create of the same pipe name ended
 */
function assertFresh({ store }: ReconcileContext, { input, readSince }: Assessment, { type }: Action): void {
  const { key } = input.desired
  if (!WRITES.has(type)) return
  if (readSince < store.lastWrites.endedAt({ key }))
    throw new Error(`the ${type} of ${key} was decided on a reading from before its last request`)
  if (type === 'create' && readSince < lastWriteOf(store, key)) throw new DecisionOutdated(key)
}

function failed({ request }: Reconciliation, assessment: Assessment, error: unknown): Acted {
  if (isOutdated(error)) throw error
  return { outcome: outcomeOf(error, request.signal), record: assessment.input.recorded, history: [] }
}

function nextBackoff(
  context: ReconcileContext,
  assessment: Assessment,
  { reason }: Action,
  { outcome, record }: Acted,
): Backoff | undefined {
  if (outcome.result !== 'failed')
    return reason === 'BackingOff' || reason === 'MissingUnconfirmed' ? record.backoff : undefined
  const { fingerprint } = assessment.input.desired
  return backoffAfter({
    previous: record.backoff,
    outcome,
    digest: fingerprint ? attemptDigest(fingerprint) : '',
    now: context.store.steadyNow(),
    random: context.random,
  })
}
