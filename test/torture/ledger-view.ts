import { decodeEntry } from '../../src/ledger/codec.ts'
import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { openLedger } from '../../src/ledger/open.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Leaks } from './leaks.ts'

/** The ledger as somebody sees it who only looks. */
export type LedgerView = ReturnType<typeof createLedgerView>

export function createLedgerView(file: string) {
  const history: HistoryEntry[] = []
  let last = 0
  return {
    history,
    file,
    /** It is a new file from now on. */
    renewed() {
      last = 0
    },
    /** Whether its last write was cut short by a kill: the next run undoes it, and until then nobody reads it. */
    get cutShort() {
      return existsSync(`${file}-journal`)
    },
    /** @returns undefined when it cannot be read at the moment: before its first run, or while a write that a kill cut short waits for the next run */
    async records() {
      try {
        const opened = await openLedger(`sqlite:${file}`, {
          mode: 'reader',
          init: 'never',
          clock: systemClock,
          emit: () => undefined,
        })
        await using ledger = opened.ledger
        return await ledger.list()
      } catch {
        return undefined
      }
    },
    /** Reads the history written since the last call, before the ledger forgets it. */
    drain() {
      if (!existsSync(file)) return
      try {
        using db = new DatabaseSync(file, { readOnly: true, timeout: 2_000 })
        const rows = db.prepare('SELECT id, key, body FROM history WHERE id > ? ORDER BY id').all(last)
        for (const row of rows) {
          history.push(decodeEntry(String(row['key']), String(row['body'])))
          last = Number(row['id'])
        }
      } catch {
        // being made or recovered at this moment: the next call reads what this one did not
      }
    },
    /** Looks for secrets in the bytes of its files. */
    scan(leaks: Leaks) {
      for (const name of [file, `${file}-journal`]) {
        if (existsSync(name)) leaks.scan(`the bytes of ${name}`, readFileSync(name, 'latin1'))
      }
    },
  }
}
