import type { Priority } from '../contract/platform.ts'
import type { Queue } from './queue.ts'

export interface Slots {
  mayStart(service: string): boolean
  started(service: string): void
  finished(service: string): void
}

export interface SlotsOptions {
  /** Slots, at least 1. */
  readonly concurrency: number
  readonly priorities: readonly Priority[]
  readonly queue: Pick<Queue, 'readyServices' | 'services'>
}

/**
 * A service's share: all slots divided by services with ready or running keys, rounded up. The last free slot
 * is reserved for a service without runs; otherwise a single hanging service fills all slots.
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
