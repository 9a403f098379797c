import type { Key } from '../kinds/key.ts'
import type { Priority } from '../contract/platform.ts'
import { createHeap, createReadyLanes, isEarlier, type ReadyEntry } from './service-queue.ts'

export interface Ask {
  readonly priority: Priority
  /** Monotonic ms; can be in the past. */
  readonly dueAt: number
  readonly service: string
}

export interface Taken extends Omit<Ask, 'dueAt'> {
  readonly key: Key
  /** ms since the key was due at this priority. */
  readonly waitedMs: number
}

export type MayTake = (service: string, priority: Priority) => boolean

/** Holds one entry per key, and never gives out a running key. Times are monotonic ms and never decrease. */
export type Queue = ReturnType<typeof createQueue>

export const PRIORITIES = [0, 1, 2] as const satisfies readonly Priority[]

interface Entry extends ReadyEntry {
  readonly key: Key
  readonly priority: Priority
  /** When the key became due at this priority: monotonic ms. */
  readonly since: number
  state: 'scheduled' | 'ready'
}

export function createQueue() {
  const entries = new Map<Key, Entry>()
  const runs = new Map<Key, { readonly service: string; again: Ask | undefined }>()
  const scheduled = createHeap<Entry>(isEarlier)
  const ready = { 0: createReadyLanes<Entry>(), 1: createReadyLanes<Entry>(), 2: createReadyLanes<Entry>() }
  const keysOfLane = new Map<string, number>()
  let arrivals = 0

  function countLane(service: string, change: 1 | -1): void {
    const count = (keysOfLane.get(service) ?? 0) + change
    if (count === 0) keysOfLane.delete(service)
    else keysOfLane.set(service, count)
  }

  function insert(entry: Entry): void {
    entries.set(entry.key, entry)
    countLane(entry.service, 1)
    if (entry.state === 'ready') ready[entry.priority].add(entry)
    else scheduled.push(entry)
  }

  function withdraw(entry: Entry): void {
    entries.delete(entry.key)
    countLane(entry.service, -1)
    if (entry.state === 'ready') ready[entry.priority].remove(entry)
    else scheduled.remove(entry)
  }

  function wait(key: Key, ask: Ask): void {
    const before = entries.get(key)
    if (before === undefined) {
      arrivals += 1
      insert(entryOf(key, ask, { since: ask.dueAt, state: 'scheduled', number: arrivals }))
      return
    }
    withdraw(before)
    const { state, number } = before
    insert(entryOf(key, urgent(before, ask), { since: sinceOf(before, ask), state, number }))
  }

  function promote(now: number): void {
    for (let next = scheduled.peek(); next !== undefined && next.dueAt <= now; next = scheduled.peek()) {
      scheduled.remove(next)
      next.state = 'ready'
      ready[next.priority].add(next)
    }
  }

  return {
    /** Merges requests for a key. A request for a running key waits until `done`. */
    add(key: Key, ask: Ask) {
      const run = runs.get(key)
      if (run === undefined) wait(key, ask)
      else run.again = run.again === undefined ? ask : urgent(run.again, ask)
    },
    /** Takes the most urgent due key of an allowed service: by priority, then services in rotation, then due time. */
    take(now: number, mayTake: MayTake) {
      promote(now)
      for (const priority of PRIORITIES) {
        const entry = ready[priority].take((service) => mayTake(service, priority))
        if (entry === undefined) continue
        const { key, service } = entry
        entries.delete(key)
        runs.set(key, { service, again: undefined }) // the running key still counts for its service
        const waitedMs = Math.max(0, now - entry.since) // since the key was due at this priority
        return { key, priority, service, waitedMs }
      }
      return undefined
    },
    done(key: Key) {
      const run = runs.get(key)
      if (run === undefined) return
      runs.delete(key)
      countLane(run.service, -1)
      if (run.again !== undefined) wait(key, run.again)
    },
    nextDueAt: () => scheduled.peek()?.dueAt,
    /** Ready keys, as of the last `take`. */
    depth: () => ({ 0: ready[0].size, 1: ready[1].size, 2: ready[2].size }),
    get waiting() {
      return entries.size
    },
    get running() {
      return runs.size
    },
    get services() {
      return keysOfLane.size
    },
    readyServices: (priority: Priority) => ready[priority].names(),
    /** ms since the oldest ready key of an allowed service was due. 0 if there is none. */
    oldestReadyAgeMs(now: number, mayTake: MayTake = () => true) {
      promote(now)
      const dueTimes = PRIORITIES.map(
        (priority) => ready[priority].earliest((service) => mayTake(service, priority)) ?? now,
      )
      return now - Math.min(...dueTimes)
    },
  }
}

/** Makes an object literal, because spreads would double the memory of an entry. */
function entryOf(key: Key, ask: Ask, rest: Pick<Entry, 'since' | 'state' | 'number'>): Entry {
  const { priority, dueAt, service } = ask
  const { since, state, number } = rest
  return { key, priority, dueAt, service, since, state, number, place: -1 }
}

/** Takes the service of the newer `ask`, because an edit can move a pipe to another service. */
function urgent(before: Ask, ask: Ask): Ask {
  return {
    priority: ask.priority < before.priority ? ask.priority : before.priority,
    dueAt: Math.min(before.dueAt, ask.dueAt),
    service: ask.service,
  }
}

/** If the priority rises, the wait is measured from the new due time. */
function sinceOf(before: Entry, ask: Ask): number {
  if (ask.priority < before.priority) return ask.dueAt
  return ask.priority === before.priority ? Math.min(before.since, ask.dueAt) : before.since
}
