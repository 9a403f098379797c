import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import { sameId } from '../../lib/same-id.ts'
import { isAllowed, limitGroupOf } from '../../plan/create-limit.ts'
import { isMassMissing, replaceableFrom } from '../../plan/missing.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'

/** What is known of one key that bears on whether it wants to be created. */
interface Known {
  readonly entry: Entry
  readonly record: LedgerRecord | undefined
  /** Whether its pipe was last answered with 404. */
  readonly isMissed: boolean
  /** Where it would be created; undefined: its Service is not known. */
  readonly service: ServiceIdentity | undefined
}

/** Pipes that want to be created now, by service ({@link limitGroupOf}); kept up to date: each create asks for it, twice. */
export interface WantedCreations {
  setCatalog(next: Catalog): void
  /** To be called after anything about a key may have changed. */
  touch(key: Key): void
  /** How many there are in a service. @param now ms since the epoch */
  in(group: string, now: number): number
  /** Whether a key is one of them. */
  has(key: Key, now: number): boolean
  /** Services in which there are any; each with one of the names of its manifests. */
  groups(
    now: number,
  ): readonly { readonly group: string; readonly service: string; readonly wanted: number }[]
}

/** What one key counts for. A key without a pipe is of no recorded service: nothing can be out of sight there. */
interface Share {
  readonly recordedIn: string | undefined
  readonly missing: number
  /** Where it wants to be created. */
  readonly wantedIn: Pick<ServiceIdentity, 'name' | 'organizationId' | 'serviceId'> | undefined
}

interface ServiceCount {
  missing: number
  of: number
}

interface GroupCount {
  service: string
  /** By the recorded service of what is to be replaced; under `undefined` those that replace nothing. */
  readonly wanted: Map<string | undefined, number>
}

/** @param steadyNow as in the store that owns this */
export function createWantedCreations(
  knownOf: (entry: Entry) => Known,
  steadyNow: () => number,
): WantedCreations {
  let catalog: Catalog | undefined
  const shares = new Map<Key, Share>()
  const touched = new Set<Key>()
  /** Keys whose share may change by the passing of time alone. They are counted anew when the first of these times has come. */
  const timed = new Set<Key>()
  let due: Due = NEVER
  let lastNow = -Infinity
  const services = new Map<string, ServiceCount>()
  const groups = new Map<string, GroupCount>()

  function add({ recordedIn, missing, wantedIn }: Share, sign: 1 | -1): void {
    if (recordedIn !== undefined) {
      const count = services.get(recordedIn) ?? { missing: 0, of: 0 }
      services.set(recordedIn, count)
      count.of += sign
      count.missing += sign * missing
      if (count.of === 0) services.delete(recordedIn)
    }
    if (wantedIn === undefined) return
    const group = limitGroupOf(wantedIn)
    const count = groups.get(group) ?? {
      service: wantedIn.name,
      wanted: new Map<string | undefined, number>(),
    }
    groups.set(group, count)
    if (sign === 1) count.service = wantedIn.name
    const wanted = (count.wanted.get(recordedIn) ?? 0) + sign
    if (wanted > 0) count.wanted.set(recordedIn, wanted)
    else count.wanted.delete(recordedIn)
    if (count.wanted.size === 0) groups.delete(group)
  }

  function countAnew(key: Key, now: number): void {
    const before = shares.get(key)
    if (before !== undefined) add(before, -1)
    shares.delete(key)
    timed.delete(key)
    const entry = catalog?.entries.get(key)
    if (catalog === undefined || entry === undefined) return
    const known = knownOf(entry)
    const { record, isMissed, service } = known
    const share: Share = {
      recordedIn: record?.remote && (record.service?.serviceId ?? '').toLowerCase(),
      missing: isMissed ? 1 : 0,
      wantedIn: wantsCreation(known, { catalog, now, steadyNow: steadyNow() }) ? service : undefined,
    }
    shares.set(key, share)
    add(share, 1)
    const next = dueOf(known)
    if (next === undefined) return
    timed.add(key)
    if (next.wall > now) due = { ...due, wall: Math.min(due.wall, next.wall) }
    if (next.steady > steadyNow()) due = { ...due, steady: Math.min(due.steady, next.steady) }
  }

  function upToDate(now: number): void {
    // A wall clock that was set back makes what had come a time to come.
    if (now >= due.wall || now < lastNow || steadyNow() >= due.steady) {
      for (const key of timed) touched.add(key)
      due = NEVER
    }
    lastNow = now
    for (const key of touched) countAnew(key, now)
    touched.clear()
  }

  function countOf({ wanted }: GroupCount): number {
    let count = 0
    for (const [recordedIn, some] of wanted) if (isInSight(recordedIn)) count += some
    return count
  }

  /** A service that is out of sight gets nothing created, and so it keeps no other one waiting. */
  function isInSight(recordedIn: string | undefined): boolean {
    const service = recordedIn === undefined ? undefined : services.get(recordedIn)
    return service === undefined || !isMassMissing(service)
  }

  return {
    setCatalog(next) {
      for (const key of shares.keys()) if (!next.entries.has(key)) touched.add(key)
      for (const [key, entry] of next.entries) {
        const isSame =
          catalog?.entries.get(key) === entry &&
          catalog.locks.get(key) === next.locks.get(key) &&
          serviceEntry(catalog, entry) === serviceEntry(next, entry)
        if (!isSame) touched.add(key)
      }
      catalog = next
    },
    touch: (key) => void touched.add(key),
    in(group, now) {
      upToDate(now)
      const count = groups.get(group)
      return count === undefined ? 0 : countOf(count)
    },
    has(key, now) {
      upToDate(now)
      const share = shares.get(key)
      return share?.wantedIn !== undefined && isInSight(share.recordedIn)
    },
    groups(now) {
      upToDate(now)
      return [...groups].flatMap(([group, count]) => {
        const wanted = countOf(count)
        return wanted === 0 ? [] : [{ group, service: count.service, wanted }]
      })
    },
  }
}

