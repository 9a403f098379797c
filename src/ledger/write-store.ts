import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import { inspect, readHashKey, readMovedAt, MIGRATIONS, migrate, transaction } from './table-schema.ts'
import { statOf } from './location.ts'
import { movedAway } from './moved.ts'
import { isOwned } from './lease.ts'
import { BUSY, explain, lacksRoom, sqliteCode } from './sqlite-fault.ts'
import type { Store } from './backend.ts'
import { prepareWrites, type WriteTables } from './tables.ts'
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

export interface OpenedStore {
  readonly store: Store
  readonly hashKey: Uint8Array
}

interface WriteStoreOptions {
  readonly file: string
  readonly busyTimeoutMs: number
  readonly historyLimit: number
  readonly clock: Pick<Clock, 'monotonic'>
  /** For tests; throws like SQLite. */
  readonly beforeCommit: (() => void) | undefined
}

/** @throws {LedgerError} */
export function openWriteStore(options: WriteStoreOptions): OpenedStore {
  const { file } = options
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: options.busyTimeoutMs })
    const age = inspect(db, file)
    const movedAt = readMovedAt(db)
    if (movedAt !== undefined) throw movedAway(file, movedAt)
    if (age === 'older') migrate(db, MIGRATIONS)
    makeDurable(db, file)
    return { store: createWriteStore(db, options), hashKey: readHashKey(db, file) }
  } catch (error) {
    db?.close()
    throw explain('open', file, error)
  }
}

/**
 * Each commit is in the file on disk when it returns. With a write-ahead log, removing or truncating the log
 * would silently lose all ids since the last checkpoint (docs/decisions.md).
 */
function makeDurable(db: DatabaseSync, file: string): void {
  if (db.prepare('PRAGMA journal_mode = DELETE').get()?.['journal_mode'] !== 'delete') {
    throw new LedgerError(
      'io',
      `cannot open the ledger ${file}: an earlier version of pipewright still uses it; stop that one, and start again`,
    )
  }
  db.exec('PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON')
  assertWritable(db)
}

const READ_ONLY = 8

/** Detects a read-only file before the first create. */
function assertWritable(db: DatabaseSync): void {
  try {
    db.exec(`BEGIN; UPDATE meta SET value = value WHERE name = 'writes'`)
  } catch (error) {
    if (sqliteCode(error) === READ_ONLY) throw error
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

function createWriteStore(db: DatabaseSync, options: WriteStoreOptions): Store {
  const { file, historyLimit, beforeCommit } = options
  const patiently = createPatience(db, options)
  const tables = prepareWrites(db, historyLimit)
  const identity = identityOf(file)
  const reserve = createReserve(file)
  let writes = tables.writes()

  /** A file that was removed or replaced accepts writes but keeps none. */
  function assertInPlace(doing: Access): void {
    if (identityOf(file) !== identity)
      throw changedUnderUs(doing, file, 'it was removed or replaced while in use')
  }

  /** Detects a restored older copy of the file: pipes missing from it would be created again. */
  function assertNotOlder(doing: Access): void {
    const found = tables.writes()
    if (!(found >= writes))
      throw changedUnderUs(doing, file, 'an older copy was written over it while in use')
    writes = found
  }

  /** Another process has moved the ledger: new writes would be lost. */
  function assertNotMoved(): void {
    const movedAt = tables.movedAt()
    if (movedAt !== undefined) throw movedAway(file, movedAt)
  }

  function commit<T>(work: (tables: WriteTables) => T): T {
    const result = transaction(db, () => {
      assertNotOlder('write')
      assertNotMoved()
      const written = work(tables)
      tables.setWrites(writes + 1)
      beforeCommit?.()
      return written
    })
    writes += 1
    return result
  }

  return {
    read(work) {
      try {
        assertInPlace('read')
        return patiently('read', () => {
          assertNotOlder('read')
          return work(tables)
        })
      } catch (error) {
        throw explain('read', file, error)
      }
    },
    write(work, room) {
      try {
        assertInPlace('write')
        return patiently('write', () => commit(work))
      } catch (error) {
        if (room === 'free' || !lacksRoom(error) || !reserve.release()) throw explain('write', file, error)
      }
      try {
        return commit(work)
      } catch (error) {
        throw explain('write', file, error)
      }
    },
    // Each commit flushes the disk. Changes of one turn of the event loop share it.
    soon: (run) => void setImmediate(run),
    owned: () => isOwned(file),
    reserveRoom() {
      try {
        reserve.take()
      } catch (error) {
        throw explain('write', file, error)
      }
    },
    async [Symbol.asyncDispose]() {
      if (db.isOpen) db.close()
    },
  }
}

type Access = 'read' | 'write'

/** Time between two waits for another writer, ms. */
const AGAIN_MS = 10_000

/**
 * Limits waits for another writer: a wait blocks the event loop, so the page and the probes. After a timeout,
 * writes only try for {@link AGAIN_MS}. A successful read is no proof: writers let others read most of the
 * time. With constant readers only a waiting write succeeds: SQLite then admits no new readers.
 */
function createPatience(
  db: DatabaseSync,
  { busyTimeoutMs, clock }: WriteStoreOptions,
): <T>(access: Access, work: () => T) => T {
  /** Monotonic time of the last timeout, ms; undefined: the next access waits. */
  let waitedAt: number | undefined

  function setWaitedAt(next: number | undefined): void {
    if ((next === undefined) !== (waitedAt === undefined))
      db.exec(`PRAGMA busy_timeout = ${next === undefined ? busyTimeoutMs : 0}`)
    waitedAt = next
  }

  return (access, work) => {
    if (waitedAt !== undefined && clock.monotonic() - waitedAt >= AGAIN_MS) setWaitedAt(undefined)
    try {
      const result = work()
      if (access === 'write') setWaitedAt(undefined)
      return result
    } catch (error) {
      if (sqliteCode(error) === BUSY && waitedAt === undefined) setWaitedAt(clock.monotonic())
      throw error
    }
  }
}

function changedUnderUs(doing: Access, file: string, how: string): LedgerError {
  return new LedgerError(
    'io',
    `cannot ${doing} the ledger ${file}: ${how}. No more records are written, and no more requests are sent. Stop this process, put the right file in ` +
      'place, and start again.',
  )
}

function identityOf(file: string): string | undefined {
  const stats = statOf(file)
  return stats && `${stats.dev}:${stats.ino}`
}

/** Bytes. Enough for the outcomes of many creates with history and journal. */
const SIZE = 1_048_576

/** A file that reserves disk space, removed if an outcome finds the volume full. */
interface Reserve {
  /** @throws file-system errors, such as ENOSPC */
  take(): void
  /** @returns whether there was a reserve */
  release(): boolean
}

export function createReserve(ledger: string): Reserve {
  const file = `${ledger}.reserve`

  function size(): number {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0
  }

  function remove(): void {
    rmSync(file, { force: true })
  }

  return {
    take() {
      if (size() >= SIZE) return
      const handle = openSync(file, 'w', 0o600)
      try {
        // Not zeros: some file systems do not store them.
        const block = Buffer.alloc(65_536, 'pipewright keeps this room for the outcome of a create\n')
        for (let written = 0; written < SIZE; written += block.length) writeSync(handle, block)
        fsyncSync(handle)
      } catch (error) {
        remove()
        throw error
      } finally {
        closeSync(handle)
      }
    },
    release() {
      if (size() === 0) return false
      remove()
      return true
    },
  }
}
