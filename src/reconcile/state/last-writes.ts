import { kindOf, type Key } from '../../kinds/key.ts'
import type { Clock } from '../../lib/clock.ts'

/** A key, and the name that a create for it asks for: another key can ask for the same name a moment later. */
export interface Written {
  readonly key: Key
  readonly created?: Omit<Created, 'kind'> | undefined
  /** The create failed: its manifest may be renamed by the next attempt, which another key makes. */
  readonly hasFailed?: boolean
}

/** What a create asks for. */
interface Created {
  readonly kind: string
  readonly serviceId: string
  readonly name: string
}

/** The last request of each key that changes something. A reading that began before its end might not show its effect. */
export interface LastWrites {
  /** One ended just now. An error counts, too: it is no proof that nothing was done. */
  noteEnd(written: Written): void
  /** When the last one ended; on the monotonic clock, ms. Without one: -Infinity. */
  endedAt(written: Written): number
  /** Whether a create with this name ended within the last hour, for any key. */
  hasTried(created: Created): boolean
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
      const { created, hasFailed = false } = written
      const names = namesOf(written)
      for (const name of hasFailed && created !== undefined ? [...names, serviceOf(created)] : names) {
        ends.delete(name)
        ends.set(name, now)
      }
      for (const [name, at] of ends) if (now - at > KEPT_MS) ends.delete(name)
    },
    endedAt(written) {
      const names = namesOf(written)
      const all = written.created === undefined ? names : [...names, serviceOf(written.created)]
      return Math.max(...all.map((name) => ends.get(name) ?? -Infinity))
    },
    hasTried: (created) => ends.has(nameOfCreated(created)),
    move(from, to) {
      const at = ends.get(from)
      if (at !== undefined) ends.set(to, Math.max(at, ends.get(to) ?? at))
    },
  }
}

function namesOf({ key, created }: Written): readonly string[] {
  if (created === undefined) return [key]
  return [key, nameOfCreated({ ...created, kind: kindOf(key) })]
}

/** Failed creates of a service, whatever their names. */
function serviceOf({ serviceId }: Pick<Created, 'serviceId'>): string {
  return JSON.stringify([serviceId.toLowerCase()])
}

function nameOfCreated({ kind, serviceId, name }: Created): string {
  return JSON.stringify([kind, serviceId.toLowerCase(), name])
}
