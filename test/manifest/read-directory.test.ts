import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { readDirectory, type TreeOptions } from '../../src/manifest/files/read-directory.ts'
import { asAnotherUser } from '../ledger/another-user.ts'
import { findingsOf, never, pipe, temporaryFolder } from './support.ts'

function read(root: string, more: Partial<TreeOptions> = {}) {
  return readDirectory({
    profile: DEFAULT,
    root,
    limits: DEFAULT_LIMITS,
    previous: undefined,
    trust: 'stamps',
    signal: never,
    ...more,
  })
}

async function namesAndCodes(root: string, more: Partial<TreeOptions> = {}) {
  const reading = await read(root, more)
  return {
    files: [...reading.files.keys()],
    codes: reading.findings.map(({ code, file }) => `${code} ${file}`),
    unread: reading.unread,
  }
}

/** A signal that is asked at each step of a reading, and lets something happen just then. */
function signalThat(happens: (step: number) => void): AbortSignal {
  let step = 0
  const { signal } = new AbortController()
  signal.throwIfAborted = () => {
    step += 1
    happens(step)
  }
  return signal
}

describe('what is read', () => {
  test('yaml, yml and json, in folders of any shape, and no hidden names', async () => {
    using folder = temporaryFolder()
    for (const file of [
      'a.yaml',
      'b.yml',
      'c.json',
      'x/y/z/d.YAML',
      'e.txt',
      '.f.yaml',
      '.g/h.yaml',
      'x/kustomization.yaml',
    ])
      folder.write(file, '# empty\n')
    expect(await namesAndCodes(folder.path)).toEqual({
      files: ['a.yaml', 'b.yml', 'c.json', 'x/y/z/d.YAML'],
      codes: [],
      unread: [],
    })
  })

  test('but for what the ignore file names, in the form of Git', async () => {
    using folder = temporaryFolder()
    for (const file of ['a.yaml', 'charts/x.yaml', 'charts/keep.yaml', 'b.values.yaml', 'y/charts.yaml'])
      folder.write(file, '# empty\n')
    folder.write('.pipewrightignore', '# not ours\n/charts/*\n!/charts/keep.yaml\n*.values.yaml\n')
    expect((await namesAndCodes(folder.path)).files).toEqual(['a.yaml', 'charts/keep.yaml', 'y/charts.yaml'])
  })

  test('nothing, while the ignore file cannot be read: what it names would be created', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', '# empty\n')
    mkdirSync(join(folder.path, '.pipewrightignore'))
    expect((await read(folder.path)).problem).toEqual({
      reason: 'SourceUnreadable',
      message:
        'The file .pipewrightignore is no file. It decides which files are manifests. Until you correct or remove it, Pipewright changes nothing.',
      unfound: 'all',
    })
  })

  test.each([
    ['UTF-16 with a mark', Buffer.from('\ufeffold/\r\n', 'utf16le'), undefined],
    ['UTF-16 without a mark', Buffer.from('old/\n', 'utf16le'), undefined],
    ['Latin-1', Buffer.from('\u00e4lt/\nold/\n', 'latin1'), undefined],
    ['line ends of old systems', Buffer.from('old/\rnew/\r'), undefined],
    ['UTF-8 with a mark', Buffer.from('\ufeffold/\n'), ['a.yaml']],
    ['UTF-8 with line ends of Windows', Buffer.from('# ä\r\nold/\r\n'), ['a.yaml']],
    ['nothing', Buffer.alloc(0), ['a.yaml', 'old/b.yaml']],
    ['another case', Buffer.from('OLD/\n'), ['a.yaml', 'old/b.yaml']],
    ['good lines', Buffer.from('# a\u00a0b\u200b\n\n \u00a0\n  # c\nold/  \n'), ['a.yaml']],
  ])('of an ignore file in %s', async (_encoding, bytes, files) => {
    using folder = temporaryFolder()
    for (const file of ['a.yaml', 'old/b.yaml']) folder.write(file, '# empty\n')
    folder.write('.pipewrightignore', bytes)
    const { problem, files: found } = await read(folder.path)
    expect(problem?.message.includes('.pipewrightignore is not UTF-8 text. It decides')).toBe(
      files === undefined ? true : undefined,
    )
    expect([...found.keys()]).toEqual(files ?? [])
  })

  test.each([
    ['version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n', 'is encrypted, or a pointer'],
    ['$ANSIBLE_VAULT;1.1;AES256\n3362\n', 'is encrypted'],
    ['\0GITCRYPT\0\u0001', 'is encrypted'],
    ['{\n\t"data": "ENC[AES256_GCM,data:6g==,tag:4Q==,type:str]",\n\t"sops": {}\n}\n', 'is encrypted'],
    ['\u200bold/\n', 'an outer blank in line 1. It decides'],
    ['# a\r\nold/\u00a0\r\n', 'line 2'],
    ['a\n\nold/\u2028', 'line 3'],
    ['ol\u200bd/\n', 'line 1'],
    ['!\u2060old/\n', 'line 1'],
    ['old/\t\n', 'line 1'],
    [' old/\n', 'line 1'],
  ])('nothing, while the ignore file matches nothing without a word: %j', async (text, words) => {
    using folder = temporaryFolder()
    folder.write('old/b.yaml', '# empty\n')
    folder.write('.pipewrightignore', text)
    const { problem } = await read(folder.path)
    expect(problem).toMatchObject({
      reason: 'SourceUnreadable',
      message: expect.stringContaining(words) as string,
    })
  })

  test('nothing, while the ignore file is a link to nothing', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', '# empty\n')
    symlinkSync('nowhere', join(folder.path, '.pipewrightignore'))
    expect((await read(folder.path)).problem).toMatchObject({
      reason: 'SourceUnreadable',
      message: expect.stringContaining('.pipewrightignore is a link to a missing file') as string,
    })
  })

  test('a single file is a root too', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', pipe('a'))
    expect((await namesAndCodes(join(folder.path, 'a.yaml'))).files).toEqual(['a.yaml'])
  })

  test('links stay inside, end, and never win over the thing itself', async () => {
    using outside = temporaryFolder()
    outside.write('secret.yaml', 'a: 1\n')
    using folder = temporaryFolder()
    folder.write('real/a.yaml', '# a\n')
    folder.write('.hidden/h.yaml', '# h\n')
    const link = (name: string, target: string) => symlinkSync(target, join(folder.path, name))
    link('again.yaml', 'real/a.yaml')
    link('broken.yaml', 'nowhere.yaml')
    link('data', '.hidden')
    link('out.yaml', join(outside.path, 'secret.yaml'))
    link('outdir', outside.path)
    link('real/up', '..')
    link('self.yaml', 'self.yaml')
    expect(await namesAndCodes(folder.path)).toEqual({
      files: ['data/h.yaml', 'real/a.yaml'],
      codes: [
        'link-repeated again.yaml',
        'link-broken broken.yaml',
        'link-outside out.yaml',
        'link-outside outdir',
        'link-loop real/up',
        'link-loop self.yaml',
      ],
      // A folder might hold a Lock, so it blocks creates. A file that leads out hides only itself.
      unread: ['broken.yaml', 'broken.yaml/', 'out.yaml', 'outdir', 'outdir/', 'self.yaml', 'self.yaml/'],
    })
  })

  test('what is behind a link to a folder that cannot be reached stays unread', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', '# empty\n')
    // As a folder without permission, which stops no superuser.
    symlinkSync('x'.repeat(300), join(folder.path, 'team'))
    const { unread, findings } = await read(folder.path)
    expect(unread).toEqual(['team', 'team/'])
    expect(findings.map(({ code, message }) => [code, message])).toEqual([
      ['folder-unreadable', 'The folder cannot be read (ENAMETOOLONG).'],
    ])
  })

  test('a ConfigMap mount: links through ..data', async () => {
    using folder = temporaryFolder()
    folder.write('..2026_1/a.yaml', '# 1\n')
    symlinkSync('..2026_1', join(folder.path, '..data'))
    symlinkSync('..data/a.yaml', join(folder.path, 'a.yaml'))
    expect(await namesAndCodes(folder.path)).toEqual({ files: ['a.yaml'], codes: [], unread: [] })
  })

  test('a socket and a link to a device are findings, and block nothing', async () => {
    using folder = temporaryFolder()
    const server = createServer().listen(join(folder.path, 'a.yaml'))
    symlinkSync('/dev/null', join(folder.path, 'b.yaml'))
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      const { codes } = await namesAndCodes(folder.path)
      expect(codes).toEqual(['file-not-regular a.yaml', 'link-outside b.yaml'])
    } finally {
      server.close()
    }
  })

  test('a folder with the name of a Lock file is an unreadable Lock', async () => {
    using folder = temporaryFolder()
    folder.write('pipes.lock.yaml/a.yaml', '# 1\n')
    expect(await namesAndCodes(folder.path)).toEqual({
      files: [],
      codes: ['file-not-regular pipes.lock.yaml'],
      unread: ['pipes.lock.yaml', 'pipes.lock.yaml/'],
    })
  })

  test('odd names are shown safely and not opened', async () => {
    using folder = temporaryFolder()
    folder.write('a\nb.yaml', '# x\n')
    folder.write('ü ok (1).yaml', '# x\n')
    writeFileSync(
      Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff]), Buffer.from('.yaml')]),
      '# x\n',
    )
    const { files, codes } = await namesAndCodes(folder.path)
    expect(files).toEqual(['ü ok (1).yaml'])
    expect(codes).toEqual(['file-name a\ufffdb.yaml', 'file-name \ufffd.yaml'])
  })

  test('what may not be read is a finding, and hidden from nobody', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', '# a\n')
    folder.write('x/b.yaml', '# b\n')
    chmodSync(join(folder.path, 'a.yaml'), 0)
    chmodSync(join(folder.path, 'x'), 0)
    await asAnotherUser(folder.path, async () => {
      const { codes, unread } = await namesAndCodes(folder.path)
      expect([codes, unread]).toEqual([
        ['folder-unreadable x/', 'file-unreadable a.yaml'],
        ['x/', 'a.yaml'],
      ])
    })
    chmodSync(join(folder.path, 'x'), 0o700)
  })

  test('limits of size and number', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', `# ${'x'.repeat(100)}\n`)
    folder.write('b.yaml', '# b\n')
    folder.write('c.yaml', '# c\n')
    const limits = { ...DEFAULT_LIMITS, fileBytes: 50, files: 2 }
    expect(await namesAndCodes(folder.path, { limits })).toEqual({
      files: ['b.yaml'],
      codes: ['too-many-files c.yaml', 'file-too-large a.yaml'],
      unread: ['', 'a.yaml'],
    })
  })

  test('a file of exactly the limit is read whole', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', 'a: 1234567\n'.slice(0, 10))
    const reading = await read(folder.path, { limits: { ...DEFAULT_LIMITS, fileBytes: 10 } })
    const texts = [...reading.files.values()].flatMap(findingsOf).map(({ lineText }) => lineText)
    expect(new Set(texts)).toEqual(new Set(['a: 1234567']))
  })
})

