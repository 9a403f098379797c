import { existsSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { Command, CommanderError, Option } from 'commander'
import { wholeNumber } from '../config/parsers.ts'
import { MANIFESTS } from '../config/settings.ts'
import { LedgerError } from '../contract/ledger.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { PROFILES } from '../kinds/profiles/profiles.ts'
import { SandboxFileError } from '../sandbox/sandbox-file.ts'
import { AS_SAID, commandsTyped, type CommandContext } from '../server/command-line.ts'
import { commandContext } from './command-context.ts'
import { apply } from './commands/apply-command.ts'
import { explain, EXPLAIN_OUTPUTS } from './commands/explain-command.ts'
import { history, HISTORY_OUTPUTS } from './commands/history-command.ts'
import { plan, PLAN_OUTPUTS } from './commands/plan-command.ts'
import { runDaemon } from './commands/run-command.ts'
import { sandbox } from './commands/sandbox-command.ts'
import { schema } from './commands/schema-command.ts'
import { status, STATUS_OUTPUTS } from './commands/status-command.ts'
import { isBelow, validate, VALIDATE_OUTPUTS } from './commands/validate-command.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, VERSION } from './io.ts'
import { assumedRoot, isDirectory } from './manifests-root.ts'
import { addImport, addOperatorCommands, addReconcile } from './operator-program.ts'
import { printable } from './render/terminal.ts'
import { assertNoFilter, readFilter, withFilter } from './resource-filter.ts'
import { addCommand, addPlain, addSettingsHelp, output, parsedBy, settingsFor } from './usage.ts'
import { readWait, withWait } from './wait-flags.ts'

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
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    return failureOf(io, error, await hereOf(io, program, args))
  }
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
      outputError: (text, write) => write(withoutValue(text).replace(/^error:/, 'pipewright:')),
    })
    .showHelpAfterError(false)
    .addHelpText('after', '\n"pipewright help settings" lists the settings.')
  program.commandsGroup('Reconcile:')
  addRun(program, io, done)
  addPlan(program, io, done)
  addApply(program, io, done)
  addReconcile(program, io, done)
  program.commandsGroup('Look:')
  addValidate(program, io, done)
  addStatus(program, io, done)
  addHistory(program, io, done)
  program.commandsGroup('Decide:')
  addOperatorCommands(program, io, done)
  program.commandsGroup('Write manifests:')
  addImport(program, io, done)
  addExplain(program, io, done)
  addSchema(program, io, done)
  program.commandsGroup('Try and set up:')
  addSandbox(program, io, done)
  addPlain(program, 'version', 'print the version').action(() => {
    print(io.stdout, VERSION)
    done(EXIT.fine)
  })
  addSettingsHelp(program)
  return program
}

/** The value of an unknown flag might be a secret. */
function withoutValue(error: string): string {
  return error.replace(/^(error: unknown option '[^=\n]+)=[^]*$/, "$1'\n")
}

function addRun(program: Command, io: Io, done: Done): void {
  addCommand(program, 'run', 'run the daemon: watch the directory and reconcile until stopped').action(
    async (_flags, command: Command) => done(await runDaemon(io, await settingsFor(io, command, 'platform'))),
  )
}

function addValidate(program: Command, io: Io, done: Done): void {
  addCommand(program, 'validate', 'check the manifests; send no request')
    .argument('[path...]', 'a directory of manifests, or files and folders of --manifests to report on')
    .addOption(output(VALIDATE_OUTPUTS))
    .action(async (paths: string[], flags, command: Command) => {
      const [only] = paths.length === 1 ? paths : []
      const isThere = only !== undefined && existsSync(only)
      const isRoot =
        only !== undefined &&
        (isThere ? isDirectory(only) : !/\.(ya?ml|json)$/.test(only)) &&
        !isBelow(only, flags['manifests'])
      const root = isRoot ? only : undefined
      if (root !== undefined) command.setOptionValue('manifests', root)
      const asked = await settingsFor(io, command, 'local')
      const named = root === undefined ? paths : []
      const isSaid = flags['manifests'] !== undefined || asked.manifests !== MANIFESTS
      const assumed = isSaid ? undefined : assumedRoot(named)
      if (assumed?.note !== undefined) print(io.stderr, assumed.note)
      const settings = assumed === undefined ? asked : { ...asked, manifests: assumed.root }
      done(await validate(io, settings, { output: flags.output, paths: named }))
    })
}

function addPlan(program: Command, io: Io, done: Done): void {
  addCommand(program, 'plan', 'show what would happen and why; write nothing')
    .addOption(output(PLAN_OUTPUTS))
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'platform or server')
      done(await plan(io, settings, flags.output))
    })
}

