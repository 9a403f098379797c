import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import type { Clock } from '../../lib/clock.ts'
import { sameId } from '../../lib/same-id.ts'
import { type Creations, isAllowed, limitGroupOf, MADE_FOR_MS, madeAt } from '../../plan/create-limit.ts'
import { isMassMissing, replaceableFrom } from '../../plan/missing.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'

/** So long, a count can miss that a suspension ended or a pipe was not found: ms. */
const MAX_AGE_MS = 1_000

export interface CreationFacts {
  readonly catalog: Catalog | undefined
  records(): Iterable<LedgerRecord>
  record(key: Key): LedgerRecord | undefined
  /** Whether its last read was a 404. */
  isMissed(key: Key): boolean
  /** Where a manifest would be created. Undefined: its Service is unknown. */
  serviceWanted(entry: Entry): ServiceIdentity | undefined
}

/** What counts against the create limit in one service. */
export interface ServiceCreations extends Creations {
  /** One of the names of its manifests. */
  readonly service: string
  /** Those that are wanted. */
  readonly keys: readonly Key[]
}

interface Count {
  readonly catalog: Catalog | undefined
  readonly at: number
  readonly wanted: ReadonlySet<Key>
  readonly services: ReadonlyMap<string, ServiceCreations>
}

/** Counts creations by service ({@link limitGroupOf}), from the catalog and the records. */
export interface CreationCounter {
  /** Whether manifests and known creations can exceed a limit. */
  canReach(limit: number): boolean
  services(): ReadonlyMap<string, ServiceCreations>
  /** @param key Pipewright is about to create it, so it is counted as wanted */
  in(group: string, key?: Key): Creations
  /** A record replaces another. */
  note(before: LedgerRecord | undefined, record: LedgerRecord | undefined): void
}

