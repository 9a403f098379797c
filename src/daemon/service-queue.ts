import { createHeap, type Heap, type Placed } from './priority-heap.ts'
import { serviceOf } from '../kinds/manifest.ts'
import type { Key } from '../kinds/key.ts'
import type { StateStore } from '../reconcile/state/store.ts'

/** An entry that is due and waits for a worker. */
export interface ReadyEntry extends Placed {
  readonly service: string
  /** Monotonic ms. */
  readonly dueAt: number
  /** Order of arrival; decides between equal due times. */
  readonly number: number
}

/** What is due at one priority: of a service by due time, over the services in rotation. */
export interface ReadyLanes<T extends ReadyEntry> {
  readonly size: number
  add(entry: T): void
  remove(entry: T): void
  /** Takes the next entry out; a service that may not be taken from costs one question, however long it is. */
  take(mayTake: (service: string) => boolean): T | undefined
  /** The earliest due time among services that may be taken from. */
  earliest(mayTake: (service: string) => boolean): number | undefined
  /** Services that have something waiting. */
  names(): Iterable<string>
}

/** Whether `a` comes first by due time; ties go to who came first. */
export function isEarlier(a: ReadyEntry, b: ReadyEntry): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.number < b.number)
}

export function createReadyLanes<T extends ReadyEntry>(): ReadyLanes<T> {
  // In the order in which they are served; a service without any is not kept.
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
    add(entry) {
      const heap = services.get(entry.service) ?? createHeap<T>(isEarlier)
      services.set(entry.service, heap)
      heap.push(entry)
      size += 1
    },
    remove(entry) {
      const heap = services.get(entry.service)
      if (heap !== undefined) drop(entry, heap)
    },
    take(mayTake) {
      for (const [service, heap] of services) {
        const entry = mayTake(service) ? heap.peek() : undefined
        if (entry === undefined) continue
        drop(entry, heap)
        if (services.delete(service)) services.set(service, heap) // to the end of the row
        return entry
      }
      return undefined
    },
    earliest(mayTake) {
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

/** The queue in which a key waits: that of its service, so that one bad service holds up no other. */
export function serviceQueueOf(store: StateStore, key: Key): string {
  switch (store.lifecycleOf(key)) {
    case 'read-only': {
      const manifest = store.entry(key)?.manifest
      return (manifest && serviceOf(manifest)) ?? 'alerts'
    }
    case 'reference':
      return ''
    case 'create-once':
    case 'upsert': {
      const manifest = store.entry(key)?.manifest
      const wanted = manifest && serviceOf(manifest)
      return wanted ?? store.record(key)?.service?.name ?? ''
    }
  }
}