function addApply(program: Command, io: Io, done: Done): void {
  withWait(
    addCommand(program, 'apply', 'reconcile everything once, then exit'),
    'wait until all pending resources are ready, or clearly bad',
    10 * 60_000,
  )
    .addOption(output(['text', 'json']))
    .option('--yes', 'create more than --max-creates allows')
    .action(async (flags, command: Command) => {
      const waitMs = readWait(command)
      const settings = await settingsFor(io, command, 'platform')
      const createLimit = flags.yes === true ? 'off' : 'on'
      done(await apply(io, settings, { output: flags.output, createLimit, waitMs }))
    })
}

function addStatus(program: Command, io: Io, done: Done): void {
  withFilter(addCommand(program, 'status', 'show all resources, or one in full'), 'resources')
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--watch', 'show it again and again, until interrupted')
    .addOption(output(STATUS_OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      const filter = readFilter(flags)
      assertNoFilter(key, filter)
      const settings = await settingsFor(io, command, 'local')
      done(await status(io, settings, { key, filter, output: flags.output, watch: flags.watch === true }))
    })
}

const MAX_LINES = 100_000

function addHistory(program: Command, io: Io, done: Done): void {
  withFilter(addCommand(program, 'history', 'show actions and changes, newest first'), 'history')
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--limit <N>', 'show this many lines at most', parsedBy(wholeNumber(1, MAX_LINES)), 50)
    .addOption(output(HISTORY_OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      const { limit, output: form } = flags
      const settings = await settingsFor(io, command, 'local')
      done(await history(io, settings, { key, filter: readFilter(flags), limit, output: form }))
    })
}

function addExplain(program: Command, io: Io, done: Done): void {
  addCommand(program, 'explain', 'describe a field of a manifest')
    .argument('[field]', 'such as pipe.spec.source.kafka; default: all kinds')
    .addOption(output(EXPLAIN_OUTPUTS))
    .action(async (field: string | undefined, flags, command: Command) => {
      done(explain(io, await settingsFor(io, command, 'local'), { path: field, output: flags.output }))
    })
}

function addSchema(program: Command, io: Io, done: Done): void {
  addCommand(program, 'schema', 'print the JSON Schema (draft 7) of manifests, for editors')
    .argument('[kind]', 'one kind only')
    .addOption(output(['json']))
    .action(async (kind: string | undefined, _flags, command: Command) => {
      done(schema(io, await settingsFor(io, command, 'local'), kind))
    })
}

function addSandbox(program: Command, io: Io, done: Done): void {
  addPlain(program, 'sandbox', 'run a made-up platform as a server of its own')
    .addOption(
      new Option('--profile <NAME>', 'which service it is')
        .choices(PROFILES.map(({ name }) => name))
        .default(DEFAULT.name),
    )
    .option('--listen <HOST:PORT>', 'where to listen', '127.0.0.1:8090')
    .option('--data <FILE>', 'SQLite file that keeps the resources. Default: memory')
    .option('--world <FILE>', 'YAML file: resources that exist from the start')
    .option('--faults <FILE>', 'YAML file: faults, by rules or by a seed')
    .option('--key-id <ID>', 'the accepted API key id. Default: sandbox')
    .option('--key-secret <SECRET>', 'its secret. Default: random')
    .option('--alerts-token <TOKEN>', 'the accepted token for alerts. Default: random')
    .action(async (flags) => done(await sandbox(io, flags)))
}
