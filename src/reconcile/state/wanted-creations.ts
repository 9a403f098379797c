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

/** @param steadyNow as in the store that owns this */
export function createWantedCreations(
  knownOf: (entry: Entry) => Known,
  steadyNow: () => number,
): WantedCreations {
  let catalog: Catalog | undefined
  const shares = new Map<Key, Share>()
  const touched = new Set<Key>()
  /** Keys whose share may change by the passing of time alone. They are counted anew whenever somebody asks. */
  const timed = new Set<Key>()
  const services = new Map<string, ServiceCount>()
  let withoutPipe = 0

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
    shares.delete(key)
    timed.delete(key)
    const entry = catalog?.entries.get(key)
    if (catalog === undefined || entry === undefined) return
    const known = knownOf(entry)
    const { record, isMissed } = known
    const share: Share = {
      service: record?.remote && (record.service?.serviceId ?? '').toLowerCase(),
      missing: isMissed ? 1 : 0,
      wanted: wantsCreation(known, { catalog, now, steadyNow: steadyNow() }) ? 1 : 0,
    }
    shares.set(key, share)
    add(share, 1)
    if (isTimed(known)) timed.add(key)
  }

  return {
    setCatalog(next) {
      for (const key of shares.keys()) if (!next.entries.has(key)) touched.add(key)
      for (const [key, entry] of next.entries) {
        const isSame = catalog?.entries.get(key) === entry && catalog.locks.get(key) === next.locks.get(key)
        if (!isSame) touched.add(key)
      }
      catalog = next
    },
    touch: (key) => void touched.add(key),
    count(now) {
      for (const key of new Set([...touched, ...timed])) countAnew(key, now)
      touched.clear()
      let count = withoutPipe
      // A service that is out of sight gets nothing created, and so it keeps no other one waiting.
      for (const service of services.values()) if (!isMassMissing(service)) count += service.wanted
      return count
    },
  }
}

/** A suspension ends, and so does the wait before the next replacement. */
function isTimed({ entry, record }: Known): boolean {
  return entry.manifest?.policy?.suspend !== undefined || record?.replaced !== undefined
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
