import type { Looks, ReadOptions, ServiceAccess } from '../../contract/platform.ts'
import type { Entry } from '../../contract/catalog.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { ODD, oddItemsOf, type RemoteResource } from '../../kinds/remote-resource.ts'
import { isReturnedField } from '../../kinds/field-table.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { changedFields } from '../../kinds/fingerprint.ts'
import { hasIdentity } from '../../kinds/identity.ts'
import { instantOf } from '../../kinds/instant.ts'
import { isDeleting } from '../../kinds/state.ts'
import { nameOf, parseKey, type Key } from '../../kinds/key.ts'
import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { kindFor } from '../../kinds/profile.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import type { Candidate, Desired, Listed } from '../../plan/input.ts'
import { isBelieved, isMassMissing, type MassMissing } from '../../plan/missing.ts'
import { CLOCKS_APART_MS, undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import type { Listing } from '../state/listings.ts'
import type { StateStore } from '../state/store.ts'
import { isLeftAlone, saysDeleted } from '../state/entry-policy.ts'
import { desiredService, recordedAccess, type DesiredService } from './service-access.ts'
import { witnessOf } from './siblings.ts'

/*
 * What a list of all pipes of a service says (design §14). It is a witness: it shows pipes that are there, and never proves that one is
 * not. So it only ever turns a create into an adoption.
 */

type ListingContext = Pick<ReconcileContext, 'profile' | 'platform' | 'store' | 'clock' | 'timing' | 'emit'>

/** Many look at one list, for so long, and no longer than until they look again: ms. */
const SHARED_MS = 30_000
/** Before a create it is newer; but for the wait for a place, where the budget has none for a list beside it. */
const BEFORE_CREATE_MS = 10_000

/** The list of a service for who looks at one of its pipes, or `undefined` when there is no such request. @throws as `Platform.list` */
export async function listingOf(
  context: ListingContext,
  about: {
    readonly key: Key
    readonly access: ServiceAccess
    /** Of the create, or deletion, that depends on it: it has a place for this. */
    readonly permit: Looks | undefined
  },
  options: ReadOptions,
): Promise<Listing | undefined> {
  const { platform, store, clock, timing } = context
  const { key, access, permit } = about
  const kind = listedKind(context, key)
  if (kind === undefined) return undefined
  const now = clock.monotonic()
  const oldest =
    permit === undefined ? Math.min(SHARED_MS, timing.intervalMs) : BEFORE_CREATE_MS + permit.lookCostsMs
  const since = Math.max(now - oldest, freshSince(store, key))
  const name = nameOfListing(kind, access)
  return store.listings.since(name, { since, now }, async () => {
    const asked = permit === undefined ? platform.list(kind, access, options) : permit.list(kind, options)
    const reply = await asked
    reportOdd(context, { key, name }, reply.value)
    return reply
  })
}

/** Reports odd items, unless the list before had the same. */
function reportOdd(
  { store, emit }: ListingContext,
  { key, name }: { readonly key: Key; readonly name: string },
  list: readonly RemoteResource[],
): void {
  const items = oddItemsOf(list)
  if (items.length === 0 || items.join() === store.listings.last(name)?.odd.join()) return
  const manifest = store.entry(key)?.manifest
  const service = (manifest && serviceOf(manifest)) ?? store.record(key)?.service?.name ?? ''
  emit({ type: 'ListItemsOdd', service, items })
}

/** A list for a key begins at this time or later: after its last write, and after its own last reading, which might say more. */
function freshSince(store: StateStore, key: Key): number {
  const last = Math.max(lastWriteOf(store, key), store.observation(key)?.readAt ?? -Infinity)
  // Within one ms, the order is not known.
  return last + 1
}

/** When the last request ended that changes something for a key, or for another key with the name that it asks for. */
export function lastWriteOf(store: StateStore, key: Key): number {
  const manifest = store.entry(key)?.manifest
  const service = desiredService(store, manifest)
  const created =
    manifest !== undefined && isCreateOnce(manifest) && service.usable
      ? {
          serviceId: service.access.serviceId,
          name: remoteNameOf(manifest),
        }
      : undefined
  return store.lastWrites.endedAt({ key, created })
}

/** For how long the pipe of a key is recorded: ms. */
function ageMs(store: StateStore, key: Key): number {
  const { remote } = store.record(key) ?? {}
  return remote === undefined ? Infinity : (store.ageMs(key) ?? Math.abs(store.steadyNow() - remote.at))
}

/** Whether it was asked for in vain a moment ago. */
export function isListFailing(
  { store, clock }: ListingContext,
  kind: CreateOnceKind,
  access: ServiceAccess,
): boolean {
  const failedAt = store.listings.failedAt(nameOfListing(kind, access))
  return failedAt !== undefined && clock.monotonic() - failedAt < SHARED_MS
}

/** What a list is known by: another API key may see other pipes. */
export function nameOfListing(
  { name }: Pick<CreateOnceKind, 'name'>,
  { serviceId, secretName }: ServiceAccess,
): string {
  return `${name} ${serviceId.toLowerCase()} ${secretName}`
}

/** The kind of a key, where all of its kind can be listed. */
export function listedKind(
  { profile, store }: Pick<ReconcileContext, 'profile' | 'store'>,
  key: Key,
): CreateOnceKind | undefined {
  const held = { key, manifest: store.entry(key)?.manifest, record: store.record(key) }
  const kind = kindFor(profile, held)
  return kind.lifecycle === 'create-once' && kind.operations.list !== undefined ? kind : undefined
}

/**
 * Whether the list of its service speaks against it that a pipe is gone, which is not found by its id: one more request, where there is a list.
 * @throws as `Platform.list`
 */
export async function mayBeThere(
  context: ListingContext,
  { recorded, service }: { readonly recorded: LedgerRecord; readonly service: DesiredService },
  options: ReadOptions,
): Promise<boolean> {
  const { key, remote } = recorded
  const access = recordedAccess(context.store, recorded, service)
  if (remote === undefined || access === undefined) return false
  const listing = await listingOf(context, { key, access, permit: undefined }, options)
  if (listing === undefined) return false
  return listing.items.has(remote.id.toLowerCase()) || doubtsOf(context, key, access, listing) !== undefined
}

interface Looked {
  readonly entry: Entry | undefined
  readonly recorded: LedgerRecord
  readonly desired: Desired
  readonly service: DesiredService
  readonly body: JsonObject | undefined
  readonly listing: Listing | undefined
}

/** What the list means for a key that has no pipe, or whose pipe is not found or may be replaced. */
export function listedFor(
  context: Pick<ReconcileContext, 'profile' | 'store' | 'clock'>,
  { entry, recorded, desired, service, body, listing }: Looked,
): Listed | undefined {
  const manifest = entry?.manifest
  if (listing === undefined || manifest === undefined || body === undefined || !service.usable)
    return undefined
  const { store, profile } = context
  const { key } = desired
  const kind = listedKind({ profile, store }, key)
  if (kind === undefined) return undefined
  const intent = undecidedIntent(recorded)
  // What a create of unknown outcome made is where that was sent, under the name that it had then.
  if (intent !== undefined && desired.otherService) return undefined
  const name = (intent && recorded.platformName) ?? remoteNameOf(manifest)
  const edited = editedSince(recorded, desired)
  const candidates: Candidate[] = []
  const earlier = intent === undefined ? earlierName(manifest) : undefined
  const names = new Set([name, undefined, earlier])
  const items = [...names].flatMap((each) => listing.named.get(each) ?? [])
  const isNew = intent === undefined && recorded.remote === undefined
  const failed = isNew ? store.lastWrites.failedNames(kind.name, service.access.serviceId) : []
  const others = failed.filter((each) => !names.has(each)).flatMap((each) => listing.named.get(each) ?? [])
  for (const item of [...items, ...others.filter(isAlike)]) {
    const isOwn = [recorded.remote?.id, recorded.former?.remote.id].some((id) => sameId(id, item.id))
    if (isOwn || store.holderOf(item.id, key) !== undefined) continue
    if (typeof item.serviceId === 'string' && !sameId(item.serviceId, service.access.serviceId)) continue
    const createdAt = instantOf(item.createdAt ?? '')
    if (intent !== undefined && createdAt !== undefined && createdAt < intent.openedAt - CLOCKS_APART_MS)
      continue
    const there = item as JsonObject // it came as JSON
    const odd = item[ODD]?.fields ?? []
    const fields = compareBody(kind.fields, body, there).map(({ field }) => field)
    const gone = isDeleting(kind.changes?.rest, item.state) ? ['state'] : []
    const differs = [...fields.filter((field) => !edited.has(field)), ...unlikeThen(there), ...gone]
    // One without a name may be this one, where nothing else speaks against it. A field that cannot be read does not.
    const isNameless = typeof item.name !== 'string'
    if (
      isNameless &&
      differs.some((field) => field !== 'name' && !odd.includes(field.split('.')[0] ?? field))
    )
      continue
    candidates.push({
      id: item.id,
      listedAs: item.name ?? undefined,
      differs: [...new Set([...odd, ...differs])],
    })
  }
  return {
    name,
    candidates: candidates.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    hasOwn: recorded.remote !== undefined && listing.items.has(recorded.remote.id.toLowerCase()),
    doubtful: doubtsOf(context, key, service.access, listing),
  }

  /** Whether a create under another name can have made it. */
  function isAlike(item: RemoteResource): boolean {
    if (kind === undefined || body === undefined) return false
    const there = item as JsonObject // it came as JSON
    if (kind.identity !== undefined) return hasIdentity(kind.identity, body, there)
    return compareBody(kind.fields, body, there).every(({ field }) => field === 'name')
  }

  /** Fields that have neither what is asked for now nor what was asked for then. */
  function unlikeThen(there: JsonObject): readonly string[] {
    const then = recorded.applied?.fields ?? {}
    if (kind === undefined || edited.size === 0) return []
    const { fields } = kind
    const hashes = store.hashesOf(key, there)
    return [...edited].filter(
      (path) => then[path] !== undefined && isReturnedField(fields, path) && hashes[path] !== then[path],
    )
  }
}

/** The name that a pipe had before it was renamed, where its manifest said none: the platform may have it still. */
function earlierName({ policy }: ResourceManifest): string | undefined {
  const from = policy?.renamedFrom === undefined ? undefined : parseKey(policy.renamedFrom)
  return from && nameOf(from)
}

/** Fields that were edited since a create of unknown outcome: what it may have made has them as they were. */
function editedSince(recorded: LedgerRecord, { fingerprint }: Desired): ReadonlySet<string> {
  const { applied } = recorded
  if (undecidedIntent(recorded) === undefined || applied === undefined || fingerprint === undefined)
    return new Set()
  return new Set(changedFields(applied.fields, fingerprint.fields))
}

/** Pipes that are recorded and not in the list, when these are too many to believe it. */
function doubtsOf(
  context: Pick<ReconcileContext, 'store' | 'clock'>,
  but: Key,
  { serviceId }: ServiceAccess,
  { items, askedAt }: Listing,
): MassMissing | undefined {
  const { store, clock } = context
  let of = 0
  let missing = 0
  for (const key of store.createdIn(serviceId, but)) {
    const record = store.record(key)
    const id = record?.remote?.id
    if (key === but || id === undefined || !isExpected(context, record)) continue
    // What was recorded since cannot be in it.
    if (clock.monotonic() - ageMs(store, key) >= askedAt) continue
    of += 1
    if (!items.has(id.toLowerCase())) missing += 1
  }
  const counts = { missing, of }
  return isMassMissing(counts) || (missing > 0 && items.size === 0) ? counts : undefined
}

/** Whether the pipe of a key is to be in the list: it is looked after, and nobody knows that it is gone. */
function isExpected(
  context: Pick<ReconcileContext, 'store' | 'clock'>,
  record: LedgerRecord | undefined,
): boolean {
  const { store, clock } = context
  if (record?.remote === undefined || store.desiredState(record.key) !== 'valid') return false
  // Its manifest only watches another one: nobody looks after what was created.
  if (store.lifecycleOf(record.key) !== 'create-once') return false
  const { key, remote } = record
  const entry = store.entry(key)
  if (isLeftAlone(entry, clock.now())) return false
  const isSaidGone =
    remote.saidGoneAt !== undefined || (remote.refutedAt === undefined && saysDeleted(entry, remote.id))
  const misses = store.observation(key)?.misses
  return !isSaidGone && !(misses !== undefined && isBelieved(misses, witnessOf(context, record, misses)))
}
