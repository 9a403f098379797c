import type { DatabaseSync } from 'node:sqlite'
import type { Key } from '../kinds/key.ts'
import { knownKey } from '../kinds/lookup.ts'
import { LedgerError } from '../contract/ledger.ts'
import type { StoredRecord } from './codec.ts'
import type { ReadTables, WriteTables } from './backend.ts'
import { markMoved, readMovedAt } from './table-schema.ts'

/** Old lines of history go when this many new ones have come, not one by one. */
const TRIM_EVERY = 64

/** The statements of a reader. */
export function prepareReads(db: DatabaseSync): ReadTables {
  const get = db.prepare('SELECT key, version, body FROM record WHERE key = ?')
  const version = db.prepare('SELECT version FROM record WHERE key = ?')
  const all = db.prepare('SELECT key, version, body FROM record ORDER BY key')
  const entries = db.prepare('SELECT key, body FROM history ORDER BY id DESC LIMIT ?')
  const versions = db.prepare('SELECT key, version FROM record ORDER BY key')
  const dataVersion = db.prepare('PRAGMA data_version')
  const platform = db.prepare(`SELECT value FROM meta WHERE name = 'platform'`)
  const profile = db.prepare(`SELECT value FROM meta WHERE name = 'profile'`)
  const used = db.prepare(`SELECT value FROM meta WHERE name = 'used_version'`)
  const epoch = db.prepare(`SELECT value FROM meta WHERE name = 'epoch'`)
  const writes = db.prepare(`SELECT value FROM meta WHERE name = 'writes'`)
  const activity = db.prepare(`SELECT value FROM meta WHERE name = 'activity'`)
  const checked = db.prepare('SELECT key, at FROM checked ORDER BY key')
  const entriesOf = db.prepare('SELECT key, body FROM history WHERE key = ? ORDER BY id DESC LIMIT ?')
  return {
    get(key) {
      const row = get.get(key)
      return row && toRecord(row)
    },
    versionOf(key) {
      const row = version.get(key)
      return row && Number(row['version'])
    },
    all: () => all.all().map(toRecord),
    history: (key, limit) =>
      (key === undefined ? entries.all(limit) : entriesOf.all(key, limit)).map((row) => ({
        key: String(row['key']),
        body: String(row['body']),
      })),
    versions: () => new Map(versions.all().map((row) => [keyIn(row), Number(row['version'])])),
    platform: () => textOf(platform.get()),
    profile: () => textOf(profile.get()),
    usedVersion: () => Number(used.get()?.['value'] ?? 0),
    epoch: () => Number(epoch.get()?.['value'] ?? 0),
    activity: () => textOf(activity.get()),
    checkedAt: () => new Map(checked.all().map((row) => [keyIn(row), Number(row['at'])])),
    movedAt: () => readMovedAt(db),
    writes: () => Number(writes.get()?.['value']),
    // changes with commits of other connections only
    othersWrites: () => Number(dataVersion.get()?.['data_version']),
  }
}

/** The statements of a writer. @param historyLimit lines kept; now and then up to {@link TRIM_EVERY} more */
export function prepareWrites(db: DatabaseSync, historyLimit: number): WriteTables {
  const put = db.prepare('INSERT OR REPLACE INTO record (key, version, body) VALUES (?, ?, ?)')
  const drop = db.prepare('DELETE FROM record WHERE key = ?')
  const setUsed = db.prepare(`UPDATE meta SET value = ? WHERE name = 'used_version'`)
  const setWrites = db.prepare(`UPDATE meta SET value = ? WHERE name = 'writes'`)
  const bind = db.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('platform', ?)`)
  const unbind = db.prepare(`DELETE FROM meta WHERE name = 'platform'`)
  const setProfile = db.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('profile', ?)`)
  const dropProfile = db.prepare(`DELETE FROM meta WHERE name = 'profile'`)
  const setEpoch = db.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('epoch', ?)`)
  const setActivity = db.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('activity', ?)`)
  const setChecked = db.prepare('INSERT OR REPLACE INTO checked (key, at) VALUES (?, ?)')
  const dropChecked = db.prepare('DELETE FROM checked WHERE key = ?')
  const addEntry = db.prepare('INSERT INTO history (key, body) VALUES (?, ?)')
  const trim = db.prepare('DELETE FROM history WHERE id <= ?')
  return {
    ...prepareReads(db),
    put: ({ key, version, body }) => void put.run(key, version, body),
    delete(key) {
      drop.run(key)
      dropChecked.run(key)
    },
    setEpoch: (next) => void setEpoch.run(next),
    setActivity: (body) => void setActivity.run(body),
    setCheckedAt: (key, at) => void setChecked.run(key, at),
    setUsedVersion: (version) => void setUsed.run(version),
    setMovedAt: (at) => markMoved(db, at),
    setWrites: (count) => void setWrites.run(count),
    setPlatform: (next) => void (next === undefined ? unbind.run() : bind.run(next)),
    setProfile: (next) => void (next === undefined ? dropProfile.run() : setProfile.run(next)),
    addHistory(key, body) {
      // ids have no gaps: they are given in transactions, and only the oldest rows are ever deleted
      const id = Number(addEntry.run(key, body).lastInsertRowid)
      if (id % TRIM_EVERY === 0) trim.run(id - historyLimit)
    },
  }
}

/** A value of `meta`. */
function textOf(row: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const value = row?.['value']
  return typeof value === 'string' ? value : undefined
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
        'Restore it from a backup; do not delete it.',
    )
  }
  return key
}