describe('one reading is one state', () => {
  test('a missing root is a problem, not an empty directory', async () => {
    using folder = temporaryFolder()
    expect((await read(join(folder.path, 'nowhere'))).problem?.reason).toBe('SourceUnreadable')
  })

  test('a file whose bytes are the same is not parsed again, whatever its times say', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', pipe('a'))
    folder.write('b.yaml', pipe('b'))
    const first = await read(folder.path)
    folder.write('a.yaml', pipe('a'))
    folder.write('b.yaml', pipe('b', { topics: 'x' }))
    const second = await read(folder.path, { previous: first })
    expect(second.files.get('a.yaml')).toBe(first.files.get('a.yaml'))
    expect(second.files.get('b.yaml')).not.toBe(first.files.get('b.yaml'))
  })

  const [ONE, TWO] = ['a'.repeat(40), 'b'.repeat(40)] as const

  test.each([
    ['the root', 'link', 'link', `mount/.trees/${TWO}`],
    ['a link below it', 'mount', 'mount/..data', `.trees/${TWO}`],
  ])('%s that is swapped at any moment never mixes two states', async (_name, root, place, target) => {
    for (const moment of [1, 2, 10, 41, 50, 80, 82, 90, 110, 121, -1, -41, -80, -82, -121]) {
      using folder = temporaryFolder()
      for (const state of [ONE, TWO]) {
        for (let i = 0; i < 40; i += 1) folder.write(`mount/.trees/${state}/${i}.yaml`, `# ${state}\n`)
      }
      symlinkSync(`mount/.trees/${ONE}`, join(folder.path, 'link'))
      symlinkSync(`.trees/${ONE}`, join(folder.path, 'mount/..data'))
      for (let i = 0; i < 40; i += 1) symlinkSync(`..data/${i}.yaml`, join(folder.path, `mount/${i}.yaml`))
      const before = await read(join(folder.path, root))
      const signal = signalThat((step) => {
        if (step !== Math.abs(moment)) return
        symlinkSync(target, join(folder.path, 'new'))
        renameSync(join(folder.path, 'new'), join(folder.path, place))
        // As git-sync and the kubelet do. Others keep it.
        if (moment > 0) rmSync(join(folder.path, `mount/.trees/${ONE}`), { recursive: true })
      })
      const reading = await read(join(folder.path, root), { signal })
      const after = await read(join(folder.path, root))
      const states = new Set([...reading.files.values()].map((file) => file.hash))
      expect([reading.problem, states.size, reading.files.size]).toEqual([undefined, 1, 40])
      const same = [before, after].find(({ files }) => states.has(files.get('0.yaml')?.hash ?? ''))
      expect(reading.revision).toEqual(same?.revision)
    }
  })

  test('something that vanishes on the way starts the reading over, and at last is a problem', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', pipe('a'))
    folder.write('b.yaml', pipe('b'))
    const signal = signalThat((step) => {
      if (step % 4 === 0) rmSync(join(folder.path, 'b.yaml'), { force: true })
      else folder.write('b.yaml', pipe('b'))
    })
    const reading = await read(folder.path, { signal })
    expect([reading.problem?.reason, reading.files.size]).toEqual(['SourceUnstable', 0])
  })

  test('a stop ends it', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', pipe('a'))
    await expect(read(folder.path, { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop')
  })
})

