import { mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { concerns, watchPathsOf } from '../../src/daemon/watch-paths.ts'
import { folderForTest } from '../support/folders.ts'

let base: string

beforeEach(async () => {
  base = folderForTest()
})

/** Ends with the next tick of the file system's clock. */
async function tick(): Promise<void> {
  const file = join(base, 'tick')
  const write = async () => {
    await writeFile(file, 'a')
    return (await stat(file, { bigint: true })).mtimeNs
  }
  for (const first = await write(); (await write()) === first;);
}

const COMMIT = '0123456789abcdef0123456789abcdef01234567'

interface Row {
  readonly dirs?: readonly string[]
  readonly files?: readonly string[]
  /** Link → target; a target that starts with `/` is taken from the temporary folder. */
  readonly links?: Readonly<Record<string, string>>
  readonly root: string
  /** `parent` unless given. */
  readonly mode?: string
  readonly names: readonly string[]
  readonly tree?: string
}

const rows: Readonly<Record<string, Row>> = {
  'a plain tree is watched as a whole': {
    dirs: ['repo/manifests'],
    root: 'repo/manifests',
    mode: 'recursive',
    names: [],
    tree: 'repo/manifests',
  },
  'git-sync: the directory that holds the link, and not the tree, which is replaced as a whole': {
    dirs: [`git/.worktrees/${COMMIT}/manifests`],
    links: { 'git/current': `.worktrees/${COMMIT}` },
    root: 'git/current/manifests',
    names: ['git/current'],
  },
  'git-sync of old: rev-<sha>, and the link itself is the root': {
    dirs: [`git/rev-${COMMIT}`],
    links: { 'git/current': `rev-${COMMIT}` },
    root: 'git/current',
    names: ['git/current'],
  },
  'a ConfigMap: its mount, one level': {
    dirs: ['mount/..2026_01_01'],
    links: { 'mount/..data': '..2026_01_01' },
    root: 'mount',
    names: ['mount/..data'],
    tree: 'mount',
  },
  'a folder in a ConfigMap: both links that lead to it': {
    dirs: ['mount/..2026_01_01/sub'],
    links: { 'mount/..data': '..2026_01_01', 'mount/sub': '..data/sub' },
    root: 'mount/sub',
    names: ['mount/sub', 'mount/..data'],
  },
  'a link that nobody publishes through: the link, and the tree behind it, which people edit': {
    dirs: ['data/repo'],
    links: { 'home/repo': '/data/repo' },
    root: 'home/repo',
    names: ['home/repo'],
    tree: 'data/repo',
  },
  'a chain of links with a step up: every directory that holds one': {
    dirs: ['c/repo'],
    links: { 'a/one': '../b/two', 'b/two': '../c/repo' },
    root: 'a/one',
    names: ['a/one', 'b/two'],
    tree: 'c/repo',
  },
  'a root that is not there: the nearest directory that is': {
    dirs: ['srv'],
    root: 'srv/not/yet',
    names: ['srv/not'],
  },
  'a link that leads nowhere yet: where it is, and where its target would be': {
    dirs: ['git/.worktrees'],
    links: { 'git/current': '.worktrees/later' },
    root: 'git/current',
    names: ['git/current', 'git/.worktrees/later'],
  },
  'links that go round in a circle: where they are': {
    dirs: ['x'],
    links: { 'x/a': 'b', 'x/b': 'a' },
    root: 'x/a',
    names: ['x/a', 'x/b'],
  },
  'a file where a directory should be: its folder, for the day it is replaced': {
    dirs: ['x'],
    files: ['x/manifests'],
    root: 'x/manifests',
    names: ['x/manifests'],
  },
}

async function build({ dirs = [], files = [], links = {} }: Row): Promise<void> {
  for (const dir of dirs) await mkdir(join(base, dir), { recursive: true })
  for (const file of files) await writeFile(join(base, file), '')
  for (const [link, target] of Object.entries(links)) {
    await mkdir(join(base, link, '..'), { recursive: true })
    await symlink(target.startsWith('/') ? join(base, target) : target, join(base, link))
  }
}

describe('where to watch', () => {
  it.each(Object.entries(rows))('%s', async (_why, row) => {
    await build(row)
    const plan = await watchPathsOf(join(base, row.root))
    const below = (path: string) => relative(base, path)
    expect({
      mode: plan.mode,
      names: [...plan.names].map(below),
      tree: plan.tree === undefined ? undefined : below(plan.tree),
    }).toEqual({ mode: row.mode ?? 'parent', names: row.names, tree: row.tree })
    const folders = [...row.names.map((name) => dirname(name)), ...(row.tree === undefined ? [] : [row.tree])]
    expect([...plan.folders].map(below).toSorted()).toEqual([...new Set(folders)].toSorted())
  })

  it('stays the same for a tree that changes inside, and for a swap that git-sync makes', async () => {
    const other = COMMIT.replaceAll('0', '9')
    await mkdir(join(base, COMMIT))
    await mkdir(join(base, other))
    await symlink(COMMIT, join(base, 'current'))
    const before = await watchPathsOf(join(base, 'current'))
    await symlink(other, join(base, 'tmp'))
    await rename(join(base, 'tmp'), join(base, 'current'))
    const after = await watchPathsOf(join(base, 'current'))
    expect(after.signature).toBe(before.signature)
  })

  it('is another one when the root was replaced by a new directory of the same name', async () => {
    const root = join(base, 'root')
    await mkdir(root)
    const before = await watchPathsOf(root)
    await mkdir(join(base, 'new'))
    await rm(root, { recursive: true })
    await rename(join(base, 'new'), root)
    expect((await watchPathsOf(root)).signature).not.toBe(before.signature)
  })

  it('is another one each time it is made anew, though file systems give numbers out again', async () => {
    const root = join(base, 'root')
    const signatures = new Set<string>()
    for (let n = 0; n < 10; n += 1) {
      await rm(root, { recursive: true, force: true })
      await mkdir(root)
      signatures.add((await watchPathsOf(root)).signature)
      await tick()
    }
    expect(signatures.size).toBe(10)
  })
})

describe('what counts', () => {
  const TREE = '/srv/.hidden/root'
  it.each(
    Object.entries({
      'the tree itself, below a hidden folder': { path: '', counts: true },
      'a manifest': { path: 'team/orders.yaml', counts: true },
      'the repository itself': { path: '.git/HEAD', counts: false },
      'a hidden file in a folder': { path: 'team/.orders.yaml.swp', counts: false },
      'the link of a ConfigMap in its mount': { path: '..data', counts: true },
      'what the link of a ConfigMap points to': { path: '..2026_01_01', counts: false },
      'what stands behind that link': { path: '..data/orders.yaml', counts: false },
      'a link that leads to the root': { path: '/srv/current', counts: true },
      'a neighbour of that link': { path: '/srv/current.lock', counts: false },
      'something of that name further down': { path: '/srv/other/current', counts: false },
    } as const),
  )('%s', (_why, { path, counts }) => {
    const paths = {
      names: new Set(['/srv/current', join(TREE, '..data')]),
      tree: TREE,
      folders: new Set(['/srv', TREE]),
      mode: 'parent',
      message: '',
      signature: '',
    } as const
    expect(concerns(paths, resolve(TREE, path))).toBe(counts)
  })
})
