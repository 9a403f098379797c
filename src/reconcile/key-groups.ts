import type { Key } from '../kinds/key.ts'

/** Keys by what they have in common: each is in one group at most. */
export interface KeyGroups {
  /** @param group `undefined`: in none */
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
