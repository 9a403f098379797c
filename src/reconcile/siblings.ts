import type { Key } from '../kinds/key.ts'
import type { Misses, MassMissing, Witness } from '../plan/missing.ts'
import { isMassMissing } from '../plan/missing.ts'
import { kindOf } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { isUnclaimed } from './kin.ts'
import type { Deps } from './deps.ts'
import { isLeftAlone } from './suspension.ts'
import type { Look, World } from './world.ts'

/*
 * What other pipes say of one that is not found (design §4): whether the credential still sees the service, and whether too
 * many are missing at once. Only those that were answered since the first 404 say anything.
 */

/** Enough to tell a lost permission from a deletion. */
const SIBLINGS = 8

type Seen = Pick<Deps, 'world' | 'clock'>

/** When another pipe of the service was last asked for with this credential, and found. */
export function siblingFoundAt(
  { world }: Seen,
  record: LedgerRecord,
  credential: string | undefined,
): number | undefined {
  let latest: number | undefined
  for (const key of siblingsOf(world, record)) {
    const look = world.look(key)
    if (look?.readAt === undefined || !look.found || look.credential !== credential) continue
    latest = Math.max(latest ?? look.readAt, look.readAt)
  }
  return latest
}

/** Whether another pipe of the service has been found beside the 404s. */
export function witnessOf(deps: Seen, record: LedgerRecord, misses: Misses | undefined): Witness {
  if (misses?.besideSince !== undefined) return 'answered'
  for (const key of siblingsOf(deps.world, record)) if (isLookedAt(deps, key)) return 'silent'
  return misses === undefined ? 'silent' : 'nobody'
}

/**
 * Pipes of the same service to look at, unless enough were answered since this one was last missed: they show whether one
 * pipe is gone, or a permission.
 */
export function siblingsToLookAt(deps: Seen, record: LedgerRecord): readonly Key[] {
  const misses = deps.world.look(record.key)?.misses
  if (misses === undefined) return []
  const siblings: Key[] = []
  let answered = 0
  for (const key of siblingsOf(deps.world, record)) {
    if (lookSince(deps.world.look(key), misses.lastAt) !== undefined) answered += 1
    else if (siblings.length < SIBLINGS && isLookedAt(deps, key)) siblings.push(key)
    if (answered >= SIBLINGS) return []
  }
  return siblings.slice(0, SIBLINGS - answered)
}

/** How many pipes of the service, or else of the credential, are not found, when that is too many to believe. */
export function massMissing(
  deps: Seen,
  record: LedgerRecord,
  misses: Misses | undefined,
): (MassMissing & { readonly group: 'service' | 'credential' }) | undefined {
  const { service } = record
  if (misses === undefined || service === undefined) return undefined
  const { world } = deps
  const ofService = countMissing(deps, world.pipesOf(service.serviceId), misses)
  if (isMassMissing(ofService)) return { ...ofService, group: 'service' }
  if (misses.credential === undefined) return undefined
  const ofCredential = countMissing(deps, world.askedWith(misses.credential), misses)
  return isMassMissing(ofCredential) ? { ...ofCredential, group: 'credential' } : undefined
}

function countMissing(deps: Seen, keys: Iterable<Key>, misses: Misses): MassMissing {
  const counts = { missing: 0, of: 0 }
  for (const key of keys) {
    const look = deps.world.look(key)
    if (look === undefined || kindOf(key) !== 'Pipe') continue
    const isMissing = look.misses !== undefined
    // Who is missing is looked for again soon, unless nobody looks for it any more.
    const isOld = lookSince(look, misses.firstAt) === undefined && !(isMissing && isLookedAt(deps, key))
    if (isOld || !(isMissing || look.found)) continue
    counts.of += 1
    if (isMissing) counts.missing += 1
  }
  return counts
}

function* siblingsOf(world: World, { key, service }: LedgerRecord): Iterable<Key> {
  if (service === undefined) return
  for (const other of world.pipesOf(service.serviceId)) if (other !== key) yield other
}

/** Whether a reconcile of this key asks for its pipe. */
function isLookedAt({ world, clock }: Seen, key: Key): boolean {
  return !isUnclaimed(world.desiredState(key)) && !isLeftAlone(world.entry(key), clock.now())
}

function lookSince(look: Look | undefined, since: number): Look | undefined {
  return look?.readAt !== undefined && look.readAt > since ? look : undefined
}
