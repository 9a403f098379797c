import { describe, expect, test } from 'vitest'
import type { Reading } from '../../src/manifest/files/read-directory.ts'
import { documents, lock, next, pipe, readingOf, service } from './support.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const OTHER_ID = '22222222-2222-4222-8222-222222222222'
const GOOD = { 'a.yaml': documents(service('analytics'), pipe('a')) }
const LOCK = lock('l', { 'Pipe/a': ID })
const CONFLICT = `<<<<<<< HEAD\n${LOCK}>>>>>>> theirs\n`

function withLocks(text: string): Reading {
  return readingOf({ ...GOOD, 'l.lock.yaml': text })
}

function elsewhere(text: string): Reading {
  return readingOf({ ...GOOD, 'l.yaml': text })
}

const FLAWED = pipe('b').replace('service:', 'servic:')

/** Each ends with the files that may hold one, after these readings, one after the other. */
const ROWS: Readonly<Record<string, readonly Reading[]>> = {
  'a Lock that can be read hides nothing: none': [withLocks(LOCK)],
  'a Lock between the marks of a merge: l.lock.yaml': [withLocks(CONFLICT)],
  'a Lock behind a NUL byte: l.lock.yaml': [withLocks(`${LOCK}\0`)],
  'text of which nothing can be told: l.lock.yaml': [withLocks('x: [\n')],
  'a misspelt kind: l.lock.yaml': [withLocks(LOCK.replace('Lock', 'lock'))],
  'an id with a typing error: l.lock.yaml': [withLocks(lock('l', { 'Pipe/a': 'x' }))],
  'a good Lock before something broken in one file: l.lock.yaml': [withLocks(documents(LOCK, 'x: [\n'))],
  'a pipe with a flaw beside a good Lock, which is read all the same: none': [
    withLocks(documents(LOCK, FLAWED)),
  ],
  'a file named lock.yaml: x/lock.yaml': [readingOf({ 'x/lock.yaml': 'x: [' })],
  'a name that only ends in lock: none': [readingOf({ 'warlock.yaml': 'x: [' })],
  'a broken file of another name: none': [elsewhere('x: [\n')],
  'a file of another name that says it is a Lock, with a flaw: l.yaml': [
    elsewhere(lock('l', { 'Pipe/a': 'x' })),
  ],
  'the same, when it is not even YAML: l.yaml': [elsewhere('{"kind" : "Lock", "spec": {')],
  'a file of another name in which a Lock stood before: l.yaml': [elsewhere(LOCK), elsewhere('x: [')],
  'the same, broken ever since: l.yaml': [elsewhere(LOCK), elsewhere('x: ['), elsewhere('y: [')],
  'a file of another name that came back broken, and no Lock any more: none': [
    elsewhere(LOCK),
    readingOf(GOOD),
    elsewhere('x: ['),
  ],
  'a file for Locks that cannot be read, a folder, and a file for pipes: b.lock.json, x/': [
    readingOf(GOOD, { unread: ['x/', 'b.yaml', 'b.lock.json'] }),
  ],
  'an empty file for Locks: l.lock.yaml': [withLocks('')],
  'a file for Locks with nothing but marks and comments: l.lock.yaml': [withLocks('---\n# ids\n')],
  ...Object.fromEntries(
    ['%YAML 1.2\n---\n', '%TAG ! x\n---\n# c', '&a', '--- &a', '!!null', '\ufeff\ufeff', '...\n'].map(
      (text) =>
        [
          `a file for Locks that says nothing, ${JSON.stringify(text)}: l.lock.yaml`,
          [withLocks(text)],
        ] as const,
    ),
  ),
  'an empty file of another name: none': [elsewhere('')],
  'a file for Locks that was emptied: l.lock.yaml': [withLocks(LOCK), withLocks('')],
  'a broken file that is put right: none': [withLocks(CONFLICT), withLocks(LOCK)],
}

test.each(Object.entries(ROWS))('what may hold a Lock that cannot be read: %s', (title, readings) => {
  let state: ReturnType<typeof next> | undefined
  for (const reading of readings) state = next(state, reading)
  expect(state?.catalog.hiddenLocks.join(', ') || 'none').toBe(title.split(': ').at(-1))
})

test('what Locks said holds until all of them can be read again', () => {
  const other = { 'o.lock.yaml': lock('o', { 'Pipe/b': OTHER_ID }) }
  const whole = next(undefined, readingOf({ ...GOOD, ...other, 'l.lock.yaml': LOCK }))
  const broken = next(whole, readingOf({ ...GOOD, 'l.lock.yaml': CONFLICT }))
  expect([...broken.catalog.locks]).toEqual([...whole.catalog.locks])
  const repaired = next(broken, withLocks(LOCK), { accept: 'force' })
  expect([...repaired.catalog.locks]).toEqual([['Pipe/a', ID]])
})

describe('the entry of a Lock that is not found any more', () => {
  const locked = next(undefined, withLocks(LOCK))

  test.each([
    ['the file is away for the moment in which it is replaced', readingOf(GOOD)],
    ['the file was cut at the end of a line', withLocks(lock('l', { 'Pipe/b': OTHER_ID }))],
  ])('counts until three readings agree: %s', (_why, reading) => {
    const first = next(locked, reading)
    const second = next(first, reading)
    const third = next(second, reading)
    const ids = [first, second, third].map(({ catalog }) => catalog.locks.get('Pipe/a'))
    expect(ids).toEqual([ID, ID, undefined])
    expect([first, second, third].map(({ pending }) => [...pending])).toEqual([['Pipe/a'], ['Pipe/a'], []])
    expect(next(second, withLocks(LOCK)).unlocked.has('Pipe/a')).toBe(false)
  })

  test('is gone at once when a person asked or another key has the id; another Lock that disagrees does not count', () => {
    const moved = withLocks(lock('l', { 'Pipe/b': ID }))
    const disagreeing = documents(LOCK, lock('m', { 'Pipe/a': OTHER_ID }))
    expect(next(locked, readingOf(GOOD), { accept: 'force' }).catalog.locks.size).toBe(0)
    expect([...next(locked, moved).catalog.locks]).toEqual([['Pipe/b', ID]])
    expect([...next(locked, withLocks(disagreeing)).catalog.locks]).toEqual([['Pipe/a', ID]])
  })
})

test('a Lock in a file of another name counts, and says how to name it', () => {
  const { catalog } = next(undefined, elsewhere(LOCK))
  expect([...catalog.locks]).toEqual([['Pipe/a', ID]])
  expect(catalog.findings).toMatchObject([
    { severity: 'warning', code: 'lock-file-name', file: 'l.yaml', line: 2 },
  ])
})

test.each(['lock.yaml', 'pipes.lock.yml', 'x/pipes.lock.json', 'Pipes.LOCK.yaml'])(
  'nothing is said of a Lock in %s',
  (file) => {
    expect(next(undefined, readingOf({ ...GOOD, [file]: LOCK })).catalog.findings).toEqual([])
  },
)
