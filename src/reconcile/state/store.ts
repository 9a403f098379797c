import type { MaskedText, RawText } from '../../lib/mask/secret-mask.ts'
import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { ServiceAccess } from '../../contract/platform.ts'
import type { Lifecycle } from '../../kinds/definition.ts'
import { nameOf, type Key } from '../../kinds/key.ts'
import { isReference, lifecycleOf } from '../../kinds/lookup.ts'
import type { Profile } from '../../kinds/profile.ts'
import { asService, serviceKey, type ServiceManifest } from '../../kinds/service/kind.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { createSteadyClock, type Clock } from '../../lib/clock.ts'
import type { Reachability, Desired } from '../../plan/input.ts'
import type { Misses } from '../../plan/missing.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import { type Candidate, hashesOfRecord } from '../../plan/rename-detection.ts'
import { sameId } from '../../lib/same-id.ts'
import {
  createRecordIndex,
  equalityOf,
  indexDependents,
  indexEqualManifests,
  indexSuccessors,
  similarKeys,
} from './record-indexes.ts'
import { createCreateCounter } from './create-counter.ts'
import { createListings, createLastWrites, groupInService } from './listings.ts'
import { createBodies } from './bodies.ts'
import { asSuspended, isSuspensionOver } from './entry-policy.ts'

export interface Observation {
  /** ms since the epoch. */
  readonly at: number
  /** Start of the read; monotonic ms. Undefined: the values are from the reply to a write. */
  readonly readAt: number | undefined
  readonly found: boolean
  /** 404s in a row. Undefined: the pipe was found, or its 404s do not count. */
  readonly misses: Misses | undefined
  readonly credential: string | undefined
  readonly state: RawText | undefined
  readonly shownState: MaskedText | undefined
  /** As JSON text, masked. */
  readonly reply: (() => string) | undefined
  readonly foreign?: readonly string[] | undefined
  /** Consecutive readings with an unhealthy state. */
  readonly unsettled: number
}

export type StateStore = ReturnType<typeof createStateStore>

