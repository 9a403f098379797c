import { undecidedIntent } from '../../src/plan/outcome-unknown.ts'
import { keyOfWish, type Model } from './model.ts'
import { leaseIn } from './pod-ledger.ts'
import { atRevision, holderIn, holderOf, podAt, podsOf } from './pods.ts'
import type { Process, Run } from './run.ts'
import { unsettledIn } from './unsettled.ts'

/* What may never be where two processes share a ledger, and one acts. */

/** A request goes out: the manifests of the process that acts have to ask for it. */
export function judgeSent(run: Run, sender: Process, judge: (acting: Run) => void): void {
  if (!isPastCertainty(run.model, sender.pod))
    judge({ ...run, model: atRevision(run.model, revisionInForce(run)) })
}

/** Of which revision the manifests are that count now: of who acts, or acted last. */
function revisionInForce({ model }: Pick<Run, 'model'>): number {
  const { all, actedOn } = podsOf(model)
  const holder = holderIn(leaseIn({ model }))
  const acting = all.find((pod, index) => holderOf(index, pod) === holder)
  // One that took over may have an older checkout. No story goes on for the five minutes after which it acts on that.
  return Math.max(actedOn, acting?.checkout ?? 0)
}

/**
 * Whether the clock of a process stood still after it was certain that it acts, so that it cannot know that this is long ago. Nothing keeps
 * what it sends then from the platform.
 */
function isPastCertainty(model: Model, pod: number | undefined): boolean {
  if (pod === undefined) return false
  const at = podsOf(model).certainAt.get(pod)
  return at !== undefined && at !== podAt(model, pod).behindMs
}

/**
 * Whether a person may force a second attempt while a process stands still: another one acts, and it is sure to learn that. Who forces one
 * while the first is being sent is told of the risk.
 */
export function isKeptFromSending(model: Model, index: number): boolean {
  const isHolder = holderIn(leaseIn({ model })) === holderOf(index, podAt(model, index))
  return !isHolder && !isPastCertainty(model, index)
}

/** Reasons whose words say that the outcome of a create is not known. */
const TELLS: ReadonlySet<string> = new Set(['OutcomeUnknown'])

/** Nothing happens by itself any more, and nobody edits: all is as the manifests ask, or it is said why not. */
export function judgeQuiet(model: Model): readonly string[] {
  const { all, applied } = podsOf(model)
  const { records, wishes, endpoint } = model
  // Where another checkout keeps who acts from that, it goes on after five minutes, and no story does for so long.
  const isKept = all.some(({ acts }) => acts?.isOlder === true)
  const found = [...records.values()].flatMap((record) =>
    isKept && record.conditions?.Synced.reason === 'NotLeading' ? [] : unsettledIn(record, model),
  )
  if (all.every(({ acts }) => acts === undefined)) found.push('In the end no process acts.')
  for (const wish of wishes)
    if (wish.isPresent && !records.has(keyOfWish(wish)))
      found.push(`In the end there is no record of ${keyOfWish(wish)}.`)
  for (const record of records.values())
    if (undecidedIntent(record) !== undefined && !TELLS.has(record.conditions?.Synced.reason ?? ''))
      found.push(`In the end nobody is told that the outcome of ${record.key} is unknown.`)
  if (endpoint?.isPresent === true && applied !== endpoint.origins)
    found.push(
      `In the end the endpoint has allowedOrigins "${applied}", and its manifest says "${endpoint.origins}".`,
    )
  return found
}
