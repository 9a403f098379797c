import { kindOf, type Key } from '../../kinds/key.ts'
import type { Clock } from '../../lib/clock.ts'

/** A key, and the name of its create: another key can ask for the same name a moment later. */
export interface Written {
  readonly key: Key
  readonly created?: { readonly serviceId: string; readonly name: string } | undefined
  /** The create failed. It can have made a pipe all the same. */
  readonly hasFailed?: boolean
}

/** The last request of each key that changes something. A reading that began before its end might not show its effect. */
export interface LastWrites {
  /** One ended just now. An error counts, too: it is no proof that nothing was done. */
  noteEnd(written: Written): void
  /** When the last one ended; on the monotonic clock, ms. Without one: -Infinity. */
  endedAt(written: Written): number
  /** Names of creates that failed within the last hour, for any key. */
  failedNames(kind: string, serviceId: string): readonly string[]
  /** A record moved to another key. */
  move(from: Key, to: Key): void
}

/** No reading that is used is so old: ms. */
const KEPT_MS = 60 * 60_000

/** A key without a record is kept, too: its manifest can come back within seconds. */
export function createLastWrites(clock: Pick<Clock, 'monotonic'>): LastWrites {
  /** In the order of time. */
  const ends = new Map<string, number>()
  /** By kind and service, then by name. */
  const failures = new Map<string, Map<string, number>>()

  function failuresIn(group: string): readonly (readonly [string, number])[] {
    const oldest = clock.monotonic() - KEPT_MS
    return [...(failures.get(group) ?? [])].filter(([, at]) => at > oldest)
  }

  return {
    noteEnd(written) {
      const now = clock.monotonic()
      const { key, created, hasFailed = false } = written
      for (const name of namesOf(written)) {
        ends.delete(name)
        ends.set(name, now)
      }
      for (const [name, at] of ends) {
        if (now - at <= KEPT_MS) break
        ends.delete(name)
      }
      if (!hasFailed || created === undefined) return
      const group = groupOf(kindOf(key), created.serviceId)
      failures.set(group, new Map([...failuresIn(group), [created.name, now]]))
    },
    endedAt(written) {
      const { key, created } = written
      const failed = created === undefined ? [] : failuresIn(groupOf(kindOf(key), created.serviceId))
      const own = namesOf(written).map((name) => ends.get(name) ?? -Infinity)
      return Math.max(...own, ...failed.map(([, at]) => at))
    },
    failedNames: (kind, serviceId) => failuresIn(groupOf(kind, serviceId)).map(([name]) => name),
    move(from, to) {
      const at = ends.get(from)
      if (at !== undefined) ends.set(to, Math.max(at, ends.get(to) ?? at))
    },
  }
}

function namesOf({ key, created }: Written): readonly string[] {
  return created === undefined ? [key] : [key, `${groupOf(kindOf(key), created.serviceId)} ${created.name}`]
}

function groupOf(kind: string, serviceId: string): string {
  return `${kind} ${serviceId.toLowerCase()}`
}
