import { type Key, kindOf } from '../../kinds/key.ts'
import type { Catalog, Entry } from '../../contract/catalog.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import { type Candidate, hashesOfCandidate } from '../../plan/rename-detection.ts'
import type { LedgerRecord } from '../../plan/record.ts'

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

export function indexEqualManifests(
  { entries }: Catalog,
  askedOf: (entry: Entry) => { readonly serviceId: string; readonly digest: string } | undefined,
): ReadonlyMap<string, readonly Key[]> {
  return keysBy(entries.values(), (entry) => {
    const { key, manifest } = entry
    if (manifest === undefined || !isCreateOnce(manifest)) return []
    const asked = manifest.policy?.ensure === 'absent' ? undefined : askedOf(entry)
    return asked === undefined ? [] : equalityOf(key, asked)
  })
}

export function equalityOf(
  key: Key,
  { serviceId, digest }: { readonly serviceId: string; readonly digest: string },
): string {
  return `${kindOf(key)} ${serviceId.toLowerCase()} ${digest}`
}

export interface RecordIndex<Group> {
  replace(before: LedgerRecord | undefined, after: LedgerRecord | undefined): void
  of(group: Group): Iterable<Key>
}

/** Keys of records by group. */
export function createRecordIndex<Group>(
  records: () => Iterable<LedgerRecord>,
  groupsOf: (record: LedgerRecord) => readonly Group[],
): RecordIndex<Group> {
  /** A group of one key needs no set, to save memory. */
  let keysOf: Map<Group, Key | Set<Key>> | undefined

  function made() {
    const index = new Map<Group, Key | Set<Key>>()
    for (const record of records()) for (const group of groupsOf(record)) add(index, group, record.key)
    return index
  }

  return {
    replace(before, after) {
      if (keysOf === undefined) return
      const old = before === undefined ? [] : groupsOf(before)
      const groups = after === undefined ? [] : groupsOf(after)
      if (before !== undefined)
        for (const group of old) if (!groups.includes(group)) remove(keysOf, group, before.key)
      if (after !== undefined)
        for (const group of groups) if (!old.includes(group)) add(keysOf, group, after.key)
    },
    of(group) {
      keysOf ??= made()
      const keys = keysOf.get(group) ?? []
      return typeof keys === 'string' ? [keys] : keys
    },
  }
}

export function similarKeys(hashes: RecordIndex<number>, candidate: Candidate): readonly Key[] {
  const found = new Set(hashesOfCandidate(candidate).flatMap((hash) => [...hashes.of(hash)]))
  found.delete(candidate.key)
  return [...found].toSorted()
}

function remove<Group>(index: Map<Group, Key | Set<Key>>, group: Group, key: Key): void {
  const keys = index.get(group)
  if (typeof keys === 'object') keys.delete(key)
  if (keys === key || (typeof keys === 'object' && keys.size === 0)) index.delete(group)
}

function add<Group>(index: Map<Group, Key | Set<Key>>, group: Group, key: Key): void {
  const keys = index.get(group)
  if (typeof keys === 'object') keys.add(key)
  else index.set(group, keys === undefined || keys === key ? key : new Set([keys, key]))
}
