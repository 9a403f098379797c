import type { Entry } from '../../contract/catalog.ts'
import { changedSinceSync, flatLeaves, wasEmpty } from '../../kinds/since-sync.ts'
import { fieldOfPath } from '../../kinds/changes.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { type Key, kindOf } from '../../kinds/key.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { comparedBody } from '../../kinds/remote-resource.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import { isAllowed, deleteLimitOf, deletionDigest } from '../../plan/write-limits.ts'
import type { CreateOnceInput, DecideInput, DeletionFacts } from '../../plan/input.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { isLeftAlone } from '../state/entry-policy.ts'
import type { StateStore } from '../state/store.ts'
import { alikeTo } from './similar-records.ts'

interface About {
  readonly kind: CreateOnceKind
  readonly recorded: LedgerRecord
  readonly entry: Entry | undefined
}

export function deletionFacts(
  store: StateStore,
  { kind, recorded, entry }: About,
): DeletionFacts | undefined {
  const { remote } = recorded
  if (remote === undefined || kind.operations.delete === undefined) return undefined
  if (!mayBeDeleted(entry) && recorded.removal?.isSent !== true) return undefined
  return {
    get claimant() {
      return claimantOf(store, recorded, remote.id)
    },
    get limit() {
      return limitFor(store, recorded)
    },
    get isAllowed() {
      return isLetPass(store, recorded)
    },
  }
}

function mayBeDeleted(entry: Entry | undefined): boolean {
  const policy = entry?.manifest?.policy
  return policy?.ensure === 'absent' || policy?.onImmutable === 'replace'
}

/** Whether an edit might need a new pipe, so the checks before a create apply. */
export function mayBeReplaced(
  store: StateStore,
  entry: Entry | undefined,
  { remote, applied }: LedgerRecord,
): boolean {
  const manifest = entry?.manifest
  if (manifest?.policy?.onImmutable !== 'replace' || remote?.origin !== 'created') return false
  return store.asked(manifest)?.fingerprint.digest !== applied?.digest
}

function claimantOf(store: StateStore, record: LedgerRecord, id: string): Key | undefined {
  const { key } = record
  const isUnmoved = (other: Key) => store.record(other)?.remote === undefined
  const locked = [...(store.catalog?.locks ?? [])].find(([other, its]) => other !== key && sameId(its, id))
  return (
    store.holderOf(id, key) ??
    store.claimantOf(id, key) ??
    store.successors(key).find(isUnmoved) ??
    locked?.[0] ??
    store.successors(id.toLowerCase()).find((other) => other !== key) ??
    alikeTo(store, record)
  )
}

/** Another manifest, valid or not, of the endpoint to delete. */
export function sameEndpoint(store: StateStore, { key, manifest }: Entry): Key | undefined {
  if (manifest?.policy?.ensure !== 'absent') return undefined
  const service = serviceIn(store, serviceOf(manifest))
  const others = [...(store.catalog?.entries.values() ?? [])].filter(
    (other) => kindOf(other.key) === kindOf(key) && other.key !== key,
  )
  return others.find((other) => {
    const named = (other.manifest && serviceOf(other.manifest)) ?? other.stated?.service
    return other.manifest?.policy?.ensure !== 'absent' && serviceIn(store, named) === service
  })?.key
}

function serviceIn(store: StateStore, name = ''): string {
  return store.service(name)?.spec.serviceId.toLowerCase() ?? name
}

function limitFor(store: StateStore, recorded: LedgerRecord): DeletionFacts['limit'] {
  const { service } = recorded
  if (service === undefined || isLetPass(store, recorded)) return undefined
  let wanted = 1
  let of = 0
  for (const key of store.createdIn(service.serviceId, recorded.key)) {
    of += 1
    const other = store.record(key)
    if (key === recorded.key || other === undefined) continue
    if (isToBeDeleted(store, other) && !isLetPass(store, other)) wanted += 1
  }
  const reached = deleteLimitOf({ wanted, of })
  return reached && { service: service.name, ...reached }
}

