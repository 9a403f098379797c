import type { Entry } from '../../contract/catalog.ts'
import { changedSinceLeft, flatLeaves } from '../../kinds/as-left.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { comparedBody } from '../../kinds/remote-resource.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import { isAllowed } from '../../plan/create-limit.ts'
import { deleteLimitOf, deletionDigest } from '../../plan/delete-limit.ts'
import { leftSomething } from '../../plan/gates.ts'
import type { CreateOnceInput, DeletionFacts, Desired } from '../../plan/input.ts'
import { findSimilar } from '../../plan/rename-detection.ts'
import type { LedgerRecord, Remote } from '../../plan/record.ts'
import type { StateStore } from '../state/store.ts'
import { appliedBeside, heldForAll } from './removal-facts.ts'
import { desiredService, type DesiredService } from './service-access.ts'

interface About {
  readonly kind: CreateOnceKind
  readonly desired: Desired
  readonly recorded: LedgerRecord
  readonly service: DesiredService
  readonly entry: Entry | undefined
}

/** What bears on the deletion of what was created; undefined: nobody asks for that. */
export function deletionFacts(store: StateStore, about: About): DeletionFacts | undefined {
  const { kind, desired, recorded, service, entry } = about
  const { remote } = recorded
  if (remote === undefined || kind.operations.delete === undefined) return undefined
  const isAsked =
    desired.state === 'absent'
      ? recorded.onRemove === 'delete' || recorded.removal?.isSent === true
      : entry?.manifest?.policy?.onImmutable === 'replace' || recorded.removal?.isSent === true
  if (!isAsked) return undefined
  return {
    ...heldForAll(store, recorded, service),
    staysBehind: kind.staysBehind,
    get claimant() {
      return claimantOf(store, recorded, remote)
    },
    get limit() {
      return limitFor(store, recorded, desired.state)
    },
    get isAllowed() {
      return isLetPass(store, recorded, desired.state)
    },
  }
}

/** Whether a manifest was edited and lets what was created be deleted for that: what keeps a new one from being created keeps it. */
export function mayBeReplaced(
  store: StateStore,
  entry: Entry | undefined,
  { remote, applied }: LedgerRecord,
): boolean {
  const manifest = entry?.manifest
  if (manifest?.policy?.onImmutable !== 'replace' || remote?.origin !== 'created') return false
  return store.asked(manifest)?.fingerprint.digest !== applied?.digest
}

/** Another manifest that asks for it, or may. */
function claimantOf(store: StateStore, recorded: LedgerRecord, { id }: Remote): Key | undefined {
  const { key } = recorded
  const named = store.holderOf(id, key) ?? store.claimantOf(id, key) ?? successorOf(store, key)
  if (named !== undefined) return named
  for (const [other, locked] of store.catalog?.locks ?? [])
    if (other !== key && sameId(locked, id)) return other
  for (const entry of store.catalog?.entries.values() ?? [])
    if (entry.key !== key && kindOf(entry.key) === kindOf(key) && mayBe(store, entry, recorded, id))
      return entry.key
  return undefined
}

/** Whether manifests, or the reading of them, stand in the way of a deletion of which no request was sent. */
export function isHeldNow(store: StateStore, record: LedgerRecord): boolean {
  const { key, remote, removal } = record
  if (removal?.isSent === true) return false
  const held = heldForAll(store, record, desiredService(store, store.entry(key)?.manifest))
  if (held.doubt !== undefined || !held.isReachable || held.unread.length > 0) return true
  const other = remote === undefined ? appliedBeside(store, record) : claimantOf(store, record, remote)
  return other !== undefined
}

/** One whose manifest says that it was this one, and has nothing itself: a rename that was carried out stays written down. */
function successorOf(store: StateStore, key: Key): Key | undefined {
  return store.successors(key).find((other) => !hasSomething(store, other))
}

