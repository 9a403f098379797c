import type { Entry } from '../../contract/catalog.ts'
import { fieldOfPath } from '../../kinds/changes.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { comparedBody, isEmpty } from '../../kinds/remote-resource.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import { deleteLimitOf, deletionDigest, isAllowed } from '../../plan/write-limits.ts'
import type { CreateOnceInput, DecideInput, DeletionFacts } from '../../plan/input.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { isLeftAlone } from '../state/entry-policy.ts'
import type { StateStore } from '../state/store.ts'
import { alikeTo } from './similar-records.ts'
import type { Leaf } from '../../kinds/fingerprint.ts'
import { fieldFor, howOftenReturned, type Fields } from '../../kinds/field-table.ts'
import { canonicalLeaf, factsOfForm } from '../../kinds/leaf-forms.ts'
import { createLabels } from '../../kinds/record-pairs.ts'

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

/* A record has hashes of the reply at the last sync, to find fields that were changed elsewhere since then. */

/** Maximum items of a list that get hashes of their own, because records must stay small. */
const MAX_ITEMS = 10

const EMPTY = '.{}'

/** Canonical texts by field path. @param shown the same reply, before empty fields were removed */
export function flatLeaves(fields: Fields, reply: JsonObject, shown: JsonObject = {}): JsonObject {
  return Object.fromEntries([...leavesOf(fields, reply, ''), ...emptyLeaves(fields, shown, '')])
}

function emptyLeaves(fields: Fields, shown: JsonObject, prefix: string): readonly Leaf[] {
  return Object.entries(shown).flatMap(([name, inner]) => {
    if (inner === undefined || !Object.hasOwn(fields, name)) return []
    const path = `${prefix}${name}`
    if (isEmpty(inner)) return [[`${path}${EMPTY}`, 'empty']]
    const { keyedBy, fields: below } = fieldFor(fields, name, inner)
    return below !== undefined && keyedBy === undefined && isObject(inner)
      ? emptyLeaves(below, inner, `${path}.`)
      : []
  })
}

/**
 * Whether the field, or an object around it, was empty at the last sync. False for fields of the manifest, or of only
 * some replies.
 */
function wasEmpty(fields: Fields, left: Hashes, asked: Hashes, path: string): boolean {
  const isKnown = asked[path] !== undefined || howOftenReturned(fields, path) === 'at times'
  const names = isKnown ? [] : path.split('.')
  return names.some((_name, at) => left[`${names.slice(0, at + 1).join('.')}${EMPTY}`] !== undefined)
}

function leavesOf(fields: Fields, value: JsonObject, prefix: string): readonly Leaf[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    if (inner === undefined || inner === null) return []
    const path = `${prefix}${name}`
    const { form, keyedBy, fields: below } = fieldFor(fields, name, inner)
    if (form !== undefined) {
      const text = inner === factsOfForm(form).unset ? undefined : canonicalLeaf(form, inner)
      return text === undefined ? [] : [[path, text]]
    }
    if (keyedBy !== undefined) {
      const labelOf = createLabels(keyedBy)
      const items = (Array.isArray(inner) ? inner : [])
        .filter(isObject)
        .map((item) => ({ item, label: labelOf(item) }))
        .toSorted((a, b) => (a.label < b.label ? -1 : 1))
      const leaves = items.flatMap(({ item, label }, index) => {
        const place = `${path}[${items.length > MAX_ITEMS ? '' : index}]`
        const leaf: Leaf = [place, '']
        return [leaf, ...leavesOf(below, item, `${place}.`)].map(([field, text]): Leaf => [
          field,
          `${label}=${text}`,
        ])
      })
      return [...Map.groupBy(leaves, ([field]) => field)].map(([field, texts]): Leaf => [
        field,
        texts
          .map(([, text]) => text)
          .toSorted()
          .join('\n'),
      ])
    }
    return isObject(inner) ? leavesOf(below, inner, `${path}.`) : []
  })
}

type Hashes = Readonly<Record<string, string>>

/**
 * Sorted paths of the fields that changed since the last sync.
 * @param left hashes at the last sync
 * @param asked hashes of the manifest's fields. If replies now lack one of these fields, it counts as changed.
 */
function changedSinceSync(fields: Fields, left: Hashes, now: Hashes, asked: Hashes): readonly string[] {
  const isGone = (path: string) =>
    path.endsWith(']') || (asked[path] !== undefined && howOftenReturned(fields, path) === 'always')
  const paths = new Set([...Object.keys(left), ...Object.keys(now)])
  return [...paths]
    .filter((path) => !path.endsWith(EMPTY))
    .filter((path) => (now[path] === undefined ? isGone(path) : now[path] !== left[path]))
    .toSorted()
}
