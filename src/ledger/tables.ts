import type { DatabaseSync } from 'node:sqlite'
import type { Key } from '../kinds/key.ts'
import { knownKey } from '../kinds/lookup.ts'
import { LedgerError } from '../contract/ledger.ts'
import type { StoredRecord } from './codec.ts'
import { markMoved, readMovedAt } from './table-schema.ts'

/** Old history lines are removed in batches. */
const TRIM_EVERY = 64

/** Reads within one consistent view. */
export type ReadTables = ReturnType<typeof prepareReads>

/** The caller checks everything before the first change. */
export type WriteTables = ReturnType<typeof prepareWrites>

export function prepareReads(db: DatabaseSync) {
  const record = db.prepare('SELECT key, version, body FROM record WHERE key = ?')
  const version = db.prepare('SELECT version FROM record WHERE key = ?')
  const records = db.prepare('SELECT key, version, body FROM record ORDER BY key')
  const versions = db.prepare('SELECT key, version FROM record ORDER BY key')
  const entries = db.prepare('SELECT key, body FROM history ORDER BY id DESC LIMIT ?')
  const entriesOf = db.prepare('SELECT key, body FROM history WHERE key = ? ORDER BY id DESC LIMIT ?')
  const checked = db.prepare('SELECT key, at FROM checked ORDER BY key')
  const meta = db.prepare('SELECT value FROM meta WHERE name = ?')

  const valueOf = (name: MetaName) => meta.get(name)?.['value']
  function textOf(name: MetaName): string | undefined {
    const value = valueOf(name)
    return typeof value === 'string' ? value : undefined
  }

  return {
    get(key: Key): StoredRecord | undefined {
      const row = record.get(key)
      return row && toRecord(row)
    },
    /** Undefined: no record. */
    versionOf(key: Key): number | undefined {
      const row = version.get(key)
      return row && Number(row['version'])
    },
    /** Ordered by key. */
    all: (): readonly StoredRecord[] => records.all().map(toRecord),
    /** Newest first. */
    history: (key: Key | undefined, limit: number) =>
      (key === undefined ? entries.all(limit) : entriesOf.all(key, limit)).map((row) => ({
        key: String(row['key']),
        body: String(row['body']),
      })),
    /** As `Ledger.versions`. */
    versions: (): ReadonlyMap<Key, number> =>
      new Map(versions.all().map((row) => [keyIn(row), Number(row['version'])])),
    platform: () => textOf('platform'),
    /** Undefined: default profile, or not bound. */
    profile: () => textOf('profile'),
    /** Highest version given to a record that was removed. */
    usedVersion: () => Number(valueOf('used_version') ?? 0),
    /** Number of times a process became leader. */
    epoch: () => Number(valueOf('epoch') ?? 0),
    /** The owner's last activity, as JSON. */
    activity: () => textOf('activity'),
    checkedAt: (): ReadonlyMap<Key, number> =>
      new Map(checked.all().map((row) => [keyIn(row), Number(row['at'])])),
    /** As `Ledger.movedAt`. */
    movedAt: () => readMovedAt(db),
    /** Number of writes; it only grows. */
    writes: () => Number(valueOf('writes')),
  }
}

type MetaName = 'platform' | 'profile' | 'used_version' | 'epoch' | 'activity' | 'writes'

/** @param historyLimit lines kept; sometimes up to {@link TRIM_EVERY} more */
export function prepareWrites(db: DatabaseSync, historyLimit: number) {
  const put = db.prepare('INSERT OR REPLACE INTO record (key, version, body) VALUES (?, ?, ?)')
  const drop = db.prepare('DELETE FROM record WHERE key = ?')
  const setChecked = db.prepare('INSERT OR REPLACE INTO checked (key, at) VALUES (?, ?)')
  const dropChecked = db.prepare('DELETE FROM checked WHERE key = ?')
  const addEntry = db.prepare('INSERT INTO history (key, body) VALUES (?, ?)')
  const trim = db.prepare('DELETE FROM history WHERE id <= ?')
  const setMeta = db.prepare('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)')
  const dropMeta = db.prepare('DELETE FROM meta WHERE name = ?')

  function setValue(name: MetaName, value: string | number | undefined): void {
    if (value === undefined) dropMeta.run(name)
    else setMeta.run(name, value)
  }

  return {
    ...prepareReads(db),
    put: ({ key, version, body }: StoredRecord) => void put.run(key, version, body),
    /** Also removes the time of the last check. */
    delete(key: Key) {
      drop.run(key)
      dropChecked.run(key)
    },
    setCheckedAt: (key: Key, at: number) => void setChecked.run(key, at),
    setUsedVersion: (version: number) => setValue('used_version', version),
    setPlatform: (platform: string | undefined) => setValue('platform', platform),
    setProfile: (profile: string | undefined) => setValue('profile', profile),
    setEpoch: (epoch: number) => setValue('epoch', epoch),
    setActivity: (body: string) => setValue('activity', body),
    setWrites: (count: number) => setValue('writes', count),
    setMovedAt: (at: string) => markMoved(db, at),
    addHistory(key: Key, body: string) {
      // Ids have no gaps: assigned in transactions, removed oldest first.
      const id = Number(addEntry.run(key, body).lastInsertRowid)
      if (id % TRIM_EVERY === 0) trim.run(id - historyLimit)
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
        'Restore it from a backup; do not delete it.',
    )
  }
  return key
}
