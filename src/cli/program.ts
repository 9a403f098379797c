import { Command, CommanderError } from 'commander'
import { LedgerError } from '../contract/ledger.ts'
import { SandboxFileError } from '../sandbox/wire-schema.ts'
import { addCommands } from './commands.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, VERSION } from './io.ts'
import { plainText } from './render/terminal.ts'
import type { Shell } from './usage.ts'

export async function runCommand(io: Io, args: readonly string[]): Promise<ExitCode> {
  const shell: Shell = { program: buildProgram(io), io, code: EXIT.fine }
  addCommands(shell)
  try {
    if (args.length === 0) shell.program.outputHelp()
    else await shell.program.parseAsync(withoutHelp(shell.program, args), { from: 'user' })
    return shell.code
  } catch (error) {
    const { aborted, reason } = io.stop.stopping
    if (aborted && (error === reason || (error instanceof Error && error.cause === reason))) {
      print(io.stderr, `pipewright: stopped by ${String(reason)}`)
      return EXIT.failed
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage
    const isKnown =
      error instanceof CommandError || error instanceof LedgerError || error instanceof SandboxFileError
    if (!isKnown) throw error
    print(io.stderr, plainText(`pipewright: ${error.message}`))
    if (error instanceof CommandError) return error.code
    return error instanceof LedgerError ? EXIT.failed : EXIT.usage
  }
}

/** Drops `help` before an unknown command: commander would print the whole help instead of an error. */
function withoutHelp({ commands }: Command, args: readonly string[]): readonly string[] {
  const [help, word = 'help'] = args
  const isKnown = word === 'help' || word.startsWith('-') || commands.some((each) => each.name() === word)
  return help !== 'help' || isKnown ? args : args.slice(1)
}

function buildProgram({ stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>): Command {
  const program = new Command('pipewright')
  return program
    .description(
      'A GitOps reconciler for data ingestion: a directory of YAML describes the resources that should exist.',
    )
    .version(VERSION, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(withoutValue(text, program).replace(/^error:/, 'pipewright:')),
    })
    .addHelpText('after', '\n"pipewright help settings" lists the settings.')
}

/** The value of an unknown flag might be a secret. */
function withoutValue(error: string, { commands }: Command): string {
  const flag = /^error: unknown option '([^=\n]+)=/.exec(error)?.[1]
  if (flag === undefined) return error
  const isSwitch = commands.some(({ options }) => options.some((o) => o.long === flag && o.isBoolean()))
  return isSwitch ? `error: ${flag} takes no value\n` : `error: unknown option '${flag}'\n`
}
