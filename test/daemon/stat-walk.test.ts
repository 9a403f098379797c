import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { statWalk } from '../../src/daemon/watch-paths.ts'
import { temporaryFolder } from '../manifest/support.ts'

const never = new AbortController().signal

/** A folder behind a link, with two manifests. */
function setUp() {
  const folder = temporaryFolder()
  folder.write('one/a.yaml', '# a\n')
  folder.write('one/team/b.yaml', '# b\n')
  symlinkSync('one', join(folder.path, 'root'))
  return folder
}

const CHANGES: Readonly<Record<string, (base: string) => void>> = {
  'a file grows': (base) => writeFileSync(join(base, 'one/team/b.yaml'), '# longer\n'),
  'a file has other bytes, as many, and its old mtime'(base) {
    const path = join(base, 'one/a.yaml')
    writeFileSync(path, '# x\n')
    utimesSync(path, 1, 1)
  },
  'another file takes its place'(base) {
    writeFileSync(join(base, 'one/new'), '# a\n')
    renameSync(join(base, 'one/new'), join(base, 'one/a.yaml'))
  },
  'a file comes': (base) => writeFileSync(join(base, 'one/team/c.yaml'), ''),
  'a file goes': (base) => rmSync(join(base, 'one/a.yaml')),
  'a folder is renamed': (base) => renameSync(join(base, 'one/team'), join(base, 'one/crew')),
  'the link of the root is swapped for an equal tree'(base) {
    mkdirSync(join(base, 'two/team'), { recursive: true })
    rmSync(join(base, 'root'))
    symlinkSync('two', join(base, 'root'))
  },
  'a link appears among the manifests': (base) => symlinkSync('team', join(base, 'one/link')),
  'the root goes': (base) => rmSync(join(base, 'one'), { recursive: true }),
  'another commit is checked out'(base) {
    mkdirSync(join(base, '.git'))
    writeFileSync(join(base, '.git/HEAD'), 'a'.repeat(40))
  },
}

describe('a walk says something else when', () => {
  it.each(Object.entries(CHANGES))('%s', async (_why, change) => {
    using folder = setUp()
    const root = join(folder.path, 'root')
    const before = await statWalk(root, never)
    change(folder.path)
    const after = await statWalk(root, never)
    expect(after).not.toBe(before)
    expect(await statWalk(root, never)).toBe(after)
  })
})

describe('a walk says the same when', () => {
  it.each(
    Object.entries({
      'nothing happens': () => undefined,
      'a file that is no manifest comes': (base: string) => writeFileSync(join(base, 'one/notes.txt'), ''),
      'something hidden comes': (base: string) => writeFileSync(join(base, 'one/.a.yaml'), ''),
    }),
  )('%s', async (_why, change) => {
    using folder = setUp()
    const root = join(folder.path, 'root')
    const before = await statWalk(root, never)
    change(folder.path)
    expect(await statWalk(root, never)).toBe(before)
  })
})

it('a walk that is stopped rejects with the reason', async () => {
  using folder = setUp()
  await expect(statWalk(folder.path, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
})

it('a root that is not there is something to say as well', async () => {
  using folder = setUp()
  expect(await statWalk(join(folder.path, 'nowhere'), never)).toBe('unreadable: ENOENT')
})
