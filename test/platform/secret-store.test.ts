import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createMountedSecrets, secretsIn } from '../../src/platform/secret-store.ts'
import { folderForTest } from '../support/folders.ts'

let dir = ''

beforeEach(async () => {
  dir = folderForTest()
  await mkdir(join(dir, 'mounted', 'kafka'), { recursive: true })
})

function store() {
  return createMountedSecrets({ credentialsDir: join(dir, 'credentials'), secretsDir: join(dir, 'mounted') })
}

async function put(content: string | Uint8Array): Promise<string> {
  const file = join(dir, 'mounted', 'kafka', 'password')
  await writeFile(file, content)
  return file
}

const REF = { name: 'kafka', key: 'password' }

test.each(
  Object.entries({
    'one newline at the end is not part of it': { content: 'hunter2\n', value: 'hunter2' },
    'nor one of Windows': { content: 'hunter2\r\n', value: 'hunter2' },
    'only one': { content: 'hunter2\n\n', value: 'hunter2\n' },
    'other space is': { content: ' hunter2 ', value: ' hunter2 ' },
    'it may be as large as 64 KiB': { content: 'x'.repeat(65_536), value: 'x'.repeat(65_536) },
  }),
)('a secret is read: %s', async (_why, { content, value }) => {
  await put(content)
  const reading = await store().read(REF, 'source')
  expect(reading.found && reading.value.reveal()).toBe(value)
})

test.each([
  { why: 'nothing', content: '', expected: 'empty' },
  { why: 'a newline alone', content: '\n', expected: 'empty' },
  { why: 'more than 64 KiB', content: 'x'.repeat(65_537), expected: 'unreadable' },
  { why: 'not UTF-8', content: new Uint8Array([0xff, 0xfe, 0x41]), expected: 'unreadable' },
])('a file that holds $why is $expected', async ({ content, expected }) => {
  const file = await put(content)
  expect(await store().read(REF, 'source')).toEqual({ found: false, file, why: expected })
})

test('a file that is not there is absent, a folder is unreadable', async () => {
  expect(await store().read(REF, 'source')).toMatchObject({ found: false, why: 'absent' })
  expect(await store().read({ name: 'none', key: 'none' }, 'source')).toMatchObject({
    found: false,
    why: 'absent',
  })
  await mkdir(join(dir, 'mounted', 'kafka', 'password'))
  expect(await store().read(REF, 'source')).toMatchObject({ found: false, why: 'unreadable' })
})

test.each([
  { name: '..', key: 'outside' },
  { name: 'kafka', key: '../../outside' },
  { name: 'kafka/..', key: 'outside' },
  { name: '.', key: 'outside' },
  { name: '', key: 'outside' },
  { name: 'kafka', key: '..data' },
  { name: 'kafka', key: 'pass\0word' },
])('a name that is not plain is not followed: $name / $key', async (ref) => {
  await writeFile(join(dir, 'outside'), 'content')
  expect(await store().read(ref, 'source')).toMatchObject({ found: false, why: 'unreadable' })
})

test('a Kubernetes mount is read through its links, anew each time', async () => {
  const mount = join(dir, 'mounted', 'api')
  for (const version of ['v1', 'v2']) {
    await mkdir(join(mount, `..${version}`), { recursive: true })
    await writeFile(join(mount, `..${version}`, 'keyId'), version)
  }
  await symlink('..v1', join(mount, '..data'))
  await symlink(join('..data', 'keyId'), join(mount, 'keyId'))
  const before = await store().read({ name: 'api', key: 'keyId' }, 'source')
  await rm(join(mount, '..data'))
  await symlink('..v2', join(mount, '..data'))
  const after = await store().read({ name: 'api', key: 'keyId' }, 'source')
  expect([before, after].map((reading) => reading.found && reading.value.reveal())).toEqual(['v1', 'v2'])
})

