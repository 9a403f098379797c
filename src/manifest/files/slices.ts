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

/** Takes steps to their end, in slices. @throws the signal's reason */
export async function inSlices<T>(steps: Generator<void, T>, signal: AbortSignal): Promise<T> {
  const slices = createSlices()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value
    if (!slices.isOver()) continue
    await slices.next()
    signal.throwIfAborted()
  }
}
