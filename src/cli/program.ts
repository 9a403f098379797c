import { Command, CommanderError } from 'commander'
import { duration, wholeNumber } from '../config/parsers.ts'
import { LedgerError } from '../contract/ledger.ts'
import { SandboxFileError } from '../sandbox/sandbox-file.ts'
import { adopt, keyFrom, resolve, type Found, forget, forgetPlatform } from './commands/operator-command.ts'
import { apply } from './commands/apply-command.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, VERSION } from './io.ts'
import { history, HISTORY_OUTPUTS } from './commands/history-command.ts'
import { readFilter, withFilter } from './resource-filter.ts'
import { lock } from './commands/lock-command.ts'
import { plan } from './commands/plan-command.ts'
import { reconcile, RECONCILE_OUTPUTS } from './commands/reconcile-command.ts'
import { runDaemon } from './commands/run-command.ts'
import { sandbox } from './commands/sandbox-command.ts'
import { schema } from './commands/schema-command.ts'
import { status, STATUS_OUTPUTS } from './commands/status-command.ts'
import { withSettings, lenient, settingsFor, assertUsage, output } from './usage.ts'
import { validate } from './commands/validate-command.ts'

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
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    return failureOf(io, error)
  }
}

function failureOf(io: Io, error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage
  if (error instanceof CommandError) {
    print(io.stderr, `pipewright: ${error.message}`)
    return error.code
  }
  if (error instanceof LedgerError || error instanceof SandboxFileError) {
    print(io.stderr, `pipewright: ${error.message}`)
    return error instanceof LedgerError ? EXIT.failed : EXIT.usage
  }
  throw error
}

type Done = (code: ExitCode) => void

function buildProgram(io: Io, done: Done): Command {
  const program = new Command('pipewright')
    .description('A GitOps reconciler for data ingestion: a directory of YAML says what should exist.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, 'pipewright:')),
    })
    .showSuggestionAfterError()
    .helpCommand(false)

  withSettings(
    program.command('run').description('run the daemon: watch the directory and reconcile until stopped'),
  ).action(async (_flags, command: Command) => {
    const settings = await settingsFor(io, command, 'platform')
    done(await runDaemon(io, settings))
  })

  withSettings(program.command('validate').description('check the manifests, without talking to anything'))
    .argument('[path]', 'directory of the manifests; --manifests unless given')
    .addOption(output(['text', 'json', 'github', 'sarif']))
    .action(async (path: string | undefined, flags, command: Command) => {
      if (path !== undefined) command.setOptionValue('manifests', path)
      const settings = await settingsFor(io, command, 'local')
      done(await validate(io, settings, flags.output))
    })

  withSettings(program.command('plan').description('say what would happen and why, and write nothing'))
    .addOption(output(['text', 'json', 'markdown']))
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'platform or server')
      done(await plan(io, settings, flags.output))
    })

  withSettings(program.command('apply').description('reconcile everything once, then exit'))
    .addOption(output(['text', 'json']))
    .option('--yes', 'let more creations pass than --max-creates')
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'platform')
      done(
        await apply(io, settings, { output: flags.output, createLimit: flags.yes === true ? 'off' : 'on' }),
      )
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
      const settings = await settingsFor(io, command, 'local', problems)
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

  addReconcile(program, io, done)
  addWaysOut(program, io, done)

  lenient(program.command('schema'))
    .description('print the JSON Schema (draft 7) of manifests, for editors')
    .argument('[kind]', 'one kind only')
    .addOption(output(['json']))
    .action(async (kind: string | undefined, _flags, command: Command) => {
      assertUsage(command)
      done(schema(io, kind))
    })

  lenient(program.command('sandbox'))
    .description('run the platform of the interface as a server of its own, to try things on')
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

  return program
}

/** Lines of history that one command prints. */
const MOST_LINES = 100_000

/** Waits of a command: ms. */
const LONGEST_WAIT_MS = 24 * 3_600_000

