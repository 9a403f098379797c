import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { CREDENTIAL, mountSecrets, pipeManifest, platformArgs, SERVICE } from '../support/manifests.ts'
import { MAIN } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

/*
 * A kill cannot show that a write has left the kernel's memory; the calls of the process can. So the real program runs
 * under strace, and the order of what it asks of the kernel is read.
 */

beforeAll(() => {
  const found = spawnSync('strace', ['--version'], { encoding: 'utf8' })
  if (found.status !== 0) throw new Error('strace is missing: install it (Debian: apt-get install strace)')
})

type Call = 'write' | 'sync' | 'post'

/** What happens to the ledger's log and to the wire, in order. */
function callsOf(trace: string): readonly Call[] {
  return trace.split('\n').flatMap((line): readonly Call[] => {
    if (/pwrite64\(\d+<[^>]*ledger\.db-wal>/.test(line)) return ['write']
    if (/f(?:data)?sync\(\d+<[^>]*ledger\.db-wal>/.test(line)) return ['sync']
    return line.includes('POST /') ? ['post'] : []
  })
}

test('the intent is on disk before the create is sent, and so is all that is known when the process ends', async () => {
  using workspace = createWorkspace()
  mountSecrets(workspace)
  await using platform = await createSandbox({ credentials: [CREDENTIAL], alertTokens: [] })
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  const trace = workspace.path('trace')
  const program = [process.execPath, MAIN, 'apply', ...platformArgs(workspace, platform.url)]
  const calls = ['pwrite64', 'fsync', 'fdatasync', 'write', 'writev', 'sendto', 'sendmsg'].join(',')
  // Not in a blocking way: the platform answers in this process.
  await promisify(execFile)(
    'strace',
    ['-f', '-y', '-s', '64', '-e', `trace=${calls}`, '-o', trace, ...program],
    { timeout: 60_000 },
  )

  expect(platform.pipes()).toHaveLength(1)
  const seen = callsOf(readFileSync(trace, 'utf8'))
  const posts = seen.flatMap((call, at) => (call === 'post' ? [at] : []))
  expect(posts).toHaveLength(1)
  const [post = 0] = posts
  const before = seen.slice(0, post)
  expect(before.lastIndexOf('write')).toBeGreaterThan(-1)
  expect(before.lastIndexOf('sync')).toBeGreaterThan(before.lastIndexOf('write'))
  const after = seen.slice(post)
  expect(after.indexOf('write')).toBeGreaterThan(-1)
  expect(after.lastIndexOf('sync')).toBeGreaterThan(after.lastIndexOf('write'))
})
