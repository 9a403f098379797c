import { type Key, kindOf } from '../../kinds/key.ts'
import type { Catalog, Entry } from '../../contract/catalog.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import { type Candidate, hashesOfCandidate, hashesOfRecord } from '../../plan/rename-detection.ts'
import type { LedgerRecord } from '../../plan/record.ts'

export function createKeyGroups() {
  const groupOf = new Map<Key, string>()
  const members = new Map<string, Set<Key>>()

  function leave(key: Key): void {
    const group = groupOf.get(key)
    const keys = group === undefined ? undefined : members.get(group)
    groupOf.delete(key)
    keys?.delete(key)
    if (group !== undefined && keys?.size === 0) members.delete(group)
  }

  return {
    put(key: Key, group: string | undefined) {
      if (groupOf.get(key) === group) return
      leave(key)
      if (group === undefined) return
      groupOf.set(key, group)
      members.getOrInsertComputed(group, () => new Set()).add(key)
    },
    of: (group: string): Iterable<Key> => members.get(group) ?? [],
  }
}

export function indexDependents({ entries }: Catalog): ReadonlyMap<string, readonly Key[]> {
  return keysBy(entries.values(), ({ manifest }) => (manifest === undefined ? [] : dependenciesOf(manifest)))
}

export function indexSuccessors({ entries, locks }: Catalog): ReadonlyMap<string, readonly Key[]> {
  return keysBy(entries.values(), ({ key, manifest, stated }) => {
    const { renamedFrom, adopt } = manifest?.policy ?? {}
    const all = [renamedFrom, adopt, locks.get(key), ...(stated?.claims ?? [])]
    const named = all.filter((each) => each !== undefined)
    return [...new Set(named.map((each) => (each.includes('/') ? each : each.toLowerCase())))]
  })
}

function keysBy(
  entries: Iterable<Entry>,
  groupsOf: (entry: Entry) => string | readonly string[],
): ReadonlyMap<string, readonly Key[]> {
  const index = new Map<string, Key[]>()
  for (const entry of entries)
    for (const group of [groupsOf(entry)].flat()) index.getOrInsert(group, []).push(entry.key)
  return index
}

function dependenciesOf(manifest: ResourceManifest): readonly string[] {
  const named = manifest.policy?.dependsOn ?? []
  const service = serviceOf(manifest)
  return service === undefined ? named : [...named, serviceKey(service)]
}

/** Keys of records whose manifest is gone or seems gone. */
export function createUnclaimedRecords(records: () => Iterable<Key>, isUnclaimed: (key: Key) => boolean) {
  let known: Set<Key> | undefined
  return {
    keys: (): Iterable<Key> => (known ??= new Set([...records()].filter(isUnclaimed))),
    note(key: Key) {
      if (known !== undefined && isUnclaimed(key)) known.add(key)
    },
    drop: (key: Key) => void known?.delete(key),
    reset() {
      known = undefined
    },
  }
}

export function createEqualManifestIndex(
  askedOf: (entry: Entry) => { readonly serviceId: string; readonly digest: string } | undefined,
) {
  let catalog: Catalog | undefined
  let keysOf: ReadonlyMap<string, readonly Key[]> | undefined

  function namesOf(entry: Entry): string | readonly string[] {
    const { key, manifest } = entry
    if (manifest === undefined || !isCreateOnce(manifest)) return []
    const asked = manifest.policy?.ensure === 'absent' ? undefined : askedOf(entry)
    return asked === undefined ? [] : nameOf(key, asked)
  }

  return {
    setCatalog(next: Catalog) {
      catalog = next
      keysOf = undefined
    },
    of({
      key,
      serviceId,
      fingerprint,
    }: Pick<Candidate, 'key' | 'serviceId' | 'fingerprint'>): readonly Key[] {
      keysOf ??= keysBy(catalog?.entries.values() ?? [], namesOf)
      return keysOf.get(nameOf(key, { serviceId, digest: fingerprint.digest })) ?? []
    },
  }
}

function nameOf(
  key: Key,
  { serviceId, digest }: { readonly serviceId: string; readonly digest: string },
): string {
  return `${kindOf(key)} ${serviceId.toLowerCase()} ${digest}`
}

type Index = Map<number, Key | Set<Key>>

export function createSimilarIndex(
  records: () => Iterable<LedgerRecord>,
  identityOf: (key: Key) => readonly string[],
) {
  let keysOf: Index | undefined

  function hashesOf(record: LedgerRecord): readonly number[] {
    return hashesOfRecord(record, identityOf(record.key))
  }

  function made(): Index {
    const index: Index = new Map()
    for (const record of records()) for (const hash of hashesOf(record)) add(index, hash, record.key)
    return index
  }

  return {
    replace(before: LedgerRecord | undefined, after: LedgerRecord | undefined) {
      if (keysOf === undefined) return
      const old = before === undefined ? [] : hashesOf(before)
      const hashes = after === undefined ? [] : hashesOf(after)
      if (before !== undefined)
        for (const hash of old) if (!hashes.includes(hash)) remove(keysOf, hash, before.key)
      if (after !== undefined)
        for (const hash of hashes) if (!old.includes(hash)) add(keysOf, hash, after.key)
    },
    of(candidate: Candidate): readonly Key[] {
      keysOf ??= made()
      const found = new Set<Key>()
      for (const hash of hashesOfCandidate(candidate)) {
        const keys = keysOf.get(hash) ?? []
        for (const key of typeof keys === 'string' ? [keys] : keys) found.add(key)
      }
      found.delete(candidate.key)
      return [...found].toSorted()
    },
  }
}

function remove(index: Index, hash: number, key: Key): void {
  const keys = index.get(hash)
  if (typeof keys === 'object') keys.delete(key)
  if (keys === key || (typeof keys === 'object' && keys.size === 0)) index.delete(hash)
}

function add(index: Index, hash: number, key: Key): void {
  const keys = index.get(hash)
  if (typeof keys === 'object') keys.add(key)
  else index.set(hash, keys === undefined || keys === key ? key : new Set([keys, key]))
}
