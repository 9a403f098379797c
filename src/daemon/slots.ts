import type { Priority } from '../contract/platform.ts'
import type { Queue } from './queue.ts'

/** A number of places to run in, shared fairly by the lanes. */
export interface Workers {
  mayStart(lane: string): boolean
  started(lane: string): void
  finished(lane: string): void
}

export interface WorkersOptions {
  /** Places, at least 1. */
  readonly concurrency: number
  /** The priorities that run here. */
  readonly priorities: readonly Priority[]
  readonly queue: Pick<Queue, 'readyLanes' | 'lanes'>
}

/**
 * A lane gets at most its share, which is all places divided by the lanes that have something ready or running
 * here, rounded up. And the last free place is kept for a lane that has nothing running here, as long as there
 * may be one: or else a service that hangs would fill all places while it is the only one with work, and the
 * next service would wait for its timeouts.
 */
export function createWorkers({ concurrency, priorities, queue }: WorkersOptions): Workers {
  const running = new Map<string, number>()
  let total = 0

  function share(): number {
    const lanes = new Set(running.keys())
    for (const priority of priorities) {
      for (const lane of queue.readyLanes(priority)) lanes.add(lane)
    }
    return Math.max(1, Math.ceil(concurrency / Math.max(1, lanes.size)))
  }

  return {
    mayStart(lane) {
      if (total >= concurrency) return false
      const mine = running.get(lane) ?? 0
      if (mine === 0) return true
      if (total === concurrency - 1 && queue.lanes > running.size) return false
      return mine < share()
    },
    started(lane) {
      running.set(lane, (running.get(lane) ?? 0) + 1)
      total += 1
    },
    finished(lane) {
      const left = (running.get(lane) ?? 0) - 1
      if (left > 0) running.set(lane, left)
      else running.delete(lane)
      total -= 1
    },
  }
}
