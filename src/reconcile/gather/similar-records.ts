import type { CreateOnceKind } from '../../kinds/definition.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { hasIdentity } from '../../kinds/identity.ts'
import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { kindOf, parseKey, type Key } from '../../kinds/key.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import { createOnceKindOf, type Profile } from '../../kinds/profile.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import { leftSomething } from '../../plan/gates.ts'
import type { Desired, Similar } from '../../plan/input.ts'
import { wasGivenUp } from '../../plan/missing.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Candidate, findSimilar } from '../../plan/rename-detection.ts'
import type { DesiredService } from './service-access.ts'
import type { Listing } from '../state/listings.ts'
import { isUnclaimed, type StateStore } from '../state/store.ts'

/** A valid manifest of something that has nothing on the platform that we know of. */
interface Uncreated {
  readonly manifest: ResourceManifest
  readonly desired: Desired
  readonly service: DesiredService
  readonly body: JsonObject | undefined
  /** All pipes of its service, if they were asked for. */
  readonly listing: Listing | undefined
}

interface Known {
  readonly profile: Profile
  readonly store: StateStore
}

/**
 * The record of another key that this may belong to. A create would make a second pipe.
 * @param recorded its own: with something that is not found, no other record can move here
 */
export function similarTo(known: Known, wanted: Uncreated, recorded: LedgerRecord): Similar | undefined {
  const { store } = known
  const named = recorded.remote === undefined ? namedRecord(store, wanted, recorded) : undefined
  if (named !== undefined) {
    const { record, by } = named
    const rival = rivalOf(store, wanted.desired.key, store.successors(record.key))
    return { key: record.key, how: 'renamed-from', file: record.file, by, rival }
  }
  const candidate = candidateOf(store, wanted, recorded)
  if (candidate === undefined) return undefined
  const related = notReplaced(store.similarTo(candidate), wanted)
  const isGone = ({ key }: LedgerRecord) => isUnclaimed(store.desiredState(key))
  const similarity = findSimilar(candidate, related.filter(isGone))
  if (similarity?.certainty === 'same') return { ...unclaimed(similarity.from, candidate), isSame: true }
  const kind = createOnceKindOf(known.profile, candidate.key)
  const holders = notReplaced(holdersByName(store, candidate, wanted.listing), wanted)
  const orphan = holders.find(isGone)
  if (orphan !== undefined) return listedOrphan(kind, { candidate, wanted, orphan })
  if (similarity !== undefined) return unclaimed(similarity.from, candidate)
  const seen = seenAlike(store, { candidate, wanted, kind })
  if (seen !== undefined) return unclaimed(seen, candidate)
  // A key that asks for what it had is stopped only by a pipe that took its name in the console.
  const isAsBefore =
    recorded.remote !== undefined && recorded.applied?.digest === candidate.fingerprint.digest
  const claimed = isAsBefore
    ? holders.find(({ platformName }) => platformName !== candidate.platformName)
    : (findSimilar({ ...candidate, identity: [] }, related)?.from ?? holders[0])
  return claimed && { key: claimed.key, how: 'claimed', file: claimed.file }
}

/** @param name the one that the pipe has, as far as it is known */
function unclaimed(
  { key, file, platformName }: LedgerRecord,
  candidate: Candidate,
  name = platformName,
): Similar {
  return { key, how: 'unclaimed', file, platformName: name === candidate.platformName ? undefined : name }
}

interface Named {
  readonly record: LedgerRecord
  readonly by: NonNullable<Similar['by']>
}

/** The record that `policy.renamedFrom` names, or of whose pipe `policy.adopt` or a Lock speaks while its manifest is gone. */
export function namedRecord(
  store: StateStore,
  { manifest, desired }: Pick<Uncreated, 'manifest' | 'desired'>,
  recorded: LedgerRecord,
): Named | undefined {
  const { renamedFrom, adopt } = manifest.policy ?? {}
  const from = renamedFrom === undefined ? undefined : parseKey(renamedFrom)
  const record = from === undefined ? undefined : store.record(from)
  if (record !== undefined && leftSomething(record)) return { record, by: 'policy.renamedFrom' }
  // An unknown outcome is settled by adopting.
  if (leftSomething(recorded)) return undefined
  const id = adopt ?? store.catalog?.locks.get(desired.key)
  const holder = id === undefined ? undefined : unclaimedHolderOf(store, id, desired.key)
  return holder && { record: holder, by: adopt === undefined ? 'a Lock' : 'policy.adopt' }
}

