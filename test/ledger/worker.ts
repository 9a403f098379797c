import { LedgerError, type Ledger } from '../../src/contract/ledger.ts'
import { blank, ignore, openFile, ORDERS } from './samples.ts'

/* A process of its own. It prints what it did; `hold` and `write` stay until they are killed. */

const [command, file = ''] = process.argv.slice(2)

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The ledger is kept with it: one that nobody has any more is closed by the collector, and its lock is gone. */
function stay(ledger: Ledger): void {
  setInterval(() => ignore(ledger), 60_000)
}

async function hold(): Promise<void> {
  try {
    const ledger = await openFile(file)
    say('held')
    stay(ledger)
  } catch (error) {
    say(error instanceof LedgerError ? `${error.code}: ${error.message}` : String(error))
  }
}

async function write(): Promise<void> {
  const ledger = await openFile(file)
  await ledger.swap(blank(ORDERS, { platformName: 'kept' }), [])
  say('written')
  stay(ledger)
}

/** Writes records until it fails. */
async function fill(): Promise<void> {
  await using ledger = await openFile(file)
  for (let i = 0; ; i++) {
    try {
      await ledger.swap(blank(`Pipe/p${i}`, { platformName: 'x'.repeat(10_000) }), [])
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
      const kept = (await ledger.list()).length
      say(JSON.stringify({ code: error.code, message: error.message, written: i, kept }))
      return
    }
  }
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = { hold, write, fill }

await COMMANDS[command ?? '']?.()
