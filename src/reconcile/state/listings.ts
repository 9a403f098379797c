import type { Reply } from '../../contract/platform.ts'
import { ODD, oddItemsOf, type RemoteResource } from '../../kinds/remote-resource.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import type { Clock } from '../../lib/clock.ts'

export interface Listing {
  /** Start of the request: monotonic ms. */
  readonly askedAt: number
  /** By lower-case id. */
  readonly items: ReadonlyMap<string, RemoteResource>
  /** By name. `undefined`: items without a name. */
  readonly named: ReadonlyMap<string | undefined, readonly RemoteResource[]>
  readonly odd: readonly string[]
  readonly reply: Omit<Reply<unknown>, 'value'>
}

type Ask = () => Promise<Reply<readonly RemoteResource[]>>

export function listingFrom(
  value: readonly RemoteResource[],
  about: Pick<Listing, 'askedAt' | 'reply'>,
): Listing {
  const readable = value.filter(({ [ODD]: odd }) => odd === undefined || odd.fields !== undefined)
  const items = new Map(readable.map((item) => [item.id.toLowerCase(), item]))
  const named = Map.groupBy(items.values(), ({ name }) => name ?? undefined)
  return { ...about, items, named, odd: oddItemsOf(value) }
}

export function createListings() {
  const answered = new Map<string, Listing>()
  const failed = new Map<string, number>()
  const asking = new Map<string, { askedAt: number; hasPlace: boolean; listing: Promise<Listing> }>()

  async function asked(service: string, askedAt: number, ask: Ask): Promise<Listing> {
    failed.set(service, askedAt)
    const { value, ...reply } = await ask()
    failed.delete(service)
    const listing = listingFrom(value, { askedAt, reply })
    answered.set(service, listing)
    return listing
  }

  return {
    last: (service: string) => answered.get(service),
    /**
     * Gives a list that was requested at `since` or later (monotonic ms). `hasPlace`: wait for no request that might
     * wait for the caller's place in the budget.
     * @throws the error of `ask`, even of another caller, except its abort
     */
    async since(
      service: string,
      { since, now, hasPlace = false }: { since: number; now: number; hasPlace?: boolean },
      ask: Ask,
    ): Promise<Listing> {
      for (;;) {
        const last = answered.get(service)
        if (last !== undefined && last.askedAt >= since) return last
        const running = asking.get(service)
        if (running === undefined || running.askedAt < since || (hasPlace && !running.hasPlace)) break
        try {
          return await running.listing
        } catch (error) {
          if (!(error instanceof DOMException)) throw error
          // Only the caller that sent that request was stopped.
          if (asking.get(service) === running) asking.delete(service)
        }
      }
      const listing = asked(service, now, ask)
      asking.set(service, { askedAt: now, hasPlace, listing })
      try {
        return await listing
      } finally {
        if (asking.get(service)?.listing === listing) asking.delete(service)
      }
    },
    /** Start of the last request, if it failed. Monotonic ms. */
    failedAt: (service: string) => (asking.has(service) ? undefined : failed.get(service)),
    all: (): Iterable<readonly [string, Listing]> => answered,
    forget: (service: string) => void answered.delete(service),
  }
}

/** A write that ended. `created`: service and name of the new pipe, because another key might want that name. */
interface Written {
  readonly key: Key
  readonly created?: { readonly serviceId: string; readonly name: string } | undefined
  /** Set if the create failed, but might have made a pipe that another manifest describes. */
  readonly isFailed?: boolean
}

/** Ms. Older writes are forgotten, because each reading in use began later. */
const KEPT_MS = 60 * 60_000

/**
 * Keeps when each write ended, because a reading that began earlier might not show it. Keeps forgotten keys, too,
 * because a manifest can return within seconds.
 */
export function createLastWrites(clock: Pick<Clock, 'monotonic'>) {
  const ends = new Map<string, number>()

  return {
    /** Call it also after a failed request, which might have worked. */
    noteEnd(written: Written) {
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
    endedAt: (written: Written) =>
      Math.max(...Object.values(placesOf(written)).map((place) => ends.get(place) ?? -Infinity)),
    move(from: Key, to: Key) {
      const at = ends.get(from)
      if (at !== undefined) ends.set(to, Math.max(at, ends.get(to) ?? at))
    },
  }
}

function placesOf({ key, created }: Written): { key: string; name?: string; service?: string } {
  if (created === undefined) return { key }
  const service = groupInService(key, created.serviceId)
  return { key, name: `${service} ${created.name}`, service }
}

/** Keys of one kind in one service. Permissions can differ between kinds. */
export function groupInService(key: Key, serviceId: string): string {
  return `${kindOf(key)} ${serviceId.toLowerCase()}`
}
