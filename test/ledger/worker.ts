import { createInterface } from 'node:readline'
import { openSqliteLedger } from '../../src/ledger/sqlite-ledger.ts'
import { LedgerConflict, LedgerError, type Ledger } from '../../src/contract/ledger.ts'
import { blank, CLOCK, ignore, ORDERS } from './samples.ts'

/*
 * A process of its own, for what only another process can show. It says what it did in lines on its output;
 * `hold` and `write` then stay until they are killed.
 */

const [command, file = ''] = process.argv.slice(2)

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function open(mode: 'owner' | 'writer') {
  return openSqliteLedger({ file, init: 'auto', mode, clock: CLOCK, emit: ignore })
}

/** The ledger is kept with it: one that nobody has any more is closed by the collector, and its lock is gone. */
function stay(ledger: Ledger): void {
  setInterval(() => ignore(ledger), 60_000)
}

async function hold(): Promise<void> {
  try {
    const ledger = await open('owner')
    say('held')
    stay(ledger)
  } catch (error) {
    say(error instanceof LedgerError ? `${error.code}: ${error.message}` : String(error))
  }
}

async function write(): Promise<void> {
  const ledger = await open('owner')
  await ledger.swap(blank(ORDERS, { platformName: 'kept' }), [])
  say('written')
  stay(ledger)
}

/** Tries to write the versions of one record that it is told, a line each, and says whether it came first. */
async function contend(): Promise<void> {
  await using ledger = await open('writer')
  say('ready')
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      await ledger.swap(blank(ORDERS, { version: Number(line) }), [])
      say('won')
    } catch (error) {
      say(error instanceof LedgerConflict ? 'lost' : String(error))
    }
  }
}

/** Writes records until it fails. */
async function fill(): Promise<void> {
  await using ledger = await open('owner')
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

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = { hold, write, contend, fill }

await COMMANDS[command ?? '']?.()
