import type { Priority } from '../contract/platform.ts'
import type { Queue } from './queue.ts'

/** A number of slots to run in, shared fairly by the services. */
export interface Slots {
  mayStart(service: string): boolean
  started(service: string): void
  finished(service: string): void
}

export interface SlotsOptions {
  /** Places, at least 1. */
  readonly concurrency: number
  /** The priorities that run here. */
  readonly priorities: readonly Priority[]
  readonly queue: Pick<Queue, 'readyServices' | 'services'>
}

/**
 * A service gets at most its share, which is all places divided by the services that have something ready or running
 * here, rounded up. And the last free place is kept for a service that has nothing running here, as long as there
 * may be one: or else a service that hangs would fill all places while it is the only one with work, and the
 * next service would wait for its timeouts.
 */
export function createSlots({ concurrency, priorities, queue }: SlotsOptions): Slots {
  const running = new Map<string, number>()
  let total = 0

  function share(): number {
    const services = new Set(running.keys())
    for (const priority of priorities) {
      for (const service of queue.readyServices(priority)) services.add(service)
    }
    return Math.max(1, Math.ceil(concurrency / Math.max(1, services.size)))
  }

  return {
    mayStart(service) {
      if (total >= concurrency) return false
      const mine = running.get(service) ?? 0
      if (mine === 0) return true
      if (total === concurrency - 1 && queue.services > running.size) return false
      return mine < share()
    },
    started(service) {
      running.set(service, (running.get(service) ?? 0) + 1)
      total += 1
    },
    finished(service) {
      const left = (running.get(service) ?? 0) - 1
      if (left > 0) running.set(service, left)
      else running.delete(service)
      total -= 1
    },
  }
}
