import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { renameSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import {
  readDirectory,
  type DirectoryReading,
  type TreeOptions,
} from '../../src/manifest/files/read-directory.ts'
import { never, parse, pipe, temporaryFolder, type Folder } from './support.ts'

let folder: Folder
beforeEach(() => {
  folder = temporaryFolder()
  folder.write('a.yaml', pipe('a', { topics: 'one' }))
})
afterEach(() => {
  vi.useRealTimers()
  folder[Symbol.dispose]()
})

function read(previous?: DirectoryReading, trust: TreeOptions['trust'] = 'stamps') {
  return readDirectory({
    profile: DEFAULT,
    root: folder.path,
    limits: DEFAULT_LIMITS,
    previous,
    trust,
    signal: never,
  })
}

/** Nobody can set the time of a file's last change back, so the clock goes on instead. */
function later(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
}

/** A reading that took something else for what the file says. */
function mistaken(reading: DirectoryReading): DirectoryReading {
  return { ...reading, files: new Map([['a.yaml', parse(pipe('a', { topics: 'other' }))]]) }
}

test('a file that was not written to since is not opened', async () => {
  later()
  const before = mistaken(await read())
  const after = await read(before)
  expect(after.files.get('a.yaml')).toBe(before.files.get('a.yaml'))
})

test('where only bytes are trusted, it is', async () => {
  later()
  const before = mistaken(await read())
  const after = await read(before, 'bytes')
  expect(after.files.get('a.yaml')).not.toBe(before.files.get('a.yaml'))
})

test('a file that was written to a moment before it was read is read again: a second writing may leave the same time', async () => {
  const first = await read()
  expect(first.stamps).toEqual(new Map())
  const before = mistaken(first)
  expect((await read(before)).files.get('a.yaml')).not.toBe(before.files.get('a.yaml'))
})

const writings: readonly (readonly [string, () => void])[] = [
  ['written in place, and its time set back', () => folder.write('a.yaml', pipe('a', { topics: 'two' }))],
  [
    'replaced by another of the same size and time',
    () => {
      folder.write('b.txt', pipe('a', { topics: 'two' }))
      renameSync(join(folder.path, 'b.txt'), join(folder.path, 'a.yaml'))
    },
  ],
]

test.each(writings)('a file that was %s is read again', async (_name, write) => {
  later()
  const path = join(folder.path, 'a.yaml')
  const [when, now] = [new Date(1_700_000_000_000), Date.now() / 1_000]
  utimesSync(path, now, when)
  const before = statSync(path)
  const first = await read()
  expect(first.stamps.size).toBe(1)
  write()
  // The clock of a file system ticks every few milliseconds; in the product, what is that fresh is not trusted.
  while (statSync(path).ctimeMs === before.ctimeMs) utimesSync(path, now, new Date())
  utimesSync(path, now, when)
  expect(statSync(path)).toMatchObject({ mtimeMs: before.mtimeMs, size: before.size })
  const second = await read(first)
  expect(second.files.get('a.yaml')?.documents[0]?.manifest).toMatchObject({
    spec: { source: { kafka: { topics: 'two' } } },
  })
})
