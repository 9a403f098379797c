import type { Key } from '../kinds/key.ts'
import { createOnceKindOf } from '../kinds/lookup.ts'
import type { Action } from '../plan/action.ts'
import { backoffAfter } from '../plan/backoff.ts'
import { conditionsAfter } from '../plan/conditions.ts'
import { decide } from '../plan/decide.ts'
import { attemptDigest, leftSomething } from '../plan/gates.ts'
import { type Outcome, NOTHING_TO_DO } from '../plan/outcome.ts'
import { type Backoff, type LedgerRecord, blankRecord } from '../plan/record.ts'
import { recordedAccess, sameAccess } from './access.ts'
import { act } from './act.ts'
import { DecisionOutdated, type Acted } from './acted.ts'
import { type Assessment, assess, gather } from './assess.ts'
import type { WritableBoard } from './board.ts'
import { catchUp, currentRecord } from './current-record.ts'
import type { Deps, Turn } from './deps.ts'
import { finishTurn } from './finish-turn.ts'
import { forget } from './forget.ts'
import { outcomeOf } from './outcome.ts'
import { type CreatePermit, type ServiceAccess, LedgerConflict, LedgerError } from './ports.ts'
import { recordTurn } from './record-turn.ts'
import type { Reconciled } from './reconciled.ts'
import { moveRecord, recordToMove } from './rename.ts'
import { type CreateEnd, type Rescue, createRescue } from './rescue.ts'
import { RemoteError } from './remote-error.ts'
import { heedRetryCreate } from './retry-in-git.ts'
import { withoutLedger } from './without-ledger.ts'

export interface Reconciler {
  /** Observe → decide → act → record, for one key. Never two at a time for the same key: the queue sees to that. */
  reconcile(key: Key, turn: Turn): Promise<Reconciled>
  /** What would happen to a key, without writing anything anywhere. */
  preview(
    key: Key,
    turn: Turn,
  ): Promise<{ readonly action: Action; readonly assessment: Assessment; readonly outcome: Outcome }>
  /** Tries once more to write outcomes that are not on disk yet, before the end. @returns those that could not be written */
  saveOutcomes(): Promise<ReadonlyMap<Key, CreateEnd>>
}

/** What was decided is no longer what is to be done; nothing was sent. */
function isOutdated(error: unknown): boolean {
  return error instanceof LedgerConflict || error instanceof DecisionOutdated
}

/** So many other writers of one record, or edits, in a row are no coincidence: others come first. */
const MOST_ROUNDS = 10
const AFTER_ROUNDS_MS = 1_000

/** What the parts of one reconcile share. */
interface Context {
  readonly deps: Deps
  readonly rescue: Rescue
  readonly board: WritableBoard
  readonly key: Key
  readonly turn: Turn
  /** On the monotonic clock. */
  readonly startedAt: number
  /** Other keys that turned out to need a look. */
  readonly also: Set<Key>
}

/** @param rescue of an earlier life, where one goes on from what it had in memory */
export function createReconciler(deps: Deps, board: WritableBoard, rescue = createRescue(deps)): Reconciler {
  return {
    saveOutcomes: () => rescue.recoverAll(),
    async reconcile(key, turn) {
      const context = {
        deps,
        rescue,
        board,
        key,
        turn,
        startedAt: deps.clock.monotonic(),
        also: new Set<Key>(),
      }
      const reconciled = await inRounds(context)
      return { ...reconciled, also: [...new Set([...reconciled.also, ...context.also])] }
    },
    async preview(key, turn) {
      const recorded = deps.world.record(key) ?? blankRecord(key)
      const assessment = assess(deps, await gather(deps, key, recorded, turn))
      return { assessment, ...decided(deps, assessment, turn) }
    },
  }
}

/** Decides anew for as long as somebody else writes the record, or edits the manifest, in the middle. */
async function inRounds(context: Context): Promise<Reconciled> {
  const { deps, rescue, board, key, turn, startedAt } = context
  for (let round = 1; ; round += 1) {
    try {
      return await turnOf(context, undefined)
    } catch (error) {
      if (error instanceof LedgerError) {
        const unsaved = rescue.pending.get(key)?.end
        return withoutLedger(deps, board, { key, turn, error, unsaved, startedAt })
      }
      // Each round needs another writer of the record, or another edit: so many writers are a bug, so many edits are not.
      const isLast = round === MOST_ROUNDS
      if (!isOutdated(error) || (isLast && error instanceof LedgerConflict)) throw error
      if (!isLast) continue
      const facts = { said: 'What is to be done keeps changing; it is looked at again.' }
      const action: Action = { type: 'hold', reason: 'BackingOff', until: undefined, facts }
      return {
        action,
        outcome: { result: 'stopped' },
        next: { why: 'retry', afterMs: AFTER_ROUNDS_MS },
        also: [],
      }
    }
  }
}

/** The decision, or what stood in its way. */
function decided(
  deps: Deps,
  { input, failure }: Assessment,
  turn: Turn,
): { readonly action: Action; readonly outcome: Outcome } {
  if (failure === undefined) return { action: decide(input), outcome: NOTHING_TO_DO }
  const outcome = outcomeOf(failure, { signal: turn.stopping, now: deps.clock.now() })
  return {
    action: { type: 'observe', reason: 'Unobserved', facts: { why: 'not asked' } },
    outcome,
  }
}

/**
 * One round. A create is decided twice: first without a permit; then, with the permit in hand and after all waits, everything
 * is gathered and decided anew, and only what is decided then is done.
 * @throws {LedgerError} {@link LedgerConflict} {@link DecisionOutdated} before anything was sent; from then on they are outcomes, or kept
 */
