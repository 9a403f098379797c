import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '../lib/clock.ts'

/** Until the memory of the pass's last requests is free. */
const AFTER_MS = 2_000

/** With fewer resources, there is little to collect. */
const WORTH_IT = 20

/**
 * Once, after the first pass, which leaves several times the memory in use. An idle V8 keeps it. Blocks about
 * 100 ms with 10,000 resources.
 * @returns callback for an empty queue
 */
export function createHeapTrim(
  after: Clock['after'],
  collect: () => void = collectAll,
): (resources: number) => void {
  let done = false
  return (resources) => {
    if (done || resources < WORTH_IT) return
    done = true
    after(AFTER_MS, collect)
  }
}

function collectAll(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void // V8's, with the flag above
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
