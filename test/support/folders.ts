import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A folder that every user can enter, for all tests of a file; gone after them. */
export function folderForFile(): string {
  const folder = newFolder()
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The same for one test, which calls this, or whose `beforeEach` does. */
export function folderForTest(): string {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-')))
  chmodSync(folder, 0o755)
  return folder
}
