import { systemClock } from '../src/daemon/system-clock.ts'
import { Command } from 'commander'
import { COMMAND_HELP } from '../src/cli/command-help.ts'
import { addCommands } from '../src/cli/commands.ts'
import { cell, code } from './table.ts'

/* README.md: the table of commands is the program's own; all else is written by hand. */

const HEAD = ['command', 'what it does', 'exit codes'] as const

/** The whole page. @param written as it is */
export function readmePage(written: string): string {
  return written.replace(/^\| command +\|[^]*?(?=\n\n)/m, () => commandsTable())
}

function commandsTable(): string {
  const { signal } = new AbortController()
  const stop = { stopping: signal, forced: signal, onHangup: () => undefined }
  const { stdout, stderr } = process
  const program = new Command()
  addCommands({ program, io: { stdout, stderr, env: {}, clock: systemClock, stop }, code: 0 })
  const rows = program.commands.filter((command) => command.name() in COMMAND_HELP).map(rowOf)
  const widths = HEAD.map((head, column) =>
    Math.max(...[HEAD, ...rows].map((row) => row[column]?.length ?? 0), head.length),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [HEAD, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')
}

function rowOf(command: Command): readonly string[] {
  const name = command.name()
  const words = command.registeredArguments.map((argument) =>
    argument.required
      ? argument.name().toUpperCase()
      : `[${argument.name()}${argument.variadic ? '...' : ''}]`,
  )
  const exits = Object.entries(COMMAND_HELP[name]?.exits ?? {}).map(([exit, means]) => `${exit} ${means}`)
  return [code([name, ...words].join(' ')), cell(command.description()), cell(exits.join('; '))]
}
