import type { DatabaseSync } from 'node:sqlite'
import type { Key } from '../kinds/key.ts'
import { knownKey } from '../kinds/lookup.ts'
import { LedgerError } from '../contract/ledger.ts'
import type { StoredRecord } from './codec.ts'

/** After this many new lines of history, the oldest are removed. */
const TRIM_EVERY = 64

/** `activity` is JSON. A missing `profile` means the default profile. */
type Text = 'platform' | 'profile' | 'activity' | 'notes' | 'moved_at'

/**
 * `used_version`: highest version of all removed records. `epoch`: how often a process became leader.
 * `writes`: number of commits.
 */
type Count = 'used_version' | 'epoch' | 'writes'

export type Tables = ReturnType<typeof prepareTables>

/** @param historyLimit lines kept; sometimes up to {@link TRIM_EVERY} more */
export function prepareTables(db: DatabaseSync, historyLimit: number) {
  const record = db.prepare('SELECT key, version, body FROM record WHERE key = ?')
  const version = db.prepare('SELECT version FROM record WHERE key = ?')
  const records = db.prepare('SELECT key, version, body FROM record ORDER BY key')
  const put = db.prepare('INSERT OR REPLACE INTO record (key, version, body) VALUES (?, ?, ?)')
  const drop = db.prepare('DELETE FROM record WHERE key = ?')
  const entries = db.prepare('SELECT key, body FROM history ORDER BY id DESC LIMIT ?')
  const entriesOf = db.prepare('SELECT key, body FROM history WHERE key = ? ORDER BY id DESC LIMIT ?')
  const addEntry = db.prepare('INSERT INTO history (key, body) VALUES (?, ?)')
  const trim = db.prepare('DELETE FROM history WHERE id <= ?')
  const checked = db.prepare('SELECT key, at FROM checked ORDER BY key')
  const setChecked = db.prepare('INSERT OR REPLACE INTO checked (key, at) VALUES (?, ?)')
  const dropChecked = db.prepare('DELETE FROM checked WHERE key = ?')
  const meta = db.prepare('SELECT value FROM meta WHERE name = ?')
  const setMeta = db.prepare('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)')
  const dropMeta = db.prepare('DELETE FROM meta WHERE name = ?')

  const first = db.prepare('SELECT 1 FROM record LIMIT 1')
  return {
    isEmpty: () => first.get() === undefined,
    get(key: Key): StoredRecord | undefined {
      const row = record.get(key)
      return row && toRecord(row)
    },
    versionOf(key: Key): number | undefined {
      const row = version.get(key)
      return row && Number(row['version'])
    },
    all: (): readonly StoredRecord[] => records.all().map(toRecord),
    put: ({ key, version: next, body }: StoredRecord) => void put.run(key, next, body),
    delete(key: Key) {
      drop.run(key)
      dropChecked.run(key)
    },
    /** Newest first. */
    history: (key: Key | undefined, limit: number) =>
      (key === undefined ? entries.all(limit) : entriesOf.all(key, limit)).map((row) => ({
        key: String(row['key']),
        body: String(row['body']),
      })),
    addHistory(key: string, body: string) {
      // The ids have no gaps, so the newest `historyLimit` lines stay.
      const id = Number(addEntry.run(key, body).lastInsertRowid)
      if (id % TRIM_EVERY === 0) trim.run(id - historyLimit)
    },
    checkedAt: (): ReadonlyMap<Key, number> =>
      new Map(checked.all().map((row) => [keyIn(row), Number(row['at'])])),
    setCheckedAt: (key: Key, at: number) => void setChecked.run(key, at),
    text(name: Text): string | undefined {
      const value = meta.get(name)?.['value']
      return typeof value === 'string' ? value : undefined
    },
    count: (name: Count) => Number(meta.get(name)?.['value'] ?? 0),
    set(name: Text | Count, value: string | number | undefined) {
      if (value === undefined) dropMeta.run(name)
      else setMeta.run(name, value)
    },
  }
}

function toRecord(row: Readonly<Record<string, unknown>>): StoredRecord {
  return { key: keyIn(row), version: Number(row['version']), body: String(row['body']) }
}

function keyIn(row: Readonly<Record<string, unknown>>): Key {
  const key = knownKey(String(row['key']))
  if (key === undefined) {
    throw new LedgerError(
      'corrupt',
      `the ledger has a record of "${String(row['key'])}", which is not a valid key: it was edited by hand or damaged. ` +
        'Do not delete the ledger. Restore it from a backup.',
    )
  }
  return key
}
