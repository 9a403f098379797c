import type { MaskedText, RawText } from '../../lib/mask/secret-mask.ts'
import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { Lifecycle } from '../../kinds/definition.ts'
import { kindOf, nameOf, type Key } from '../../kinds/key.ts'
import { isReference, lifecycleOf } from '../../kinds/lookup.ts'
import type { Profile } from '../../kinds/profile.ts'
import { asService, serviceKey, type ServiceManifest } from '../../kinds/service/kind.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { createSteadyClock, type Clock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Contact, Desired } from '../../plan/input.ts'
import type { Misses } from '../../plan/missing.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import type { Candidate } from '../../plan/rename-detection.ts'
import { createAlikeWishes } from './alike-wishes.ts'
import { createContacts } from './contacts.ts'
import { createCreationCounter, type CreationCounter } from './creations.ts'
import { createListings, type Listings } from './listings.ts'
import { createLastWrites, type LastWrites } from './last-writes.ts'
import { indexDependents, indexSuccessors, createKeyGroups } from './key-groups.ts'
import { createSimilarIndex } from './similar-index.ts'
import { createUnclaimedRecords } from './unclaimed-records.ts'
import { createBodies, type Bodies } from './bodies.ts'

/** What the platform last said of one key. */
export interface Observation {
  /** ms since the epoch. */
  readonly at: number
  /** When the reading was begun that says this; on the monotonic clock, ms. Undefined: it was part of a write. */
  readonly readAt: number | undefined
  readonly found: boolean
  /** The 404s in a row, with this one; undefined when it was found, or when this one does not count. */
  readonly misses: Misses | undefined
  /** Equal for equal credentials: those that it was asked with. */
  readonly credential: string | undefined
  readonly state: RawText | undefined
  readonly shownState: MaskedText | undefined
  /** JSON text of what it returned, sensitive values and secrets masked. */
  readonly reply: string | undefined
  /** Looks in a row that found a state which is not healthy. */
  readonly unsettled: number
}

/**
 * What is known beyond one key, in memory: the catalog, the records as last read or written, and what the platform
 * last said. It truly holds state; everything in it can be had again from the directory, the ledger and the platform.
 */
export interface StateStore extends Bodies {
  readonly catalog: Catalog | undefined
  setCatalog(catalog: Catalog): void
  entry(key: Key): Entry | undefined
  /** How it lives, by its manifest and its record as they are known. */
  lifecycleOf(key: Key): Lifecycle
  /** What another process acted on, where that may be newer than the manifests here: then nothing counts as removed. */
  readonly olderThan: string | undefined
  /** Whether a key is wanted, held, missing or absent. */
  desiredState(key: Key): Desired['state']
  records(): Iterable<LedgerRecord>
  record(key: Key): LedgerRecord | undefined
  note(record: LedgerRecord): void
  /** Keys of the kind of this one, itself among them, that have something in the service with this id. */
  createdIn(serviceId: string, like: Key): Iterable<Key>
  /** Another key that has the pipe with this id, or had it until its replacement has an outcome. */
  holderOf(pipeId: string, but: Key): Key | undefined
  /** A key is about to record the pipe with this id as its own; undefined: no more. */
  claim(key: Key, pipeId: string | undefined): void
  /** Another key that is. */
  claimantOf(pipeId: string, but: Key): Key | undefined
  /** Keys that were last asked for with this credential. */
  askedWith(credential: string): Iterable<Key>
  /** For how long this process has known the pipe of a key, in ms; undefined: longer than it lives. */
  ageMs(key: Key): number | undefined
  /** What the wall clock said when this process began, and what has passed since: ms since the epoch. Never jumps. */
  steadyNow(): number
  /** Records of other keys whose pipe this may be, in the order of their keys. */
  similarTo(candidate: Candidate): readonly LedgerRecord[]
  /** Keys of records whose manifest is gone, or seems to be. */
  unclaimed(): Iterable<Key>
  drop(key: Key): void
  observation(key: Key): Observation | undefined
  noteObservation(key: Key, observation: Observation): void
  /** What the platform last returned of a key, as it is shown. */
  lastSeen(key: Key): JsonObject | undefined
  /** Undefined: nothing was asked of the service since this process started. */
  contact(service: string): Contact | undefined
  /**
   * @param contact what a request to the service came to
   * @returns whether the service stands otherwise now
   */
  noteContact(service: string, contact: Contact): boolean
  /** When the service last answered: ms since the epoch. */
  answeredAt(service: string): number | undefined
  service(name: string): ServiceManifest | undefined
  /** In force; empty before the first reading. */
  readonly revision: string
  /** At which the manifest of a key came to say what it says. Undefined: it was never seen. */
  manifestRevision(key: Key): string | undefined
  /** When the platform last answered for a key: ms since the epoch. */
  checkedAt(key: Key): number | undefined
  /** @param checkedAt as an earlier process wrote it down */
  noteChecked(checkedAt: ReadonlyMap<Key, number>): void
  /** Keys that this process has reconciled: what it says of them is no memory of an earlier one. */
  readonly judged: Set<Key>
  /** Endpoints to which a late request of a process that acted before may have been applied: they are applied once more. */
  readonly overtaken: Set<Key>
  readonly creations: Omit<CreationCounter, 'note'>
  /** What {@link Ledger.othersWrites} said before what others wrote was last taken over. */
  othersWritesSeen: number | undefined
  /** Keys that name this one in `policy.dependsOn`. */
  dependents(key: Key): readonly Key[]
  /** Keys that name this one in `policy.renamedFrom`. */
  successors(key: Key): readonly Key[]
  /** Keys whose valid manifests ask for the same in the same service; that of the candidate among them. */
  alike(candidate: Candidate): readonly Key[]
  /** All pipes of each service, where the platform lists them. */
  readonly listings: Listings
  readonly lastWrites: LastWrites
}

