import type { Priority } from '../contract/platform.ts'

/**
 * Who comes next: lower priorities first, within a priority one of each service in rotation, within a service the first.
 * Every operation takes constant time.
 */
export interface WaitingLine<T> {
  readonly size: number
  /** Those of priority 0. */
  readonly urgent: number
  add(item: T, service: string, priority: Priority): void
  remove(item: T, service: string, priority: Priority): void
  /** The one that {@link next} takes out. */
  peek(): T | undefined
  /** Takes out the next one. */
  next(): T | undefined
}

/** For items that differ by identity; the same one must not wait twice. */
export function createWaitingLine<T>(): WaitingLine<T> {
  // In the order in which the services are served: one that was served goes to the end.
  const priorities: Readonly<Record<Priority, Map<string, Set<T>>>> = {
    0: new Map(),
    1: new Map(),
    2: new Map(),
  }
  const sizes: Record<Priority, number> = { 0: 0, 1: 0, 2: 0 }

  function firstOf(priority: Priority): T | undefined {
    for (const waiting of priorities[priority].values()) for (const item of waiting) return item
    return undefined
  }

  function takeFrom(priority: Priority): T | undefined {
    const services = priorities[priority]
    for (const [service, waiting] of services) {
      services.delete(service)
      for (const item of waiting) {
        waiting.delete(item)
        sizes[priority] -= 1
        if (waiting.size > 0) services.set(service, waiting)
        return item
      }
    }
    return undefined
  }

  return {
    get size() {
      return sizes[0] + sizes[1] + sizes[2]
    },
    get urgent() {
      return sizes[0]
    },
    add(item, service, priority) {
      const waiting = priorities[priority].get(service)
      if (waiting === undefined) priorities[priority].set(service, new Set([item]))
      else waiting.add(item)
      sizes[priority] += 1
    },
    remove(item, service, priority) {
      const services = priorities[priority]
      const waiting = services.get(service)
      if (waiting === undefined || !waiting.delete(item)) return
      if (waiting.size === 0) services.delete(service)
      sizes[priority] -= 1
    },
    peek: () => firstOf(0) ?? firstOf(1) ?? firstOf(2),
    next: () => takeFrom(0) ?? takeFrom(1) ?? takeFrom(2),
  }
}
