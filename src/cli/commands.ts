import { Argument, Command, CommanderError, Option } from 'commander'
import { duration, shortText, wholeNumber } from '../config/parsers.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { PROFILES } from '../kinds/profiles/profiles.ts'
import { allow } from './commands/allow-command.ts'
import { APPLY_WAIT_MS, apply } from './commands/apply-command.ts'
import { explain } from './commands/explain-command.ts'
import { history } from './commands/history-command.ts'
import { importPipes } from './commands/import-command.ts'
import { ledger } from './commands/ledger-command.ts'
import { lock } from './commands/lock-command.ts'
import { adopt, forget, needsOfResolve, resolve, resume, suspend } from './commands/operator-command.ts'
import { plan } from './commands/plan-command.ts'
import { RECONCILE_WAIT_MS, reconcile } from './commands/reconcile-command.ts'
import { runDaemon } from './commands/run-command.ts'
import { sandbox } from './commands/sandbox-command.ts'
import { status } from './commands/status-command.ts'
import { validate } from './commands/validate-command.ts'
import { CommandError, EXIT, VERSION, misuse, print, printJson, type ExitCode, type Io } from './io.ts'
import { withFilter } from './resource-filter.ts'
import {
  acting,
  addCommand,
  addPlain,
  addSettingsHelp,
  output,
  parsedBy,
  withWait,
  type Shell,
} from './usage.ts'
import type { Settings } from '../config/settings.ts'
import { REASON_LENGTH } from '../contract/person-command.ts'
import { MANIFEST_KINDS } from '../kinds/lookup.ts'
import { kindJsonSchema, manifestJsonSchema } from '../kinds/json-schema.ts'
import { didYouMean, typedKind } from './command-context.ts'
import { LedgerError } from '../contract/ledger.ts'
import { SandboxFileError } from '../sandbox/wire-schema.ts'
import { warn } from './render/terminal.ts'

const WEEK_MS = 7 * 24 * 3_600_000
const YEAR_MS = 366 * 24 * 3_600_000

const KEY = 'Kind/name, such as Pipe/orders'

export function addCommands(shell: Shell): void {
  const { program } = shell
  program.commandsGroup('Reconcile:')
  addReconciling(shell)
  program.commandsGroup('Look:')
  addLooking(shell)
  program.commandsGroup('Decide:')
  addDeciding(shell)
  program.commandsGroup('Write manifests:')
  addWriting(shell)
  program.commandsGroup('Try and set up:')
  addTrying(shell)
  addSettingsHelp(shell)
}

function addReconciling(shell: Shell): void {
  addCommand(shell, 'run', 'run the daemon: watch the directory and reconcile until stopped').action(
    acting(shell, 'platform', runDaemon),
  )
  addCommand(shell, 'plan', 'show planned changes and their reasons, without making them')
    .addOption(output(['text', 'json', 'markdown']))
    .action(acting(shell, 'platform or server', plan))
  const applying = addCommand(shell, 'apply', 'reconcile everything once, then exit')
  withWait(applying, 'wait until each pending resource is ready or has failed', APPLY_WAIT_MS)
    .addOption(output(['text', 'json']))
    .option('--yes', 'create more than --max-creates allows')
    .action(acting(shell, 'platform', apply))
  const reconciling = 'ask the running daemon to reconcile now, everything or one resource'
  withWait(
    addCommand(shell, 'reconcile', reconciling),
    'wait for the end, and print the result',
    RECONCILE_WAIT_MS,
  )
    .argument('[key]', KEY)
    .option('--accept', 'accept a directory that lost most manifests, but never an empty directory')
    .addOption(output(['text', 'json']))
    .action(acting(shell, 'local', reconcile))
}

function addLooking(shell: Shell): void {
  addCommand(shell, 'validate', 'check the manifests; send no request')
    .argument('[path...]', 'a directory; files or folders inside --manifests; or - for standard input')
    .addOption(output(['text', 'compact', 'json', 'github', 'sarif']))
    .action(acting(shell, 'local', validate))
  withFilter(addCommand(shell, 'status', 'show all resources, or one in full'), 'resources')
    .argument('[key]', KEY)
    .option('--watch', 'refresh until interrupted')
    .addOption(output(['text', 'wide', 'name', 'json']))
    .action(acting(shell, 'local', status))
  withFilter(addCommand(shell, 'history', 'show actions and changes, newest first'), 'history')
    .argument('[key]', KEY)
    .option('--limit <N>', 'show this many lines at most', parsedBy(wholeNumber(1, 100_000)), 50)
    .addOption(output(['text', 'wide', 'json']))
    .action(acting(shell, 'local', history))
}

