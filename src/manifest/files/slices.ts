import { setImmediate } from 'node:timers/promises'

/** ms in which nobody else runs. */
const SLICE_MS = 8

/** Long work in slices, between which others run. */
export interface Slices {
  isOver(): boolean
  next(): Promise<void>
}

export function createSlices(): Slices {
  let since = performance.now()
  return {
    isOver: () => performance.now() - since >= SLICE_MS,
    async next() {
      await setImmediate()
      since = performance.now()
    },
  }
}
