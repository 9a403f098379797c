import { Argument, type Command } from 'commander'
import { wholeNumber } from '../config/parsers.ts'
import { adopt, keyFrom, resolve, type Found, forget, forgetPlatform } from './commands/operator-command.ts'
import { reconcile, RECONCILE_OUTPUTS } from './commands/reconcile-command.ts'
import { allow, ALLOW_OUTPUTS } from './commands/allow-command.ts'
import { importAll } from './commands/import-all-command.ts'
import { IMPORT_OUTPUTS, importPipe } from './commands/import-command.ts'
import { acceptAsItIs, exportTo, importFrom, LEDGER_ACTIONS, moveTo } from './commands/ledger-command.ts'
import { lock } from './commands/lock-command.ts'
import { CommandError, EXIT, type ExitCode, type Io } from './io.ts'
import { addCommand, output, parsedBy, settingsFor } from './usage.ts'
import { readWait, withWait } from './wait-flags.ts'

type Done = (code: ExitCode) => void

const OUTPUTS = ['text', 'json']

/** The commands that decide something: they write to the ledger, or ask the daemon to. */
export function addOperatorCommands(program: Command, io: Io, done: Done): void {
  addAllow(program, io, done)
  addAdopt(program, io, done)
  addResolve(program, io, done)
  addForget(program, io, done)
  addLock(program, io, done)
  addLedger(program, io, done)
}

function addAdopt(program: Command, io: Io, done: Done): void {
  addCommand(program, 'adopt', 'adopt an existing pipe, or confirm a change made to it')
    .argument('<key>', 'Pipe/name, such as Pipe/orders')
    .argument('<id>', 'id of the pipe, as the console shows it')
    .addOption(output(OUTPUTS))
    .action(async (key: string, pipeId: string, flags, command: Command) => {
      const settings = await settingsFor(io, command, 'platform')
      done(await adopt(io, settings, { key, pipeId, output: flags.output }))
    })
}

function addResolve(program: Command, io: Io, done: Done): void {
  addCommand(program, 'resolve', 'settle a create with an unknown outcome, or a pipe that is gone')
    .argument('<key>', 'Pipe/name, such as Pipe/orders')
    .option('--adopt <ID>', 'the pipe exists, and this is its id')
    .option('--retry', 'the create made nothing: create it, with a new attempt')
    .option('--recreate', 'its pipe is gone: create a new one')
    .option('--force', 'with --retry, skip the wait: a request still on its way makes a second pipe')
    .addOption(output(OUTPUTS))
    .action(async (key: string, flags, command: Command) => {
      const found = foundOf(flags)
      const settings = await settingsFor(io, command, found.type === 'nothing' ? 'local' : 'platform')
      done(await resolve(io, settings, { key, found, output: flags.output }))
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
  if (only === undefined || others.length > 0)
    throw misuse(
      'resolve: give one of --adopt ID, if the pipe exists; --retry, if a create of unknown outcome made nothing; ' +
        '--recreate, if its pipe is gone.',
    )
  if (force === true && retry !== true) throw misuse('resolve: --force goes with --retry.')
  return only
}

function addForget(program: Command, io: Io, done: Done): void {
  addCommand(program, 'forget', 'remove the record of an orphan; its pipe stays')
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--platform', 'instead of a key: unbind the ledger from its platform, which has moved')
    .addOption(output(OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      if ((key === undefined) === (flags.platform === undefined))
        throw misuse('forget: give either the key of an orphan, such as Pipe/orders, or --platform.')
      const settings = await settingsFor(io, command, 'local')
      done(
        key === undefined
          ? await forgetPlatform(io, settings, flags.output)
          : await forget(io, settings, { key, output: flags.output }),
      )
    })
}

function addLock(program: Command, io: Io, done: Done): void {
  addCommand(program, 'lock', 'print a Lock manifest with the id of every recorded pipe')
    .option('--name <NAME>', 'its metadata.name', 'pipes')
    .addOption(output(['yaml', 'json']))
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'local')
      done(await lock(io, settings, { name: flags.name, output: flags.output }))
    })
}

function addLedger(program: Command, io: Io, done: Done): void {
  type Action = (typeof LEDGER_ACTIONS)[number]
  addCommand(program, 'ledger', 'export, import or accept a ledger')
    .addArgument(new Argument('<action>', 'what to do').choices(LEDGER_ACTIONS))
    .argument('[file]', 'to export to, or to import: lines of JSON')
    .option('--move', 'with "export": the ledger moves, and nothing acts with this one any more')
    .option('--force', 'with "accept": also if pipes are missing from it; they are created a second time')
    .action(async (action: Action, file: string | undefined, flags, command: Command) => {
      const isMove = flags.move === true
      const isForced = flags.force === true
      if (isMove && action !== 'export') throw misuse('ledger: --move goes with "export".')
      if (isForced && action !== 'accept') throw misuse('ledger: --force goes with "accept".')
      if ((file === undefined) !== (action === 'accept'))
        throw misuse('ledger: "export" and "import" need a file, "accept" takes none.')
      const settings = await settingsFor(io, command, 'local')
      if (file === undefined) done(await acceptAsItIs(io, settings, isForced ? 'force' : 'complete'))
      else done(await (action === 'import' ? importFrom : isMove ? moveTo : exportTo)(io, settings, file))
    })
}