/** Keeps the catalog, the last records and the platform's last answers in memory. */
export function createStateStore({
  profile,
  hashKey,
  clock,
  olderThan = () => undefined,
}: {
  readonly profile: Profile
  readonly hashKey: Uint8Array
  readonly clock: Clock
  readonly olderThan?: (() => string | undefined) | undefined
}) {
  const bodies = createBodies(profile, hashKey)
  let catalog: Catalog | undefined
  let dependentsOf: ReadonlyMap<string, readonly Key[]> = new Map()
  let successorsOf: ReadonlyMap<string, readonly Key[]> = new Map()
  let equalsOf: ReadonlyMap<string, readonly Key[]> | undefined
  let adopters: readonly Key[] = []
  const records = new Map<Key, LedgerRecord>()
  const all = () => records.values()
  const similar = createRecordIndex(all, (record) =>
    hashesOfRecord(record, bodies.identityPathsOf(record.key)),
  )
  const pipes = createRecordIndex(all, ({ key, remote, service }) =>
    remote === undefined ? [] : [groupInService(key, service?.serviceId ?? '')],
  )
  const owners = createRecordIndex(all, ({ remote, former }) =>
    [remote?.id, former?.remote.id].flatMap((id) => id?.toLowerCase() ?? []),
  )
  let unclaimed: Set<Key> | undefined
  const observations = new Map<Key, Observation>()
  const claims = new Map<Key, string>()
  const seenOtherwise = new Set<Key>()
  const recordedAt = new Map<Key, number>()
  const judged = new Set<Key>()
  const unsaved = new Set<Key>()
  const overtaken = new Map<Key, LedgerRecord>()
  const steadyNow = createSteadyClock(clock)
  const contacts = createContacts(clock)
  const lastWrites = createLastWrites(clock)
  const checkedBefore = new Map<Key, number>()

  function askedOf(entry: Entry) {
    const service = serviceWanted(store, entry)
    const wish = entry.manifest && store.asked(entry.manifest)
    return service && wish && { serviceId: service.serviceId, digest: wish.fingerprint.digest }
  }

  function noteInIndexes(key: Key, record: LedgerRecord | undefined): void {
    creates.note(key, record)
    for (const index of [similar, pipes, owners]) index.replace(records.get(key), record)
  }

  /** Keeps one object per suspended entry, because a new object would look like a new manifest. */
  const suspended = new WeakMap<Entry, { readonly by: LedgerRecord['suspension']; readonly entry: Entry }>()

  const held = (key: Key) => ({
    key,
    manifest: catalog?.entries.get(key)?.manifest,
    record: records.get(key),
  })

  const store = {
    ...bodies,
    get catalog(): Catalog | undefined {
      return catalog
    },
    setCatalog(next: Catalog) {
      catalog = next
      dependentsOf = indexDependents(next)
      successorsOf = indexSuccessors(next)
      adopters = [...next.entries.values()].flatMap(({ key, manifest: { policy } = {} }) =>
        policy?.adopt === undefined && store.lockedId(key) === undefined ? [] : [key],
      )
      equalsOf = undefined
      unclaimed = undefined
    },
    entry(key: Key): Entry | undefined {
      const entry = catalog?.entries.get(key)
      const record = records.get(key)
      const { suspension } = record ?? {}
      if (entry === undefined || record === undefined || suspension === undefined) return entry
      if (isSuspensionOver(store, record)) return entry
      const known = suspended.get(entry)
      if (known?.by === suspension) return known.entry
      const now = { by: suspension, entry: asSuspended(entry, suspension) }
      suspended.set(entry, now)
      return now.entry
    },
    lifecycleOf: (key: Key): Lifecycle => lifecycleOf(held(key)),
    /** Revision of another process, if this checkout might be older. While set, no manifest counts as removed. */
    get olderThan(): string | undefined {
      return olderThan()
    },
    desiredState(key: Key): Desired['state'] {
      const entry = catalog?.entries.get(key)
      if (entry !== undefined) return entry.state
      return catalog?.deleted.has(key) === true && olderThan() === undefined ? 'absent' : 'missing'
    },
    records: (): Iterable<LedgerRecord> => all(),
    record: (key: Key): LedgerRecord | undefined => records.get(key),
    note(record: LedgerRecord) {
      const { key, remote } = record
      const before = records.get(key)
      if (before === record) return
      noteInIndexes(key, record)
      const { service, platformName: name, intent } = record
      const isNews = before?.intent?.id !== intent?.id || before?.intent?.state !== intent?.state
      const isOver = intent?.state === 'failed' || intent?.state === 'dismissed'
      // Also notes other processes' failed creates, because their pipe might appear later.
      if (isNews && isOver && service !== undefined && name !== undefined) {
        lastWrites.noteEnd({ key, created: { serviceId: service.serviceId, name }, isFailed: true })
      }
      records.set(key, record)
      if (isUnclaimed(store.desiredState(key))) unclaimed?.add(key)
      if (remote?.seenAs === undefined) seenOtherwise.delete(key)
      else seenOtherwise.add(key)
      if (before !== undefined && remote !== undefined && remote.id !== before.remote?.id) {
        recordedAt.set(key, clock.monotonic())
        const seen = observations.get(key)
        if (before.remote !== undefined && seen?.misses !== undefined)
          observations.set(key, { ...seen, misses: undefined })
      }
    },
    /** Keys that have the kind of `like` and a pipe in the service. Includes `like`. */
    createdIn: (serviceId: string, like: Key) => pipes.of(groupInService(like, serviceId)),
    /** A key other than `but` that has or had this pipe. */
    holderOf(pipeId: string, but: Key): Key | undefined {
      const others = [...owners.of(pipeId.toLowerCase())].filter((key) => key !== but)
      return others.find((key) => sameId(records.get(key)?.remote?.id, pipeId)) ?? others[0]
    },
    /** Reserves a pipe for a key that will record it. Undefined: ends the reservation. */
    claim(key: Key, pipeId: string | undefined) {
      if (pipeId === undefined) claims.delete(key)
      else claims.set(key, pipeId)
    },
    claimantOf: (pipeId: string, but: Key) =>
      claims.keys().find((key) => key !== but && sameId(claims.get(key), pipeId)),
    askedWith: (credential: string): Iterable<Key> =>
      observations.keys().filter((key) => observations.get(key)?.credential === credential),
    /** Ms since this process recorded the pipe. Undefined: an earlier process recorded the pipe. */
    ageMs(key: Key): number | undefined {
      const since = recordedAt.get(key)
      return since === undefined ? undefined : clock.monotonic() - since
    },
    /** ms since the epoch, without jumps of the wall clock. */
    steadyNow,
    unclaimed: (): Iterable<Key> =>
      (unclaimed ??= new Set(records.keys().filter((key) => isUnclaimed(store.desiredState(key))))),
    /** Keys whose pipe was last seen with another name or identity than its manifest. */
    seenOtherwise: (): Iterable<Key> => seenOtherwise,
    /** Keys that name a pipe in `policy.adopt` or a Lock. */
    adopters: (): readonly Key[] => adopters,
    /** The pipe that a Lock gives to the key, or to its former key without a record. */
    lockedId(key: Key): string | undefined {
      const { locks, entries } = catalog ?? {}
      const from = entries?.get(key)?.manifest?.policy?.renamedFrom as Key | undefined // checked by the schema
      const isFree = from !== undefined && !records.has(from) && isUnclaimed(store.desiredState(from))
      return locks?.get(key) ?? (isFree ? locks?.get(from) : undefined)
    },
    /** Other keys' records that might have the candidate's pipe. Sorted by key. */
    similarTo: (candidate: Candidate): readonly LedgerRecord[] =>
      similarKeys(similar, candidate).flatMap((key) => records.get(key) ?? []),
    drop(key: Key) {
      noteInIndexes(key, undefined)
      records.delete(key)
      unclaimed?.delete(key)
      observations.delete(key)
      recordedAt.delete(key)
      seenOtherwise.delete(key)
      judged.delete(key)
      unsaved.delete(key)
      overtaken.delete(key)
    },
    observation: (key: Key): Observation | undefined => observations.get(key),
    noteObservation: (key: Key, observation: Observation) => void observations.set(key, observation),
    get revision() {
      return catalog?.revision.id ?? ''
    },
    manifestRevision(key: Key): string | undefined {
      const entry = catalog?.entries.get(key)
      const recorded = records.get(key)?.manifest
      if (entry === undefined) return recorded?.revision
      return recorded?.digest === entry.digest ? recorded.revision : entry.revision
    },
    checkedAt(key: Key): number | undefined {
      const answered = isReference(key) ? contacts.of(nameOf(key))?.answeredAt : undefined
      return answered ?? observations.get(key)?.at ?? checkedBefore.get(key)
    },
    noteChecked(checkedAt: ReadonlyMap<Key, number>) {
      for (const [key, at] of checkedAt) checkedBefore.set(key, at)
    },
    contact(name: string): Reachability | undefined {
      const { spec } = store.service(name) ?? {}
      const known = contacts.of(name)
      if (known === undefined || spec === undefined) return undefined
      const access = { ...spec, secretName: spec.credentials.secretRef.name }
      return known.access === accessKey(access) ? known.contact : { type: 'edited' }
    },
    noteContact: contacts.note,
    service(name: string): ServiceManifest | undefined {
      return asService(catalog?.entries.get(serviceKey(name))?.manifest)
    },
    judged,
    /** Keys whose last record could not be written. */
    unsaved,
    /** Keys that a late request of the former leader might have changed, with their records. */
    overtaken,
    createLimitReached: (...about: Parameters<typeof creates.reached>) => creates.reached(...about),
    /** Keys that depend on this key, or use it as their Service. */
    dependents: (key: Key) => dependentsOf.get(key) ?? [],
    /** Keys that name this key in `policy.renamedFrom`, or this id in `policy.adopt` or a Lock. */
    successors: (of: string) => successorsOf.get(of) ?? [],
    /** Keys with an equal manifest, the candidate's included. */
    alike({ key, serviceId, fingerprint }: Pick<Candidate, 'key' | 'serviceId' | 'fingerprint'>) {
      equalsOf ??= catalog && indexEqualManifests(catalog, askedOf)
      return equalsOf?.get(equalityOf(key, { serviceId, digest: fingerprint.digest })) ?? []
    },
    listings: createListings(),
    lastWrites,
  }

  const creates = createCreateCounter(store, clock, (entry) => serviceWanted(store, entry))
  return store
}

