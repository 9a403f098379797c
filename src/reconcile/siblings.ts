import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { isUnclaimed } from './kin.ts'
import type { Deps } from './deps.ts'
import { lookSince } from './looks.ts'

/** Enough to tell a lost permission from a deletion. */
const SIBLINGS = 4

/**
 * Pipes of the same service to look at, unless enough were looked at since this one was first missed: they show
 * whether one pipe is gone or the whole service is out of sight (design §4, MassMissing).
 */
export function siblingsToLookAt({ world, clock }: Deps, record: LedgerRecord): readonly Key[] {
  const { service, misses } = record
  if (service === undefined || misses === undefined) return []
  const siblings: Key[] = []
  let looked = 0
  for (const other of world.records()) {
    if (other.key === record.key || other.pipe === undefined) continue
    if (other.service?.serviceId !== service.serviceId || isUnclaimed(world.desiredState(other.key))) continue
    if (lookSince(world.look(other.key), { since: misses.firstAt, now: clock.now() }) !== undefined)
      looked += 1
    else if (siblings.length < SIBLINGS) siblings.push(other.key)
    if (looked >= SIBLINGS) return []
  }
  return siblings.slice(0, SIBLINGS - looked)
}
