import type { Reply } from '../../contract/platform.ts'
import { ODD, oddItemsOf, type RemoteResource } from '../../kinds/remote-resource.ts'

/** All pipes of a service, as one reply gave them. */
export interface Listing {
  /** When it was begun to ask for it; on the monotonic clock, ms. */
  readonly askedAt: number
  /** By their ids, in lower case. */
  readonly items: ReadonlyMap<string, RemoteResource>
  /** By their names; those without one under `undefined`. */
  readonly named: ReadonlyMap<string | undefined, readonly RemoteResource[]>
  /** The items that are not what their shape says, in words. */
  readonly odd: readonly string[]
  readonly reply: Omit<Reply<unknown>, 'value'>
}

/** The last list of each service: one request for all who look at about the same time. */
export interface Listings {
  /** The last one that was answered, by whomever it was asked for. */
  last(service: string): Listing | undefined
  /**
   * One that was begun at `since` or later: the last one, one that is on its way, or a new one.
   * @param now on the monotonic clock
   * @throws what `ask` throws, whoever asked
   */
  since(service: string, about: { readonly since: number; readonly now: number }, ask: Ask): Promise<Listing>
  /** When it was last begun to ask for one in vain, since one was answered; on the monotonic clock, ms. */
  failedAt(service: string): number | undefined
  /** By the id of the service. */
  all(): Iterable<readonly [string, Listing]>
  /** What it says is no longer so. */
  forget(service: string): void
}

type Ask = () => Promise<Reply<readonly RemoteResource[]>>

/** Of two with one id the last one counts. */
export function listingFrom(
  value: readonly RemoteResource[],
  about: Pick<Listing, 'askedAt' | 'reply'>,
): Listing {
  const readable = value.filter(({ [ODD]: odd }) => odd === undefined || odd.fields !== undefined)
  const items = new Map(readable.map((item) => [item.id.toLowerCase(), item]))
  const named = Map.groupBy(items.values(), ({ name }) => name ?? undefined)
  return { ...about, items, named, odd: oddItemsOf(value) }
}

export function createListings(): Listings {
  const answered = new Map<string, Listing>()
  const failed = new Map<string, number>()
  const asking = new Map<string, { readonly askedAt: number; readonly listing: Promise<Listing> }>()

  async function asked(service: string, askedAt: number, ask: Ask): Promise<Listing> {
    failed.set(service, askedAt)
    const { value, ...reply } = await ask()
    failed.delete(service)
    const listing = listingFrom(value, { askedAt, reply })
    answered.set(service, listing)
    return listing
  }

  return {
    last: (service) => answered.get(service),
    async since(service, { since, now }, ask) {
      const last = answered.get(service)
      if (last !== undefined && last.askedAt >= since) return last
      const running = asking.get(service)
      if (running !== undefined && running.askedAt >= since) return running.listing
      const listing = asked(service, now, ask)
      asking.set(service, { askedAt: now, listing })
      try {
        return await listing
      } finally {
        if (asking.get(service)?.listing === listing) asking.delete(service)
      }
    },
    failedAt: (service) => (asking.has(service) ? undefined : failed.get(service)),
    all: () => answered,
    forget: (service) => void answered.delete(service),
  }
}
