import { serviceOf } from '../kinds/manifest.ts'
import type { Key } from '../kinds/key.ts'
import type { StateStore } from '../reconcile/state/store.ts'

export interface ReadyEntry extends Placed {
  readonly service: string
  /** Monotonic ms. */
  readonly dueAt: number
  /** Order of arrival, for entries with the same due time. */
  readonly number: number
}

export function isEarlier(a: ReadyEntry, b: ReadyEntry): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.number < b.number)
}

/** Ready entries of one priority: services in rotation, and the earliest due time within a service. */
export function createReadyLanes<T extends ReadyEntry>() {
  // The service whose turn is next comes first. No heap is empty.
  const services = new Map<string, Heap<T>>()
  let size = 0

  function drop(entry: T, heap: Heap<T>): void {
    heap.remove(entry)
    size -= 1
    if (heap.size === 0) services.delete(entry.service)
  }

  return {
    get size() {
      return size
    },
    add(entry: T) {
      services.getOrInsertComputed(entry.service, () => createHeap<T>(isEarlier)).push(entry)
      size += 1
    },
    remove(entry: T) {
      const heap = services.get(entry.service)
      if (heap !== undefined) drop(entry, heap)
    },
    take(mayTake: (service: string) => boolean) {
      for (const [service, heap] of services) {
        const entry = mayTake(service) ? heap.peek() : undefined
        if (entry === undefined) continue
        drop(entry, heap)
        if (services.delete(service)) services.set(service, heap) // to the end of the rotation
        return entry
      }
      return undefined
    },
    earliest(mayTake: (service: string) => boolean) {
      let earliest: number | undefined
      for (const [service, heap] of services) {
        const dueAt = heap.peek()?.dueAt
        if (dueAt === undefined || dueAt >= (earliest ?? Infinity) || !mayTake(service)) continue
        earliest = dueAt
      }
      return earliest
    },
    names: () => services.keys(),
  }
}

/** Names the key's queue. Each service has its own queue, so a hanging service blocks no other. */
export function serviceQueueOf(store: StateStore, key: Key): string {
  const manifest = store.entry(key)?.manifest
  const wanted = manifest && serviceOf(manifest)
  switch (store.lifecycleOf(key)) {
    case 'read-only':
      return wanted ?? 'alerts'
    case 'reference':
      return ''
    case 'create-once':
    case 'upsert':
      return wanted ?? store.record(key)?.service?.name ?? ''
  }
}

interface Placed {
  /** Index in the heap; -1: not in a heap. Only the heap writes it. */
  place: number
}

type Heap<T extends Placed> = ReturnType<typeof createHeap<T>>

/** @param before whether `a` comes first. This must not change while both are in the heap */
export function createHeap<T extends Placed>(before: (a: T, b: T) => boolean) {
  const items: T[] = []

  function put(item: T, index: number): void {
    items[index] = item
    item.place = index
  }

  function rise(item: T): void {
    let index = item.place
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = items[above]
      if (parent === undefined || !before(item, parent)) break
      put(parent, index)
      index = above
    }
    put(item, index)
  }

  function sink(item: T): void {
    let index = item.place
    for (;;) {
      const child = earlierChild(index)
      if (child === undefined || !before(child, item)) break
      const below = child.place
      put(child, index)
      index = below
    }
    put(item, index)
  }

  function earlierChild(index: number): T | undefined {
    const left = items[2 * index + 1]
    const right = items[2 * index + 2]
    return left !== undefined && right !== undefined && before(right, left) ? right : left
  }

  return {
    get size() {
      return items.length
    },
    peek: () => items[0],
    push(item: T) {
      put(item, items.length)
      rise(item)
    },
    remove(item: T) {
      const index = item.place
      if (items[index] !== item) return
      item.place = -1
      const last = items.pop()
      if (last === undefined || last === item) return
      put(last, index)
      sink(last)
      rise(last)
    },
  }
}
