import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import { sameId } from '../../lib/same-id.ts'
import { isMassMissing, replaceableFrom } from '../../plan/missing.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../plan/record.ts'

/** What is known of one key that bears on whether it wants to be created. */
interface Known {
  readonly entry: Entry
  readonly record: LedgerRecord | undefined
  /** Whether its pipe was last answered with 404. */
  readonly isMissed: boolean
}

/** A number of pipes that want to be created now, kept up to date: each create asks for it, twice. */
export interface WantedCreations {
  setCatalog(next: Catalog): void
  /** To be called after anything about a key may have changed. */
  touch(key: Key): void
  /** @param now ms since the epoch */
  count(now: number): number
}

/** What one key counts for. A key without a pipe is of no service: nothing can be out of sight there. */
interface Share {
  readonly service: string | undefined
  readonly missing: number
  readonly wanted: number
}

interface ServiceCount {
  missing: number
  of: number
  wanted: number
}

/** ms. A wall clock that jumps changes the count without any event, so that all is counted anew that often. */
const RECOUNT_MS = 5_000

/** When the next share changes without any event: a suspension ends (wall clock), or a wait before a replacement (steady clock). */
interface NextChange {
  wall: number
  steady: number
}

/** @param steadyNow as in the store that owns this */
export function createWantedCreations(
  knownOf: (entry: Entry) => Known,
  steadyNow: () => number,
): WantedCreations {
  let catalog: Catalog | undefined
  let countedAt: number | undefined
  const shares = new Map<Key, Share>()
  const touched = new Set<Key>()
  const services = new Map<string, ServiceCount>()
  let withoutPipe = 0
  let nextChange: NextChange = { wall: Infinity, steady: Infinity }

  function noteChange({ entry, record }: Known, now: number): void {
    const suspended = entry.manifest?.policy?.suspend
    const until = suspended === undefined ? 0 : Date.parse(suspended.until)
    if (until > now) nextChange.wall = Math.min(nextChange.wall, until)
    const from = replaceableFrom(record?.replaced) ?? 0
    if (from > steadyNow()) nextChange.steady = Math.min(nextChange.steady, from)
  }

  function shareOf(key: Key, now: number): Share | undefined {
    const entry = catalog?.entries.get(key)
    if (catalog === undefined || entry === undefined) return undefined
    const known = knownOf(entry)
    const { record, isMissed } = known
    noteChange(known, now)
    return {
      service: record?.remote && (record.service?.serviceId ?? '').toLowerCase(),
      missing: isMissed ? 1 : 0,
      wanted: wantsCreation(known, { catalog, now, steadyNow: steadyNow() }) ? 1 : 0,
    }
  }

  function add({ service, missing, wanted }: Share, sign: 1 | -1): void {
    if (service === undefined) {
      withoutPipe += sign * wanted
      return
    }
    const count = services.get(service) ?? { missing: 0, of: 0, wanted: 0 }
    services.set(service, count)
    count.of += sign
    count.missing += sign * missing
    count.wanted += sign * wanted
  }

  function countAnew(key: Key, now: number): void {
    const before = shares.get(key)
    if (before !== undefined) add(before, -1)
    const share = shareOf(key, now)
    if (share === undefined) shares.delete(key)
    else {
      shares.set(key, share)
      add(share, 1)
    }
  }

  return {
    setCatalog(next) {
      catalog = next
      countedAt = undefined
    },
    touch: (key) => void touched.add(key),
    count(now) {
      const isOld = countedAt === undefined || Math.abs(now - countedAt) > RECOUNT_MS
      if (isOld || now >= nextChange.wall || steadyNow() >= nextChange.steady) {
        nextChange = { wall: Infinity, steady: Infinity }
        for (const key of [...shares.keys(), ...(catalog?.entries.keys() ?? [])]) touched.add(key)
        countedAt = now
      }
      for (const key of touched) countAnew(key, now)
      touched.clear()
      let count = withoutPipe
      // A service that is out of sight gets nothing created, and so it keeps no other one waiting.
      for (const service of services.values()) if (!isMassMissing(service)) count += service.wanted
      return count
    },
  }
}

function wantsCreation(
  { entry, record, isMissed }: Known,
  {
    catalog,
    now,
    steadyNow,
  }: { readonly catalog: Catalog; readonly now: number; readonly steadyNow: number },
): boolean {
  if (entry.state !== 'valid' || entry.manifest === undefined || !isCreateOnce(entry.manifest)) return false
  const { policy } = entry.manifest
  // What names the pipe that is missed itself names none to take over.
  const named = policy?.adopt ?? catalog.locks.get(entry.key)
  if (named !== undefined && !sameId(named, record?.remote?.id)) return false
  if (policy?.suspend !== undefined && Date.parse(policy.suspend.until) > now) return false
  if (record?.remote !== undefined) {
    // What is never replaced by itself, or not for a long time, keeps no other one waiting.
    const isHeld = record.remote.seenAt === undefined || (replaceableFrom(record.replaced) ?? 0) > steadyNow
    // Also while a 404 is not believed yet: the first of many must not be created before the last one is counted.
    return isMissed && policy?.onMissing !== 'report' && !isHeld
  }
  return record === undefined || undecidedIntent(record) === undefined
}
