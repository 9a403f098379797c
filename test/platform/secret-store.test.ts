import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMountedSecrets } from '../../src/platform/secret-store.ts'

let dir = ''

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'secrets-'))
  await mkdir(join(dir, 'mounted', 'kafka'), { recursive: true })
})

afterEach(async () => {
  await rm(dir, { recursive: true })
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

test.each([
  { why: 'one newline at the end is not part of it', content: 'hunter2\n', value: 'hunter2' },
  { why: 'nor one of Windows', content: 'hunter2\r\n', value: 'hunter2' },
  { why: 'only one', content: 'hunter2\n\n', value: 'hunter2\n' },
  { why: 'other space is', content: ' hunter2 ', value: ' hunter2 ' },
  { why: 'it may be as large as 64 KiB', content: 'x'.repeat(65_536), value: 'x'.repeat(65_536) },
])('a secret is read: $why', async ({ content, value }) => {
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

test('a FIFO does not hold anybody up', async () => {
  execFileSync('mkfifo', [join(dir, 'mounted', 'kafka', 'password')])
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
