import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '../lib/clock.ts'
import { trimMalloc } from './trim-malloc.ts'

/** With fewer keys, there is little to give back. */
const WORTH_IT = 20

/**
 * Gives back the room that a start took: the first reading and the first look at everything leave several times what is
 * kept, and V8 and the C library hold on to it for as long as nothing else wants it, which in a pod nobody does. It also
 * keeps the nursery small from then on. Stops everything for about a tenth of a second with ten thousand resources, once.
 */
function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void // V8's, with the flag above
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Waits until each key had its first turn and nobody is at work on the manifests, and then collects, once. */
export interface GiveBack<Key> {
  expect(keys: Iterable<Key>): void
  had(key: Key): void
  stop(): void
}

export interface GiveBackOptions {
  readonly clock: Pick<Clock, 'after'>
  /** How long ago the last reading was that brought something, ms. */
  readonly quietFor: () => number
  readonly collect?: () => void
  readonly trim?: () => void
}

/** Whoever edits just now is not to wait for it. */
const QUIET_MS = 5_000
/** V8 frees the buffers that nobody holds any more beside other work, after the collection. */
const FREED_MS = 1_000

export function createGiveBack<Key>({
  clock,
  quietFor,
  collect = giveBackMemory,
  trim = trimMalloc,
}: GiveBackOptions): GiveBack<Key> {
  const waiting = new Set<Key>()
  let cancel: (() => void) | undefined

  function collectWhenQuiet(): void {
    if (quietFor() < QUIET_MS) {
      cancel = clock.after(QUIET_MS, collectWhenQuiet)
      return
    }
    collect()
    cancel = clock.after(FREED_MS, trim)
  }

  return {
    expect(keys) {
      for (const key of keys) waiting.add(key)
      if (waiting.size < WORTH_IT) waiting.clear()
    },
    had(key) {
      if (waiting.delete(key) && waiting.size === 0) collectWhenQuiet()
    },
    stop: () => cancel?.(),
  }
}