function addDeciding(shell: Shell): void {
  addCommand(shell, 'allow', 'allow, once, the creates or deletions that a limit blocks now')
    .option('--service <NAME>', 'only those in this service')
    .option('--dry-run', 'only print what would be allowed')
    .option('--deletions', 'the blocked deletions instead of the creates')
    .option(
      '--count <N>',
      'refuse if more than N are blocked; --dry-run prints their number',
      parsedBy(wholeNumber(0, 1_000_000)),
    )
    .addOption(output(['text', 'json']))
    .action(acting(shell, 'local', allow))
  addCommand(shell, 'adopt', 'adopt an existing pipe, or confirm that you changed it in the console')
    .argument('<key>', 'Pipe/name, such as Pipe/orders')
    .argument('<id>', 'id of the pipe, as the console shows it')
    .addOption(output(['text', 'json']))
    .action(acting(shell, 'platform or server', adopt))
  addCommand(shell, 'resolve', 'resolve a create of unknown outcome, or replace a pipe that is gone')
    .argument('<key>', 'Pipe/name, such as Pipe/orders')
    .option('--adopt <ID>', 'the pipe exists, and this is its id')
    .option('--retry', 'the create had no effect: send a new create')
    .option('--recreate', 'its pipe is gone: create a new one')
    .option('--force', 'with --retry, skip the wait; a late request can make a second pipe')
    .addOption(output(['text', 'json']))
    .action(acting(shell, needsOfResolve, resolve))
  addCommand(shell, 'forget', 'remove the record of an orphan; its pipe stays')
    .argument('[key]', KEY)
    .option('--platform', 'without a key: unbind the ledger from its platform, whose address changed')
    .addOption(output(['text', 'json']))
    .action(acting(shell, 'local', forget))
  addCommand(shell, 'suspend', 'pause a resource until the next revision; print the line to commit')
    .argument('<key>', KEY)
    .option(
      '--reason <TEXT>',
      'why; shown in the status',
      parsedBy(shortText(REASON_LENGTH)),
      'no reason given',
    )
    .addOption(
      new Option('--for <DURATION>', 'maximum duration')
        .argParser(parsedBy(duration(60_000, YEAR_MS)))
        .default(WEEK_MS, '7d'),
    )
    .addOption(output(['text', 'json']))
    .action(acting(shell, 'local', suspend))
  addCommand(shell, 'resume', 'end a suspension; policy.suspend applies again at the next revision')
    .argument('<key>', KEY)
    .addOption(output(['text', 'json']))
    .action(acting(shell, 'local', resume))
  addCommand(shell, 'lock', 'print a Lock manifest with the id of every recorded pipe')
    .option('--name <NAME>', 'metadata.name of the Lock', 'pipes')
    .addOption(output(['yaml', 'json']))
    .action(acting(shell, 'local', lock))
  addCommand(shell, 'ledger', 'export, import or accept a ledger')
    .addArgument(new Argument('<action>', 'what to do').choices(['export', 'import', 'accept']))
    .argument('[file]', 'file to write or to import: lines of JSON')
    .option('--move', 'with "export": afterwards, Pipewright refuses this ledger')
    .action(acting(shell, 'local', ledger))
}

function addWriting(shell: Shell): void {
  addCommand(shell, 'import', 'print manifests that adopt existing pipes, without any change')
    .argument('[key]', 'key of the new manifest, such as Pipe/orders; with --all, the name of a Service')
    .argument('[id]', 'id of the pipe, as the console shows it')
    .option('--all', 'import each pipe that has no manifest, of one Service or of all')
    .option('--service <NAME>', 'name of the Service that the pipe belongs to')
    .option('--output-dir <DIR>', 'write each manifest to a new file in this folder')
    .addOption(output(['yaml', 'json']))
    .action(acting(shell, 'platform', importPipes))
  addCommand(shell, 'explain', 'describe a field of a manifest')
    .argument('[field]', 'such as pipe.spec.source.kafka (default: all kinds)')
    .addOption(output(['text', 'json']))
    .action(acting(shell, 'local', explain))
  addCommand(shell, 'schema', 'print the JSON Schema (draft 7) of manifests, for editors')
    .argument('[kind]', 'one kind only')
    .addOption(output(['json']))
    .action(acting(shell, 'local', schema))
}

function addTrying(shell: Shell): void {
  addPlain(shell, 'sandbox', 'run the simulated platform as a separate server')
    .addOption(
      new Option('--profile <NAME>', 'which platform to simulate')
        .choices(PROFILES.map(({ name }) => name))
        .default(DEFAULT.name),
    )
    .option('--listen <HOST:PORT>', 'where to listen', '127.0.0.1:8090')
    .option('--data <FILE>', 'SQLite file that keeps the resources. Default: memory')
    .option('--world <FILE>', 'YAML file: resources that exist from the start')
    .option('--faults <FILE>', 'YAML file: faults to simulate, by rules or at random')
    .option('--key-id <ID>', 'the accepted API key id. Default: sandbox')
    .option('--key-secret <SECRET>', 'its secret. Default: random')
    .option('--alerts-token <TOKEN>', 'the accepted token for alerts. Default: random')
    .action(async (flags) => {
      shell.code = await sandbox(shell.io, flags)
    })
  addPlain(shell, 'version', 'print the version').action(() => print(shell.io.stdout, VERSION))
}

function schema(io: Io, { profile }: Settings, _flags: object, name?: string): ExitCode {
  if (name === undefined) {
    printJson(io, manifestJsonSchema(profile))
    return EXIT.fine
  }
  const schemaOfKind = kindJsonSchema(profile, typedKind(name))
  if (schemaOfKind === undefined) {
    const hint = didYouMean(name, MANIFEST_KINDS, `The kinds are ${MANIFEST_KINDS.join(', ')}.`)
    misuse(`there is no kind "${name}". ${hint}`)
  }
  printJson(io, schemaOfKind)
  return EXIT.fine
}

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
      warn(io, `stopped by ${String(reason)}`)
      return EXIT.failed
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage
    const isKnown =
      error instanceof CommandError || error instanceof LedgerError || error instanceof SandboxFileError
    if (!isKnown) throw error
    warn(io, error.message, shell.settings)
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
