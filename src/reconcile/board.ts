import type { Key } from '../kinds/key.ts'
import type { ResourceStatus, StatusBoard } from './status.ts'

/** The read model, kept up to date by whoever reconciles. */
export interface WritableBoard extends StatusBoard {
  set(status: ResourceStatus): void
  remove(key: Key): void
}

export function createBoard(): WritableBoard {
  const statuses = new Map<Key, ResourceStatus>()
  let sorted: readonly Key[] | undefined
  return {
    get: (key) => statuses.get(key),
    list() {
      sorted ??= [...statuses.keys()].toSorted()
      return sorted.flatMap((key) => statuses.get(key) ?? [])
    },
    set(status) {
      if (!statuses.has(status.key)) sorted = undefined
      statuses.set(status.key, status)
    },
    remove(key) {
      if (statuses.delete(key)) sorted = undefined
    },
  }
}