function serviceWanted(store: StateStore, { manifest }: Entry): ServiceIdentity | undefined {
  const name = manifest && serviceOf(manifest)
  const service = name === undefined ? undefined : store.service(name)
  return service && serviceIdentityOf(service)
}

export function isUnclaimed(state: Desired['state']): boolean {
  return state === 'absent' || state === 'missing'
}

export function serviceIdentityOf(manifest: ServiceManifest): ServiceIdentity {
  const { organizationId, serviceId } = manifest.spec
  return { name: manifest.metadata.name, organizationId, serviceId }
}

function accessKey(access: Omit<ServiceAccess, 'name'>): string {
  return `${access.organizationId}/${access.serviceId}/${access.secretName}`.toLowerCase()
}

/** Requests in a row without a reply, until a service counts as unreachable. */
const UNREACHABLE_AFTER = 3

function createContacts(clock: Pick<Clock, 'now'>) {
  const known = new Map<
    string,
    {
      readonly access: string
      readonly contact: Reachability
      readonly silences: number
      readonly answeredAt: number | undefined
    }
  >()
  return {
    of: (service: string) => known.get(service),
    note: (service: ServiceAccess, contact: Reachability): boolean => {
      const access = accessKey(service)
      const last = known.get(service.name)
      const before = last?.access === access ? last : undefined
      const silences = contact.type === 'unreachable' ? (before?.silences ?? 0) + 1 : 0
      const isDoubtful =
        contact.type === 'unreachable' && before?.contact.type === 'answered' && silences < UNREACHABLE_AFTER
      const now = isDoubtful ? before.contact : contact
      const answeredAt = contact.type === 'answered' ? clock.now() : before?.answeredAt
      known.set(service.name, { access, contact: now, silences, answeredAt })
      return before?.contact.type !== now.type
    },
  }
}
