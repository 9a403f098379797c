import { Argument, type Command } from 'commander'
import { adopt, keyFrom, resolve, type Found, forget, forgetPlatform } from './commands/operator-command.ts'
import { reconcile, RECONCILE_OUTPUTS } from './commands/reconcile-command.ts'
import { allow, ALLOW_OUTPUTS } from './commands/allow-command.ts'
import { importProblems, targetOf } from './import-flags.ts'
import { importAll } from './commands/import-all-command.ts'
import { IMPORT_OUTPUTS, importPipe } from './commands/import-command.ts'
import { acceptAsItIs, exportTo, importFrom, LEDGER_ACTIONS, moveTo } from './commands/ledger-command.ts'
import { lock } from './commands/lock-command.ts'
import { CommandError, EXIT, type ExitCode, type Io } from './io.ts'
import { readWait, withWait } from './wait-flags.ts'
import { assertUsage, output, settingsFor, withSettings } from './usage.ts'

type Done = (code: ExitCode) => void

/** The commands by which a person says something to the ledger, or to the daemon. */
export function addOperatorCommands(program: Command, io: Io, done: Done): void {
  addReconcile(program, io, done)
  addAllow(program, io, done)
  addImport(program, io, done)
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
      assertUsage(command)
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

  withSettings(
    program
      .command('ledger')
      .description(
        'put all that the ledger holds into a file, make a ledger of one, or accept one that was put back',
      ),
  )
    .addArgument(new Argument('<action>', 'what to do').choices(LEDGER_ACTIONS))
    .argument('[file]', 'to export to, or to import: lines of JSON')
    .option('--move', 'with "export": the ledger goes on elsewhere, and nothing acts with this one any more')
    .option('--force', 'with "accept": also while pipes are missing from it, which are created a second time')
    .action(
      async (action: (typeof LEDGER_ACTIONS)[number], file: string | undefined, flags, command: Command) => {
        const isMove = flags.move === true
        if (isMove && action !== 'export')
          throw new CommandError('ledger: --move goes with "export".', EXIT.usage)
        const isForced = flags.force === true
        if (isForced && action !== 'accept')
          throw new CommandError('ledger: --force goes with "accept".', EXIT.usage)
        const settings = await settingsFor(io, command, 'local')
        if ((file === undefined) !== (action === 'accept'))
          throw new CommandError(
            'ledger: "export" and "import" go with a file, "accept" goes without one.',
            EXIT.usage,
          )
        if (file === undefined) done(await acceptAsItIs(io, settings, isForced ? 'force' : 'complete'))
        else done(await (action === 'import' ? importFrom : isMove ? moveTo : exportTo)(io, settings, file))
      },
    )
}

function addAllow(program: Command, io: Io, done: Done): void {
  withSettings(
    program
      .command('allow')
      .description('let pass, once, the creations that the create limit holds back now'),
  )
    .option('--service <NAME>', 'only those in this service')
    .option('--dry-run', 'only say what would be allowed, and its id')
    .option('--deletions', 'what the limit on deletions holds back, and no creations')
    .option('--held <ID>', 'only if that is still what is held back: the id that --dry-run prints')
    .addOption(output(ALLOW_OUTPUTS))
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'local')
      const { service, held } = flags
      const mode = flags.dryRun === true ? 'dry-run' : 'write'
      const what = flags.deletions === true ? 'deletions' : undefined
      done(await allow(io, settings, { what, service, held, mode, output: flags.output }))
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

function addReconcile(program: Command, io: Io, done: Done): void {
  withWait(
    withSettings(
      program
        .command('reconcile')
        .description('ask the running daemon to read and reconcile now, everything or one resource'),
    ),
    'wait until it is done, and say what became of it',
    '5m',
  )
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option(
      '--accept',
      'accept the directory as it is, even if most manifests are gone; an empty one never is',
    )
    .addOption(output(RECONCILE_OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      const { waitMs, problems } = readWait(command)
      const settings = await settingsFor(io, command, 'local', problems)
      const target = key === undefined ? undefined : keyFrom(key)
      if (target !== undefined && flags.accept === true)
        throw new CommandError(
          'reconcile: --accept is for the whole directory. Leave out the key.',
          EXIT.usage,
        )
      const accept = flags.accept === true ? 'force' : 'normal'
      done(await reconcile(io, settings, { key: target, accept, waitMs, output: flags.output }))
    })
}

function addImport(program: Command, io: Io, done: Done): void {
  withSettings(
    program
      .command('import')
      .description('print a manifest that takes over a pipe that exists; nothing is changed'),
  )
    .argument('[key]', 'the key that it is to have, such as Pipe/orders; with --all the name of a Service')
    .argument('[id]', 'id of the pipe, as the console shows it')
    .option('--all', 'each pipe of a Service, or of all, that has no manifest; where the platform lists them')
    .option('--service [NAME]', 'the Service manifest that it belongs to')
    .option('--file [FILE]', 'write it there, unless there is a file; printed unless given')
    .option('--output-dir [DIR]', 'with --all: write each into a file of its own there')
    .addOption(output(IMPORT_OUTPUTS))
    .action(async (key: string | undefined, id: string | undefined, flags, command: Command) => {
      const { service, file, outputDir, output: form, all } = flags
      const called = { key, id, service, file, outputDir, form, all: all === true } as const
      const settings = await settingsFor(io, command, 'platform', importProblems(called))
      done(
        called.all
          ? await importAll(io, settings, { service: key ?? service, target: targetOf(called) })
          : await importPipe(io, settings, { key: key ?? '', pipeId: id ?? '', service, file, output: form }),
      )
    })
}
