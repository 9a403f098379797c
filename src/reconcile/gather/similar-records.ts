import type { CreateOnceKind } from '../../kinds/definition.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { identityCheck, isSameIdentity, sourceIn } from '../../kinds/identity.ts'
import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { kindOf, parseKey, type Key } from '../../kinds/key.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import { mightHaveResource } from '../../plan/gates.ts'
import type { Claim, Desired, Similar } from '../../plan/input.ts'
import { wasGivenUp } from '../../plan/missing.ts'
import { blankRecord, type Fingerprint, type LedgerRecord } from '../../plan/record.ts'
import { type Candidate, findSimilar } from '../../plan/rename-detection.ts'
import type { ReconcileContext } from '../context.ts'
import type { ListedInput } from './listing.ts'
import { desiredService } from './service-access.ts'
import type { Listing } from '../state/listings.ts'
import { isUnclaimed, type StateStore } from '../state/store.ts'

interface Uncreated extends Pick<ListedInput, 'desired' | 'service' | 'body' | 'listing'> {
  readonly manifest: ResourceManifest
}

/** Another key's record whose pipe this manifest might describe: a create would make a second pipe. */
export function similarTo(
  { profile, store }: ReconcileContext,
  wanted: Uncreated,
  recorded: LedgerRecord,
): Similar | undefined {
  const named = recorded.remote === undefined ? namedRecord(store, wanted, recorded) : undefined
  if (named !== undefined) {
    const { record, by } = named
    const rival = rivalOf(store, wanted.desired.key, store.successors(record.key))
    return { key: record.key, how: 'renamed-from', file: record.file, by, rival }
  }
  const candidate = candidateOf(store, wanted, recorded)
  if (candidate === undefined) return undefined
  const related = notReplaced(store, store.similarTo(candidate), wanted)
  const isGone = ({ key }: LedgerRecord) => isUnclaimed(store.desiredState(key))
  const similarity = findSimilar(candidate, related.filter(isGone))
  const { replaces } = wanted.manifest.policy ?? {}
  if (similarity?.certainty === 'same') {
    const { from } = similarity
    const isAsApplied = from.applied?.digest === candidate.fingerprint.digest
    const isSame = from.key !== replaces && (isAsApplied || alikeTo(store, from) === undefined)
    return { ...unclaimed(from, candidate), isSame }
  }
  const kind = createOnceKindOf(profile, candidate.key)
  const holders = notReplaced(store, holdersByName(store, candidate, wanted.listing), wanted)
  const orphan = holders.find(isGone)
  if (orphan !== undefined) return listedOrphan(kind, { candidate, wanted, orphan })
  if (similarity !== undefined) return unclaimed(similarity.from, candidate)
  const sought = { candidate, wanted, kind }
  const seen = seenAlike(store, sought, store.unclaimed())
  if (seen !== undefined) return unclaimed(seen, candidate)
  const isAsBefore =
    recorded.remote !== undefined && recorded.applied?.digest === candidate.fingerprint.digest
  const claimed = isAsBefore
    ? holders.find(({ platformName }) => platformName !== candidate.platformName)
    : (related.find((record) => isSimilarBeside(store, candidate, record)) ??
      holders[0] ??
      seenAlike(store, sought, store.seenOtherwise()) ??
      adopterLike(store, sought))
  return claimed && { key: claimed.key, how: 'claimed', file: claimed.file }
}

/** Another manifest that adopts a pipe like this one soon. Until then, the ledger does not show that pipe. */
function adopterLike(store: StateStore, { candidate, wanted }: Sought): LedgerRecord | undefined {
  if (idFromGit(store, wanted.manifest, candidate.key) !== undefined) return undefined
  for (const key of store.adopters()) {
    const record = store.record(key) ?? blankRecord(key)
    if (mightHaveResource(record) || key === wanted.manifest.policy?.replaces) continue
    const entry = store.entry(key)
    const manifest = entry?.manifest
    const service = desiredService(store, manifest)
    const asked = manifest && store.asked(manifest)
    if (!service.usable || asked === undefined || manifest?.policy?.ensure === 'absent') continue
    const id = idFromGit(store, manifest, key)
    if (id === undefined || wasGivenUp(record, id)) continue
    const adopted: LedgerRecord = {
      ...record,
      file: entry?.position.file,
      service: service.identity,
      platformName: manifest && remoteNameOf(manifest),
      applied: { ...asked.fingerprint, secrets: {} },
      remote: { id, at: 0, origin: 'adopted', revision: '' },
    }
    const isListedAlike = wanted.listing?.named.get(candidate.platformName)?.some((one) => sameId(one.id, id))
    if (isListedAlike === true || findSimilar(candidate, [adopted]) !== undefined) return adopted
  }
  return undefined
}

