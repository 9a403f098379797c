import { LedgerError } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import { connect, IN_MEMORY, type StoreOptions } from './connection.ts'
import { isOwned } from './lease.ts'
import { createReserve } from './location.ts'
import { movedAway } from './binding.ts'
import { BUSY, sqlError, lacksRoom, sqliteCode, wordFaults } from './sqlite-fault.ts'
import { markMoved, transaction } from './table-schema.ts'
import type { Tables } from './tables.ts'

export type Store = ReturnType<typeof openStore>

/** `reserved`: if the disk is full, the reserve is removed and the write runs again. */
export type Room = 'free' | 'reserved'

export function openStore(options: StoreOptions) {
  const { file, mode, beforeCommit } = options
  let connection = connect(options)
  const patiently = createBusyPolicy(() => connection, options.clock)
  const reserve = createReserve(file)
  let { writes } = connection

  /** If the file was replaced, a reader opens the new one. An owner throws: its writes would be lost. */
  function followFile(doing: Access): void {
    if (connection.isInPlace()) return
    if (mode === 'owner') throw changedUnderUs(doing, file, 'it was removed or replaced while in use')
    connection.db.close()
    connection = connect(options)
  }

  /** An owner throws if an older copy was restored: pipes missing from it would be created again. */
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
      if (movedAt !== undefined) throw movedAway(file, movedAt) // another process moved it: new writes would be lost
      const written = work(tables)
      tables.set('writes', writes + 1)
      beforeCommit?.()
      return written
    })
    writes += 1
    return result
  }

  function read<T>(work: (tables: Tables) => T): T {
    return wordFaults('read', file, () => {
      followFile('read')
      return patiently('read', () => {
        assertNotOlder('read')
        return work(connection.tables)
      })
    })
  }

  return {
    file,
    hashKey: connection.hashKey,
    read,
    /** Runs `work` in a durable transaction. If `work` throws, the transaction is rolled back. */
    write<T>(work: (tables: Tables) => T, room: Room): T {
      if (mode === 'reader')
        throw new LedgerError('io', `cannot write the ledger ${file}: it was opened read-only`)
      try {
        followFile('write')
        return patiently('write', () => commit(work))
      } catch (error) {
        if (room === 'free' || !lacksRoom(error) || !reserve.release()) throw sqlError('write', file, error)
      }
      return wordFaults('write', file, () => commit(work))
    },
    movedAt: () => read((tables) => tables.text('moved_at')),
    markMoved: (at: string) => markMoved(connection.db, at),
    owned: () => file === IN_MEMORY || isOwned(file),
    reserveRoom() {
      if (file !== IN_MEMORY) wordFaults('write', file, () => reserve.take())
    },
    async [Symbol.asyncDispose]() {
      if (connection.db.isOpen) connection.db.close()
    },
  }
}

type Access = 'read' | 'write'

/** Ms. After a wait for another writer timed out, no access waits for this time. */
const AGAIN_MS = 10_000

/**
 * Limits waits for another writer, because a wait blocks the event loop. After a timeout, no access waits until
 * {@link AGAIN_MS} have passed or a write succeeds. A successful read does not count, because reads often work
 * beside a writer.
 */
function createBusyPolicy(
  connection: () => ReturnType<typeof connect>,
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