function addReconcile(program: Command, io: Io, done: Done): void {
  withSettings(
    program
      .command('reconcile')
      .description('ask the running daemon to read and reconcile now, everything or one resource'),
  )
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--wait', 'wait until it is done, and say what became of it')
    .option('--timeout [D]', 'with --wait, wait so long at most', '5m')
    .addOption(output(RECONCILE_OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      const timeout = duration(1_000, LONGEST_WAIT_MS)(String(flags.timeout))
      const wrong = timeout.ok
        ? []
        : [{ setting: undefined, from: '--timeout', given: String(flags.timeout), ...timeout }]
      const settings = await settingsFor(io, command, 'local', wrong)
      const waitMs = flags.wait === true && timeout.ok ? timeout.value : undefined
      const target = key === undefined ? undefined : keyFrom(key)
      done(await reconcile(io, settings, { key: target, waitMs, output: flags.output }))
    })
}

/** What a person says to the ledger. */
function addWaysOut(program: Command, io: Io, done: Done): void {
  withSettings(
    program.command('adopt').description('take over a pipe that exists, or say that a change was made to it'),
  )
    .argument('<key>', 'Pipe/name, such as Pipe/orders')
    .argument('<id>', 'id of the pipe, as the console shows it')
    .addOption(output(['text', 'json']))
    .action(async (key: string, pipeId: string, flags, command: Command) => {
      const settings = await settingsFor(io, command, 'platform')
      done(await adopt(io, settings, { key, pipeId, output: flags.output }))
    })

  withSettings(
    program
      .command('resolve')
      .description('settle a create whose outcome is unknown, or a pipe that is gone'),
  )
    .argument('<key>', 'Pipe/name, such as Pipe/orders')
    .option('--adopt <ID>', 'the pipe is there, and this is its id')
    .option('--retry', 'the create made nothing: create it, with a new attempt')
    .option('--recreate', 'the pipe that it had is gone: create a new one')
    .option('--force', 'with --retry, at once: if the request is still on its way, there will be two pipes')
    .addOption(output(['text', 'json']))
    .action(async (key: string, flags, command: Command) => {
      const found = foundOf(flags)
      const settings = await settingsFor(io, command, found.type === 'nothing' ? 'local' : 'platform')
      done(await resolve(io, settings, { key, found, output: flags.output }))
    })

  withSettings(
    program.command('forget').description('give up the record of an orphan; what is on the platform stays'),
  )
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--platform', 'instead of a key: the platform that the ledger is tied to, which has moved')
    .addOption(output(['text', 'json']))
    .action(async (key: string | undefined, flags, command: Command) => {
      if ((key === undefined) === (flags.platform === undefined)) {
        throw new CommandError(
          'forget: give either the key of an orphan, such as Pipe/orders, or --platform.',
          EXIT.usage,
        )
      }
      const settings = await settingsFor(io, command, 'local')
      done(
        key === undefined
          ? await forgetPlatform(io, settings, flags.output)
          : await forget(io, settings, { key, output: flags.output }),
      )
    })

  withSettings(
    program
      .command('lock')
      .description(
        'print a Lock manifest with the id of every recorded pipe, to be committed as pipes.lock.yaml',
      ),
  )
    .option('--name <NAME>', 'its metadata.name', 'pipes')
    .addOption(output(['yaml', 'json']))
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'local')
      done(await lock(io, settings, { name: flags.name, output: flags.output }))
    })
}

/** @throws {CommandError} unless exactly one thing was found out */
function foundOf(flags: {
  readonly adopt?: string
  readonly retry?: true
  readonly recreate?: true
  readonly force?: true
}): Found {
  const { adopt: pipeId, retry, recreate, force } = flags
  const found: Found[] = []
  if (pipeId !== undefined) found.push({ type: 'pipe', pipeId })
  if (retry === true) found.push({ type: 'nothing', force: force === true })
  if (recreate === true) found.push({ type: 'gone' })
  const [only, ...others] = found
  if (only === undefined || others.length > 0) {
    throw new CommandError(
      'resolve: give one of --adopt ID, when the pipe is there; --retry, when a create of unknown outcome made nothing; ' +
        '--recreate, when the pipe that it had is gone.',
      EXIT.usage,
    )
  }
  if (force === true && retry !== true)
    throw new CommandError('resolve: --force goes with --retry.', EXIT.usage)
  return only
}
