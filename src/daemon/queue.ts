import type { Key } from '../kinds/key.ts'
import type { Priority } from '../contract/platform.ts'
import { createHeap } from './priority-heap.ts'
import { createReadyLanes, isEarlier, type ReadyEntry } from './service-queue.ts'

/** When and how urgently a key wants to be reconciled. */
export interface Ask {
  readonly priority: Priority
  /** Monotonic ms; may lie in the past. */
  readonly dueAt: number
  /** The name of the service in whose queue it waits. */
  readonly service: string
}

/** A key that was handed out and runs until `done`. */
export interface Taken {
  readonly key: Key
  readonly priority: Priority
  readonly service: string
  /** ms since it was due at this priority. */
  readonly waitedMs: number
}

export type MayTake = (service: string, priority: Priority) => boolean

/**
 * What waits to be reconciled: one entry a key, never handed out twice at a time (design §7).
 * Times are monotonic ms that the caller passes in and that never go back.
 */
export interface Queue {
  /**
   * A key that waits keeps the more urgent priority and the earlier due time, and takes the new service.
   * A key that runs comes back after `done`; several asks meanwhile become one in the same way.
   */
  add(key: Key, ask: Ask): void
  /** The most urgent due key of a service that may be taken from: priority first, then services in rotation, then due time. */
  take(now: number, mayTake: MayTake): Taken | undefined
  /** The run of a key ended. */
  done(key: Key): void
  /** Forgets a waiting key, and that a running one was to come back. */
  remove(key: Key): void
  /** Makes ready what is due by `now`; `take` does so by itself. */
  promote(now: number): void
  /** When the next key that is not ready yet falls due. */
  nextDueAt(): number | undefined
  /** Keys that are due and wait, as of the last `promote` or `take`; what is scheduled for later does not count. */
  depth(): Readonly<Record<Priority, number>>
  /** Keys that wait, due or not. */
  readonly waiting: number
  /** Keys that were taken and are not done. */
  readonly running: number
  /** Services that have a key waiting, due or not, or running. */
  readonly services: number
  /** Services with a ready key of this priority. */
  readyServices(priority: Priority): Iterable<string>
  /** How long the oldest ready key has been due, in ms, among services that may be taken from; 0 when there is none. */
  oldestReadyAgeMs(now: number, mayTake?: MayTake): number
}

export const PRIORITIES = [0, 1, 2] as const satisfies readonly Priority[]

interface Entry extends ReadyEntry {
  readonly key: Key
  readonly priority: Priority
  /** When it was or will be due at this priority; not before `dueAt`. */
  readonly since: number
  state: 'scheduled' | 'ready'
}

interface Run {
  readonly service: string
  again: Ask | undefined
}

export function createQueue(): Queue {
  const entries = new Map<Key, Entry>()
  const runs = new Map<Key, Run>()
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
    add(key, ask) {
      const run = runs.get(key)
      if (run === undefined) wait(key, ask)
      else run.again = run.again === undefined ? ask : urgent(run.again, ask)
    },
    take(now, mayTake) {
      promote(now)
      for (const priority of PRIORITIES) {
        const entry = ready[priority].take((service) => mayTake(service, priority))
        if (entry === undefined) continue
        const { key, service } = entry
        entries.delete(key)
        runs.set(key, { service, again: undefined }) // the service keeps its count: the key runs in it now
        return { key, priority, service, waitedMs: Math.max(0, now - entry.since) }
      }
      return undefined
    },
    done(key) {
      const run = runs.get(key)
      if (run === undefined) return
      runs.delete(key)
      countLane(run.service, -1)
      if (run.again !== undefined) wait(key, run.again)
    },
    remove(key) {
      const entry = entries.get(key)
      if (entry !== undefined) withdraw(entry)
      const run = runs.get(key)
      if (run !== undefined) run.again = undefined
    },
    promote,
    nextDueAt: () => scheduled.peek()?.dueAt,
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
    readyServices: (priority) => ready[priority].names(),
    oldestReadyAgeMs(now, mayTake = () => true) {
      promote(now)
      const dueTimes = PRIORITIES.map(
        (priority) => ready[priority].earliest((service) => mayTake(service, priority)) ?? now,
      )
      return now - Math.min(...dueTimes)
    },
  }
}

/** Written down at once, since there is one for every key: put together of others it would take twice the room. */
function entryOf(key: Key, ask: Ask, rest: Pick<Entry, 'since' | 'state' | 'number'>): Entry {
  const { priority, dueAt, service } = ask
  const { since, state, number } = rest
  return { key, priority, dueAt, service, since, state, number, place: -1 }
}

/** Two asks for one key as one; the later one knows the service better. */
function urgent(before: Ask, ask: Ask): Ask {
  return {
    priority: ask.priority < before.priority ? ask.priority : before.priority,
    dueAt: Math.min(before.dueAt, ask.dueAt),
    service: ask.service,
  }
}

/** A drift check that waited long and is asked for now has waited at its new priority since now only. */
function sinceOf(before: Entry, ask: Ask): number {
  if (ask.priority < before.priority) return ask.dueAt
  return ask.priority === before.priority ? Math.min(before.since, ask.dueAt) : before.since
}
