import { kindOf, type Key } from '../../kinds/key.ts'
import type { Clock } from '../../lib/clock.ts'

/** The name of its create: another key might ask for the same name. */
interface Written {
  readonly key: Key
  readonly created?: { readonly serviceId: string; readonly name: string } | undefined
  /** It might have made a pipe that another manifest now means. */
  readonly isFailed?: boolean
}

/** A reading that began earlier might miss the write's effect. */
export interface LastWrites {
  /** Even of an error: the request might have worked. */
  noteEnd(written: Written): void
  /** Includes failed creates in the service. Monotonic ms. Default: -Infinity. */
  endedAt(written: Written): number
  move(from: Key, to: Key): void
}

/** No reading in use is older: ms. */
const KEPT_MS = 60 * 60_000

/** Keeps keys without a record: a manifest can come back within seconds. */
export function createLastWrites(clock: Pick<Clock, 'monotonic'>): LastWrites {
  const ends = new Map<string, number>()

  return {
    noteEnd(written) {
      const now = clock.monotonic()
      const { key, name, service } = placesOf(written)
      for (const place of [key, name, written.isFailed === true ? service : undefined]) {
        if (place === undefined) continue
        ends.delete(place)
        ends.set(place, now)
      }
      for (const [place, at] of ends) {
        if (now - at <= KEPT_MS) break
        ends.delete(place)
      }
    },
    endedAt: (written) =>
      Math.max(...Object.values(placesOf(written)).map((place) => ends.get(place) ?? -Infinity)),
    move(from, to) {
      const at = ends.get(from)
      if (at !== undefined) ends.set(to, Math.max(at, ends.get(to) ?? at))
    },
  }
}

function placesOf({ key, created }: Written): { key: string; name?: string; service?: string } {
  if (created === undefined) return { key }
  const service = `${kindOf(key)} ${created.serviceId.toLowerCase()}`
  return { key, name: `${service} ${created.name}`, service }
}
