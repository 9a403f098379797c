import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isResource } from '../../src/kinds/lookup.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { readDirectory, type DirectoryReading } from '../../src/manifest/files/read-directory.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { never, pipe, temporaryFolder, type Folder } from './support.ts'

/* A file that is being written can be a valid manifest already. */

const WHOLE = `${pipe('a')}  scaling: {replicas: 2}\n`
const HALF = pipe('a')

const OPTIONS = { profile: DEFAULT, limits: DEFAULT_LIMITS, trust: 'stamps' } as const

let folder: Folder
let clock: FakeClock
beforeEach(() => {
  // Every file of a test is new, however long the test takes.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  folder = temporaryFolder()
  clock = createFakeClock()
})
afterEach(() => {
  vi.useRealTimers()
  folder[Symbol.dispose]()
})

/** `go`: waits until it waits for the clock, or has ended. */
function start(previous?: DirectoryReading, root = folder.path) {
  const reading: { is?: DirectoryReading } = {}
  const end = readDirectory({ ...OPTIONS, root, previous, clock, signal: never })
  void end.then((result) => (reading.is = result))
  async function go() {
    while (clock.pending === 0 && reading.is === undefined) await setImmediate()
    return reading.is
  }
  return { end, go }
}

/** What counts once two more readings, each after half a second, agree. */
async function agreed(reading: ReturnType<typeof start>) {
  await clock.advance(500)
  await reading.go()
  await clock.advance(500)
  return reading.go()
}

function replicasIn(reading: DirectoryReading | undefined) {
  const manifest = reading?.files.get('a.yaml')?.documents[0]?.manifest
  return isResource(manifest) ? manifest.spec['scaling'] : undefined
}

test('a file that was just written counts once a second reading agrees', async () => {
  folder.write('a.yaml', WHOLE)
  const reading = start()
  expect(await reading.go()).toBeUndefined()
  await clock.advance(499)
  expect(clock.pending).toBe(1)
  await clock.advance(1)
  expect(replicasIn(await reading.go())).toEqual({ replicas: 2 })
})

test.each([
  ['the rest comes', () => folder.write('a.yaml', WHOLE)],
  [
    'another file takes its place',
    () => (folder.write('b.txt', WHOLE), renameSync(join(folder.path, 'b.txt'), join(folder.path, 'a.yaml'))),
  ],
  [
    'the rest comes with an old time',
    () => (folder.write('a.yaml', WHOLE), utimesSync(join(folder.path, 'a.yaml'), 1, 1)),
  ],
])('half a file does not count: %s', async (_how, write) => {
  folder.write('a.yaml', HALF)
  const reading = start()
  await reading.go()
  write()
  expect(replicasIn(await agreed(reading))).toEqual({ replicas: 2 })
})

test.each([
  ['in a checkout of Git, which writes file by file', '.git/HEAD', `${'a'.repeat(40)}\n`, ''],
  ['in a folder that is only named like a commit', `${'b'.repeat(40)}/a.yaml`, HALF, 'b'.repeat(40)],
])('half a file does not count %s', async (_where, file, text, root) => {
  folder.write('a.yaml', HALF)
  folder.write(file, text)
  const reading = start(undefined, join(folder.path, root))
  expect(await reading.go()).toBeUndefined()
  folder.write(join(root, 'a.yaml'), WHOLE)
  expect(replicasIn(await agreed(reading))).toEqual({ replicas: 2 })
})

test('half a file does not count if the clock of this machine is ahead of the file system', async () => {
  const first = start()
  await first.go()
  await clock.advance(500)
  const before = await first.end
  vi.setSystemTime(Date.now() + 10_000)
  folder.write('a.yaml', HALF)
  const reading = start(before)
  expect(await reading.go()).toBeUndefined()
  folder.write('a.yaml', WHOLE)
  expect(replicasIn(await agreed(reading))).toEqual({ replicas: 2 })
})

test('half a file that comes a second time does not count', async () => {
  folder.write('a.yaml', HALF)
  const reading = start()
  await reading.go()
  folder.write('a.yaml', WHOLE)
  await clock.advance(500)
  await reading.go()
  folder.write('a.yaml', HALF)
  await clock.advance(500)
  expect(await reading.go()).toBeUndefined()
  folder.write('a.yaml', WHOLE)
  expect(replicasIn(await agreed(reading))).toEqual({ replicas: 2 })
})

test('a time in the future, as of another host, costs one more reading and no more', async () => {
  folder.write('a.yaml', WHOLE)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
  const reading = start()
  await reading.go()
  await clock.advance(500)
  expect(replicasIn(await reading.go())).toEqual({ replicas: 2 })
})

describe('a tree that is being copied does not count:', () => {
  const LOCK = 'apiVersion: x\nkind: Lock\n'

  test.each([
    ['a Lock comes', () => folder.write('z.lock.yaml', LOCK), ['a.yaml', 'old/o.yaml', 'z.lock.yaml']],
    ['an ignore file comes', () => folder.write('.pipewrightignore', 'old/\n'), ['a.yaml']],
    ['a file goes', () => rmSync(join(folder.path, 'old/o.yaml')), ['a.yaml']],
    [
      'a folder moves',
      () => renameSync(join(folder.path, 'old'), join(folder.path, 'new')),
      ['a.yaml', 'new/o.yaml'],
    ],
    ['an old file changes', () => folder.write('old/o.yaml', pipe('p')), ['a.yaml', 'old/o.yaml']],
  ])('%s', async (_what, change, files) => {
    folder.write('old/o.yaml', pipe('o'))
    vi.setSystemTime(Date.now() + 3_600_000)
    const before = await start().end
    folder.write('a.yaml', WHOLE)
    vi.setSystemTime(Date.now() - 3_600_000)
    const reading = start(before)
    expect(await reading.go()).toBeUndefined()
    await clock.advance(300)
    change()
    await clock.advance(200)
    expect(await reading.go()).toBeUndefined()
    await clock.advance(500)
    expect([...((await reading.go())?.files.keys() ?? ['none'])]).toEqual(files)
  })

  test('files come all the time', async () => {
    folder.write('a.yaml', WHOLE)
    const reading = start()
    for (let count = 0; count < 5; count += 1) {
      await reading.go()
      folder.write(`b${count}.yaml`, pipe(`b${count}`))
      await clock.advance(500)
    }
    expect(await reading.end).toMatchObject({ problem: { reason: 'SourceUnstable' }, unread: [''] })
  })
})

