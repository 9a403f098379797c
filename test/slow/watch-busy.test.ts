import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import type { LoadResult } from '../../src/manifest/source.ts'
import { follow } from './support/git-sync-following.ts'
import { writeLate, writeMany } from './support/git-sync-rewriter.ts'
import { alertText, write } from './support/git-sync-trees.ts'
import { folderForTest } from '../support/folders.ts'

const REWRITER = fileURLToPath(new URL('./support/git-sync-rewriter.ts', import.meta.url))

/** More events than the kernel keeps for one listener: 16,384 unless somebody raised it. */
const FILES = 10_000

/** How long the process does nothing else, at least. */
const BUSY_MS = 3_000

let base: string
beforeEach(() => {
  base = folderForTest()
})

function isAll(stamp: string) {
  return ({ state }: LoadResult) => {
    const stamped = [...state.catalog.entries.values()].filter(
      ({ manifest }) => manifest?.kind === 'Alert' && String(manifest.spec['id']).startsWith(stamp),
    )
    return stamped.length === FILES + 1
  }
}

/** Nothing of this process runs meanwhile. */
function busyWhile(task: () => void): void {
  const end = performance.now() + BUSY_MS
  task()
  while (performance.now() < end);
}

test('10,000 files rewritten while the process is busy are all found, and it hears on', async () => {
  const root = join(base, 'root')
  mkdirSync(root)
  writeMany(root, FILES, 'one')
  await using following = await follow(root, { quietMs: 50 })
  expect(following.mode()).toBe('recursive')
  writeLate(root, 'one')
  await following.see('all of them as they were first', isAll('one'))
  rmSync(join(root, 'zz-late'), { recursive: true })
  await following.quiet(1_000)

  busyWhile(() => {
    const { status, stderr } = spawnSync(process.execPath, [REWRITER, root, String(FILES), 'two'], {
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
  const before = following.readings.length
  const startedAt = performance.now()
  await following.see('every one of them', isAll('two'))
  process.stdout.write(
    `${FILES} files: found ${Math.round(performance.now() - startedAt)} ms later, in ${following.readings.length - before} readings\n`,
  )
  await following.quiet(1_000)

  write(join(root, 'team-050/m-5000.yaml'), alertText('m-5000', 'three'))
  await following.see('an edit of a file that was there', ({ changed }) => changed.includes('Alert/m-5000'))
  await following.quiet(500)
  write(join(root, 'zz-late/late.yaml'), alertText('late', 'three'))
  await following.see('an edit in the folder that came meanwhile', ({ changed }) =>
    changed.includes('Alert/late'),
  )
  expect(new Set(following.readings.map(({ why }) => why))).toEqual(new Set(['start', 'event']))
})
