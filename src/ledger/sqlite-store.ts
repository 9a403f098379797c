import { LedgerError } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import { connect, type ConnectionOptions, IN_MEMORY } from './connection.ts'
import { isOwned } from './lease.ts'
import { createReserve } from './location.ts'
import { movedAway } from './moved.ts'
import { BUSY, explain, lacksRoom, sqliteCode } from './sqlite-fault.ts'
import { markMoved, transaction } from './table-schema.ts'
import type { Tables } from './tables.ts'

export interface StoreOptions extends ConnectionOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** For tests: called before each commit; its errors count as SQLite's. */
  readonly beforeCommit?: (() => void) | undefined
}

export type Store = ReturnType<typeof openStore>

/** Whether a write can use the reserve; if so, it might run twice. */
export type Room = 'free' | 'reserved'

/** @throws {LedgerError} */
export function openStore(options: StoreOptions) {
  const { file, mode, beforeCommit } = options
  let connection = connect(options)
  const patiently = createBusyPolicy(() => connection, options.clock)
  const reserve = createReserve(file)
  let { writes } = connection

  /** A reader follows a replaced file. An owner stops: a removed file accepts writes but keeps none. */
  function followFile(doing: Access): void {
    if (connection.isInPlace()) return
    if (mode === 'owner') throw changedUnderUs(doing, file, 'it was removed or replaced while in use')
    connection.db.close()
    connection = connect(options)
  }

  /** Detects a restored older copy of the file: pipes missing from it would be created again. */
  function assertNotOlder(doing: Access): void {
    const found = connection.tables.count('writes')
    if (mode === 'owner' && found < writes)
      throw changedUnderUs(doing, file, 'an older copy was written over it while in use')
    writes = found
  }

  function commit<T>(work: (tables: Tables) => T): T {
    const { db, tables } = connection
    const result = transaction(db, () => {
      assertNotOlder('write')
      const movedAt = tables.text('moved_at')
      if (movedAt !== undefined) throw movedAway(file, movedAt) // by another process: new writes would be lost
      const written = work(tables)
      tables.set('writes', writes + 1)
      beforeCommit?.()
      return written
    })
    writes += 1
    return result
  }

  function read<T>(work: (tables: Tables) => T): T {
    try {
      followFile('read')
      return patiently('read', () => {
        assertNotOlder('read')
        return work(connection.tables)
      })
    } catch (error) {
      throw explain('read', file, error)
    }
  }

  return {
    file,
    hashKey: connection.hashKey,
    read,
    /**
     * Durable, or rolled back if `work` throws.
     * @throws {LedgerError} and errors of `work`
     */
    write<T>(work: (tables: Tables) => T, room: Room): T {
      if (mode === 'reader')
        throw new LedgerError('io', `cannot write the ledger ${file}: it was opened read-only`)
      try {
        followFile('write')
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
    /** As `Ledger.movedAt`. @throws {LedgerError} */
    movedAt: () => read((tables) => tables.text('moved_at')),
    /** Within a {@link Store.write}. @param at as `Ledger.movedAt` */
    markMoved: (at: string) => markMoved(connection.db, at),
    /** In memory, each write can be of another user of this connection. */
    writes: () => (file === IN_MEMORY ? writes : 0),
    /** As `Ledger.owned`. @throws {LedgerError} */
    owned: () => file === IN_MEMORY || isOwned(file),
    /** As `Ledger.prepareIntent`: reserves disk space. @throws {LedgerError} */
    reserveRoom() {
      try {
        if (file !== IN_MEMORY) reserve.take()
      } catch (error) {
        throw explain('write', file, error)
      }
    },
    async [Symbol.asyncDispose]() {
      if (connection.db.isOpen) connection.db.close()
    },
  }
}

type Access = 'read' | 'write'

type Connection = ReturnType<typeof connect>

/** Time between two waits for another writer. */
const AGAIN_MS = 10_000

/**
 * Limits waits for another writer: a wait blocks the event loop, so the page and the probes. After a timeout,
 * writes only try for {@link AGAIN_MS}. A successful read is no proof: writers let others read most of the
 * time. With constant readers only a waiting write succeeds: SQLite then admits no new readers.
 */
function createBusyPolicy(
  connection: () => Connection,
  clock: Pick<Clock, 'monotonic'>,
): <T>(access: Access, work: () => T) => T {
  /** Monotonic time of the last timeout, ms; undefined: the next access waits. */
  let waitedAt: number | undefined

  function setWaitedAt(next: number | undefined): void {
    const { db, busyTimeoutMs } = connection()
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