function idFromGit(store: StateStore, manifest: ResourceManifest | undefined, key: Key): string | undefined {
  return manifest?.policy?.adopt ?? store.lockedId(key)
}

/** Compares without source and destination if the record's manifest still has them: two pipes can share them. */
function isSimilarBeside(store: StateStore, candidate: Candidate, record: LedgerRecord): boolean {
  const { key, applied } = record
  const { state, manifest } = store.entry(key) ?? {}
  const asked = state === 'valid' && manifest && store.asked(manifest)?.fingerprint
  const isKept = asked && isSameIdentity(store.identityPathsOf(key), applied?.fields ?? {}, asked.fields)
  const there = { ...record, wanted: undefined }
  return findSimilar(isKept ? { ...candidate, identity: [] } : candidate, [there]) !== undefined
}

function unclaimed(
  { key, file, platformName, remote }: LedgerRecord,
  candidate: Candidate,
  name = platformName,
): Similar {
  const foreign = remote?.foreign
  const otherName = name === candidate.platformName ? undefined : name
  return { key, how: 'unclaimed', file, platformName: otherName, foreign }
}

export function namedRecord(
  store: StateStore,
  { manifest, desired }: Pick<Uncreated, 'manifest' | 'desired'>,
  recorded: LedgerRecord,
): { readonly record: LedgerRecord; readonly by: NonNullable<Similar['by']> } | undefined {
  const { renamedFrom, adopt, replaces } = manifest.policy ?? {}
  const from = renamedFrom === undefined ? undefined : parseKey(renamedFrom)
  const record = from === undefined ? undefined : store.record(from)
  if (record !== undefined && mightHaveResource(record)) return { record, by: 'policy.renamedFrom' }
  if (mightHaveResource(recorded)) return undefined
  const id = idFromGit(store, manifest, desired.key)
  const holder = id === undefined ? undefined : unclaimedHolderOf(store, id, desired.key)
  if (holder === undefined || holder.key === replaces) return undefined
  return { record: holder, by: adopt === undefined ? 'a Lock' : 'policy.adopt' }
}

function unclaimedHolderOf(store: StateStore, id: string, but: Key): LedgerRecord | undefined {
  for (const key of store.unclaimed()) {
    const record = key === but || kindOf(key) !== kindOf(but) ? undefined : store.record(key)
    if (record === undefined || !mightHaveResource(record)) continue
    if (sameId(record.remote?.id, id) || sameId(record.former?.remote.id, id)) return record
    if (wasGivenUp(record, id)) return record
  }
  return undefined
}

/** Finds another manifest that wants this record's pipe and has no pipe. Ignores manifests with `ensure: absent`. */
export function claimOn(
  store: StateStore,
  record: LedgerRecord,
  asked: Desired['fingerprint'],
): Claim | undefined {
  const { key, remote, applied } = record
  if (remote === undefined) return undefined
  const id = remote.id.toLowerCase()
  const isFree = (other: Key) =>
    other !== key &&
    store.record(other)?.remote === undefined &&
    store.entry(other)?.manifest?.policy?.ensure !== 'absent'
  const successor = store.successors(key).find(isFree)
  if (successor !== undefined) return { key: successor, by: 'policy.renamedFrom' }
  const named = store.successors(id).find(isFree)
  if (named !== undefined)
    return { key: named, by: store.catalog?.locks.get(named) === id ? 'a Lock' : 'policy.adopt' }
  if (asked === undefined || applied === undefined || asked.digest === applied.digest) return undefined
  if (isSameIdentity(store.identityPathsOf(key), applied.fields, asked.fields)) return undefined
  const like = alikeTo(store, record)
  return like && { key: like, by: undefined }
}

/** @returns the key of another manifest that has no pipe yet and describes exactly the pipe of this record */
export function alikeTo(store: StateStore, { key, service, applied }: LedgerRecord): Key | undefined {
  if (service === undefined || applied === undefined) return undefined
  const alike = store.alike({ key, serviceId: service.serviceId, fingerprint: applied })
  return rivalOf(
    store,
    key,
    alike.filter((other) => store.entry(other)?.manifest?.policy?.replaces !== key),
  )
}

