import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBundle } from '../../../build.ts'

let folder: string | undefined

/**
 * The slow tests start the program some thousand times: they start the bundle, which is what the image and the npm package
 * carry, and which is there in half the time. TEST_MAIN names another program.
 */
export async function setup(): Promise<void> {
  if (process.env['TEST_MAIN'] !== undefined) return
  folder = mkdtempSync(join(tmpdir(), 'pipewright-bundle-'))
  await writeBundle(join(folder, 'dist'))
  process.env['TEST_MAIN'] = join(folder, 'dist/pipewright.js')
}

export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}
