import { kindOf, type Key } from '../../kinds/key.ts'
import { type Misses, type MassMissing, isMassMissing } from '../../plan/missing.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { isLeftAlone } from '../state/entry-policy.ts'
import { isUnclaimed, type Observation, type StateStore } from '../state/store.ts'

/*
 * After a 404, other pipes show whether the credential still sees the service, and whether too many are
 * missing. Only pipes that were read since the first 404 count.
 */

const SIBLINGS = 8

type Seen = Pick<ReconcileContext, 'store' | 'clock'>

export function siblingFoundAt(
  { store }: Seen,
  record: LedgerRecord,
  credential: string | undefined,
): number | undefined {
  let latest: number | undefined
  for (const key of siblingsOf(store, record)) {
    if (store.lifecycleOf(key) !== 'create-once') continue
    const observation = store.observation(key)
    if (observation?.readAt === undefined || !observation.found || observation.credential !== credential)
      continue
    latest = Math.max(latest ?? observation.readAt, observation.readAt)
  }
  return latest
}

export function isAlone({ store }: Seen, record: LedgerRecord): boolean {
  const [other] = siblingsOf(store, record)
  return other === undefined
}

/** Other pipes to read after a 404: they can show a lost permission or a mass loss. */
export function siblingsToObserve(context: Seen, record: LedgerRecord): readonly Key[] {
  const { store } = context
  const misses = store.observation(record.key)?.misses
  if (misses === undefined) return []
  const readAt = (key: Key) => store.observation(key)?.readAt ?? -Infinity
  const siblings = [...siblingsOf(store, record)]
    // A missing pipe is read again by itself. Otherwise, two missing pipes would request each other without a pause.
    .filter((key) => store.lifecycleOf(key) === 'create-once' && store.observation(key)?.found !== false)
    .toSorted((a, b) => readAt(a) - readAt(b))
  const due = siblings.filter((key) => readAt(key) <= misses.lastAt && isObserved(context, key))
  const answered = siblings.filter((key) => readAt(key) > misses.lastAt).length
  const witness = due.findLast((key) => store.observation(key)?.found === true)
  const others = due.filter((key) => key !== witness)
  const wanted = SIBLINGS - answered
  if (witness === undefined || wanted <= 0) return spread(others, wanted)
  return [witness, ...spread(others, wanted - 1)]
}

function spread(keys: readonly Key[], count: number): readonly Key[] {
  if (keys.length <= count) return keys
  return keys.filter(
    (_, index) => Math.floor(((index + 1) * count) / keys.length) > Math.floor((index * count) / keys.length),
  )
}

/** Counts missing pipes of the service or the credential. Undefined: not too many are missing. */
export function countMassMissing(
  context: Seen,
  record: LedgerRecord,
  misses: Misses | undefined,
): (MassMissing & { readonly group: 'service' | 'credential' }) | undefined {
  const { service } = record
  if (misses === undefined || service === undefined) return undefined
  const { store } = context
  const ofService = countMissing(context, store.createdIn(service.serviceId, record.key), misses)
  if (isMassMissing(ofService)) return { ...ofService, group: 'service' }
  if (misses.credential === undefined) return undefined
  const alike = [...store.askedWith(misses.credential)].filter((key) => kindOf(key) === kindOf(record.key))
  const ofCredential = countMissing(context, alike, misses)
  return isMassMissing(ofCredential) ? { ...ofCredential, group: 'credential' } : undefined
}

function countMissing(context: Seen, keys: Iterable<Key>, misses: Misses): MassMissing {
  const counts = { missing: 0, of: 0 }
  for (const key of keys) {
    const observation = context.store.observation(key)
    if (observation === undefined || context.store.lifecycleOf(key) !== 'create-once') continue
    if (context.store.record(key)?.removal?.isSent === true) continue
    const isMissing = observation.misses !== undefined
    const isOld =
      observedSince(observation, misses.firstAt) === undefined && !(isMissing && isObserved(context, key))
    if (isOld || !(isMissing || observation.found)) continue
    counts.of += 1
    if (isMissing) counts.missing += 1
  }
  return counts
}

function* siblingsOf(store: StateStore, { key, service }: LedgerRecord): Iterable<Key> {
  if (service === undefined) return
  for (const other of store.createdIn(service.serviceId, key)) if (other !== key) yield other
}

function isObserved({ store, clock }: Seen, key: Key): boolean {
  return !isUnclaimed(store.desiredState(key)) && !isLeftAlone(store.entry(key), clock.now())
}

function observedSince(observation: Observation | undefined, since: number): Observation | undefined {
  return observation?.readAt !== undefined && observation.readAt > since ? observation : undefined
}
