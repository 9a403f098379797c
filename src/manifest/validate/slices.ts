import { setImmediate } from 'node:timers/promises'

/** ms in which nobody else runs. */
const SLICE_MS = 8

/** Long work in slices, between which others run. */
export interface Slices {
  isOver(): boolean
  next(): Promise<void>
  /** Time of the processor that the slices took so far, ms: not the time that others took between them. */
  spentMs(): number
}

export function createSlices(): Slices {
  let since = performance.now()
  let cpuSince = cpuMs()
  let spent = 0
  return {
    isOver: () => performance.now() - since >= SLICE_MS,
    async next() {
      spent += cpuMs() - cpuSince
      await setImmediate()
      since = performance.now()
      cpuSince = cpuMs()
    },
    spentMs: () => spent + cpuMs() - cpuSince,
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

/** Items of one step, where each costs little. */
const STEP = 500

/** Goes through items in steps of a few hundred, between which others can run. */
export function* inSteps<T>(items: Iterable<T>, work: (item: T) => void): Generator<void> {
  let count = 0
  for (const item of items) {
    work(item)
    count += 1
    if (count % STEP === 0) yield
  }
}

/** Takes steps to their end at one go. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value
}

/** Of this thread. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
