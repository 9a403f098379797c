import type { Priority } from '../contract/platform.ts'

/** `next`: before all others, because a request that depends on it was sent already. */
export type Rank = Priority | 'next'

/**
 * Who comes next: `next` and then lower priorities first, within a priority one of each service in rotation, within a service the first.
 * Every operation takes constant time.
 */
export interface WaitingLine<T> {
  readonly size: number
  /** Those of priority 0, and those before them. */
  readonly urgent: number
  add(item: T, service: string, rank: Rank): void
  remove(item: T, service: string, rank: Rank): void
  /** The one that {@link next} takes out. */
  peek(): T | undefined
  /** Takes out the next one. */
  next(): T | undefined
}

/** For items that differ by identity; the same one must not wait twice. */
export function createWaitingLine<T>(): WaitingLine<T> {
  // In the order in which the services are served: one that was served goes to the end.
  const ranks: Readonly<Record<Rank, Map<string, Set<T>>>> = {
    next: new Map(),
    0: new Map(),
    1: new Map(),
    2: new Map(),
  }
  const sizes: Record<Rank, number> = { next: 0, 0: 0, 1: 0, 2: 0 }

  function firstOf(rank: Rank): T | undefined {
    for (const waiting of ranks[rank].values()) for (const item of waiting) return item
    return undefined
  }

  function takeFrom(rank: Rank): T | undefined {
    const services = ranks[rank]
    for (const [service, waiting] of services) {
      services.delete(service)
      for (const item of waiting) {
        waiting.delete(item)
        sizes[rank] -= 1
        if (waiting.size > 0) services.set(service, waiting)
        return item
      }
    }
    return undefined
  }

  return {
    get size() {
      return sizes.next + sizes[0] + sizes[1] + sizes[2]
    },
    get urgent() {
      return sizes.next + sizes[0]
    },
    add(item, service, rank) {
      const waiting = ranks[rank].get(service)
      if (waiting === undefined) ranks[rank].set(service, new Set([item]))
      else waiting.add(item)
      sizes[rank] += 1
    },
    remove(item, service, rank) {
      const services = ranks[rank]
      const waiting = services.get(service)
      if (waiting === undefined || !waiting.delete(item)) return
      if (waiting.size === 0) services.delete(service)
      sizes[rank] -= 1
    },
    peek: () => firstOf('next') ?? firstOf(0) ?? firstOf(1) ?? firstOf(2),
    next: () => takeFrom('next') ?? takeFrom(0) ?? takeFrom(1) ?? takeFrom(2),
  }
}
