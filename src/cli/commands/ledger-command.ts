import type { Settings } from '../../config/settings.ts'
import { randomUUID } from 'node:crypto'
import { constants } from 'node:buffer'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { LedgerError } from '../../contract/ledger.ts'
import { archiveText, readArchiveText, type Archive } from '../../ledger/archive.ts'
import { realFile, statOf, syncFolder } from '../../ledger/location.ts'
import { acceptLedger, exportLedger, importLedger, moveLedger } from '../../ledger/open.ts'
import { readTextFile } from '../../platform/text-file.ts'
import { openLedgerToRead, sayMoved } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, misuse, nobody, print } from '../io.ts'
import { assertLasting } from './operator-command.ts'
import { warn } from '../render/terminal.ts'

export async function ledger(
  io: Io,
  settings: Settings,
  { move }: { readonly move?: true },
  action: 'export' | 'import' | 'accept',
  file?: string,
): Promise<ExitCode> {
  if (move === true && action !== 'export') misuse('ledger: --move works only with "export".')
  if ((file === undefined) !== (action === 'accept'))
    misuse('ledger: "export" and "import" need a file, "accept" takes none.')
  assertLasting(settings)
  if (file === undefined) return acceptAsItIs(io, settings)
  return (action === 'import' ? importFrom : move === true ? moveTo : exportTo)(io, settings, file)
}

async function exportTo(io: Io, settings: Settings, file: string): Promise<ExitCode> {
  const archive = await exportLedger(settings.ledger, io)
  save(settings, file, archiveText(archive))
  print(io.stdout, `Exported ${countsOf(archive)} of ${settings.ledger} to ${file}.`)
  await using opened = await openLedgerToRead(settings, io.clock)
  sayMoved(io, opened, settings)
  if (await opened.owned())
    warn(
      io,
      'a running process uses this ledger. The export lacks its later writes. To move the ledger, stop that process first, ' +
        'and export with --move.',
    )
  return EXIT.fine
}

/** Afterwards, Pipewright refuses the exported ledger. */
async function moveTo(io: Io, settings: Settings, file: string): Promise<ExitCode> {
  let counts = ''
  const keep = (archive: Archive) => {
    save(settings, file, archiveText(archive))
    counts = countsOf(archive)
  }
  await moveLedger(settings.ledger, keep, { clock: io.clock, emit: nobody, signal: io.stop.stopping })
  print(
    io.stdout,
    `Exported ${counts} of ${settings.ledger} to ${file}. Pipewright now refuses to use ${settings.ledger}.`,
  )
  return EXIT.fine
}

/** On return, the file is on disk. An older export stays until the new one is complete. */
function save({ ledger: url }: Settings, asked: string, text: string): void {
  let draft: string | undefined
  try {
    const file = targetOf(asked, url.replace(/^sqlite:/, ''))
    draft = `${file}.new-${randomUUID()}`
    const options = { flag: 'wx', mode: 0o600, flush: true } // contains the hash key
    writeFileSync(draft, text, options)
    renameSync(draft, file)
    syncFolder(file)
  } catch (error) {
    if (draft !== undefined) rmSync(draft, { force: true })
    const fault = error instanceof LedgerError ? error.cause : error
    throw new CommandError(
      `${asked} cannot be written: ${fault instanceof Error ? fault.message : String(fault)}`,
    )
  }
}

const COMPANION = /^(?:-(?:wal|shm|journal)|\.(?:lock|holder|reserve)\b.*)$/

function targetOf(asked: string, ledgerFile: string): string {
  const file = realFile(asked)
  const [stats, own] = [statOf(file), statOf(ledgerFile)]
  const ownFile = own === undefined ? ledgerFile : realFile(ledgerFile)
  const isCompanion = file.startsWith(ownFile) && COMPANION.test(file.slice(ownFile.length))
  if (isCompanion || (stats !== undefined && stats.ino === own?.ino && stats.dev === own.dev))
    throw new Error('it belongs to this ledger. Name another file.')
  if (stats?.isFile() === false) throw new Error('it is not a regular file. Name a file.')
  return file
}

async function importFrom(io: Io, settings: Settings, file: string): Promise<ExitCode> {
  const limits = { maxBytes: constants.MAX_STRING_LENGTH, signal: io.stop.stopping }
  const text = await readTextFile(file, limits).catch((error: unknown) => {
    io.stop.stopping.throwIfAborted()
    throw new CommandError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  })
  const archive = readArchiveText(text)
  const lost = await importLedger(settings.ledger, archive, io)
  print(io.stdout, `Imported ${countsOf(archive)} into ${settings.ledger}.`)
  if (lost !== undefined)
    warn(
      io,
      `the imported ledger was rolled back to an earlier state: ${lost}. Creates are blocked, because it might lack later pipes. ` +
        'Compare the ledger with the platform. Record each pipe that the ledger lacks with "pipewright adopt". Then run "pipewright ledger accept".',
      settings,
    )
  return EXIT.fine
}

async function acceptAsItIs(io: Io, settings: Settings): Promise<ExitCode> {
  const what = await acceptLedger(settings.ledger, io)
  print(
    io.stdout,
    what === undefined
      ? `No rollback of ${settings.ledger} is known.`
      : `Accepted ${settings.ledger} as it is, although ${what}. Creates continue.`,
  )
  return EXIT.fine
}

function countsOf({ records, history }: Archive): string {
  return `${records.length} records and ${history.length} lines of history`
}