/** What it would be created in depends on the ids that this says. */
function serviceEntry({ entries }: Catalog, { manifest }: Entry): Entry | undefined {
  const name = manifest && serviceOf(manifest)
  return name === undefined ? undefined : entries.get(serviceKey(name))
}

/** When something ends, by the wall clock and by the steady one: ms since the epoch. */
interface Due {
  readonly wall: number
  readonly steady: number
}

const NEVER: Due = { wall: Infinity, steady: Infinity }

/** The end of a suspension, of the wait before the next replacement, and of what a person allowed; undefined: there is none of these. */
function dueOf({ entry, record }: Known): Due | undefined {
  const until = entry.manifest?.policy?.suspend?.until
  const { replaced, allowed } = record ?? {}
  if (until === undefined && replaced === undefined && allowed === undefined) return undefined
  const ends = [replaceableFrom(replaced), allowed?.until].filter((end) => end !== undefined)
  return { wall: until === undefined ? Infinity : Date.parse(until), steady: Math.min(...ends, Infinity) }
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
  if (policy?.ensure === 'absent') return false
  // What names the pipe that is missed itself names none to take over.
  const named = policy?.adopt ?? catalog.locks.get(entry.key)
  if (named !== undefined && !sameId(named, record?.remote?.id)) return false
  if (policy?.suspend !== undefined && Date.parse(policy.suspend.until) > now) return false
  // It passes whatever the others want, and so they pass whatever it wants.
  if (isAllowed(record, entry.digest, steadyNow)) return false
  if (record?.remote !== undefined) {
    // It is being deleted, and its manifest asks for another one.
    if (record.removal?.isSent === true) return true
    // What is never replaced by itself, or not for a long time, keeps no other one waiting.
    const isHeld = record.remote.seenAt === undefined || (replaceableFrom(record.replaced) ?? 0) > steadyNow
    // Also while a 404 is not believed yet: the first of many must not be created before the last one is counted.
    return isMissed && policy?.onMissing !== 'report' && !isHeld
  }
  return record === undefined || undecidedIntent(record) === undefined
}
