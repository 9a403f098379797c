import { systemClock } from '../src/daemon/system-clock.ts'
import { Command } from 'commander'
import { addCommands } from '../src/cli/commands.ts'
import { cell, code } from './table.ts'
import { COMMAND_HELP } from '../src/cli/usage.ts'

/* docs/reference/commands.md: the commands of the program. */

export function commandsPage(note: string): string {
  const { signal } = new AbortController()
  const stop = { stopping: signal, forced: signal, onHangup: () => undefined }
  const { stdout, stderr } = process
  const program = new Command()
  addCommands({ program, io: { stdout, stderr, env: {}, clock: systemClock, stop }, code: 0 })
  const rows = program.commands.filter((command) => command.name() in COMMAND_HELP).map(rowOf)
  return `# Commands

${note}

\`npx pipewright help COMMAND\` shows the flags, examples and exit codes of a command. Each [setting](settings.md) is a flag.
\`--config FILE\` reads settings from a file. A usage error ends with 64, an internal error with 70.

| command | what it does | exit codes |
|---|---|---|
${rows.join('\n')}
`
}

function rowOf(command: Command): string {
  const name = command.name()
  const words = command.registeredArguments.map((argument) =>
    argument.required
      ? argument.name().toUpperCase()
      : `[${argument.name()}${argument.variadic ? '...' : ''}]`,
  )
  const exits = Object.entries(COMMAND_HELP[name]?.exits ?? {}).map(([exit, means]) => `${exit} ${means}`)
  return `| ${code([name, ...words].join(' '))} | ${cell(command.description())} | ${cell(exits.join('; '))} |`
}
