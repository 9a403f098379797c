import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isIgnored } from '../../src/daemon/watch-places.ts'
import { planWatch } from '../../src/daemon/watch-plan.ts'

let base: string

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'watch-plan-')))
})
afterEach(async () => {
  await rm(base, { recursive: true, force: true })
})

const COMMIT = '0123456789abcdef0123456789abcdef01234567'

interface Row {
  readonly why: string
  readonly dirs?: readonly string[]
  readonly files?: readonly string[]
  /** Link → target; a target that starts with `/` is taken from the temporary folder. */
  readonly links?: Readonly<Record<string, string>>
  readonly root: string
  readonly mode: string
  /** `dir:tree`, `dir:entries` or `dir:name,name`. */
  readonly places: readonly string[]
  readonly resolved: string | undefined
}

const rows: readonly Row[] = [
  {
    why: 'a plain tree is watched as a whole',
    dirs: ['repo/manifests'],
    root: 'repo/manifests',
    mode: 'recursive',
    places: ['repo/manifests:tree'],
    resolved: 'repo/manifests',
  },
  {
    why: 'git-sync: the directory that holds the link, and not the tree, which is replaced as a whole',
    dirs: [`git/.worktrees/${COMMIT}/manifests`],
    links: { 'git/current': `.worktrees/${COMMIT}` },
    root: 'git/current/manifests',
    mode: 'parent',
    places: ['git:current'],
    resolved: `git/.worktrees/${COMMIT}/manifests`,
  },
  {
    why: 'git-sync of old: rev-<sha>, and the link itself is the root',
    dirs: [`git/rev-${COMMIT}`],
    links: { 'git/current': `rev-${COMMIT}` },
    root: 'git/current',
    mode: 'parent',
    places: ['git:current'],
    resolved: `git/rev-${COMMIT}`,
  },
  {
    why: 'a ConfigMap: its mount, one level',
    dirs: ['mount/..2026_01_01'],
    links: { 'mount/..data': '..2026_01_01' },
    root: 'mount',
    mode: 'parent',
    places: ['mount:entries'],
    resolved: 'mount',
  },
  {
    why: 'a folder in a ConfigMap: both links that lead to it',
    dirs: ['mount/..2026_01_01/sub'],
    links: { 'mount/..data': '..2026_01_01', 'mount/sub': '..data/sub' },
    root: 'mount/sub',
    mode: 'parent',
    places: ['mount:..data,sub'],
    resolved: 'mount/..2026_01_01/sub',
  },
  {
    why: 'a link that nobody publishes through: the link, and the tree behind it, which people edit',
    dirs: ['data/repo'],
    links: { 'home/repo': '/data/repo' },
    root: 'home/repo',
    mode: 'parent',
    places: ['home:repo', 'data/repo:tree'],
    resolved: 'data/repo',
  },
  {
    why: 'a chain of links with a step up: every directory that holds one',
    dirs: ['c/repo'],
    links: { 'a/one': '../b/two', 'b/two': '../c/repo' },
    root: 'a/one',
    mode: 'parent',
    places: ['a:one', 'b:two', 'c/repo:tree'],
    resolved: 'c/repo',
  },
  {
    why: 'a root that is not there: the nearest directory that is',
    dirs: ['srv'],
    root: 'srv/not/yet',
    mode: 'parent',
    places: ['srv:not'],
    resolved: undefined,
  },
  {
    why: 'a link that leads nowhere yet: where it is, and where its target would be',
    dirs: ['git/.worktrees'],
    links: { 'git/current': '.worktrees/later' },
    root: 'git/current',
    mode: 'parent',
    places: ['git:current', 'git/.worktrees:later'],
    resolved: undefined,
  },
  {
    why: 'links that go round in a circle: where they are',
    dirs: ['x'],
    links: { 'x/a': 'b', 'x/b': 'a' },
    root: 'x/a',
    mode: 'parent',
    places: ['x:a,b'],
    resolved: undefined,
  },
  {
    why: 'a file where a directory should be: its folder, for the day it is replaced',
    dirs: ['x'],
    files: ['x/manifests'],
    root: 'x/manifests',
    mode: 'parent',
    places: ['x:manifests'],
    resolved: undefined,
  },
]

async function build({ dirs = [], files = [], links = {} }: Row): Promise<void> {
  for (const dir of dirs) await mkdir(join(base, dir), { recursive: true })
  for (const file of files) await writeFile(join(base, file), '')
  for (const [link, target] of Object.entries(links)) {
    await mkdir(join(base, link, '..'), { recursive: true })
    await symlink(target.startsWith('/') ? join(base, target) : target, join(base, link))
  }
}

describe('where to watch', () => {
  it.each(rows)('$why', async (row) => {
    await build(row)
    const plan = await planWatch(join(base, row.root))
    expect({
      mode: plan.mode,
      places: plan.places.map(
        ({ dir, shows, names }) => `${relative(base, dir)}:${shows === 'named' ? names.join() : shows}`,
      ),
      resolved: plan.resolved === '' ? undefined : relative(base, plan.resolved),
    }).toEqual({ mode: row.mode, places: row.places, resolved: row.resolved })
  })

  it('stays the same for a tree that changes inside, and for a swap that git-sync makes', async () => {
    const other = COMMIT.replaceAll('0', '9')
    await mkdir(join(base, COMMIT))
    await mkdir(join(base, other))
    await symlink(COMMIT, join(base, 'current'))
    const before = await planWatch(join(base, 'current'))
    await symlink(other, join(base, 'tmp'))
    await rename(join(base, 'tmp'), join(base, 'current'))
    const after = await planWatch(join(base, 'current'))
    expect(after.signature).toBe(before.signature)
    expect(after.resolved).not.toBe(before.resolved)
  })

  it('is another one when the root was replaced by a new directory of the same name', async () => {
    const root = join(base, 'root')
    await mkdir(root)
    const before = await planWatch(root)
    await mkdir(join(base, 'new'))
    await rm(root, { recursive: true })
    await rename(join(base, 'new'), root)
    expect((await planWatch(root)).signature).not.toBe(before.signature)
  })
})

describe('what is ignored in a place', () => {
  it.each([
    { why: 'the place itself, below a hidden directory', shows: 'tree', path: '', ignored: false },
    { why: 'a manifest', shows: 'tree', path: 'team/orders.yaml', ignored: false },
    { why: 'the repository itself', shows: 'tree', path: '.git/HEAD', ignored: true },
    { why: 'a hidden file in a folder', shows: 'tree', path: 'team/.orders.yaml.swp', ignored: true },
    { why: 'the link of a ConfigMap in a plain tree', shows: 'tree', path: '..data', ignored: true },
    { why: 'the link of a ConfigMap in its mount', shows: 'entries', path: '..data', ignored: false },
    { why: 'what the link of a ConfigMap points to', shows: 'entries', path: '..2026_01_01', ignored: true },
    { why: 'what stands behind the link', shows: 'entries', path: '..data/orders.yaml', ignored: true },
    { why: 'a visible entry of a ConfigMap', shows: 'entries', path: 'orders.yaml', ignored: false },
    { why: 'a link that leads to the root', shows: 'named', path: 'current', ignored: false },
    { why: 'a neighbour of that link', shows: 'named', path: 'current.lock', ignored: true },
    { why: 'something of that name further down', shows: 'named', path: 'other/current', ignored: true },
  ] as const)('$why: $ignored', ({ shows, path, ignored }) => {
    const place = { dir: '/srv/.hidden/root', shows, names: ['current'] }
    expect(isIgnored(place, join(place.dir, path))).toBe(ignored)
  })
})
