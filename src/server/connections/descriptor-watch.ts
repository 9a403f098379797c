import { closeSync, openSync } from 'node:fs'
import type { Emit } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { isOutOfFiles } from '../../lib/open-files.ts'

const LOOK_MS = 5_000

const QUIET_MS = 60_000

export interface DescriptorWatch {
  /** Whether an error means that there is none; it is then said, at most once a minute. */
  isExhausted(error: unknown): boolean
  /** Ends the looking. */
  stop(): void
}

export interface DescriptorWatchOptions {
  readonly clock: Clock
  readonly emit: Emit
  /** How many there are for this process. */
  readonly limit: number
  /** Opens a file, and closes it. */
  readonly tryOne?: () => void
}

/**
 * Says when no file and no connection can be opened any more. Node does not: where there is no descriptor for a connection, libuv
 * accepts and closes it without a word. So one is opened now and then.
 */
export function watchDescriptors(options: DescriptorWatchOptions): DescriptorWatch {
  const { clock, emit, limit, tryOne = openRoot } = options
  let saidAt = -Infinity

  function isExhausted(error: unknown): boolean {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (!isOutOfFiles(code)) return false
    if (clock.monotonic() - saidAt >= QUIET_MS) {
      saidAt = clock.monotonic()
      emit({ type: 'DescriptorsExhausted', code, limit })
    }
    return true
  }

  function look(): void {
    try {
      tryOne()
    } catch (error) {
      isExhausted(error)
    }
    cancel = clock.after(LOOK_MS, look)
  }
  let cancel = clock.after(LOOK_MS, look)
  return { isExhausted, stop: () => cancel() }
}

function openRoot(): void {
  closeSync(openSync('/', 'r'))
}
