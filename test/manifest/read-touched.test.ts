import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSource } from '../../src/manifest/load.ts'
import { alertManifest } from '../support/manifests.ts'

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-touched-')))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function write(name: string, text: string): string {
  const path = join(dir, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

async function reader() {
  const source = createSource({ root: dir })
  const load = (touched: readonly string[] | 'anything') =>
    source.load(
      new Map(),
      { accept: 'doubt', touched: touched === 'anything' ? touched : new Set(touched) },
      new AbortController().signal,
    )
  await load('anything')
  return load
}

const a = (id: string) => alertManifest('a', id)
const b = (id: string) => alertManifest('b', id)

test('an edit of a file that was named is found, and no other file is looked at', async () => {
  const named = write('team/a.yaml', a('one'))
  write('team/b.yaml', b('one'))
  const load = await reader()
  write('team/a.yaml', a('two'))
  write('team/b.yaml', b('two'))
  const result = await load([named])
  expect(result).toMatchObject({ partial: true, parsed: 1, changed: ['Alert/a'] })
  // what was not named is found by the whole reading that follows
  expect(await load('anything')).toMatchObject({ partial: false, parsed: 1, changed: ['Alert/b'] })
})

test('a file that was named and says the same is not parsed', async () => {
  const named = write('a.yaml', a('one'))
  const load = await reader()
  expect(await load([named])).toMatchObject({ partial: true, parsed: 0, changed: [], differs: false })
})

test('the revision of a partial reading is that of a whole one', async () => {
  const named = write('a.yaml', a('one'))
  const load = await reader()
  write('a.yaml', a('two'))
  const { revision } = (await load([named])).state.catalog
  expect((await load('anything')).state.catalog.revision).toEqual(revision)
})

test('what an editor leaves beside a file needs no whole reading', async () => {
  const named = write('a.yaml', a('one'))
  const load = await reader()
  write('a.yaml', a('two'))
  const backup = write('a.yaml~', a('one'))
  expect(await load([named, backup, join(dir, '4913')])).toMatchObject({
    partial: true,
    changed: ['Alert/a'],
  })
})

test.each([
  ['a new manifest', () => write('b.yaml', b('one'))],
  ['a new folder', () => dirname(write('team/b.yaml', b('one')))],
  [
    'a manifest that is gone',
    () => {
      rmSync(join(dir, 'a.yaml'))
      return join(dir, 'a.yaml')
    },
  ],
  [
    'a folder that is gone',
    () => {
      rmSync(join(dir, 'more'), { recursive: true })
      return join(dir, 'more')
    },
  ],
  [
    'a link in the place of a manifest',
    () => {
      renameSync(join(dir, 'a.yaml'), join(dir, 'a.txt'))
      symlinkSync('a.txt', join(dir, 'a.yaml'))
      return join(dir, 'a.yaml')
    },
  ],
])('%s needs a whole reading', async (_, change) => {
  write('a.yaml', a('one'))
  write('more/c.yaml', alertManifest('c', 'one'))
  const load = await reader()
  expect(await load([change()])).toMatchObject({ partial: false })
})

test('while a manifest is missed, readings are whole: absences are counted by nothing less', async () => {
  const named = write('a.yaml', a('one'))
  const other = write('b.yaml', b('one'))
  write('c.yaml', alertManifest('c', 'one'))
  const load = await reader()
  rmSync(other)
  expect((await load([other])).state.pending).toEqual(new Set(['Alert/b']))
  write('a.yaml', a('two'))
  expect(await load([named])).toMatchObject({ partial: false, changed: ['Alert/a'] })
})

test('another commit needs a whole reading', async () => {
  const named = write('a.yaml', a('one'))
  write('.git/HEAD', '1'.repeat(40))
  const load = await reader()
  write('a.yaml', a('two'))
  expect(await load([named])).toMatchObject({ partial: true })
  write('.git/HEAD', '2'.repeat(40))
  expect(await load([named])).toMatchObject({ partial: false })
})
