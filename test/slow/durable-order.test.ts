import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { furnish, platformArgs } from '../support/manifests.ts'
import { MAIN } from '../support/process.ts'
import { LIMIT_MS } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { startPlatform } from '../support/platform.ts'

/* Runs under strace, because a kill cannot show that a write has left the memory of the kernel. */

beforeAll(() => {
  const found = spawnSync('strace', ['--version'], { encoding: 'utf8' })
  if (found.status !== 0) throw new Error('strace is missing: install it (Debian: apt-get install strace)')
})

type Call =
  /** Pages that may have to be put back are written to the journal, and made durable. */
  | 'journal written'
  | 'journal synced'
  /** The ledger itself. */
  | 'ledger written'
  | 'ledger synced'
  /** The journal goes, which is what commits; that is durable with its folder. */
  | 'journal removed'
  | 'folder synced'
  /** The create is handed to the kernel. */
  | 'post'

const CALLS: readonly (readonly [RegExp, Call])[] = [
  [/^pwrite64\(\d+<[^>]*\/ledger\.db-journal>/, 'journal written'],
  [/^f(?:data)?sync\(\d+<[^>]*\/ledger\.db-journal>/, 'journal synced'],
  [/^pwrite64\(\d+<[^>]*\/ledger\.db>/, 'ledger written'],
  [/^f(?:data)?sync\(\d+<[^>]*\/ledger\.db>/, 'ledger synced'],
  [/^unlink(?:at)?\(.*\/ledger\.db-journal"/, 'journal removed'],
  [/^f(?:data)?sync\(\d+<[^>]*\/pipewright-\w+>/, 'folder synced'],
  [/^[a-z]+\(\d+<[^>]*>.*"POST \//, 'post'],
]

/** What happens to the ledger and to the wire, in order; the same call again and again is one. */
function callsOf(trace: string): readonly Call[] {
  const calls = trace.split('\n').flatMap((line) => {
    const call = line.replace(/^\d+ +/, '')
    return CALLS.flatMap(([pattern, name]) => (pattern.test(call) ? [name] : []))
  })
  return calls.filter((call, at) => call !== calls[at - 1])
}

/** One write of the ledger, from its start to where no power cut undoes it. */
const DURABLE_WRITE: readonly Call[] = [
  'journal written',
  'journal synced',
  'folder synced',
  'journal written',
  'journal synced',
  'ledger written',
  'ledger synced',
  'journal removed',
  'folder synced',
]

test('the intent is on disk before the create is sent, and so is all that is known when the process ends', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace, 'orders')
  const trace = workspace.path('trace')
  const program = [process.execPath, MAIN, 'apply', ...platformArgs(workspace, platform.url)]
  const files = ['pwrite64', 'fsync', 'fdatasync', 'unlink', 'unlinkat']
  const calls = [...files, 'write', 'writev', 'sendto', 'sendmsg'].join(',')
  // Not in a blocking way: the platform answers in this process.
  await promisify(execFile)(
    'strace',
    ['-f', '-y', '-s', '64', '-e', `trace=${calls}`, '-o', trace, ...program],
    { timeout: LIMIT_MS },
  )

  expect(platform.pipes()).toHaveLength(1)
  const seen = callsOf(readFileSync(trace, 'utf8'))
  const post = seen.indexOf('post')
  expect(seen.lastIndexOf('post')).toBe(post)
  expect(seen.slice(0, post).slice(-DURABLE_WRITE.length)).toEqual(DURABLE_WRITE)
  // The id comes first, before anything else that is to be written down; and all of it is durable.
  const after = seen.slice(post + 1)
  expect(after.slice(0, DURABLE_WRITE.length)).toEqual(DURABLE_WRITE)
  expect(after.slice(-DURABLE_WRITE.length)).toEqual(DURABLE_WRITE)
  expect(after.length % DURABLE_WRITE.length).toBe(0)
})
