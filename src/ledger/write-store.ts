import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import { inspect, readHashKey, readMovedAt, MIGRATIONS, migrate, transaction } from './table-schema.ts'
import { statOf } from './location.ts'
import { movedAway } from './moved.ts'
import { isOwned } from './lease.ts'
import { createReserve } from './reserve.ts'
import { BUSY, explain, lacksRoom, sqliteCode } from './sqlite-fault.ts'
import type { Store, WriteTables } from './backend.ts'
import { prepareWrites } from './tables.ts'

/** A store with the key that the ledger was made with. */
export interface OpenedStore {
  readonly store: Store
  readonly hashKey: Uint8Array
}

interface WriteStoreOptions {
  readonly file: string
  readonly busyTimeoutMs: number
  readonly historyLimit: number
  readonly clock: Pick<Clock, 'monotonic'>
  /** Called before an older ledger is changed, which nobody may use meanwhile. */
  readonly beforeMigration: () => void
  /** For tests; throws as SQLite does. */
  readonly beforeCommit: (() => void) | undefined
}

/** Opens a ledger that exists, to read and write. @throws {LedgerError} */
export function openWriteStore(options: WriteStoreOptions): OpenedStore {
  const { file } = options
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: options.busyTimeoutMs })
    const age = inspect(db, file)
    const movedAt = readMovedAt(db)
    if (movedAt !== undefined) throw movedAway(file, movedAt)
    if (age === 'older') {
      options.beforeMigration()
      migrate(db, MIGRATIONS)
    }
    makeDurable(db, file)
    return { store: createWriteStore(db, options), hashKey: readHashKey(db, file) }
  } catch (error) {
    db?.close()
    throw explain('open', file, error)
  }
}

/**
 * Every commit is in the file itself, and on disk, when it returns. With a write-ahead log, whoever removed or truncated that
 * log would take all ids since the last checkpoint with it, and nobody would notice (docs/decisions.md).
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

/** A file that opens, but only to be read, is found out now, and not at the first create. */
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

  /** A file that was removed or replaced takes every write and keeps none: nothing would be durable. */
  function assertInPlace(doing: Access): void {
    if (identityOf(file) !== identity)
      throw changedUnderUs(doing, file, 'it was removed or replaced while in use')
  }

  /** The same file with the content of before: what it has forgotten would be created again. */
  function assertNotOlder(doing: Access): void {
    const found = tables.writes()
    if (!(found >= writes))
      throw changedUnderUs(doing, file, 'an older copy was written over it while in use')
    writes = found
  }

  /** Somebody has moved it since it was opened: what would be written now stays behind. */
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

/** So long after it was waited for in vain, another one is waited for again, ms. */
const AGAIN_MS = 10_000

/**
 * Another writer is waited for once in a while: to wait is to stand still, and if each of many writes did, neither the page nor
 * the probes would be answered. Until one gets through, the next ones only try. Whoever writes lets others read for most of that
 * time, so that a read that succeeds says nothing of a write. Where there is always somebody who reads, only a write that waits
 * gets through: SQLite lets nobody new read meanwhile.
 */
function createPatience(
  db: DatabaseSync,
  { busyTimeoutMs, clock }: WriteStoreOptions,
): <T>(access: Access, work: () => T) => T {
  /** When it was last waited for in vain, on the monotonic clock, ms; undefined: the next access waits. */
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
    `cannot ${doing} the ledger ${file}: ${how}. Nothing more is written or sent. Stop this process, put the right file in ` +
      'place, and start again.',
  )
}

function identityOf(file: string): string | undefined {
  const stats = statOf(file)
  return stats && `${stats.dev}:${stats.ino}`
}
