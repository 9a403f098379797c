import type { KubeObject } from '../../src/ledger/kubernetes/cluster-api.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { recordsIn } from './cluster.ts'
import type { Model } from './model.ts'
import { leaseIn } from './pod-ledger.ts'
import { holderIn, holderOf, LEASE_MS, podsOf, RECORDS, revisionIn, type Pod } from './pods.ts'

/**
 * What the two processes know, as far as it makes a difference. Which of them is which makes none. Nor does it for how long one acts, nor
 * how old a look is, where nothing is hidden.
 */
export function podsText(model: Model, recordOf: (record: LedgerRecord) => unknown): unknown {
  const { all, git, actedOn, applied, late } = podsOf(model)
  const lease = leaseIn({ model })
  const inLease = revisionIn(lease)
  const newest = git.length - 1
  const read = all.flatMap(({ checkout, read: before, begun, actsOn }) => {
    const known = begun === undefined ? before : [revisionOf(begun.before)]
    return [checkout, ...known, revisionOf(actsOn)]
  })
  const counting = new Set([newest, actedOn, inLease, ...read])
  /** Revisions that nobody knows of any more are left out. */
  const ranks = [...counting].filter((revision) => revision !== undefined).toSorted((a, b) => a - b)
  const rankOf = (revision: number | undefined) => ranks.indexOf(revision ?? -1)
  const texts = ranks.map((revision) =>
    all.some(({ checkout }) => checkout === revision) || revision >= actedOn ? git[revision] : undefined,
  )
  const pods = all.map((pod, index) => JSON.stringify(podText(model, pod, { index, rankOf, recordOf })))
  return [
    pods.toSorted(),
    texts,
    rankOf(actedOn),
    rankOf(inLease),
    // One whose holder is gone is taken over only once it has not changed for so long.
    lease === undefined ? 'none' : holderIn(lease) === '' && 'free',
    applied,
    late.map(({ origins, before }) => [origins, before - model.now]),
  ]
}

interface Place {
  readonly index: number
  readonly rankOf: (revision: number | undefined) => number
  readonly recordOf: (record: LedgerRecord) => unknown
}

function podText(model: Model, pod: Pod, { index, rankOf, recordOf }: Place): unknown {
  const { acts, behindMs, checkout, read, begun, heard, actsOn } = pod
  const lease = leaseIn({ model })
  const now = model.now - behindMs
  const isSeen = pod.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion
  return [
    holderIn(lease) === holderOf(index, pod),
    // It writes times into records by that clock.
    behindMs,
    rankOf(checkout),
    begun === undefined
      ? read.map(rankOf).toSorted((a, b) => a - b)
      : [acts?.isOlder, rankOf(revisionOf(begun.before))],
    rankOf(revisionOf(actsOn)),
    isSeen ? Math.min(now - pod.leaseSince, LEASE_MS) : 'older',
    heard.map(({ key, metadata }) => [key, acts !== undefined && isNow(model, metadata)]),
    // It decides by what it has heard.
    acts !== undefined &&
      !heard.every(({ metadata }) => isNow(model, metadata)) &&
      heardText(heard, recordOf),
    acts && actsText(model, acts, now),
  ]
}

function heardText(heard: Pod['heard'], recordOf: Place['recordOf']): unknown {
  return [...recordsIn(heard).values()].toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(recordOf)
}

function isNow(model: Model, { name, resourceVersion }: KubeObject['metadata']): boolean {
  return podsOf(model).objects.get(`${RECORDS}/${name}`)?.metadata.resourceVersion === resourceVersion
}

function revisionOf(id: string | undefined): number | undefined {
  return id === undefined ? undefined : Number(id.slice('git-'.length))
}

function actsText(
  model: Model,
  { memory, lateUntil, overtaken }: NonNullable<Pod['acts']>,
  now: number,
): unknown {
  return [
    memory.looks.map(([key, { found, state }]) => `${key} ${found} ${state}`).toSorted(),
    memory.unsaved.map(unsavedText),
    model.endpoint !== undefined && lateUntil !== undefined && Math.max(0, lateUntil - now),
    overtaken,
  ]
}

export function unsavedText([key, { intentId, opened, end }]: Model['memory']['unsaved'][number]): unknown {
  return [key, intentId, opened === undefined, end.type, end.type === 'created' && end.remote.id]
}