test('a file that changes all the time holds only its own manifest', async () => {
  folder.write('a.yaml', HALF)
  folder.write('b.yaml', pipe('b'))
  const reading = start()
  for (let count = 0; count < 5; count += 1) {
    await reading.go()
    folder.write('a.yaml', `${HALF}# ${count}\n`)
    await clock.advance(500)
  }
  const { files, unread, findings, problem } = await reading.end
  expect(problem).toBeUndefined()
  expect([...files.keys()]).toEqual(['b.yaml'])
  expect(unread).toEqual(['a.yaml'])
  expect(findings).toMatchObject([
    { code: 'file-unreadable', message: 'The file changed during each of 5 reads.' },
  ])
})

test.each([
  ['two seconds ago', () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 }), ''],
  [
    'by git-sync',
    () => (
      folder.write(`x/${'b'.repeat(40)}/a.yaml`, WHOLE),
      symlinkSync(`x/${'b'.repeat(40)}`, join(folder.path, 'link'))
    ),
    'link',
  ],
  [
    'as a ConfigMap',
    () => (mkdirSync(join(folder.path, '..one')), symlinkSync('..one', join(folder.path, '..data'))),
    '',
  ],
])('a file that was written %s counts immediately', async (_when, make, root) => {
  folder.write('a.yaml', WHOLE)
  make()
  expect(replicasIn(await start(undefined, join(folder.path, root)).go())).toEqual({ replicas: 2 })
  expect(clock.pending).toBe(0)
})

test('a file that says what it said before costs nothing', async () => {
  folder.write('a.yaml', WHOLE)
  const first = start()
  await first.go()
  await clock.advance(500)
  const before = await first.end
  folder.write('a.yaml', WHOLE)
  expect(replicasIn(await start(before).go())).toEqual({ replicas: 2 })
  expect(clock.pending).toBe(0)
})

describe('an ignore file that is being written', () => {
  const RULES = '.pipewrightignore'
  const ignore = (text: string) => folder.write(RULES, text)
  const remove = () => rmSync(join(folder.path, RULES))

  async function begin() {
    folder.write('drafts/a.yaml', WHOLE)
    ignore('drafts/\n')
    const reading = start()
    await reading.go()
    await clock.advance(500)
    return reading.end
  }

  test.each([
    ['is empty', () => ignore('')],
    ['has half its rules', () => ignore('draf')],
    ['is gone', remove],
  ])('does not count: it %s', async (_how, break_) => {
    const before = await begin()
    break_()
    const reading = start(before)
    expect(await reading.go()).toBeUndefined()
    ignore('drafts/\nmore/\n')
    expect([...((await agreed(reading))?.files.keys() ?? ['none'])]).toEqual([])
  })

  test.each([
    ['is empty', () => ignore(''), ['drafts/a.yaml']],
    ['is gone', remove, ['drafts/a.yaml']],
    ['says more', () => ignore('drafts/\nmore/\n'), []],
  ])('counts if two readings agree: it %s', async (_how, change, files) => {
    const before = await begin()
    change()
    const reading = start(before)
    expect(await reading.go()).toBeUndefined()
    await clock.advance(500)
    expect([...((await reading.go())?.files.keys() ?? ['none'])]).toEqual(files)
  })

  test('costs nothing with the rules of before', async () => {
    const before = await begin()
    ignore('drafts/\n')
    expect(await start(before).go()).toBeDefined()
    expect(clock.pending).toBe(0)
  })

  test('cannot be read: the second reading does not count either', async () => {
    const before = await begin()
    ignore('')
    const reading = start(before)
    await reading.go()
    folder.write(RULES, Buffer.from([0xff, 0xfe, 0x00]))
    await clock.advance(500)
    expect((await reading.go())?.problem).toMatchObject({ reason: 'SourceUnreadable' })
  })

  test('changes all the time: nothing is read', async () => {
    const before = await begin()
    const reading = start(before)
    for (let count = 0; count < 5; count += 1) {
      ignore(`drafts/\n# ${count}\n`)
      await reading.go()
      ignore(`# ${count}\n`)
      await clock.advance(500)
    }
    expect(await reading.end).toMatchObject({ problem: { reason: 'SourceUnstable' }, unread: [''] })
  })
})

test('a stop ends the wait', async () => {
  folder.write('a.yaml', WHOLE)
  const stop = new AbortController()
  const end = readDirectory({
    ...OPTIONS,
    root: folder.path,
    previous: undefined,
    clock,
    signal: stop.signal,
  })
  const isRead = end.then(
    () => true,
    () => true,
  )
  while (clock.pending === 0) if (await Promise.race([isRead, setImmediate(false)])) break
  stop.abort(new Error('stopped'))
  await expect(end).rejects.toThrow('stopped')
})
