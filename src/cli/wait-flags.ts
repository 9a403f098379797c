import type { Command } from 'commander'
import { duration } from '../config/parsers.ts'
import { formatDuration } from '../lib/duration.ts'
import { misuse } from './io.ts'
import { parsedBy } from './usage.ts'

const MIN_WAIT_MS = 1_000
const MAX_WAIT_MS = 24 * 3_600_000

export interface WaitFlags {
  readonly wait?: true
  /** ms. */
  readonly timeout?: number
}

export function withWait(command: Command, what: string, standardMs: number): Command {
  return command
    .option('--wait', what)
    .option(
      '--timeout <D>',
      `with --wait, wait at most this long. Default: ${formatDuration(standardMs)}`,
      parsedBy(duration(MIN_WAIT_MS, MAX_WAIT_MS)),
    )
}

/** ms. Undefined: no wait. */
export function readWait({ wait, timeout }: WaitFlags, standardMs: number): number | undefined {
  if (wait !== true && timeout !== undefined) misuse('--timeout works only with --wait.')
  return wait === true ? (timeout ?? standardMs) : undefined
}
