import { kindOf, type Key } from '../../kinds/key.ts'
import type { Clock } from '../../lib/clock.ts'

/** A key, and the name that a create for it asks for: another key can ask for the same name a moment later. */
export interface Written {
  readonly key: Key
  readonly created?: { readonly serviceId: string; readonly name: string } | undefined
}

/** The last request of each key that changes something. A reading that began before its end might not show its effect. */
export interface LastWrites {
  /** One ended just now. An error counts, too: it is no proof that nothing was done. */
  noteEnd(written: Written): void
  /** When the last one ended; on the monotonic clock, ms. Without one: -Infinity. */
  endedAt(written: Written): number
  /** A record moved to another key. */
  move(from: Key, to: Key): void
}

/** No reading that is used is so old: ms. */
const KEPT_MS = 60 * 60_000

/** A key without a record is kept, too: its manifest can come back within seconds. */
export function createLastWrites(clock: Pick<Clock, 'monotonic'>): LastWrites {
  const ends = new Map<string, number>()
  return {
    noteEnd(written) {
      const now = clock.monotonic()
      for (const name of namesOf(written)) {
        ends.delete(name)
        ends.set(name, now)
      }
      for (const [name, at] of ends) if (now - at > KEPT_MS) ends.delete(name)
    },
    endedAt: (written) => Math.max(...namesOf(written).map((name) => ends.get(name) ?? -Infinity)),
    move(from, to) {
      const at = ends.get(from)
      if (at !== undefined) ends.set(to, Math.max(at, ends.get(to) ?? at))
    },
  }
}

function namesOf({ key, created }: Written): readonly string[] {
  if (created === undefined) return [key]
  return [key, JSON.stringify([kindOf(key), created.serviceId.toLowerCase(), created.name])]
}
