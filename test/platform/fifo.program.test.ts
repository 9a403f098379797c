import { execFileSync } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createMountedSecrets } from '../../src/platform/secret-store.ts'
import { readTextFile } from '../../src/platform/text-file.ts'
import { createWorkspace } from '../support/workspace.ts'

function makeFifo(file: string): void {
  execFileSync('mkfifo', [file])
}

test('the secret store refuses a FIFO, and does not wait for a writer', async () => {
  using workspace = createWorkspace()
  workspace.write('kafka/username', 'name')
  makeFifo(join(workspace.dir, 'kafka', 'password'))
  const store = createMountedSecrets({ credentialsDir: workspace.path('none'), secretsDir: workspace.dir })
  const read = await store.read({ name: 'kafka', key: 'password' }, 'source')
  expect(read).toMatchObject({ found: false, why: 'unreadable' })
})

test('a text from a FIFO is read to its end, within a limit and until a stop', async () => {
  using workspace = createWorkspace()
  const file = workspace.path('fifo')
  makeFifo(file)
  await expect(readTextFile(file, { writerMs: 20 })).rejects.toThrow('nothing was written to it for 0.02s')
  const stop = new AbortController()
  const stopped = readTextFile(file, { signal: stop.signal })
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
  const reading = readTextFile(file)
  await using writer = await open(file, 'a')
  for (const part of ['x'.repeat(200_000), 'y']) {
    await pause(150)
    await writer.appendFile(part)
  }
  await writer.close()
  expect(await reading).toBe(`${'x'.repeat(200_000)}y`)
})