/** @param hashKey the ledger's: keys the hashes of what is recorded */
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
}): StateStore {
  const bodies = createBodies(profile, hashKey)
  let catalog: Catalog | undefined
  let dependentsOf = new Map<string, Key[]>()
  let successorsOf = new Map<string, Key[]>()
  const records = new Map<Key, LedgerRecord>()
  const similar = createSimilarIndex(
    () => records.values(),
    (key) => bodies.identityPathsOf(key),
  )
  const unclaimed = createUnclaimedRecords(
    () => records.keys(),
    (key) => isUnclaimed(store.desiredState(key)),
  )
  const observations = new Map<Key, Observation>()
  const shown = new WeakMap<Observation, JsonObject>()
  const pipes = createKeyGroups()
  const ids = createKeyGroups()
  const formerIds = createKeyGroups()
  const claims = createKeyGroups()
  const asked = createKeyGroups()
  const recordedAt = new Map<Key, number>()
  const judged = new Set<Key>()
  const overtaken = new Set<Key>()
  const steadyNow = createSteadyClock(clock)
  const contacts = createContacts(clock)
  const checkedBefore = new Map<Key, number>()
  const creations = createCreationCounter(
    {
      get catalog() {
        return catalog
      },
      records: () => records.values(),
      record: (key) => records.get(key),
      isMissed: (key) => observations.get(key)?.found === false,
      serviceWanted: (entry) => serviceWanted(store, entry),
    },
    { clock, steadyNow },
  )
  const alike = createAlikeWishes((entry) => {
    const service = serviceWanted(store, entry)
    const wish = entry.manifest && store.asked(entry.manifest)
    return service && wish && { serviceId: service.serviceId, digest: wish.fingerprint.digest }
  })

  const held = (key: Key) => ({
    key,
    manifest: catalog?.entries.get(key)?.manifest,
    record: records.get(key),
  })

  const store: StateStore = {
    ...bodies,
    get catalog() {
      return catalog
    },
    setCatalog(next) {
      catalog = next
      dependentsOf = indexDependents(next)
      successorsOf = indexSuccessors(next)
      alike.setCatalog(next)
      unclaimed.reset()
    },
    entry: (key) => catalog?.entries.get(key),
    lifecycleOf: (key) => lifecycleOf(held(key)),
    get olderThan() {
      return olderThan()
    },
    desiredState(key) {
      const entry = catalog?.entries.get(key)
      if (entry !== undefined) return entry.state
      return catalog?.deleted.has(key) === true && olderThan() === undefined ? 'absent' : 'missing'
    },
    records: () => records.values(),
    record: (key) => records.get(key),
    note(record) {
      const { key, remote } = record
      const before = records.get(key)
      if (before === record) return
      creations.note(before, record)
      const { service, platformName: name, intent } = record
      // An earlier process can have created it all the same.
      if (before === undefined && intent?.state === 'failed' && service !== undefined && name !== undefined)
        store.lastWrites.noteEnd({ key, created: { serviceId: service.serviceId, name }, hasFailed: true })
      similar.replace(before, record)
      records.set(key, record)
      unclaimed.note(key)
      pipes.put(key, remote && groupOf(key, record.service?.serviceId ?? ''))
      ids.put(key, remote?.id.toLowerCase())
      formerIds.put(key, record.former?.remote.id.toLowerCase())
      if (before !== undefined && remote !== undefined && remote.id !== before.remote?.id)
        recordedAt.set(key, clock.monotonic())
    },
    createdIn: (serviceId, like) => pipes.of(groupOf(like, serviceId)),
    holderOf(pipeId, but) {
      const id = pipeId.toLowerCase()
      for (const key of ids.of(id)) if (key !== but) return key
      for (const key of formerIds.of(id)) if (key !== but) return key
      return undefined
    },
    claim: (key, pipeId) => claims.put(key, pipeId?.toLowerCase()),
    claimantOf: (pipeId, but) => [...claims.of(pipeId.toLowerCase())].find((key) => key !== but),
    askedWith: (credential) => asked.of(credential),
    ageMs(key) {
      const since = recordedAt.get(key)
      return since === undefined ? undefined : clock.monotonic() - since
    },
    steadyNow,
    unclaimed: () => unclaimed.keys(),
    similarTo: (candidate) => similar.of(candidate).flatMap((key) => records.get(key) ?? []),
    drop(key) {
      creations.note(records.get(key), undefined)
      similar.replace(records.get(key), undefined)
      records.delete(key)
      unclaimed.drop(key)
      observations.delete(key)
      for (const groups of [pipes, ids, formerIds, asked]) groups.put(key, undefined)
      recordedAt.delete(key)
      judged.delete(key)
      overtaken.delete(key)
    },
    observation: (key) => observations.get(key),
    noteObservation(key, observation) {
      observations.set(key, observation)
      asked.put(key, observation.credential)
    },
    lastSeen(key) {
      const observation = observations.get(key)
      if (observation?.reply === undefined) return undefined
      const seen = shown.get(observation) ?? (JSON.parse(observation.reply) as JsonObject) // ours
      shown.set(observation, seen)
      return seen
    },
    get revision() {
      return catalog?.revision.id ?? ''
    },
    manifestRevision(key) {
      const entry = catalog?.entries.get(key)
      const recorded = records.get(key)?.manifest
      if (entry === undefined) return recorded?.revision
      return recorded?.digest === entry.digest ? recorded.revision : entry.revision
    },
    checkedAt(key) {
      const answered = isReference(key) ? contacts.answeredAt(nameOf(key)) : undefined
      return answered ?? observations.get(key)?.at ?? checkedBefore.get(key)
    },
    noteChecked(checkedAt) {
      for (const [key, at] of checkedAt) checkedBefore.set(key, at)
    },
    contact: (service) => contacts.of(service),
    answeredAt: (service) => contacts.answeredAt(service),
    noteContact: (service, contact) => contacts.note(service, contact),
    service(name) {
      return asService(catalog?.entries.get(serviceKey(name))?.manifest)
    },
    judged,
    overtaken,
    creations,
    othersWritesSeen: undefined,
    dependents: (key) => dependentsOf.get(key) ?? [],
    successors: (key) => successorsOf.get(key) ?? [],
    alike: (candidate) => alike.of(candidate),
    listings: createListings(),
    lastWrites: createLastWrites(clock),
  }

  return store
}

/** What is seen of one kind says nothing of another: it may take another permission. */
function groupOf(key: Key, serviceId: string): string {
  return `${kindOf(key)} ${serviceId.toLowerCase()}`
}

function serviceWanted(store: StateStore, { manifest }: Entry): ServiceIdentity | undefined {
  const name = manifest && serviceOf(manifest)
  const service = name === undefined ? undefined : store.service(name)
  return service && identityOf(service)
}

/** Whether the manifest of a record is gone, or seems to be. */
export function isUnclaimed(state: Desired['state']): boolean {
  return state === 'absent' || state === 'missing'
}

/** The identity of a service as its manifest says it. */
export function identityOf(manifest: ServiceManifest): ServiceIdentity {
  const { organizationId, serviceId } = manifest.spec
  return { name: manifest.metadata.name, organizationId, serviceId }
}