describe('of two owners', () => {
  beforeEach(async () => {
    for (const folder of ['mounted', 'credentials'])
      await mkdir(join(dir, folder, `only-in-${folder}`), { recursive: true })
    await writeFile(join(dir, 'mounted/only-in-mounted/key'), 'of a source')
    await writeFile(join(dir, 'credentials/only-in-credentials/key'), 'of the platform')
  })

  test('each is read in its own directory and nowhere else', async () => {
    const sources = await store().read(there('mounted'), 'source')
    const platforms = await store().read(there('credentials'), 'platform')
    expect([sources, platforms].map((reading) => reading.found && reading.value.reveal())).toEqual([
      'of a source',
      'of the platform',
    ])
    expect(await store().read(there('credentials'), 'source')).toEqual({
      found: false,
      file: join(dir, 'mounted/only-in-credentials/key'),
      why: 'absent',
    })
  })

  test('what is the platform’s and lies among those of sources is not read, and said', async () => {
    expect(await store().read(there('mounted'), 'platform')).toEqual({
      found: false,
      file: join(dir, 'credentials/only-in-mounted/key'),
      why: 'absent',
      misplaced: join(dir, 'mounted/only-in-mounted'),
    })
  })

  test.each(['credentials/key', 'outside/key', 'credentials/only-in-mounted/deeper/key'])(
    'a file that has no folder of its own below the credentials is not misplaced: %s',
    async (path) => {
      for (const folder of ['outside', 'mounted/only-in-mounted/deeper']) await mkdir(join(dir, folder))
      const file = join(dir, path)
      expect(await store().readFile(file)).toEqual({ found: false, file, why: 'absent' })
    },
  )

  test('all that can be read of a directory is what its folders hold, without hidden names', async () => {
    await mkdir(join(dir, 'mounted/kafka/..data'))
    await writeFile(join(dir, 'mounted/kafka/.hidden'), 'hidden')
    const found = await Array.fromAsync(secretsIn(join(dir, 'mounted')), (secret) => secret.reveal())
    expect(found).toEqual(['of a source'])
    expect(await Array.fromAsync(secretsIn(join(dir, 'none')))).toEqual([])
  })

  test.each([
    { why: 'a folder', link: 'mounted/linked', to: 'credentials/only-in-credentials', owner: 'source' },
    { why: 'a file', link: 'mounted/kafka/key', to: 'credentials/only-in-credentials/key', owner: 'source' },
    { why: 'a folder', link: 'credentials/linked', to: 'mounted/only-in-mounted', owner: 'platform' },
  ] as const)(
    'a link from one into the other is not followed: $why of the $owner',
    async ({ link, to, owner }) => {
      await symlink(join(dir, to), join(dir, link))
      const name = link.split('/')[1] ?? ''
      expect(await store().read({ name, key: 'key' }, owner)).toMatchObject({ found: false, why: 'linked' })
    },
  )

  test('a source may have files of these names one by one, and side by side where credentials have the name', async () => {
    await mkdir(join(dir, 'mounted/s3'))
    await writeFile(join(dir, 'mounted/s3/keyId'), 'of a bucket')
    const ref = { name: 's3', key: 'keyId' }
    expect(await store().read(ref, 'source')).toMatchObject({ found: true })
    await writeFile(join(dir, 'mounted/s3/keySecret'), 'of a bucket, too')
    expect(await store().read(ref, 'source')).toMatchObject({ found: false, why: 'credential' })
    await mkdir(join(dir, 'credentials/s3'))
    expect(await store().read(ref, 'source')).toMatchObject({ found: true })
  })

  test('is not used while no file can be opened to look whether it is a credential', async () => {
    await mkdir(join(dir, 'credentials/api'), { recursive: true })
    await writeFile(join(dir, 'credentials/api/token'), 'a-token-of-the-platform')
    await writeFile(join(dir, 'mounted/kafka/password'), 'a-token-of-the-platform')
    const folders = { credentialsDir: join(dir, 'credentials'), secretsDir: join(dir, 'mounted') }
    const mounted = createMountedSecrets(folders, async (file) =>
      file.startsWith(folders.credentialsDir)
        ? { found: false, file, why: 'no descriptor' }
        : { found: true, value: new Secret('a-token-of-the-platform') },
    )
    const reading = await mounted.read({ name: 'kafka', key: 'password' }, 'source')
    expect(reading).toMatchObject({ found: false, why: 'no descriptor' })
  })

  test.each([
    ['7 bytes', 'of us 7', true],
    ['8 bytes', 'of us: 8', false],
  ])('is used although a credential is equal to it, if it has %s', async (_, text, found) => {
    await writeFile(join(dir, 'credentials/only-in-credentials/key'), text)
    await put(text)
    expect(await store().read(REF, 'source')).toMatchObject({ found })
  })

  test('a link to somewhere else is', async () => {
    await mkdir(join(dir, 'elsewhere'))
    await writeFile(join(dir, 'elsewhere/key'), 'of a vault')
    await symlink(join(dir, 'elsewhere'), join(dir, 'mounted/vault'))
    const reading = await store().read({ name: 'vault', key: 'key' }, 'source')
    expect(reading.found && reading.value.reveal()).toBe('of a vault')
  })

  test('a file that a setting names must not be one of theirs by a link', async () => {
    await symlink(join(dir, 'mounted/only-in-mounted/key'), join(dir, 'token'))
    expect(await store().readFile(join(dir, 'token'))).toMatchObject({ found: false, why: 'linked' })
  })
})

test('a secret that is too short to be masked is told once, with its file', async () => {
  const events: Event[] = []
  const folders = { credentialsDir: join(dir, 'credentials'), secretsDir: join(dir, 'mounted') }
  const mounted = createMountedSecrets(folders, undefined, (event) => void events.push(event))
  const file = await put('pwd\n')
  await mounted.read(REF, 'source')
  await mounted.read(REF, 'source')
  await put('pass\n')
  await mounted.read(REF, 'source')
  expect(events).toEqual([{ type: 'ShortSecretFound', file }])
})

function there(folder: string) {
  return { name: `only-in-${folder}`, key: 'key' }
}
