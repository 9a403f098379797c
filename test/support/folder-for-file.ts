import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder that every user can enter, for all tests of a file; gone after them. */
export function folderForFile(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-')))
  chmodSync(folder, 0o755)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
