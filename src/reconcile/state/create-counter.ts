import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import { serviceIdentity } from '../../kinds/service/kind.ts'
import type { Clock } from '../../lib/clock.ts'
import { sameId } from '../../lib/same-id.ts'
import { createLimitOf, isAllowed, MADE_FOR_MS, madeAt } from '../../plan/write-limits.ts'
import { isMassMissing, replaceableFrom } from '../../plan/missing.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { FactsOf } from '../../plan/reason.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import { isLeftAlone } from './entry-policy.ts'

/** Ms. Then a count is repeated: no event tells that a suspension ended or a pipe is missing. */
const MAX_AGE_MS = 1_000

const SHOWN_MS = 60_000

interface Count {
  readonly catalog: Catalog | undefined
  readonly at: number
  readonly keys: ReadonlySet<Key>
  readonly wanted: ReadonlyMap<string | undefined, readonly Entry[]>
  readonly made: readonly Made[]
}

interface Made {
  /** Recorded send time: ms since the epoch, by the clock of the process that sent the create. */
  readonly said: number
  /** The same time as a `steadyNow` of this process. */
  readonly at: number
  readonly group: string | undefined
}

export function createCreateCounter(
  store: {
    readonly catalog: Catalog | undefined
    entry(key: Key): Entry | undefined
    record(key: Key): LedgerRecord | undefined
    lockedId(key: Key): string | undefined
    observation(key: Key): { readonly found: boolean } | undefined
    steadyNow(): number
  },
  clock: Clock,
  serviceWanted: (entry: Entry) => ServiceIdentity | undefined,
) {
  let count: Count | undefined
  const made = new Map<Key, readonly Made[]>()
  let madeTotal = 0

  /** Takes the shorter age of both clocks, because a clock change must not allow more creates. */
  function madeOf({ service }: LedgerRecord, said: number): Made {
    const now = store.steadyNow()
    const at = now - Math.max(0, Math.min(now, clock.now()) - said)
    return { said, at, group: service && serviceIdentity(service) }
  }

  function isMissed({ key }: Entry): boolean {
    return store.observation(key)?.found === false
  }

  function serviceOfPipe({ key }: Entry): string | undefined {
    const { remote, service } = store.record(key) ?? {}
    return remote && service?.serviceId.toLowerCase()
  }

  /** Services with too many missing pipes. Pipewright replaces none of these pipes. */
  function servicesOutOfSight(entries: readonly Entry[]): ReadonlySet<string | undefined> {
    if (!entries.some(isMissed)) return new Set()
    const lost = [...Map.groupBy(entries, serviceOfPipe)].filter(
      ([service, pipes]) =>
        service !== undefined && isMassMissing({ missing: pipes.filter(isMissed).length, of: pipes.length }),
    )
    return new Set(lost.map(([service]) => service))
  }

  function isWanted(entry: Entry, now: { readonly wall: number; readonly steady: number }): boolean {
    const { key, manifest } = entry
    if (entry.state !== 'valid' || manifest === undefined || !isCreateOnce(manifest)) return false
    const { policy } = manifest
    const record = store.record(key)
    const { remote } = record ?? {}
    if (policy?.ensure === 'absent') return false
    const named = policy?.adopt ?? store.lockedId(key)
    if (named !== undefined && !sameId(named, remote?.id)) return false
    if (isLeftAlone(store.entry(key), now.wall)) return false
    if (isAllowed(record, entry.digest, now.steady)) return false
    if (remote === undefined) return record === undefined || undecidedIntent(record) === undefined
    if (remote.foreign !== undefined) return false
    if (record?.removal?.isSent === true) return true
    // A missing pipe counts towards the create limit only if it can be replaced now.
    const isHeld = remote.seenAt === undefined || (replaceableFrom(record?.replaced) ?? 0) > now.steady
    // One 404 counts: the first of many missing pipes must not be replaced before the last is counted.
    return isMissed(entry) && policy?.onMissing !== 'report' && !isHeld
  }

  function countNow(): Count {
    const { catalog } = store
    const entries = [...(catalog?.entries.values() ?? [])]
    const now = { wall: clock.now(), steady: store.steadyNow() }
    const outOfSight = servicesOutOfSight(entries)
    const wanted = entries.filter((entry) => !outOfSight.has(serviceOfPipe(entry)) && isWanted(entry, now))
    return {
      catalog,
      at: now.steady,
      keys: new Set(wanted.map(({ key }) => key)),
      wanted: Map.groupBy(wanted, (entry) => {
        const service = serviceWanted(entry)
        return service && serviceIdentity(service)
      }),
      made: [...made.values()].flat().toSorted((a, b) => a.at - b.at),
    }
  }

  function currentCount(key: Key): Count {
    const isFresh = count?.catalog === store.catalog && store.steadyNow() - (count?.at ?? 0) < MAX_AGE_MS
    if (count === undefined || !isFresh || !count.keys.has(key)) count = countNow()
    return count
  }

  return {
    reached(
      limit: number,
      key: Key,
      record: LedgerRecord | undefined = store.record(key),
    ): FactsOf<'CreateLimit'> | undefined {
      const entry = store.entry(key)
      const service = entry && serviceWanted(entry)
      const now = store.steadyNow()
      const isDeletedFirst = record?.removal?.isSent === true
      if (service === undefined || isDeletedFirst || isAllowed(record, entry?.digest, now)) return undefined
      if ((store.catalog?.entries.size ?? 0) + madeTotal <= limit) return undefined
      const current = currentCount(key)
      const group = serviceIdentity(service)
      const wanted = (current.wanted.get(group)?.length ?? 0) + (current.keys.has(key) ? 0 : 1)
      const recent = current.made.filter((one) => one.group === group && one.at > now - MADE_FOR_MS)
      const reached = createLimitOf({ wanted, made: recent.map(({ at }) => at) }, limit)
      if (reached === undefined) return undefined
      const { passesAt, ...counts } = reached
      const until = passesAt && Math.ceil((clock.now() + passesAt - now) / SHOWN_MS) * SHOWN_MS
      return { service: service.name, ...counts, until }
    },
    /** Call it before the store changes. Undefined: the record is dropped. */
    note(key: Key, record: LedgerRecord | undefined) {
      if (relevantIn(store.record(key)) === relevantIn(record)) return
      count = undefined
      const before = made.get(key)
      const creates =
        record &&
        madeAt(record).map((said) => before?.find((one) => one.said === said) ?? madeOf(record, said))
      madeTotal += (creates?.length ?? 0) - (before?.length ?? 0)
      if (creates === undefined || creates.length === 0) made.delete(key)
      else made.set(key, creates)
    },
  }
}

function relevantIn({ intent, allowed, remote }: Partial<LedgerRecord> = {}): string {
  return `${intent?.id} ${intent?.state} ${allowed?.until} ${remote?.id}`
}
