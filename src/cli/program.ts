import { commandContext } from './command-context.ts'
import { AS_SAID, commandsTyped, type CommandContext } from '../server/command-line.ts'
import { Command, CommanderError } from 'commander'
import { wholeNumber } from '../config/parsers.ts'
import { LedgerError } from '../contract/ledger.ts'
import { SandboxFileError } from '../sandbox/sandbox-file.ts'
import { apply } from './commands/apply-command.ts'
import { printable } from './render/terminal.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, VERSION } from './io.ts'
import { history, HISTORY_OUTPUTS } from './commands/history-command.ts'
import { besideKey, readFilter, withFilter } from './resource-filter.ts'
import { readWait, withWait } from './wait-flags.ts'
import { addOperatorCommands } from './operator-program.ts'
import { candidates, COMPLETE, completionScript, SHELLS } from './completion.ts'
import { COMMAND_GROUPS, COMMAND_HELP } from './command-help.ts'
import { programHelp, withHelp } from './help.ts'
import { plan } from './commands/plan-command.ts'
import { runDaemon } from './commands/run-command.ts'
import { sandbox } from './commands/sandbox-command.ts'
import { explain, EXPLAIN_OUTPUTS } from './commands/explain-command.ts'
import { schema } from './commands/schema-command.ts'
import { status, STATUS_OUTPUTS } from './commands/status-command.ts'
import { withSettings, lenient, settingsFor, assertUsage, output } from './usage.ts'
import { existsSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { PROFILES } from '../kinds/profiles/profiles.ts'
import { MANIFESTS } from '../config/settings.ts'
import { assumedRoot, isDirectory } from './manifests-root.ts'
import { isBelow, validate, VALIDATE_OUTPUTS } from './commands/validate-command.ts'

/* The commands and their options. */

/**
 * Runs one command line, without the program's name.
 * @returns the exit code; wrong use and failures that a person can mend are printed, and never throw
 */
export async function runCommand(io: Io, args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.fine
  const program = buildProgram(io, (result) => {
    code = result
  })
  try {
    if (args.length === 0) {
      program.outputHelp()
      return EXIT.fine
    }
    // Asked by the scripts that "pipewright completion" prints, at each press of the tab key.
    if (args[0] === COMPLETE) {
      print(io.stdout, (await candidates(program, args.slice(1), io.env)).join('\n'))
      return EXIT.fine
    }
    await program.parseAsync([...helpIsKnown(program, args)], { from: 'user' })
    return code
  } catch (error) {
    return failureOf(io, error, await hereOf(io, program, args))
  }
}

/** Commander shows the whole help for a command that there is not: without "help" before it, it says so, and what was meant. */
function helpIsKnown(program: Command, args: readonly string[]): readonly string[] {
  const [first, name] = args
  const isUnknown = first === 'help' && name !== undefined && !/^-|^help$/.test(name)
  return isUnknown && !program.commands.some((one) => one.name() === name) ? [name] : args
}

/** What the command that failed was told to work with; unknown while its settings are wrong. */
async function hereOf(io: Io, program: Command, [name]: readonly string[]): Promise<CommandContext> {
  const command = program.commands.find((one) => one.name() === name)
  if (command === undefined) return AS_SAID
  const quiet = { ...io, stderr: new PassThrough().resume() } // what is to be said of the settings was said
  return settingsFor(quiet, command, 'local').then(commandContext, () => AS_SAID)
}

function failureOf(io: Io, error: unknown, here: CommandContext): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage
  if (error instanceof CommandError) {
    print(io.stderr, printable(`pipewright: ${commandsTyped(error.message, here)}`))
    return error.code
  }
  if (error instanceof LedgerError || error instanceof SandboxFileError) {
    print(io.stderr, `pipewright: ${commandsTyped(error.message, here)}`)
    return error instanceof LedgerError ? EXIT.failed : EXIT.usage
  }
  throw error
}

type Done = (code: ExitCode) => void

