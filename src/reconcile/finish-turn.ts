import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'
import { serviceKey } from '../kinds/service/kind.ts'
import type { Action } from '../plan/action.ts'
import type { Conditions } from '../plan/condition.ts'
import { changedConditions } from '../plan/conditions.ts'
import { nextLook } from '../plan/next-look.ts'
import type { Outcome } from '../plan/outcome.ts'
import { messageOf } from '../plan/reason.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Assessment } from './assess.ts'
import { describeStatus, type WritableBoard } from './board.ts'
import type { Deps, Turn } from './deps.ts'
import { requestIdOf } from './outcome.ts'
import type { Recording } from './record-turn.ts'
import type { Reconciled } from './reconciled.ts'
import { siblingsToLookAt } from './siblings.ts'

/** A turn that is recorded. */
export interface Finishing extends Recording {
  readonly written: LedgerRecord
  readonly action: Action
  readonly turn: Turn
  readonly startedAt: number
}

/** Shows and tells what a turn came to, and says when the next one is. */
export function finishTurn(deps: Deps, board: WritableBoard, finishing: Finishing): Reconciled {
  const { assessment, recorded, written, action, acted, conditions, backoff, turn, startedAt } = finishing
  const { input, entry } = assessment
  const { key } = input.desired
  const { outcome } = acted
  const revision = entry?.revision ?? deps.world.catalog?.revision.id ?? ''
  const changed = changedConditions(recorded.conditions, conditions)
  const look = deps.world.look(key)
  const next = nextLook({
    action,
    conditions,
    backoff,
    decided: input,
    unsettledLooks: Math.max(0, (look?.unsettled ?? 0) - 1),
    unseenForMs: unseenForMs(deps, written),
    random: deps.random,
  })
  const message = toldOf(outcome, action)
  const now = deps.clock.now()
  board.set(
    describeStatus({
      key,
      entry,
      record: written,
      look,
      conditions,
      action,
      differences: differencesOf(assessment, outcome),
      message: conditions.Valid.status === 'False' ? messageOf(action) : bestMessage(conditions, message),
      revision,
      lastReconciledAt: now,
      nextReconcileAt: now + next.afterMs,
    }),
  )
  for (const condition of outcome.result === 'stopped' ? [] : changed) {
    deps.emit({
      type: 'ConditionChanged',
      key,
      condition,
      before: recorded.conditions?.[condition],
      after: conditions[condition],
      revision,
      file: entry?.position.file,
      line: entry?.position.line,
    })
  }
  deps.emit({
    type: 'ReconcileFinished',
    key,
    reconcileId: turn.reconcileId,
    revision,
    action: action.type,
    reason:
      outcome.result === 'done'
        ? (outcome.reason ?? action.reason)
        : outcome.result === 'failed'
          ? outcome.reason
          : action.reason,
    message,
    result: outcome.result,
    requestId: requestIdOf(outcome) ?? assessment.requestId,
    durationMs: deps.clock.monotonic() - startedAt,
    changed: changed.length > 0 || action.type === 'create' || action.type === 'adopt' || isNews(action),
    file: entry?.position.file,
    line: entry?.position.line,
    changeToApplyMs:
      turn.changedAt === undefined ||
      outcome.result !== 'done' ||
      action.type === 'hold' ||
      action.type === 'refuse'
        ? undefined
        : deps.clock.monotonic() - turn.changedAt,
  })
  const isFirst = !deps.world.judged.has(key)
  if (outcome.result !== 'stopped') deps.world.judged.add(key)
  return { action, outcome, next, also: alsoOf(deps, finishing, isFirst || changed.includes('Ready')) }
}

function isNews(action: Action): boolean {
  return action.type === 'upsert' && action.reason !== 'Resync'
}

/** Since the pipe was recorded, while no reading has found it: ms. */
function unseenForMs({ world, clock }: Deps, { key, pipe }: LedgerRecord): number | undefined {
  if (pipe === undefined || pipe.seenAt !== undefined) return undefined
  return world.pipeAgeMs(key) ?? Math.max(0, clock.now() - pipe.at)
}

/** Keys for which this turn changed something: who waits for this one, its service, and its siblings while it is missed. */
function alsoOf(deps: Deps, { assessment, action, acted }: Finishing, readyIsNews: boolean): readonly Key[] {
  const { input, service } = assessment
  const { key } = input.desired
  const also: Key[] = readyIsNews ? deps.world.dependents(key).filter((other) => waits(deps, other)) : []
  if (service.usable && input.lifecycle !== 'reference') {
    const { outcome } = acted
    const refused =
      outcome.result === 'failed' && outcome.reason === 'AuthFailed' ? outcome.facts.said : undefined
    const answered = refused === undefined && (requestIdOf(outcome) ?? assessment.requestId) !== undefined
    if (refused !== undefined || answered) {
      if (deps.world.noteAuth(service.identity.name, refused)) also.push(serviceKey(service.identity.name))
    }
  }
  if (action.reason === 'MissingUnconfirmed') also.push(...siblingsToLookAt(deps, input.recorded))
  return also
}

/** Whether a key stands still because of something else than itself. */
function waits({ world }: Deps, key: Key): boolean {
  const reason = world.record(key)?.conditions?.Synced.reason
  return reason === 'DependencyNotReady' || reason === 'ServiceInvalid' || reason === 'AuthFailed'
}

function toldOf(outcome: Outcome, action: Action): string {
  switch (outcome.result) {
    case 'done':
      return messageOf(outcome.reason === undefined ? action : outcome)
    case 'failed':
      return messageOf(outcome)
    case 'unknown':
      return messageOf({ reason: 'OutcomeUnknown', facts: outcome.facts })
    case 'stopped':
      return 'It was stopped before anything was sent.'
  }
}

function bestMessage({ Synced, Ready }: Conditions, message: string): string {
  return Synced.status === 'True' && Ready.status === 'False' ? Ready.message : message
}

function differencesOf({ input }: Assessment, outcome: Outcome): readonly Difference[] {
  if (outcome.result === 'done' && outcome.differences.length > 0) return outcome.differences
  if (input.lifecycle === 'upsert')
    return outcome.result === 'done' && outcome.reason === 'Applied' ? [] : input.replyDiffers
  return input.observed.status === 'found' ? input.observed.differences : []
}