function hasSomething(store: StateStore, key: Key): boolean {
  const record = store.record(key)
  return record !== undefined && leftSomething(record)
}

/** Whether the manifest of another key may ask for what this record has: it has nothing itself, and is like it, or cannot be read. */
function mayBe(
  store: StateStore,
  { key, state, manifest }: Entry,
  recorded: LedgerRecord,
  id: string,
): boolean {
  if (sameId(manifest?.policy?.adopt, id)) return true
  // One that is only watched is asked for by its id.
  if (manifest !== undefined && !isCreateOnce(manifest)) {
    const { id: watched } = manifest.spec
    return typeof watched === 'string' && sameId(watched, id)
  }
  // Nobody knows what it asks for now, and what was last valid may have asked for something else.
  if (state === 'invalid') return true
  if (hasSomething(store, key)) return false
  if (manifest === undefined) return true
  if (manifest.policy?.replaces === recorded.key) return false
  const service = desiredService(store, manifest)
  const asked = store.asked(manifest)
  if (!service.usable || asked === undefined) return true
  const { serviceId } = service.identity
  const platformName = remoteNameOf(manifest)
  return (
    findSimilar({ key, serviceId, platformName, fingerprint: asked.fingerprint }, [recorded]) !== undefined
  )
}

function limitFor(
  store: StateStore,
  recorded: LedgerRecord,
  state: Desired['state'],
): DeletionFacts['limit'] {
  const { service } = recorded
  if (service === undefined || isLetPass(store, recorded, state)) return undefined
  let wanted = 1
  let of = 0
  for (const key of store.createdIn(service.serviceId, recorded.key)) {
    of += 1
    const other = store.record(key)
    if (key === recorded.key || other === undefined) continue
    const its = store.desiredState(key)
    if (isToBeDeleted(other, its) && !isLetPass(store, other, its)) wanted += 1
  }
  const reached = deleteLimitOf({ wanted, of })
  return reached && { service: service.name, ...reached }
}

/** As far as is known without looking at it: what is kept anyhow makes no other wait. */
function isToBeDeleted(
  { remote, onRemove, removal, left, applied }: LedgerRecord,
  state: Desired['state'],
): boolean {
  if (remote?.origin !== 'created' || removal?.isKept === true || removal?.heldBy === 'manifests')
    return false
  if (state === 'absent')
    return onRemove === 'delete' && left !== undefined && left.digest === applied?.digest
  return removal?.digest !== undefined
}

/** Whether the limit on deletions holds back one whose manifest is gone. */
export function isDeletionLimited(store: StateStore, record: LedgerRecord): boolean {
  return record.removal?.isSent !== true && limitFor(store, record, 'absent') !== undefined
}

/** A person said so. */
function isLetPass(store: StateStore, record: LedgerRecord, state: Desired['state']): boolean {
  const manifest = state === 'absent' ? undefined : store.entry(record.key)?.digest
  return isAllowed(record, deletionDigest(manifest, record), store.steadyNow())
}

/** The hashes of what is there, as it is compared. */
export function leftNow(
  store: StateStore,
  { kind, key }: { readonly kind: CreateOnceKind; readonly key: Key },
  there: JsonObject,
): Readonly<Record<string, string>> {
  const fields = { ...kind.fields, ...kind.others }
  const known = comparedBody(fields, kind.setIn?.(there) ?? there)
  return store.hashesOf(key, flatLeaves(fields, known))
}

/** Fields that are not as they were when it was last in sync; undefined: nobody knows. */
export function changedSince(
  store: StateStore,
  { kind, desired: { key }, recorded }: Pick<About, 'kind' | 'desired' | 'recorded'>,
  there: JsonObject | undefined,
): CreateOnceInput['changedSince'] {
  const { left, applied } = recorded
  if (left === undefined || there === undefined || left.digest !== applied?.digest) return undefined
  return changedSinceLeft(kind.fields, left.fields, leftNow(store, { kind, key }, there), applied.fields)
}
