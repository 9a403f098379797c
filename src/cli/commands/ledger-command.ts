import { open, readFile } from 'node:fs/promises'
import { systemClock } from '../../daemon/system-clock.ts'
import { archiveText, readArchiveText, type Archive } from '../../ledger/archive.ts'
import { acceptLedger, exportLedger, importLedger } from '../../ledger/open.ts'
import type { SettingsOf } from '../command-help.ts'
import { openLedgerToRead } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, nobody, print } from '../io.ts'
import { assertLasting } from './operator-command.ts'

export const LEDGER_ACTIONS = ['export', 'import', 'accept'] as const

const OPTIONS = { clock: systemClock, emit: nobody }

/** `pipewright ledger export FILE`: all that the ledger holds, to be kept, or put into another one. */
export async function exportTo(io: Io, settings: SettingsOf<'ledger'>, file: string): Promise<ExitCode> {
  assertLasting(settings)
  const archive = await exportLedger(settings.ledger, OPTIONS)
  await tried(`${file} cannot be written`, async () => {
    await using handle = await open(file, 'w', 0o600) // the key of its hashes is in it
    await handle.writeFile(archiveText(archive))
    await handle.sync()
  })
  print(io.stdout, `Exported ${countsOf(archive)} of ${settings.ledger} to ${file}.`)
  if (await isOwned(settings))
    print(
      io.stderr,
      'pipewright: a process works with this ledger: what it writes after this is not in the file. To move the ledger, stop it first, and ' +
        'export again.',
    )
  return EXIT.fine
}

/** `pipewright ledger import FILE`: makes a ledger of an export; there must be none. */
export async function importFrom(io: Io, settings: SettingsOf<'ledger'>, file: string): Promise<ExitCode> {
  assertLasting(settings)
  const text = await tried(`${file} cannot be read`, () => readFile(file, 'utf8'))
  const archive = readArchiveText(text)
  await importLedger(settings.ledger, archive, OPTIONS)
  print(io.stdout, `Imported ${countsOf(archive)} into ${settings.ledger}.`)
  return EXIT.fine
}

/** `pipewright ledger accept`: a person accepts the records as they are, after they were put back to an earlier state. */
export async function acceptAsItIs(io: Io, settings: SettingsOf<'ledger'>): Promise<ExitCode> {
  assertLasting(settings)
  const what = await acceptLedger(settings.ledger, OPTIONS)
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

async function isOwned(settings: SettingsOf<'ledger'>): Promise<boolean> {
  await using ledger = await openLedgerToRead(settings)
  return await ledger.owned() // before it is closed
}

async function tried<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new CommandError(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
