import { createHeap, type Heap, type Placed } from './priority-heap.ts'
import { lifecycleOf } from '../kinds/lookup.ts'
import { serviceOf } from '../kinds/manifest.ts'
import type { Key } from '../kinds/key.ts'
import type { StateStore } from '../reconcile/state/store.ts'

/** An entry that is due and waits for a worker. */
export interface ReadyEntry extends Placed {
  readonly lane: string
  /** Monotonic ms. */
  readonly dueAt: number
  /** Order of arrival; decides between equal due times. */
  readonly number: number
}

/** What is due at one priority: in a lane by due time, over the lanes in turn. */
export interface ReadyLanes<T extends ReadyEntry> {
  readonly size: number
  add(entry: T): void
  remove(entry: T): void
  /** Takes the next entry out; a lane that may not be taken from costs one question, however long it is. */
  take(mayTake: (lane: string) => boolean): T | undefined
  /** The earliest due time among lanes that may be taken from. */
  earliest(mayTake: (lane: string) => boolean): number | undefined
  /** Lanes that have something waiting. */
  names(): Iterable<string>
}

/** Whether `a` comes first by due time; ties go to who came first. */
export function isEarlier(a: ReadyEntry, b: ReadyEntry): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.number < b.number)
}

export function createReadyLanes<T extends ReadyEntry>(): ReadyLanes<T> {
  // In the order of whose turn it is; empty lanes are not kept.
  const lanes = new Map<string, Heap<T>>()
  let size = 0

  function drop(entry: T, heap: Heap<T>): void {
    heap.remove(entry)
    size -= 1
    if (heap.size === 0) lanes.delete(entry.lane)
  }

  return {
    get size() {
      return size
    },
    add(entry) {
      const heap = lanes.get(entry.lane) ?? createHeap<T>(isEarlier)
      lanes.set(entry.lane, heap)
      heap.push(entry)
      size += 1
    },
    remove(entry) {
      const heap = lanes.get(entry.lane)
      if (heap !== undefined) drop(entry, heap)
    },
    take(mayTake) {
      for (const [lane, heap] of lanes) {
        const entry = mayTake(lane) ? heap.peek() : undefined
        if (entry === undefined) continue
        drop(entry, heap)
        if (lanes.delete(lane)) lanes.set(lane, heap) // to the end of the turn
        return entry
      }
      return undefined
    },
    earliest(mayTake) {
      let earliest: number | undefined
      for (const [lane, heap] of lanes) {
        const dueAt = heap.peek()?.dueAt
        if (dueAt === undefined || dueAt >= (earliest ?? Infinity) || !mayTake(lane)) continue
        earliest = dueAt
      }
      return earliest
    },
    names: () => lanes.keys(),
  }
}

/** The lane in which a key waits its turn: its service, so that one bad service holds up no other. */
export function serviceQueueOf(store: StateStore, key: Key): string {
  switch (lifecycleOf(key)) {
    case 'read-only':
      return 'alerts'
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