/** A record without a manifest that has the pipe with this id, or had it before the one that it has. */
function unclaimedHolderOf(store: StateStore, id: string, but: Key): LedgerRecord | undefined {
  for (const key of store.unclaimed()) {
    const record = key === but || kindOf(key) !== kindOf(but) ? undefined : store.record(key)
    if (record === undefined || !leftSomething(record)) continue
    if (sameId(record.remote?.id, id) || sameId(record.former?.remote.id, id)) return record
    if (wasGivenUp(record, id)) return record
  }
  return undefined
}

/** Another manifest that claims the same record: no reading tells whose it is. */
export function rivalOf(store: StateStore, key: Key, claiming: readonly Key[]): Key | undefined {
  return claiming.find((other) => {
    if (other === key || store.entry(other)?.state !== 'valid') return false
    const record = store.record(other)
    return record === undefined || !leftSomething(record)
  })
}

/** Whether no other manifest without a pipe asks for the same. */
export function isOnlyOne(store: StateStore, wanted: Omit<Uncreated, 'body' | 'listing'>): boolean {
  const candidate = candidateOf(store, wanted, undefined)
  return candidate !== undefined && rivalOf(store, candidate.key, store.alike(candidate)) === undefined
}

interface Sought {
  readonly candidate: Candidate
  readonly wanted: Uncreated
}

/** The list shows the pipe of a record without a manifest under the name that is asked for. */
function listedOrphan(
  kind: CreateOnceKind,
  { candidate, wanted, orphan }: Sought & { readonly orphan: LedgerRecord },
): Similar {
  const { body, listing } = wanted
  const [only, ...more] = listing?.named.get(candidate.platformName) ?? []
  const isOnly = only !== undefined && more.length === 0 && body !== undefined
  const isSame = isOnly && compareBody(kind.fields, body, only as JsonObject).length === 0 // it came as JSON
  return { ...unclaimed(orphan, candidate, candidate.platformName), isSame }
}

/** A record without a manifest whose pipe was last seen with the name or the identity that is asked for: its manifest may have said otherwise. */
function seenAlike(
  store: StateStore,
  { candidate, wanted, kind }: Sought & { readonly kind: CreateOnceKind },
): LedgerRecord | undefined {
  const { body, listing } = wanted
  const identity = candidate.identity === undefined ? undefined : kind.identity
  if (body === undefined) return undefined
  for (const key of store.unclaimed()) {
    const record = key === candidate.key || kindOf(key) !== kind.name ? undefined : store.record(key)
    if (record?.remote === undefined || key === wanted.manifest.policy?.replaces) continue
    if (!sameId(record.service?.serviceId, candidate.serviceId)) continue
    const listed = listing?.items.get(record.remote.id.toLowerCase()) as JsonObject | undefined // it came as JSON
    const there = listed ?? store.lastSeen(key)
    if (there === undefined) continue
    if (there['name'] === candidate.platformName) return record
    if (identity !== undefined && hasIdentity(identity, body, there)) return record
  }
  return undefined
}

/** Records of other keys whose pipe the list shows under the name that is asked for. */
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

/** Without the one that `policy.replaces` names: a person says that this is not that one. It speaks of no other one. */
function notReplaced(
  related: readonly LedgerRecord[],
  { manifest }: Pick<Uncreated, 'manifest'>,
): readonly LedgerRecord[] {
  return related.filter(({ key }) => key !== manifest.policy?.replaces)
}

/** @param recorded its own; one that has, or had, a pipe is not new: its identity says nothing */
function candidateOf(
  store: StateStore,
  { manifest, desired, service }: Pick<Uncreated, 'manifest' | 'desired' | 'service'>,
  recorded: LedgerRecord | undefined,
): Candidate | undefined {
  if (desired.fingerprint === undefined || !service.usable || !isCreateOnce(manifest)) return undefined
  const { digest, fields } = desired.fingerprint
  return {
    key: desired.key,
    serviceId: service.identity.serviceId,
    platformName: remoteNameOf(manifest),
    fingerprint: { digest, fields },
    ...(recorded?.remote === undefined && { identity: store.identityPathsOf(desired.key) }),
  }
}
