import { unsavedText } from './digest.ts'
import type { Model } from './model.ts'
import { leaseIn } from './pod-ledger.ts'
import { holderIn, holderOf, LEASE_MS, OLDER_MS, podsOf, type Pod } from './pods.ts'

/**
 * What the two processes know, as far as it makes a difference. Which of them is which makes none. Nor does it for how long one acts, where it
 * has what the one before acted on; nor how old a look is, where nothing is hidden.
 */
export function podsText(model: Model): unknown {
  const { all, git, actedOn, applied, late } = podsOf(model)
  const pods = all.map((pod, index) => JSON.stringify(podText(model, pod, index)))
  return [
    pods.toSorted(),
    git,
    actedOn,
    leaseIn({ model })?.metadata['annotations'],
    applied,
    late.map(({ origins, before }) => [origins, Math.max(0, before - model.now)]),
  ]
}

function podText(model: Model, pod: Pod, index: number): unknown {
  const { acts, behindMs, checkout, read, readSince, begun, heard, actsOn } = pod
  const lease = leaseIn({ model })
  const now = model.now - behindMs
  const isSeen = pod.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion
  const isOlder = checkout < podsOf(model).actedOn
  return [
    holderIn(lease) === holderOf(index, pod),
    behindMs > 0,
    [
      checkout,
      read,
      readSince,
      actsOn,
      begun && [begun.before, isOlder && Math.min(now - begun.at, OLDER_MS)],
    ],
    isSeen ? Math.min(now - pod.leaseSince, LEASE_MS) : 'older',
    // One that acts reads all of it before each look.
    acts === undefined && heard.map(({ key }) => key),
    acts && actsText(model, acts, now),
  ]
}

function actsText(
  model: Model,
  { memory, lateUntil, overtaken }: NonNullable<Pod['acts']>,
  now: number,
): unknown {
  return [
    memory.looks.map(([key, { found, state }]) => [key, found, state]).toSorted(),
    memory.unsaved.map(unsavedText),
    model.endpoint !== undefined && lateUntil !== undefined && Math.max(0, lateUntil - now),
    overtaken,
  ]
}
