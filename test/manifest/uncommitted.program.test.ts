import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { shortRevision } from '../../src/contract/revision.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { readDirectory, type ReadOptions } from '../../src/manifest/files/read-directory.ts'
import { readTree } from '../../src/manifest/files/read-tree.ts'
import { createRepository, type Repository } from '../slow/support/git-sync-repository.ts'
import { never, temporaryFolder } from './support.ts'

/* What is read from a checkout is called by its commit only if the commit holds it. With the real Git. */

interface Checkout extends Disposable {
  readonly repository: Repository
  readonly commit: string
  readonly path: (...parts: readonly string[]) => string
}

function checkout(): Checkout {
  const folder = temporaryFolder()
  const path = (...parts: readonly string[]) => join(folder.path, 'work', ...parts)
  const repository = createRepository(path(), join(folder.path, 'origin.git'))
  for (const file of ['manifests/a.yaml', 'manifests/team/b.yaml', 'manifests/notes.md', 'elsewhere/c.yaml'])
    repository.write(file, '# one\n')
  for (const file of ['manifests/.data/d.yaml', 'manifests/.other/d.yaml']) repository.write(file, '# one\n')
  symlinkSync('.data', path('manifests/data'))
  repository.write('.gitignore', 'ignored.yaml\n')
  return {
    repository,
    path,
    commit: repository.commit('one'),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

function read(root: string, more: Partial<ReadOptions> = {}) {
  const options = {
    profile: DEFAULT,
    limits: DEFAULT_LIMITS,
    previous: undefined,
    trust: 'stamps',
    signal: never,
  } as const
  return readDirectory({ root, ...options, ...more })
}

/** A script that is found instead of Git; `GIT` in it is the real one. @returns how often it was called */
function insteadOfGit({ path }: Checkout, script: string): () => number {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const calls = path('..', 'calls')
  mkdirSync(path('..', 'bin'))
  writeFileSync(
    path('..', 'bin', 'git'),
    `#!/bin/sh\necho called >> ${calls}\n${script.replace('GIT', real)}\n`,
    { mode: 0o755 },
  )
  vi.stubEnv('PATH', `${path('..', 'bin')}:${process.env['PATH']}`)
  return () => (existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').length - 1 : 0)
}

afterEach(() => void vi.unstubAllEnvs())

type Change = (given: Checkout) => void

const CHANGES: readonly (readonly [string, readonly string[], Change])[] = [
  ['nothing', [], () => undefined],
  ['an edit', ['a.yaml'], ({ repository }) => repository.write('manifests/a.yaml', '# two\n')],
  [
    'an edit that is staged',
    ['team/b.yaml'],
    ({ repository }) => {
      repository.write('manifests/team/b.yaml', '# two\n')
      repository.git('add', '--all')
    },
  ],
  ['a new file', ['new/n.yaml'], ({ repository }) => repository.write('manifests/new/n.yaml', '# one\n')],
  [
    'a file that Git ignores and Pipewright reads',
    ['ignored.yaml'],
    ({ repository }) => repository.write('manifests/ignored.yaml', '# one\n'),
  ],
  ['a file that is gone', ['team/b.yaml'], ({ path }) => rmSync(path('manifests/team/b.yaml'))],
  [
    'a removal that is staged',
    ['a.yaml'],
    ({ repository }) => void repository.git('rm', '-q', 'manifests/a.yaml'),
  ],
  [
    'a link in place of a file, which leads nowhere',
    ['a.yaml'],
    ({ path }) => {
      rmSync(path('manifests/a.yaml'))
      symlinkSync('nowhere.yaml', path('manifests/a.yaml'))
    },
  ],
  [
    'a link in place of a file, which is staged and leads to another one: either of them',
    ['a.yaml', 'team/b.yaml'],
    ({ path, repository }) => {
      rmSync(path('manifests/a.yaml'))
      symlinkSync('team/b.yaml', path('manifests/a.yaml'))
      repository.git('add', '--all')
    },
  ],
  [
    'another name',
    ['a.yaml', 'z.yaml'],
    ({ path }) => renameSync(path('manifests/a.yaml'), path('manifests/z.yaml')),
  ],
  [
    'a name with a quote, a blank and a letter that is not ASCII',
    ['ü "1".yaml'],
    ({ repository }) => repository.write('manifests/ü "1".yaml', '# one\n'),
  ],
  [
    'what stands behind a link',
    ['data/d.yaml'],
    ({ repository }) => repository.write('manifests/.data/d.yaml', '#\n'),
  ],
  [
    'a link that leads elsewhere',
    ['data/d.yaml'],
    ({ path }) => {
      rmSync(path('manifests/data'))
      symlinkSync('.other', path('manifests/data'))
    },
  ],
  [
    'a repository within it',
    ['inner/n.yaml'],
    ({ repository, path }) => {
      execFileSync('git', ['init', '-q', path('manifests/inner')])
      repository.write('manifests/inner/n.yaml', '# one\n')
    },
  ],
  [
    'an edit of something that is no manifest',
    [],
    ({ repository }) => repository.write('manifests/notes.md', '# two\n'),
  ],
  ['a new hidden file', [], ({ repository }) => repository.write('manifests/.n.yaml', '# one\n')],
  ['an edit outside the directory', [], ({ repository }) => repository.write('elsewhere/c.yaml', '# two\n')],
  [
    'a file with other times and the same bytes',
    [],
    ({ repository }) => repository.write('manifests/a.yaml', '# one\n'),
  ],
]

describe('the revision of a checkout', () => {
  test.each(CHANGES)('after %s names what the commit does not hold', async (_name, expected, change) => {
    using given = checkout()
    change(given)
    const { revision, uncommitted } = await read(given.path('manifests'))
    expect([...uncommitted].toSorted()).toEqual([...expected].toSorted())
    const id = expected.length === 0 ? given.commit : `${given.commit} + uncommitted changes`
    expect(revision).toEqual({ id, from: 'git' })
    expect(await readTree(given.path('manifests'), never)).toMatchObject({ revision: { id } })
    expect(shortRevision(id)).toBe(id.replace(given.commit, given.commit.slice(0, 10)))
  })

  test('of a single file is that of the file', async () => {
    using given = checkout()
    given.repository.write('manifests/team/b.yaml', '# two\n')
    expect((await read(given.path('manifests/a.yaml'))).revision.id).toBe(given.commit)
    given.repository.write('manifests/a.yaml', '# two\n')
    expect([...(await read(given.path('manifests/a.yaml'))).uncommitted]).toEqual(['a.yaml'])
  })

  test('in a linked worktree is that of the worktree', async () => {
    using given = checkout()
    given.repository.git('worktree', 'add', '--quiet', '--detach', given.path('..', 'linked'))
    given.repository.write('manifests/a.yaml', '# two\n')
    expect((await read(given.path('..', 'linked/manifests'))).revision.id).toBe(given.commit)
    given.repository.write('../linked/manifests/a.yaml', '# three\n')
    expect((await read(given.path('..', 'linked/manifests'))).revision.id).toMatch(/ \+ uncommitted changes$/)
  })

  test('of a tree that git-sync published is its name, whatever lies in it', async () => {
    using given = checkout()
    const tree = given.path('..', 'trees', given.commit)
    given.repository.git('worktree', 'add', '--quiet', '--detach', tree)
    given.repository.write(`../trees/${given.commit}/manifests/new.yaml`, '# new\n')
    const calls = insteadOfGit(given, 'exec GIT "$@"')
    expect((await read(join(tree, 'manifests'))).revision).toEqual({ id: given.commit, from: 'git-sync' })
    expect(calls()).toBe(0)
  })
})

describe('Git is asked', () => {
  test('only when files, commit or index are others, and when all is to be read anew', async () => {
    using given = checkout()
    const calls = insteadOfGit(given, 'exec GIT "$@"')
    const root = given.path('manifests')
    const first = await read(root)
    const second = await read(root, { previous: first })
    expect([calls(), second.revision.id]).toEqual([1, given.commit])
    given.repository.write('manifests/a.yaml', '# two\n')
    const third = await read(root, { previous: second })
    const fourth = await read(root, { previous: third })
    expect([calls(), fourth.revision.id]).toEqual([2, `${given.commit} + uncommitted changes`])
    await read(root, { previous: fourth, trust: 'bytes' })
    expect(calls()).toBe(3)
    vi.unstubAllEnvs()
    const commit = given.repository.commit('two')
    expect((await read(root, { previous: fourth })).revision.id).toBe(commit)
  })

  test('without running what the repository names, without writing, and without the environment of ours', async () => {
    using given = checkout()
    const { repository, path, commit } = given
    repository.write('../hook', `#!/bin/sh\ntouch ${path('..', 'ran')}\n`)
    chmodSync(path('..', 'hook'), 0o755)
    repository.git('config', 'core.fsmonitor', path('..', 'hook'))
    repository.write('manifests/a.yaml', '# one\n')
    const index = statSync(path('.git/index'))
    vi.stubEnv('GIT_DIR', path('nowhere'))
    vi.stubEnv('GIT_INDEX_FILE', path('nowhere'))
    insteadOfGit(given, `env > ${path('..', 'environment')}; exec GIT "$@"`)
    vi.stubEnv('PIPEWRIGHT_SOMETHING', 'of ours')
    expect((await read(path('manifests'))).revision.id).toBe(commit)
    expect(existsSync(path('..', 'ran'))).toBe(false)
    const after = statSync(path('.git/index'))
    expect([after.ino, after.ctimeMs]).toEqual([index.ino, index.ctimeMs])
    expect(readFileSync(path('..', 'environment'), 'utf8')).not.toMatch(/of ours|nowhere/)
  })

  test.each([
    ['it is not installed', undefined],
    ['it refuses', 'echo "fatal: detected dubious ownership in repository" >&2; exit 128'],
    ['it dies in the midst of its answer', "printf ' M manifests/a.yaml\\0'; kill -9 $$"],
  ])('and when %s, nothing is said but the commit', async (_name, script) => {
    using given = checkout()
    given.repository.write('manifests/a.yaml', '# two\n')
    if (script === undefined) vi.stubEnv('PATH', given.path('nowhere'))
    else insteadOfGit(given, script)
    expect((await read(given.path('manifests'))).revision.id).toBe(given.commit)
  })

  test('no longer than a stop allows', async () => {
    using given = checkout()
    const calls = insteadOfGit(given, 'exec sleep 60')
    const stop = new AbortController()
    const reading = read(given.path('manifests'), { signal: stop.signal })
    await vi.waitUntil(() => calls() > 0, { timeout: 60_000, interval: 5 })
    stop.abort(new Error('stop'))
    await expect(reading).rejects.toThrow('stop')
  })
})
