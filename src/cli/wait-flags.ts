import type { SettingProblem } from '../config/setting-problem.ts'
import { duration } from '../config/parsers.ts'
import type { Command } from 'commander'

/** The flags of a command that can wait for what it set off. @param standard how long at most, unless given */
export function withWait(command: Command, what: string, standard: string): Command {
  return command.option('--wait', what).option('--timeout [D]', 'with --wait, wait so long at most', standard)
}

/** Waits of a command: ms. */
const SHORTEST_MS = 1_000
const LONGEST_MS = 24 * 3_600_000

/** `waitMs` is undefined when nobody wants to wait. */
export function readWait(flags: { readonly wait?: true; readonly timeout?: string | true }): {
  readonly waitMs: number | undefined
  readonly problems: readonly SettingProblem[]
} {
  const given = String(flags.timeout)
  const timeout = duration(SHORTEST_MS, LONGEST_MS)(given)
  if (!timeout.ok)
    return { waitMs: undefined, problems: [{ setting: undefined, from: '--timeout', given, ...timeout }] }
  return { waitMs: flags.wait === true ? timeout.value : undefined, problems: [] }
}
