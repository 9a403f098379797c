import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMountedSecrets } from '../../src/platform/secret-store.ts'
import { createWorkspace } from '../support/workspace.ts'

test('the secret store refuses a FIFO, and does not wait for a writer', async () => {
  using workspace = createWorkspace()
  workspace.write('kafka/username', 'name')
  execFileSync('mkfifo', [join(workspace.dir, 'kafka', 'password')])
  const store = createMountedSecrets({ credentialsDir: workspace.path('none'), secretsDir: workspace.dir })
  const read = await store.read({ name: 'kafka', key: 'password' }, 'source')
  expect(read).toMatchObject({ found: false, why: 'unreadable' })
})