const MAX_BLOCKED = 1_000_000

function addAllow(program: Command, io: Io, done: Done): void {
  addCommand(program, 'allow', 'let the creates or deletions that a limit blocks now pass, once')
    .option('--service <NAME>', 'only those in this service')
    .option('--dry-run', 'only print what would be allowed')
    .option('--deletions', 'the blocked deletions instead of the creates')
    .option(
      '--count <N>',
      'only if at most N are blocked: the number that --dry-run prints',
      parsedBy(wholeNumber(0, MAX_BLOCKED)),
    )
    .addOption(output(ALLOW_OUTPUTS))
    .action(async (flags, command: Command) => {
      const settings = await settingsFor(io, command, 'local')
      const { service, count } = flags
      const mode = flags.dryRun === true ? 'dry-run' : 'write'
      const what = flags.deletions === true ? 'deletions' : undefined
      done(await allow(io, settings, { what, service, count, mode, output: flags.output }))
    })
}

export function addReconcile(program: Command, io: Io, done: Done): void {
  withWait(
    addCommand(program, 'reconcile', 'ask the running daemon to reconcile now, everything or one resource'),
    'wait for the end, and print the result',
    5 * 60_000,
  )
    .argument('[key]', 'Kind/name, such as Pipe/orders')
    .option('--accept', 'accept a directory that lost most manifests; an empty one is never accepted')
    .addOption(output(RECONCILE_OUTPUTS))
    .action(async (key: string | undefined, flags, command: Command) => {
      const waitMs = readWait(command)
      const settings = await settingsFor(io, command, 'local')
      const target = key === undefined ? undefined : keyFrom(key)
      if (target !== undefined && flags.accept === true)
        throw misuse('reconcile: --accept is for the whole directory. Leave out the key.')
      const accept = flags.accept === true ? 'force' : 'normal'
      done(await reconcile(io, settings, { key: target, accept, waitMs, output: flags.output }))
    })
}

interface ImportFlags {
  readonly all?: true
  readonly service?: string
  readonly file?: string
  readonly outputDir?: string
  readonly output: (typeof IMPORT_OUTPUTS)[number]
}

export function addImport(program: Command, io: Io, done: Done): void {
  addCommand(program, 'import', 'print a manifest that adopts an existing pipe; change nothing')
    .argument('[key]', 'key of the new manifest, such as Pipe/orders; with --all: name of a Service')
    .argument('[id]', 'id of the pipe, as the console shows it')
    .option('--all', 'a manifest for each pipe without one, of a Service or of all')
    .option('--service <NAME>', 'the Service manifest that the pipe belongs to')
    .option('--file <FILE>', 'write the manifest to this new file')
    .option('--output-dir <DIR>', 'with --all: write each manifest to a new file there')
    .addOption(output(IMPORT_OUTPUTS))
    .action(async (key: string | undefined, id: string | undefined, flags: ImportFlags, command: Command) => {
      const { service, file, outputDir, output: form } = flags
      if (flags.all === true) {
        assertImportsAll(key, id, flags)
        const settings = await settingsFor(io, command, 'platform')
        done(await importAll(io, settings, { service: key ?? service, folder: outputDir, output: form }))
        return
      }
      if (key === undefined || id === undefined)
        throw misuse('import: give the key of the new manifest and the id of the pipe, or --all.')
      if (outputDir !== undefined) throw misuse('import: --output-dir goes with --all. Give --file.')
      const settings = await settingsFor(io, command, 'platform')
      done(await importPipe(io, settings, { key, pipeId: id, service, file, output: form }))
    })
}

/** @throws {CommandError} */
function assertImportsAll(key: string | undefined, id: string | undefined, flags: ImportFlags): void {
  if (key?.includes('/') === true || id !== undefined)
    throw misuse('import: with --all, each pipe gets its own key. Give the name of a Service, or nothing.')
  if (key !== undefined && flags.service !== undefined)
    throw misuse('import: the Service is named twice. Leave out --service.')
  if (flags.file !== undefined)
    throw misuse('import: --file is for one manifest. Give --output-dir, or redirect the output.')
  if (flags.outputDir !== undefined && flags.output === 'json')
    throw misuse('import: manifests are written as YAML. Leave out --output or --output-dir.')
}

function misuse(message: string): CommandError {
  return new CommandError(message, EXIT.usage)
}
