import { lstatSync, lutimesSync, mkdirSync, symlinkSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { commitFacts, revisionSince } from '../../src/manifest/files/commit.ts'
import { createWorkspace } from '../support/workspace.ts'

const ID = '0123456789012345678901234567890123456789'
const AT = 1_780_000_000

test('with git-sync: when its link was swapped, also from a folder below it', async () => {
  using workspace = createWorkspace()
  mkdirSync(workspace.path(`${ID}/deploy`), { recursive: true })
  symlinkSync(ID, workspace.path('current'))
  lutimesSync(workspace.path('current'), AT, AT)
  const root = workspace.path('current/deploy')
  expect(await revisionSince(root, { id: ID, from: 'git-sync' })).toBe(AT * 1_000)
})

test('in a ConfigMap: when its data was swapped; of a plain folder nobody knows', async () => {
  using workspace = createWorkspace()
  mkdirSync(workspace.path('mount/..2026'), { recursive: true })
  const content = { id: 'content-0123456789ab', from: 'content' } as const
  expect(await revisionSince(workspace.path('mount'), content)).toBeUndefined()
  symlinkSync('..2026', workspace.path('mount/..data'))
  const { mtimeMs } = lstatSync(workspace.path('mount/..data'))
  expect(await revisionSince(workspace.path('mount'), content)).toBe(mtimeMs)
})

test('in a checkout: unknown, even behind a link', async () => {
  using workspace = createWorkspace()
  symlinkSync('manifests', workspace.path('current'))
  expect(await revisionSince(workspace.path('current'), { id: ID, from: 'git' })).toBeUndefined()
})

const COMMIT = Buffer.from(
  'tree 0\nauthor Ada <ada@example.com> 1 +0000\ncommitter B <b@example.com> 1 +0000\n\nAdd orders\n\nmore\n',
)

/** `git pack-objects` of this one object, as gitformat-pack(5) has it. */
function packed(type: number) {
  const pack = Buffer.concat([
    Buffer.from('PACK'),
    Buffer.from([0, 0, 0, 2, 0, 0, 0, 1]),
    Buffer.from([0x80 + type * 16 + (COMMIT.length % 16), COMMIT.length >> 4]),
    deflateSync(COMMIT),
    Buffer.alloc(20, 7),
  ])
  const word = Buffer.alloc(4)
  const fanout = Array.from({ length: 256 }, (_, first) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(first < 0x01 ? 1 : 2)
    return count
  })
  const names = [Buffer.alloc(20), Buffer.from(ID, 'hex')]
  word.writeUInt32BE(12)
  const head = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2])
  return { pack, index: Buffer.concat([head, ...fanout, ...names, Buffer.alloc(8), word, word]) }
}

test.each([
  [
    'a loose object',
    {
      [`objects/${ID.slice(0, 2)}/${ID.slice(2)}`]: deflateSync(
        Buffer.concat([Buffer.from('commit 9\0'), COMMIT]),
      ),
    },
    true,
  ],
  ['a pack', { 'objects/pack/a.idx': packed(1).index, 'objects/pack/a.pack': packed(1).pack }, true],
  [
    'a pack, as a difference',
    { 'objects/pack/a.idx': packed(6).index, 'objects/pack/a.pack': packed(6).pack },
    false,
  ],
  [
    'a damaged pack',
    { 'objects/pack/a.idx': Buffer.from('x'), 'objects/pack/a.pack': packed(1).pack },
    false,
  ],
  ['nothing', { HEAD: Buffer.from(ID) }, false],
])('the author and the subject of a commit, from %s', async (_, files, isKnown) => {
  using workspace = createWorkspace()
  for (const [path, bytes] of Object.entries(files)) workspace.write(`repo/.git/${path}`, bytes)
  mkdirSync(workspace.path('repo/manifests'))
  const facts = await commitFacts(workspace.path('repo/manifests'), ID)
  expect(facts).toEqual(isKnown ? { author: 'Ada', subject: 'Add orders' } : undefined)
  expect(await commitFacts(workspace.path('repo/manifests'), 'content-0123456789ab')).toBeUndefined()
})

async function factsOf(author: string, message: string, level = 6) {
  using workspace = createWorkspace()
  const text = `commit 9\0tree 0\nauthor ${author} <a@example.com> 1 +0000\n\nAdd orders\n\n${message}`
  const object = deflateSync(text, { level })
  if (level === 0) object.fill(0, object.length / 2) // nothing there can be unpacked
  workspace.write(`.git/objects/${ID.slice(0, 2)}/${ID.slice(2)}`, object)
  return await commitFacts(workspace.path('.'), ID)
}

describe('a commit that somebody made to cost', () => {
  test('time: an author with many spaces', async () => {
    const author = `Ada${' '.repeat(200_000)}B`
    const before = process.cpuUsage()
    expect(await factsOf(author, '')).toEqual({ author: author.slice(0, 200), subject: 'Add orders' })
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
  })

  test('memory: of a long message, only the beginning is read', async () => {
    expect(await factsOf('Ada', 'x'.repeat(1_000_000), 0)).toEqual({ author: 'Ada', subject: 'Add orders' })
  })
})
