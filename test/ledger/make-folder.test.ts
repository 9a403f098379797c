import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLedgerFile, createReserve, makeFolder } from '../../src/ledger/location.ts'
import { folderForFile, folderForTest } from '../support/folders.ts'

const base = folderForFile()

describe('a folder', () => {
  test('is made with those above it, and making it again is nothing', () => {
    const folder = join(base, 'a', 'b', 'c')
    makeFolder(folder, { mode: 0o700 })
    makeFolder(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(base, 'a')).mode & 0o777).toBe(0o700)
  })

  test('below a file is an error', () => {
    writeFileSync(join(base, 'file'), '')
    expect(() => makeFolder(join(base, 'file', 'x'))).toThrow('ENOTDIR')
    expect(() => makeFolder(join(base, 'file'))).toThrow('EEXIST')
  })

  test.runIf(process.platform === 'linux')('where none can be made is an error, and no endless loop', () => {
    expect(() => makeFolder('/proc/pipewright/a/b')).toThrow('ENOENT')
  })
})

test('a ledger that cannot be put in place leaves no draft', () => {
  const folder = join(base, 'ledgers')
  mkdirSync(join(folder, 'ledger.db', 'x'), { recursive: true })
  expect(() => createLedgerFile(join(folder, 'ledger.db'))).toThrow('cannot write the ledger')
  expect(readdirSync(folder)).toEqual(['ledger.db'])
})

describe('the reserve of a ledger', () => {
  test('is taken whole, again only if it is too small, and released once', () => {
    const ledger = join(folderForTest(), 'one.db')
    const reserve = createReserve(ledger)
    const file = `${ledger}.reserve`
    expect(reserve.release()).toBe(false)
    writeFileSync(file, 'cut short')
    reserve.take()
    const { size, mtimeMs, ino } = statSync(file)
    expect(size).toBe(1_048_576)
    reserve.take()
    expect(statSync(file)).toMatchObject({ size, mtimeMs, ino })
    expect(reserve.release()).toBe(true)
    expect(existsSync(file)).toBe(false)
    expect(reserve.release()).toBe(false)
  })

  test.runIf(existsSync('/dev/full'))('that does not fit is removed', () => {
    symlinkSync('/dev/full', join(base, 'full.db.reserve'))
    expect(() => createReserve(join(base, 'full.db')).take()).toThrow('ENOSPC')
    expect(readdirSync(base)).not.toContain('full.db.reserve')
  })
})
