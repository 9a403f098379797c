import type { Looks, ReadOptions, Reply, ServiceAccess } from '../../contract/platform.ts'
import type { Entry } from '../../contract/catalog.ts'
import type { CreateOnceKind, Kind } from '../../kinds/definition.ts'
import { ODD, oddItemsOf, type RemoteResource } from '../../kinds/remote-resource.ts'
import { isReturnedField } from '../../kinds/field-table.ts'
import { fieldOfPath } from '../../kinds/changes.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { changedFields } from '../../kinds/fingerprint.ts'
import { identityCheck } from '../../kinds/identity.ts'
import { isDeleting } from '../../kinds/state.ts'
import { nameOf, parseKey, type Key } from '../../kinds/key.ts'
import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { kindFor } from '../../kinds/profile.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import type { ListedCandidate, Desired, Listed } from '../../plan/input.ts'
import { isSize } from '../../plan/new-size.ts'
import { isMissingConfirmed, isMassMissing, type MassMissing } from '../../plan/missing.ts'
import { isOlder, undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import type { Listing } from '../state/listings.ts'
import type { StateStore } from '../state/store.ts'
import { isLeftAlone, saysDeleted } from '../state/entry-policy.ts'
import { desiredService, recordedAccess, type DesiredService } from './service-access.ts'
import { isAlone } from './siblings.ts'

/** Reconciles share a list for this long: ms. */
const SHARED_MS = 30_000
/** Ms. Maximum age of a list before a create, apart from a wait for the request budget. */
const BEFORE_CREATE_MS = 10_000

/** @returns undefined if the kind has no list @throws request errors */
export async function listingOf(
  context: ReconcileContext,
  about: {
    readonly key: Key
    readonly access: ServiceAccess
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
  return store.listings.since(name, { since, now, hasPlace: permit !== undefined }, async () => {
    const asked = permit === undefined ? platform.list(kind, access, options) : permit.list(kind, options)
    const reply = await asked
    reportOdd(context, { key, name }, reply.value)
    return reply
  })
}

/** The pipe in the shared list. Undefined: the last list failed or has no readable pipe. @throws request errors */
export async function listedReply(
  context: ReconcileContext,
  { key, access, id }: { readonly key: Key; readonly access: ServiceAccess; readonly id: string },
  options: ReadOptions,
): Promise<{ readonly reply: Reply<RemoteResource>; readonly askedAt: number } | undefined> {
  const kind = listedKind(context, key)
  if (kind === undefined) return undefined
  const failedAt = context.store.listings.failedAt(nameOfListing(kind, access)) ?? -Infinity
  if (context.clock.monotonic() - failedAt < SHARED_MS) return undefined
  const listing = await listingOf(context, { key, access, permit: undefined }, options)
  const value = listing?.items.get(id.toLowerCase())
  if (listing === undefined || value === undefined || value[ODD] !== undefined) return undefined
  return { reply: { ...listing.reply, value }, askedAt: listing.askedAt }
}

function reportOdd(
  { store, emit }: ReconcileContext,
  { key, name }: { readonly key: Key; readonly name: string },
  list: readonly RemoteResource[],
): void {
  const items = oddItemsOf(list)
  if (items.length === 0 || items.join() === store.listings.last(name)?.odd.join()) return
  const manifest = store.entry(key)?.manifest
  const service = (manifest && serviceOf(manifest)) ?? store.record(key)?.service?.name ?? ''
  emit({ type: 'ListItemsOdd', service, items })
}

/** Monotonic ms. A list requested before this time might not show the key's last write or reading. */
function freshSince(store: StateStore, key: Key): number {
  const last = Math.max(lastWriteOf(store, key), store.observation(key)?.readAt ?? -Infinity)
  return last + 1
}

export function lastWriteOf(store: StateStore, key: Key): number {
  const manifest = store.entry(key)?.manifest
  const service = desiredService(store, manifest)
  const isCreate = manifest !== undefined && isCreateOnce(manifest) && service.usable
  const created = isCreate ? { serviceId: service.access.serviceId, name: remoteNameOf(manifest) } : undefined
  return store.lastWrites.endedAt({ key, created })
}

/** Includes the name of the secret, because another API key might see other pipes. */
export function nameOfListing(
  { name }: Pick<CreateOnceKind, 'name'>,
  { serviceId, secretName }: ServiceAccess,
): string {
  return `${name} ${serviceId.toLowerCase()} ${secretName}`
}

export function listedKind({ profile, store }: ReconcileContext, key: Key): CreateOnceKind | undefined {
  const held = { key, manifest: store.entry(key)?.manifest, record: store.record(key) }
  const kind = kindFor(profile, held)
  return isListable(kind) ? kind : undefined
}

export function isListable(kind: Kind): kind is CreateOnceKind {
  return kind.lifecycle === 'create-once' && kind.operations.list !== undefined
}

/** Also true if the list lacks so many other pipes that it is doubtful. @throws request errors */
export async function mightBeListed(
  context: ReconcileContext,
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

export interface ListedInput {
  readonly entry: Entry | undefined
  readonly recorded: LedgerRecord
  readonly desired: Desired
  readonly service: DesiredService
  readonly body: JsonObject | undefined
  readonly listing: Listing | undefined
}

/** Finds listed pipes that might be the key's pipe, if that pipe is missing or not created. */
export function listedFor(
  context: ReconcileContext,
  { entry, recorded, desired, service, body, listing }: ListedInput,
): Listed | undefined {
  const manifest = entry?.manifest
  if (listing === undefined || manifest === undefined || body === undefined || !service.usable)
    return undefined
  const { store } = context
  const { key } = desired
  const kind = listedKind(context, key)
  if (kind === undefined) return undefined
  const intent = undecidedIntent(recorded)
  // The create went to another service, so this list cannot show the pipe.
  if (intent !== undefined && desired.otherService) return undefined
  const name = (intent && recorded.platformName) ?? remoteNameOf(manifest)
  const edited = editedSince(recorded, desired)
  const candidates: ListedCandidate[] = []
  const earlier = intent === undefined ? earlierName(manifest) : undefined
  const names = new Set([name, undefined, earlier])
  const named = [...names].flatMap((each) => listing.named.get(each) ?? [])
  const others = intent === undefined ? alikeUnderOtherNames(names) : []
  for (const item of [...named, ...others]) {
    if (isHeld(item) || (item.name !== name && sameId(item.id, manifest.policy?.replaces))) continue
    if (typeof item.serviceId === 'string' && !sameId(item.serviceId, service.access.serviceId)) continue
    if (intent !== undefined && isOlder(item.createdAt, intent) === true) continue
    const there = item as JsonObject // parsed JSON
    const odd = item[ODD]?.fields ?? []
    const fields = compareBody(kind.fields, body, there).map(({ field }) => field)
    const gone = isDeleting(kind.changes?.rest, item.state) ? ['state'] : []
    const about = kind.changes && { changes: kind.changes, compared: { desired: body, observed: there } }
    const isLeftOut = (field: string) => intent !== undefined && about !== undefined && isSize(field, about)
    const unlike = fields.filter((field) => !edited.has(field) && !isLeftOut(fieldOfPath(field)))
    const differs = [...unlike, ...unlikeThen(there), ...gone]
    // A pipe without a name is a candidate only if its readable fields are equal.
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

  function isHeld({ id }: RemoteResource): boolean {
    const isOwn = [recorded.remote?.id, recorded.former?.remote.id].some((own) => sameId(own, id))
    return isOwn || store.holderOf(id, key) !== undefined
  }

  /** Equal pipes with another name, because a console can rename a pipe. */
  function alikeUnderOtherNames(known: ReadonlySet<string | undefined>): readonly RemoteResource[] {
    if (kind === undefined || body === undefined || listing === undefined) return []
    const isAlike =
      kind.identity === undefined
        ? (there: JsonObject) => compareBody(kind.fields, body, there).every(({ field }) => field === 'name')
        : identityCheck(kind.identity, body)
    return [...listing.items.values()].filter(
      (item) => !known.has(item.name ?? undefined) && !isHeld(item) && isAlike(item as JsonObject), // parsed JSON
    )
  }

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

function earlierName({ policy }: ResourceManifest): string | undefined {
  const from = policy?.renamedFrom === undefined ? undefined : parseKey(policy.renamedFrom)
  return from && nameOf(from)
}

function editedSince(recorded: LedgerRecord, { fingerprint }: Desired): ReadonlySet<string> {
  const { applied } = recorded
  if (undecidedIntent(recorded) === undefined || applied === undefined || fingerprint === undefined)
    return new Set()
  return new Set(changedFields(applied.fields, fingerprint.fields))
}

/** Counts recorded pipes that the list lacks. Undefined: so few that the list is not doubtful. */
function doubtsOf(
  context: ReconcileContext,
  but: Key,
  { serviceId }: ServiceAccess,
  { items, askedAt }: Listing,
): MassMissing | undefined {
  const { store, clock } = context
  let of = 0
  let missing = 0
  for (const key of store.createdIn(serviceId, but)) {
    const record = store.record(key)
    const { remote } = record ?? {}
    if (key === but || remote === undefined || !isExpected(context, record)) continue
    const ageMs = store.ageMs(key) ?? Math.abs(store.steadyNow() - remote.at)
    if (clock.monotonic() - ageMs >= askedAt) continue
    of += 1
    if (!items.has(remote.id.toLowerCase())) missing += 1
  }
  const counts = { missing, of }
  return isMassMissing(counts) || (missing > 0 && items.size === 0) ? counts : undefined
}

function isExpected(context: ReconcileContext, record: LedgerRecord | undefined): boolean {
  const { store, clock } = context
  if (record?.remote === undefined || store.desiredState(record.key) !== 'valid') return false
  if (store.lifecycleOf(record.key) !== 'create-once') return false
  const { key, remote } = record
  const entry = store.entry(key)
  if (isLeftAlone(entry, clock.now())) return false
  if (record.removal?.isSent === true) return false
  const isSaidGone =
    remote.saidGoneAt !== undefined || (remote.refutedAt === undefined && saysDeleted(entry, remote.id))
  const misses = store.observation(key)?.misses
  return !isSaidGone && !(misses !== undefined && isMissingConfirmed(misses, isAlone(context, record)))
}
