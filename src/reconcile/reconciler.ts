import type { Key } from '../kinds/key.ts'
import type { Action } from '../plan/action.ts'
import { backoffAfter } from '../plan/backoff.ts'
import { conditionsAfter } from '../plan/conditions.ts'
import { decide } from '../plan/decide.ts'
import { attemptDigest, leftSomething } from '../plan/gates.ts'
import type { Outcome } from '../plan/outcome.ts'
import { NOTHING_TO_DO } from '../plan/outcome.ts'
import type { Backoff, LedgerRecord } from '../plan/record.ts'
import { blankRecord } from '../plan/record.ts'
import type { Acted } from './act.ts'
import { act } from './act.ts'
import type { Assessment } from './assess.ts'
import { assess } from './assess.ts'
import type { WritableBoard } from './board.ts'
import { DecisionOutdated } from './create.ts'
import type { Deps, Turn } from './deps.ts'
import { finishTurn } from './finish-turn.ts'
import type { HistoryEntry } from './history.ts'
import { outcomeOf } from './outcome.ts'
import { LedgerConflict, LedgerError } from './ports.ts'
import { recordTurn } from './record-turn.ts'
import type { Reconciled } from './reconciled.ts'
import { moveRecord, recordToMove } from './rename.ts'
import type { Rescue } from './rescue.ts'
import { createRescue } from './rescue.ts'
import { withoutLedger } from './without-ledger.ts'

export interface Reconciler {
  /** Observe → decide → act → record, for one key. Never two at a time for the same key: the queue sees to that. */
  reconcile(key: Key, turn: Turn): Promise<Reconciled>
  /** What would happen to a key, without writing anything anywhere. */
  preview(
    key: Key,
    turn: Turn,
  ): Promise<{ readonly action: Action; readonly assessment: Assessment; readonly outcome: Outcome }>
  /** Creates whose outcome could not be written yet. */
  readonly unsaved: number
  /** Tries once more to write those outcomes, before the end. @returns how many could not be written */
  saveOutcomes(): Promise<number>
}

/** What was decided is no longer what is to be done; nothing was sent. */
function isOutdated(error: unknown): boolean {
  return error instanceof LedgerConflict || error instanceof DecisionOutdated
}

/** So many other writers of one record in a row are no coincidence. */
const MOST_ROUNDS = 10

export function createReconciler(deps: Deps, board: WritableBoard): Reconciler {
  const rescue = createRescue(deps)
  return {
    get unsaved() {
      return rescue.pending
    },
    saveOutcomes: () => rescue.recoverAll(),
    async reconcile(key, turn) {
      const startedAt = deps.clock.monotonic()
      for (let round = 1; ; round += 1) {
        try {
          return await turnOf(deps, rescue, board, key, turn, startedAt)
        } catch (error) {
          if (error instanceof LedgerError) return withoutLedger(deps, board, key, turn, error, startedAt)
          // Somebody else wrote the record, or edited the manifest: decide anew. Each round needs another writer.
          if (!isOutdated(error) || round === MOST_ROUNDS) throw error
        }
      }
    },
    async preview(key, turn) {
      const recorded = deps.world.record(key) ?? blankRecord(key)
      const assessment = await assess(deps, key, recorded, turn)
      return { assessment, ...decided(deps, assessment, turn) }
    },
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
    action: { type: 'observe', reason: 'Unobserved', message: 'The platform could not be asked.' },
    outcome,
  }
}

/** @throws {LedgerError} {@link LedgerConflict} before anything was sent; from then on they are outcomes, or kept */
async function turnOf(
  deps: Deps,
  rescue: Rescue,
  board: WritableBoard,
  key: Key,
  turn: Turn,
  startedAt: number,
): Promise<Reconciled> {
  if (rescue.pending > 0) await rescue.recover(key)
  let recorded = (await recordOf(deps, key)) ?? blankRecord(key)
  if (recorded.version > 0) deps.world.note(recorded)
  else if (deps.world.record(key) !== undefined) deps.world.drop(key) // a person forgot it

  let assessment = await assess(deps, key, recorded, turn)
  const from = recordToMove(deps, rescue, assessment)
  if (from !== undefined) {
    recorded = await moveRecord(deps, from, recorded, assessment.entry?.revision ?? '')
    board.remove(from.key)
    assessment = await assess(deps, key, recorded, turn)
  }
  const { input } = assessment
  if (input.desired.state === 'absent' && !leftSomething(recorded)) return forget(deps, board, key, recorded)
  // Neither a manifest nor a record: a look that was still due after it was forgotten. Nothing is to be held.
  if (assessment.entry === undefined && recorded.version === 0) return forget(deps, board, key, recorded)

  const first = decided(deps, assessment, turn)
  const { action } = first
  const acted = await carryOut(deps, rescue, assessment, first, turn)
  const conditions = conditionsAfter({
    decided: input,
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

/** What the ledger says of a key; read in full only when it is not what we know already. */
function recordOf({ ledger, world }: Deps, key: Key): Promise<LedgerRecord | undefined> {
  const known = world.record(key)
  return known === undefined ? ledger.get(key) : ledger.current(known)
}

/** At once when there is nothing to carry out, as in most turns. */
function carryOut(
  deps: Deps,
  rescue: Rescue,
  assessment: Assessment,
  decision: { readonly action: Action; readonly outcome: Outcome },
  turn: Turn,
): Acted | Promise<Acted> {
  const { action, outcome } = decision
  const record = assessment.input.recorded
  if (outcome.result !== 'done') return { outcome, record, history: [] }
  const acted = act(deps, rescue, assessment, action, turn)
  if (!(acted instanceof Promise)) return acted
  return acted.catch((error: unknown) => {
    if (isOutdated(error)) throw error
    return {
      outcome: outcomeOf(error, { signal: turn.stopping, now: deps.clock.now() }),
      record,
      history: [],
    }
  })
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

/** Nothing is left of a key on the platform, and its manifest is gone. */
async function forget(
  deps: Deps,
  board: WritableBoard,
  key: Key,
  recorded: LedgerRecord,
): Promise<Reconciled> {
  if (recorded.version > 0) await deps.ledger.remove(recorded, lastWords(deps, recorded))
  if (recorded.version > 0 || board.get(key) !== undefined) deps.emit({ type: 'Forgotten', key })
  deps.world.drop(key)
  board.remove(key)
  const message = 'Its manifest is gone, and there is nothing of it on the platform.'
  return {
    action: { type: 'observe', reason: 'Orphaned', message },
    outcome: NOTHING_TO_DO,
    next: undefined,
    also: [],
  }
}

/** Attempts that failed are worth a line; a key that was only ever looked at is not. */
function lastWords({ clock, world }: Deps, { key, intent, pipe }: LedgerRecord): readonly HistoryEntry[] {
  if (intent === undefined || pipe !== undefined) return []
  const message = `Its manifest is gone, and none of its attempts (${intent.attempt}) created anything; it is forgotten.`
  const revision = world.catalog?.revision.id ?? ''
  const common = { key, at: clock.now(), revision, requestId: intent.seen?.requestId, message }
  return [
    { type: 'action', action: 'forget', reason: 'Orphaned', result: 'done', intentId: intent.id, ...common },
  ]
}
