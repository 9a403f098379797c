import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import type { Model, Pipe } from './model.ts'
import { leaseIn } from './pod-ledger.ts'
import { atRevision, holderIn, holderOf, OLDER_MS, podAt, podsOf } from './pods.ts'
import type { Process, Run } from './run.ts'

/* What may never be where two processes share a ledger, and one acts. */

/** A request goes out: the manifests of the process that acts have to ask for it. @param isPastFence as of {@link excuse} */
export function judgeSent(run: Run, isPastFence: boolean, judge: (acting: Run) => void): void {
  if (!isPastFence) judge({ ...run, model: atRevision(run.model, revisionInForce(run)) })
}

/** Of which revision the manifests are that count now: of who acts, or acted last. */
function revisionInForce({ model }: Pick<Run, 'model'>): number {
  const { all, actedOn, tookOverAt } = podsOf(model)
  const holder = holderIn(leaseIn({ model }))
  const acting = all.find((pod, index) => holderOf(index, pod) === holder)
  if (acting === undefined) return actedOn
  // One that took over a short time ago may have an older checkout, and acts on nothing then.
  return model.now - tookOverAt < OLDER_MS ? Math.max(actedOn, acting.checkout) : acting.checkout
}

/** By how much the clock of a process is behind. */
export function behindOf(model: Model, { pod }: Process): number {
  return pod === undefined ? 0 : podAt(model, pod).behindMs
}

/**
 * A process stood still after it was certain that it acts, and its clock with it: it cannot know that it is too late. Whoever forces a second
 * attempt is told of that risk.
 */
export function excuse({ model }: Run, { intentId }: Pipe): void {
  const isOpen = [...model.records.values()].some((record) => undecidedIntent(record)?.id === intentId)
  if (!isOpen && intentId !== undefined) model.hands.add(intentId)
}
