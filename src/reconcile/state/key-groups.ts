import type { Key } from '../../kinds/key.ts'
import type { Catalog } from '../../contract/catalog.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { serviceKey } from '../../kinds/service/kind.ts'

/** A key is in one group at most. */
interface KeyGroups {
  put(key: Key, group: string | undefined): void
  of(group: string): Iterable<Key>
}

export function createKeyGroups(): KeyGroups {
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
    put(key, group) {
      if (groupOf.get(key) === group) return
      leave(key)
      if (group === undefined) return
      groupOf.set(key, group)
      const keys = members.get(group)
      if (keys === undefined) members.set(group, new Set([key]))
      else keys.add(key)
    },
    of: (group) => members.get(group) ?? [],
  }
}

/** By `policy.dependsOn` and the Service. */
export function indexDependents(catalog: Catalog): Map<string, Key[]> {
  const index = new Map<string, Key[]>()
  for (const { key, manifest } of catalog.entries.values()) {
    for (const needed of manifest === undefined ? [] : dependenciesOf(manifest)) {
      const keys = index.get(needed)
      if (keys === undefined) index.set(needed, [key])
      else keys.push(key)
    }
  }
  return index
}

/** By `policy.renamedFrom`. */
export function indexSuccessors(catalog: Catalog): Map<string, Key[]> {
  const index = new Map<string, Key[]>()
  for (const { key, manifest } of catalog.entries.values()) {
    const from = manifest?.policy?.renamedFrom
    if (from === undefined) continue
    const keys = index.get(from)
    if (keys === undefined) index.set(from, [key])
    else keys.push(key)
  }
  return index
}

function dependenciesOf(manifest: ResourceManifest): readonly string[] {
  const named = manifest.policy?.dependsOn ?? []
  const service = serviceOf(manifest)
  return service === undefined ? named : [...named, serviceKey(service)]
}