function isToBeDeleted(store: StateStore, { key, removal, conditions }: LedgerRecord): boolean {
  if (removal?.isSent === true) return true
  if (conditions?.Synced.reason === 'Drifted') return false
  const entry = store.entry(key)
  const isAsked = entry?.state === 'valid' && entry.manifest?.policy?.ensure === 'absent'
  return removal !== undefined || (isAsked && !isLeftAlone(entry, store.steadyNow()))
}

function isLetPass(store: StateStore, record: LedgerRecord): boolean {
  const entry = store.entry(record.key)
  return entry !== undefined && isAllowed(record, deletionDigest(entry.digest, record), store.steadyNow())
}

function leftNow(
  store: StateStore,
  { kind, key }: { readonly kind: CreateOnceKind; readonly key: Key },
  there: JsonObject,
): Readonly<Record<string, string>> {
  const known = comparedBody(kind.fields, kind.setIn?.(there) ?? there)
  return store.hashesOf(key, flatLeaves(kind.fields, known, withoutSlow(kind, there)))
}

/** Drops the fields that the service shows only some time after a change. */
function withoutSlow({ changes }: CreateOnceKind, there: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(there).filter(([name]) => changes?.isSlow(name) !== true))
}

export function changedSince(
  store: StateStore,
  { kind, recorded, entry }: About,
  there: JsonObject | undefined,
): CreateOnceInput['changedSince'] {
  const { key, left, applied } = recorded
  if (left === undefined || there === undefined || left.digest !== applied?.digest) return undefined
  const fields = changedSinceSync(
    kind.fields,
    left.fields,
    leftNow(store, { kind, key }, there),
    applied.fields,
  )
  // During the wait before a deletion, a field that appears is no change, because services show some fields late.
  const isAbsent = entry?.manifest?.policy?.ensure === 'absent'
  const changed = isAbsent
    ? fields.filter(
        (path) =>
          left.fields[path] !== undefined ||
          path.includes(']') ||
          wasEmpty(kind.fields, left.fields, applied.fields, path),
      )
    : fields
  return [...new Set(changed.map(fieldOfPath))]
}

/** Ms. Fields that the service shows this long after an edit are still added to `left`. */
const LEARNS_MS = 60 * 60_000

/** The pipe's fields at the last check in sync. Undefined: a known manifest allows no deletion of the pipe. */
export function leftAfter(
  store: StateStore,
  input: DecideInput,
  { left, remote, change, command }: LedgerRecord,
): LedgerRecord['left'] {
  const { desired, observed, recorded, steadyNow } = input
  if (input.lifecycle !== 'create-once' || remote === undefined) return undefined
  const entry = store.entry(desired.key)
  if (entry?.manifest !== undefined && !mayBeDeleted(entry)) return undefined
  const isSettled = change === undefined && command === undefined
  if (observed.status !== 'found' || observed.there === undefined || !isSettled) return left
  const digest = recorded.applied?.digest
  const isSame = remote.id === recorded.remote?.id && desired.fingerprint?.digest === digest
  if (!isSame || digest === undefined || observed.differences.length > 0) return left
  const before = left?.digest === digest ? left : undefined
  const since = Math.min(before?.since ?? steadyNow, steadyNow)
  if (before !== undefined && steadyNow - since >= LEARNS_MS) return before
  const now = leftNow(store, { kind: input.kind, key: desired.key }, observed.there)
  const shown = before?.fields ?? {}
  if (input.policy.ensure !== 'absent') return { digest, since, fields: { ...shown, ...now } }
  // Before a deletion, only adds fields that were never shown: a changed field must prevent it.
  const { fields } = input.kind
  const asked = recorded.applied?.fields ?? {}
  const late = Object.entries(now).filter(([path]) => !wasEmpty(fields, shown, asked, path))
  return { digest, since, fields: { ...Object.fromEntries(late), ...shown } }
}
