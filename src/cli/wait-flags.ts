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
export function readWait(command: Command): {
  readonly waitMs: number | undefined
  readonly problems: readonly SettingProblem[]
} {
  const flags = command.opts<{ readonly wait?: true; readonly timeout?: string | true }>()
  const given = String(flags.timeout)
  const about = { setting: undefined, from: '--timeout', given }
  if (flags.wait !== true && command.getOptionValueSource('timeout') === 'cli')
    return { waitMs: undefined, problems: [{ ...about, why: 'it goes with --wait', right: 'add --wait' }] }
  const timeout = duration(SHORTEST_MS, LONGEST_MS)(given)
  if (!timeout.ok) return { waitMs: undefined, problems: [{ ...about, ...timeout }] }
  return { waitMs: flags.wait === true ? timeout.value : undefined, problems: [] }
}
