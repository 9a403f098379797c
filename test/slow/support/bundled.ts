import { chmodSync, mkdtempSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBundle } from '../../../build.ts'

let folder: string | undefined

/**
 * The slow tests start the program some thousand times: they start the bundle, which is what the image and the npm package
 * carry, and which is there in half the time. TEST_MAIN names another program. TEST_SHARED is the folder of what files share.
 */
export async function setup(): Promise<void> {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-slow-')))
  chmodSync(folder, 0o755) // users of containers go through it
  process.env['TEST_SHARED'] = folder
  if (process.env['TEST_MAIN'] !== undefined) return
  await writeBundle(join(folder, 'dist'))
  process.env['TEST_MAIN'] = join(folder, 'dist/pipewright.js')
}

/** Many files: meanwhile the workers are still spoken to. */
export async function teardown(): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}
