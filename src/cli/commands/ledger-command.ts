import type { Settings } from '../../config/settings.ts'
import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { systemClock } from '../../daemon/system-clock.ts'
import { archiveText, readArchiveText, type Archive } from '../../ledger/archive.ts'
import { syncFolder } from '../../ledger/location.ts'
import { acceptLedger, exportLedger, importLedger, moveLedger } from '../../ledger/open.ts'
import { openLedgerToRead, printMissing, sayMoved } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, nobody, print } from '../io.ts'
import { assertLasting } from './operator-command.ts'

export const LEDGER_ACTIONS = ['export', 'import', 'accept'] as const

const OPTIONS = { clock: systemClock, emit: nobody }

/** `pipewright ledger export FILE`: all that the ledger holds, to be kept. */
export async function exportTo(io: Io, settings: Settings, file: string): Promise<ExitCode> {
  assertLasting(settings)
  const archive = await exportLedger(settings.ledger, OPTIONS)
  save(file, archive)
  print(io.stdout, `Exported ${countsOf(archive)} of ${settings.ledger} to ${file}.`)
  await using ledger = await openLedgerToRead(settings)
  sayMoved(io, ledger, settings)
  if (await ledger.owned())
    print(
      io.stderr,
      'pipewright: a process works with this ledger: what it writes after this is not in the file. To move the ledger, stop it first, and ' +
        'export with --move.',
    )
  return EXIT.fine
}

/** `pipewright ledger export FILE --move`: the same, to be put into another one; nothing acts with this one any more. */
export async function moveTo(io: Io, settings: Settings, file: string): Promise<ExitCode> {
  assertLasting(settings)
  let counts = ''
  const keep = (archive: Archive) => {
    save(file, archive)
    counts = countsOf(archive)
  }
  await moveLedger(settings.ledger, keep, { ...OPTIONS, signal: io.stop.stopping })
  print(
    io.stdout,
    `Exported ${counts} of ${settings.ledger} to ${file}. ${settings.ledger} is not used any more.`,
  )
  return EXIT.fine
}

/** On disk before it returns. */
function save(file: string, archive: Archive): void {
  try {
    const handle = openSync(file, 'w', 0o600) // the key of its hashes is in it
    try {
      writeFileSync(handle, archiveText(archive))
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    syncFolder(file)
  } catch (error) {
    throw new CommandError(
      `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** `pipewright ledger import FILE`: makes a ledger of an export; there must be none. */
export async function importFrom(io: Io, settings: Settings, file: string): Promise<ExitCode> {
  assertLasting(settings)
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  })
  const archive = readArchiveText(text)
  const lost = await importLedger(settings.ledger, archive, OPTIONS)
  print(io.stdout, `Imported ${countsOf(archive)} into ${settings.ledger}.`)
  if (lost !== undefined)
    print(
      io.stderr,
      `pipewright: this is an earlier state: ${lost}. Nothing is created, as pipes that were created since then may not be in it. Compare it ` +
        'with the platform, say what is there with "pipewright adopt", and then run "pipewright ledger accept".',
    )
  return EXIT.fine
}

/**
 * `pipewright ledger accept`: a person accepts the records as they are, after they were put back to an earlier state.
 * @param how `force`: also while they lack pipes
 */
export async function acceptAsItIs(io: Io, settings: Settings, how: 'force' | 'complete'): Promise<ExitCode> {
  assertLasting(settings)
  const { what, missing, isAccepted } = await acceptLedger(settings.ledger, OPTIONS, how)
  printMissing(io.stdout, missing)
  if (!isAccepted) {
    print(
      io.stderr,
      `pipewright: ${settings.ledger} was not accepted. Adopt each of these that exists, with the command above, and run this again; with ` +
        '--force it is accepted without them.',
    )
    return EXIT.failed
  }
  print(
    io.stdout,
    what === undefined
      ? `Nothing to accept: nobody has noticed that ${settings.ledger} was put back to an earlier state.`
      : `Accepted ${settings.ledger} as it is, although ${what}. Creations continue.`,
  )
  return EXIT.fine
}

function countsOf({ records, history }: Archive): string {
  return `${records.length} records and ${history.length} lines of history`
}
