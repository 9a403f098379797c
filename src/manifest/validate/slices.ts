import { setImmediate } from 'node:timers/promises'

/** Ms of work before other events get their turn. */
const SLICE_MS = 8

export function createSlices() {
  let since = performance.now()
  return {
    async pause() {
      if (performance.now() - since < SLICE_MS) return
      await setImmediate()
      since = performance.now()
    },
  }
}

export async function inSlices<T>(
  steps: Generator<void, T>,
  slices: ReturnType<typeof createSlices>,
): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await slices.pause()
  }
}