/** @param done is called once with how a command ended */
export function buildProgram(io: Io, done: Done): Command {
  const program = new Command('pipewright')
    .description('A GitOps reconciler for data ingestion: a directory of YAML says what should exist.')
    .version(VERSION, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, 'pipewright:')),
    })
    .showSuggestionAfterError()
    .helpCommand('help [command]', 'show this help, or that of a command')
    .configureHelp({ formatHelp: programHelp(COMMAND_GROUPS) })

  withSettings(
    program.command('run').description('run the daemon: watch the directory and reconcile until stopped'),
  ).action(async (_flags, command: Command) => {
    const settings = await settingsFor(io, command, 'platform')
    done(await runDaemon(io, settings))
  })

  withSettings(program.command('validate').description('check the manifests, without talking to anything'))
    .argument(
      '[path...]',
      'a directory of manifests, or files and folders of --manifests whose findings to show',
    )
    .addOption(output(VALIDATE_OUTPUTS))
    .action(async (paths: string[], flags, command: Command) => {
      const [only] = paths.length === 1 ? paths : []
      const isThere = only !== undefined && existsSync(only)
      const isRoot =
        only !== undefined &&
        (isThere ? isDirectory(only) : !/\.(ya?ml|json)$/.test(only)) &&
        !isBelow(only, flags.manifests)
      const root = isRoot ? only : undefined
      if (root !== undefined) command.setOptionValue('manifests', root)
      const asked = await settingsFor(io, command, 'local')
      const named = root === undefined ? paths : []
      const isSaid = flags.manifests !== undefined || asked.manifests !== MANIFESTS
      const assumed = isSaid ? undefined : assumedRoot(named)
      if (assumed?.note !== undefined) print(io.stderr, assumed.note)
      const settings = assumed === undefined ? asked : { ...asked, manifests: assumed.root }
      done(await validate(io, settings, { output: flags.output, paths: named }))
    })

  withSettings(program.command('plan').description('say what would happen and why, and write nothing'))
    .addOption(output(['text', 'json', 'markdown']))
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'platform or server')
      done(await plan(io, settings, flags.output))
    })

  withWait(
    withSettings(program.command('apply').description('reconcile everything once, then exit')),
    'wait until what is on its way is ready, or clearly bad',
    '10m',
  )
    .addOption(output(['text', 'json']))
    .option('--yes', 'let more creations pass than --max-creates')
    .action(async (flags, command: Command) => {
      const { waitMs, problems } = readWait(command)
      const settings = await settingsFor(io, command, 'platform', problems)
      const createLimit = flags.yes === true ? 'off' : 'on'
      done(await apply(io, settings, { output: flags.output, createLimit, waitMs }))
    })

  withFilter(
    withSettings(program.command('status').description('show all resources, or all that is known of one')),
    'resources',
  )
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--watch', 'show it again and again, until it is interrupted')
    .addOption(output(STATUS_OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      const { filter, problems } = readFilter(flags, Date.now())
      const settings = await settingsFor(io, command, 'local', [...problems, ...besideKey(key, filter)])
      done(await status(io, settings, { key, filter, output: flags.output, watch: flags.watch === true }))
    })

  withFilter(
    withSettings(program.command('history').description('show what was done and what changed, newest first')),
    'history',
  )
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--limit <N>', 'show this many lines at most', '50')
    .addOption(output(HISTORY_OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      const limit = wholeNumber(1, MOST_LINES)(flags.limit)
      const wrong = limit.ok ? [] : [{ setting: undefined, from: '--limit', given: flags.limit, ...limit }]
      const { filter, problems } = readFilter(flags, Date.now())
      const settings = await settingsFor(io, command, 'local', [...wrong, ...problems])
      done(
        await history(io, settings, { key, filter, limit: limit.ok ? limit.value : 1, output: flags.output }),
      )
    })

  addOperatorCommands(program, io, done)

  withSettings(
    program.command('schema').description('print the JSON Schema (draft 7) of manifests, for editors'),
  )
    .argument('[kind]', 'one kind only')
    .addOption(output(['json']))
    .action(async (kind: string | undefined, _flags, command: Command) => {
      done(schema(io, await settingsFor(io, command, 'local'), kind))
    })

  withSettings(
    program
      .command('explain')
      .description('say what a field of a manifest means, takes, and whether it is compared'),
  )
    .argument('[field]', 'such as pipe.spec.source.kafka; all kinds unless given')
    .addOption(output(EXPLAIN_OUTPUTS))
    .action(async (field: string | undefined, flags, command: Command) => {
      done(explain(io, await settingsFor(io, command, 'local'), { path: field, output: flags.output }))
    })

  lenient(program.command('sandbox'))
    .description('run the platform of the interface as a server of its own, to try things on')
    .option(`--profile <${PROFILES.map(({ name }) => name).join('|')}>`, 'which service it is', DEFAULT.name)
    .option('--listen <HOST:PORT>', 'where to listen', '127.0.0.1:8090')
    .option('--data <FILE>', 'SQLite file that keeps what is created; in memory unless given')
    .option('--world <FILE>', 'YAML file: what is there before anybody asks')
    .option('--faults <FILE>', 'YAML file: how to misbehave, by rules or by a seed')
    .option('--key-id <ID>', 'API key id that is right; "sandbox" unless given')
    .option('--key-secret <SECRET>', 'its secret; made up unless given')
    .option('--alerts-token <TOKEN>', 'token for alerts that is right; made up unless given')
    .action(async (flags, command: Command) => {
      assertUsage(command)
      done(await sandbox(io, flags))
    })

  lenient(program.command('completion'))
    .description('print a script that completes commands, flags and keys in a shell')
    .argument('<shell>', `one of ${SHELLS.join(', ')}`)
    .action((shell: string, _flags, command: Command) => {
      assertUsage(command)
      print(io.stdout, completionScript(shell))
      done(EXIT.fine)
    })

  lenient(program.command('version'))
    .description('print the version')
    .action((_flags, command: Command) => {
      assertUsage(command)
      print(io.stdout, VERSION)
      done(EXIT.fine)
    })

  for (const command of program.commands) {
    const help = COMMAND_HELP[command.name()]
    if (help !== undefined) withHelp(command, help)
  }
  return program
}

/** Lines of history that one command prints. */
const MOST_LINES = 100_000
