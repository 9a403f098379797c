import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../../src/ledger/location.ts'

let base: string
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'pipewright-folder-'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

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