async function turnOf(context: Context, permit: CreatePermit | undefined): Promise<Reconciled> {
  const { deps, rescue, board, key, turn } = context
  if (rescue.pending.size > 0) await rescue.recover(key)
  if (permit !== undefined)
    for (const other of await catchUp(deps)) if (other !== key) context.also.add(other)
  let recorded = await heedRetryCreate(deps, await currentRecord(deps, key))

  let assessment = assess(deps, await gather(deps, key, recorded, turn, permit))
  const from = recordToMove(deps, rescue, assessment)
  if (from !== undefined) {
    const moved = await moveRecord(deps, from, recorded, assessment.entry?.revision ?? '')
    board.remove(from.key)
    recorded = await heedRetryCreate(deps, moved)
    assessment = assess(deps, await gather(deps, key, recorded, turn, permit))
  }
  const { input } = assessment
  if (input.desired.state === 'absent' && !leftSomething(recorded)) return forget(deps, board, key, recorded)
  // Neither a manifest nor a record: a look that was still due after it was forgotten. Nothing is to be held.
  if (assessment.entry === undefined && recorded.version === 0) return forget(deps, board, key, recorded)

  // From here to the intent nothing is waited for.
  const decision = decided(deps, assessment, turn)
  const { action } = decision
  if (action.type === 'create' && decision.outcome.result === 'done') {
    if (permit === undefined) return withPermit(context, { assessment, recorded, action })
    if (!sameAccess(permit.service, accessOf(assessment))) throw new DecisionOutdated(key)
  } else permit?.release()
  const acted = await carryOut(context, assessment, decision, permit)
  return conclude(context, { assessment, recorded, action }, acted)
}

/** What one round came to, before anything was done about it. */
interface Round {
  readonly assessment: Assessment
  readonly recorded: LedgerRecord
  readonly action: Action
}

/** Waits for the right to send a create, and decides anew while it is held. */
async function withPermit(context: Context, round: Round): Promise<Reconciled> {
  const { deps, turn, key } = context
  const { assessment } = round
  const access = accessOf(assessment)
  const { pipe } = assessment.input.recorded
  const looksFirst =
    pipe !== undefined &&
    recordedAccess(deps.world, assessment.input.recorded, assessment.service)?.secretName ===
      access.secretName
  let permit: CreatePermit
  try {
    permit = await deps.platform.admitCreate(createOnceKindOf(key), access, {
      priority: turn.priority,
      signal: turn.stopping,
      looksFirst,
    })
  } catch (error) {
    return conclude(context, round, failed(context, assessment, error))
  }
  try {
    await deps.ledger.reserveRoom()
    return await turnOf(context, permit)
  } finally {
    permit.release()
  }
}

function accessOf({ service, input }: Assessment): ServiceAccess {
  if (!service.usable) throw new Error(`a create of ${input.desired.key} was decided without a service`)
  return service.access
}

/** Records and tells what a round came to. */
async function conclude(context: Context, round: Round, acted: Acted): Promise<Reconciled> {
  const { deps, board, key, turn, startedAt } = context
  const { assessment, recorded, action } = round
  const conditions = conditionsAfter({
    decided: assessment.input,
    action,
    outcome: acted.outcome,
    state: deps.world.look(key)?.state,
    previous: recorded.conditions,
  })
  const backoff = nextBackoff(deps, assessment, acted, action)
  const written = await recordTurn(deps, { assessment, recorded, acted, conditions, backoff })
  return finishTurn(deps, board, {
    assessment,
    recorded,
    written,
    action,
    acted,
    conditions,
    backoff,
    turn,
    startedAt,
  })
}

/** At once when there is nothing to carry out, as in most turns. */
function carryOut(
  context: Context,
  assessment: Assessment,
  decision: { readonly action: Action; readonly outcome: Outcome },
  permit: CreatePermit | undefined,
): Acted | Promise<Acted> {
  const { deps, rescue, turn } = context
  const { action, outcome } = decision
  const record = assessment.input.recorded
  if (outcome.result !== 'done') return { outcome, record, history: [] }
  const acted = act(deps, rescue, assessment, action, { turn, permit })
  return acted instanceof Promise
    ? acted.catch((error: unknown) => failed(context, assessment, error))
    : acted
}

/** @throws what makes the decision outdated, and what is no expected failure */
function failed({ deps, turn }: Context, assessment: Assessment, error: unknown): Acted {
  if (isOutdated(error)) throw error
  const outcome = outcomeOf(error, { signal: turn.stopping, now: deps.clock.now() })
  const { recorded, lifecycle } = assessment.input
  const mayHaveWorked =
    lifecycle === 'upsert' && error instanceof RemoteError && error.facts.effect === 'unknown'
  // What was applied last is not known any more: it is applied again, also when the edit is taken back.
  const record =
    mayHaveWorked && recorded.upsert !== undefined ? { ...recorded, applied: undefined } : recorded
  return { outcome, record, history: [] }
}

function nextBackoff(
  deps: Deps,
  { input }: Assessment,
  { outcome, record }: Acted,
  action: Action,
): Backoff | undefined {
  if (outcome.result !== 'failed') return action.reason === 'BackingOff' ? record.backoff : undefined
  const { fingerprint } = input.desired
  return backoffAfter({
    previous: record.backoff,
    outcome,
    digest: fingerprint === undefined ? '' : attemptDigest(fingerprint),
    now: deps.clock.now(),
    random: deps.random,
  })
}
