import { type Command, Option } from 'commander'
import { duration } from '../config/parsers.ts'
import { formatDuration } from '../lib/duration.ts'
import { CommandError, EXIT } from './io.ts'
import { parsedBy } from './usage.ts'

const MIN_WAIT_MS = 1_000
const MAX_WAIT_MS = 24 * 3_600_000

/** The flags of a command that can wait for its effect. @param standardMs the default of the longest wait */
export function withWait(command: Command, what: string, standardMs: number): Command {
  return command
    .option('--wait', what)
    .addOption(
      new Option('--timeout <D>', 'with --wait, wait at most this long')
        .argParser(parsedBy(duration(MIN_WAIT_MS, MAX_WAIT_MS)))
        .default(standardMs, formatDuration(standardMs)),
    )
}

/** How long to wait at most: ms. Undefined: the command does not wait. */
export function readWait(command: Command): number | undefined {
  const { wait, timeout } = command.opts<{ readonly wait?: true; readonly timeout: number }>()
  if (wait === true) return timeout
  if (command.getOptionValueSource('timeout') === 'cli')
    throw new CommandError('--timeout goes with --wait.', EXIT.usage)
  return undefined
}
