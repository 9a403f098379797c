import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '../lib/clock.ts'

/** Until what the last requests of the pass held is let go of as well. */
const AFTER_MS = 2_000

/** With fewer resources there is little to collect. */
const WORTH_IT = 20

/**
 * Collects once, soon after the first pass is over: the first reading and the first check of everything leave several times what
 * is kept, and V8 holds on to that for as long as nothing else wants it, which in a pod nobody does. Node has no call for it
 * without a flag on the command line. Stops everything for about a tenth of a second with ten thousand resources.
 * @returns to be called whenever nothing waits to be reconciled, with the number of resources
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
