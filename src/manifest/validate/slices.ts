import { setImmediate } from 'node:timers/promises'

/** ms in which nothing else runs. */
const SLICE_MS = 8

/** Long work in slices, between which other work runs. */
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

/** Takes steps to their end, in slices. */
export async function inSlices<T>(steps: Generator<void, T>, slices: Slices): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (slices.isOver()) await slices.next()
  }
}

/** Takes steps to their end without a break. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value
}
