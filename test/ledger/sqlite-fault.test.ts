import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { sqlError, lacksRoom } from '../../src/ledger/sqlite-fault.ts'
import { LedgerConflict, LedgerError } from '../../src/contract/ledger.ts'

function failureOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

test('a full disk is named as such', () => {
  using db = new DatabaseSync(':memory:')
  db.exec('PRAGMA max_page_count = 2; CREATE TABLE t (a)')
  const full = failureOf(() => db.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(100_000)))
  expect(sqlError('write', 'l.db', full)).toMatchObject({
    code: 'io',
    message: 'cannot write the ledger l.db: the disk is full. Free some space. Earlier writes are safe',
    cause: full,
  })
})

test.each([
  [
    'extended codes are known by their primary one',
    10 | (3 << 8),
    'io',
    'reading or writing the disk failed',
  ],
  ['damage found while reading', 11, 'corrupt', 'the ledger l.db is damaged. Do not delete it'],
  ['an unknown code keeps the words of SQLite', 999 & 0x7f, 'io', 'cannot read the ledger l.db: said'],
])('%s', (_, errcode, code, words) => {
  const explained = sqlError('read', 'l.db', Object.assign(new Error('said'), { errcode }))
  expect(explained).toBeInstanceOf(LedgerError)
  expect(explained).toMatchObject({ code, message: expect.stringContaining(words) })
})

test.each([
  ['a conflict', new LedgerConflict('Pipe/a', 1)],
  ['an error of the ledger', new LedgerError('newer', 'x')],
  ['a bug', new TypeError('x')],
])('%s stays what it is', (_, error) => {
  expect(sqlError('write', 'l.db', error)).toBe(error)
})

test.each([
  [13, true],
  [10 | (3 << 8), true],
  [14, true],
  [11, false],
  ['13', false],
])('errcode %j, as of a volume without room: %j', (errcode, is) => {
  expect(lacksRoom(Object.assign(new Error('said'), { errcode }))).toBe(is)
})