describe('the revision', () => {
  const A = 'a'.repeat(40)
  const B = 'b'.repeat(40)

  test('is the commit that git-sync names its worktree by', async () => {
    using folder = temporaryFolder()
    folder.write(`.worktrees/${A}/deploy/a.yaml`, '# a\n')
    symlinkSync(`.worktrees/${A}`, join(folder.path, 'current'))
    expect((await read(join(folder.path, 'current/deploy'))).revision).toEqual({ id: A, from: 'git-sync' })
  })

  test('comes from .git: a detached HEAD, a reference, a packed one, a worktree', async () => {
    using folder = temporaryFolder()
    folder.write('deploy/a.yaml', '# a\n')
    const revision = async (path = 'deploy') => (await read(join(folder.path, path))).revision
    folder.write('.git/HEAD', `${A}\n`)
    expect(await revision()).toEqual({ id: A, from: 'git' })
    folder.write('.git/HEAD', 'ref: refs/heads/main\n')
    folder.write(
      '.git/packed-refs',
      `# pack-refs with: peeled\n${A} refs/heads/maintenance\n${B} refs/heads/main\n^${A}\n`,
    )
    expect(await revision()).toEqual({ id: B, from: 'git' })
    folder.write('.git/refs/heads/main', `${A}\n`)
    expect(await revision()).toEqual({ id: A, from: 'git' })
    folder.write('tree/a.yaml', '# a\n')
    folder.write('tree/.git', 'gitdir: ../.git/worktrees/tree\n')
    folder.write('.git/worktrees/tree/HEAD', 'ref: refs/heads/other\n')
    folder.write('.git/worktrees/tree/commondir', '../..\n')
    folder.write('.git/refs/heads/other', `${B}\n`)
    expect(await revision('tree')).toEqual({ id: B, from: 'git' })
  })

  test('is a digest of names and bytes where there is no commit', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', '# a\n')
    mkdirSync(join(folder.path, '.git'))
    const first = (await read(folder.path)).revision
    expect(first).toEqual({ id: expect.stringMatching(/^content-[0-9a-f]{12}$/) as string, from: 'content' })
    expect((await read(folder.path)).revision).toEqual(first)
    folder.write('a.yaml', '# b\n')
    const second = (await read(folder.path)).revision
    unlinkSync(join(folder.path, 'a.yaml'))
    folder.write('b.yaml', '# b\n')
    const third = (await read(folder.path)).revision
    expect(new Set([first.id, second.id, third.id]).size).toBe(3)
  })
})