/** @param steadyNow as in the store that owns this */
export function createCreationCounter(
  facts: CreationFacts,
  { clock, steadyNow }: { readonly clock: Clock; readonly steadyNow: () => number },
): CreationCounter {
  let count: Count | undefined
  /** When each creation was on the steady clock. It stays if the wall clock is set. */
  const madeTimes = new Map<string, number>()

  function wantedNow() {
    const wanted: { key: Key; service: ServiceIdentity; from: string | undefined }[] = []
    const sights = new Map<string, { missing: number; of: number }>()
    const { catalog } = facts
    for (const entry of catalog?.entries.values() ?? []) {
      const { key } = entry
      const record = facts.record(key)
      const isMissed = facts.isMissed(key)
      const from = record?.remote && (record.service?.serviceId ?? '').toLowerCase()
      if (from !== undefined) {
        const sight = sights.get(from) ?? { missing: 0, of: 0 }
        sights.set(from, sight)
        sight.of += 1
        if (isMissed) sight.missing += 1
      }
      const lockedId = catalog?.locks.get(key)
      const now = { wall: clock.now(), steady: steadyNow() }
      if (!wantsCreation(entry, record, { isMissed, lockedId }, now)) continue
      const service = facts.serviceWanted(entry)
      if (service !== undefined) wanted.push({ key, service, from })
    }
    // A service that is out of sight gets nothing created, so it blocks no other.
    const isInSight = (from: string | undefined) => {
      const sight = from === undefined ? undefined : sights.get(from)
      return sight === undefined || !isMassMissing(sight)
    }
    return wanted.filter(({ from }) => isInSight(from))
  }

  /** Of two clocks, the one that makes a creation younger counts: a clock that is set lets no more pass. */
  function madeTime(key: Key, said: number): number {
    const now = steadyNow()
    const id = `${key} ${said}`
    const at = madeTimes.get(id) ?? now - Math.max(0, Math.min(now, clock.now()) - said)
    madeTimes.set(id, at)
    return at
  }

  function madeNow(): ReadonlyMap<string, { readonly at: number }[]> {
    const since = steadyNow() - MADE_FOR_MS
    const made = new Map<string, { readonly at: number }[]>()
    for (const record of facts.records()) {
      for (const said of madeAt(record)) {
        const at = madeTime(record.key, said)
        if (at <= since || record.service === undefined) continue
        const group = limitGroupOf(record.service)
        const all = made.get(group) ?? []
        made.set(group, all)
        all.push({ at })
      }
    }
    return made
  }

  function countNow(): Count {
    const counted = wantedNow()
    const made = madeNow()
    const services = new Map<string, ServiceCreations>()
    const byGroup = Map.groupBy(counted, ({ service }) => limitGroupOf(service))
    for (const group of new Set([...byGroup.keys(), ...made.keys()])) {
      const wanted = byGroup.get(group) ?? []
      services.set(group, {
        service: wanted.at(-1)?.service.name ?? '',
        keys: wanted.map(({ key }) => key),
        wanted: wanted.length,
        made: (made.get(group) ?? []).toSorted((a, b) => a.at - b.at),
      })
    }
    return {
      catalog: facts.catalog,
      at: steadyNow(),
      wanted: new Set(counted.map(({ key }) => key)),
      services,
    }
  }

  function current(key?: Key): Count {
    const isFresh = count?.catalog === facts.catalog && steadyNow() - (count?.at ?? 0) < MAX_AGE_MS
    if (count === undefined || !isFresh || (key !== undefined && !count.wanted.has(key))) count = countNow()
    return count
  }

  return {
    canReach: (limit) => (facts.catalog?.entries.size ?? 0) + madeTimes.size > limit,
    services: () => current().services,
    in(group, key) {
      const { services, wanted } = current(key)
      const creations = services.get(group) ?? NO_CREATIONS
      const isCounted = key === undefined || wanted.has(key)
      return isCounted ? creations : { ...creations, wanted: creations.wanted + 1 }
    },
    note(before, record) {
      if (creationOf(before) === creationOf(record)) return
      count = undefined
      const made = record === undefined ? [] : madeAt(record)
      if (before !== undefined)
        for (const said of madeAt(before)) if (!made.includes(said)) madeTimes.delete(`${before.key} ${said}`)
      if (record !== undefined) for (const said of made) madeTime(record.key, said)
    },
  }
}

const NO_CREATIONS: Creations = { wanted: 0, made: [] }

function creationOf(record: LedgerRecord | undefined): string {
  const { intent, allowed, remote } = record ?? {}
  return `${intent?.id} ${intent?.state} ${allowed?.until} ${remote?.id}`
}

function wantsCreation(
  entry: Entry,
  record: LedgerRecord | undefined,
  { isMissed, lockedId }: { readonly isMissed: boolean; readonly lockedId: string | undefined },
  now: { readonly wall: number; readonly steady: number },
): boolean {
  if (entry.state !== 'valid' || entry.manifest === undefined || !isCreateOnce(entry.manifest)) return false
  const { policy } = entry.manifest
  if (policy?.ensure === 'absent') return false
  // What names the pipe that is missed itself names none to take over.
  const named = policy?.adopt ?? lockedId
  if (named !== undefined && !sameId(named, record?.remote?.id)) return false
  if (policy?.suspend !== undefined && Date.parse(policy.suspend.until) > now.wall) return false
  // It passes whatever the others want, and so they pass whatever it wants.
  if (isAllowed(record, entry.digest, now.steady)) return false
  if (record?.remote !== undefined) {
    // It is being deleted, and its manifest asks for another one.
    if (record.removal?.isSent === true) return true
    // What is never replaced by itself, or not for a long time, keeps no other one waiting.
    const isHeld = record.remote.seenAt === undefined || (replaceableFrom(record.replaced) ?? 0) > now.steady
    // Also while a 404 is not believed yet: the first of many must not be created before the last one is counted.
    return isMissed && policy?.onMissing !== 'report' && !isHeld
  }
  return record === undefined || undecidedIntent(record) === undefined
}