export function rivalOf(store: StateStore, key: Key, claiming: readonly Key[]): Key | undefined {
  return claiming.find((other) => {
    if (other === key || store.entry(other)?.state !== 'valid') return false
    const record = store.record(other)
    return record === undefined || !mightHaveResource(record)
  })
}

export function isOnlyOne(store: StateStore, wanted: Omit<Uncreated, 'body' | 'listing'>): boolean {
  const candidate = candidateOf(store, wanted, undefined)
  return candidate !== undefined && rivalOf(store, candidate.key, store.alike(candidate)) === undefined
}

interface Sought {
  readonly candidate: Candidate
  readonly wanted: Uncreated
}

function listedOrphan(
  kind: CreateOnceKind,
  { candidate, wanted, orphan }: Sought & { readonly orphan: LedgerRecord },
): Similar {
  const { body, listing } = wanted
  const [only, ...more] = listing?.named.get(candidate.platformName) ?? []
  const isOnly = only !== undefined && more.length === 0 && body !== undefined
  const isMeant = orphan.key !== wanted.manifest.policy?.replaces
  const isSame = isMeant && isOnly && compareBody(kind.fields, body, only as JsonObject).length === 0 // parsed JSON
  return { ...unclaimed(orphan, candidate, candidate.platformName), isSame }
}

/** The record of one of these keys whose pipe was last seen with the desired name or identity. */
function seenAlike(
  store: StateStore,
  { candidate, wanted, kind }: Sought & { readonly kind: CreateOnceKind },
  keys: Iterable<Key>,
): LedgerRecord | undefined {
  const { body, listing } = wanted
  if (body === undefined) return undefined
  const identity = candidate.identity === undefined ? undefined : kind.identity
  let hasIdentity: ReturnType<typeof identityCheck> | undefined
  let wantedAs: Fingerprint['fields'] | undefined
  for (const key of keys) {
    const record = key === candidate.key || kindOf(key) !== kind.name ? undefined : store.record(key)
    if (record?.remote === undefined || key === wanted.manifest.policy?.replaces) continue
    if (!sameId(record.service?.serviceId, candidate.serviceId)) continue
    const listed = listing?.items.get(record.remote.id.toLowerCase()) as JsonObject | undefined // parsed JSON
    const { seenAs } = record.remote
    if (listed === undefined) {
      if (seenAs === undefined) continue
      wantedAs ??= store.identityHashes(candidate.key, body)
      if (isSeenAs(seenAs, wantedAs)) return record
      continue
    }
    if (listed['name'] === candidate.platformName) return record
    hasIdentity ??= identity && identityCheck(identity, body)
    if (hasIdentity?.(listed) === true) return record
  }
  return undefined
}

function isSeenAs(seen: Fingerprint['fields'], { name, ...identity }: Fingerprint['fields']): boolean {
  const paths = Object.keys(identity)
  const isNamed = sourceIn(paths, identity) !== undefined
  return seen['name'] === name || (isNamed && paths.every((path) => seen[path] === identity[path]))
}

function holdersByName(
  store: StateStore,
  { key, platformName }: Candidate,
  listing: Listing | undefined,
): readonly LedgerRecord[] {
  const listed = listing?.named.get(platformName) ?? []
  return listed.flatMap(({ id }) => {
    const holder = store.holderOf(id, key)
    return (holder && store.record(holder)) ?? []
  })
}

/** Drops the record in `policy.replaces`: it is similar on purpose. Keeps an orphan with unsupported settings. */
function notReplaced(
  store: StateStore,
  related: readonly LedgerRecord[],
  { manifest }: Pick<Uncreated, 'manifest'>,
): readonly LedgerRecord[] {
  const isKept = ({ key, remote }: LedgerRecord) =>
    remote?.foreign !== undefined && isUnclaimed(store.desiredState(key))
  return related.filter((record) => record.key !== manifest.policy?.replaces || isKept(record))
}

function candidateOf(
  store: StateStore,
  { manifest, desired, service }: Pick<Uncreated, 'manifest' | 'desired' | 'service'>,
  recorded: LedgerRecord | undefined,
): Candidate | undefined {
  if (desired.fingerprint === undefined || !service.usable || !isCreateOnce(manifest)) return undefined
  const { digest, fields } = desired.fingerprint
  const identity = store.identityPathsOf(desired.key)
  const own = recorded?.remote && (recorded.applied?.fields ?? fields)
  return {
    key: desired.key,
    serviceId: service.identity.serviceId,
    platformName: remoteNameOf(manifest),
    fingerprint: { digest, fields },
    ...(!(own && isSameIdentity(identity, own, fields)) && { identity }),
  }
}
