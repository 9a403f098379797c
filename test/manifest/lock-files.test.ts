import { describe, expect, test } from 'vitest'
import type { Reading } from '../../src/manifest/files/read-directory.ts'
import { documents, lock, next, pipe, readingOf, service } from './support.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const OTHER_ID = '22222222-2222-4222-8222-222222222222'
const GOOD = { 'a.yaml': documents(service('analytics'), pipe('a')) }
const LOCK = lock('l', { 'Pipe/a': ID })
const CONFLICT = `<<<<<<< HEAD\n${LOCK}>>>>>>> theirs\n`

interface Row {
  readonly why: string
  readonly readings: readonly Reading[]
  readonly hidden: readonly string[]
}

function withLocks(text: string): Reading {
  return readingOf({ ...GOOD, 'l.lock.yaml': text })
}

function elsewhere(text: string): Reading {
  return readingOf({ ...GOOD, 'l.yaml': text })
}

const HIDDEN = ['l.lock.yaml']

const rows: readonly Row[] = [
  { why: 'a Lock that can be read hides nothing', readings: [withLocks(LOCK)], hidden: [] },
  { why: 'a Lock between the marks of a merge', readings: [withLocks(CONFLICT)], hidden: HIDDEN },
  { why: 'a Lock behind a NUL byte', readings: [withLocks(`${LOCK}\0`)], hidden: HIDDEN },
  { why: 'text of which nothing can be told', readings: [withLocks('x: [\n')], hidden: HIDDEN },
  { why: 'a misspelt kind', readings: [withLocks(LOCK.replace('Lock', 'lock'))], hidden: HIDDEN },
  { why: 'an id with a typing error', readings: [withLocks(lock('l', { 'Pipe/a': 'x' }))], hidden: HIDDEN },
  {
    why: 'a good Lock before something broken in one file',
    readings: [withLocks(documents(LOCK, 'x: [\n'))],
    hidden: HIDDEN,
  },
  {
    why: 'a pipe with a flaw beside a good Lock, which is read all the same',
    readings: [withLocks(documents(LOCK, pipe('b').replace('service:', 'servic:')))],
    hidden: [],
  },
  {
    why: 'a file named lock.yaml',
    readings: [readingOf({ 'x/lock.yaml': 'x: [' })],
    hidden: ['x/lock.yaml'],
  },
  { why: 'a name that only ends in lock', readings: [readingOf({ 'warlock.yaml': 'x: [' })], hidden: [] },
  { why: 'a broken file of another name', readings: [elsewhere('x: [\n')], hidden: [] },
  {
    why: 'a file of another name that says it is a Lock, with a flaw',
    readings: [elsewhere(lock('l', { 'Pipe/a': 'x' }))],
    hidden: ['l.yaml'],
  },
  {
    why: 'the same, when it is not even YAML',
    readings: [elsewhere('{"kind" : "Lock", "spec": {')],
    hidden: ['l.yaml'],
  },
  {
    why: 'a file of another name in which a Lock stood before',
    readings: [elsewhere(LOCK), elsewhere('x: [')],
    hidden: ['l.yaml'],
  },
  {
    why: 'the same, broken ever since',
    readings: [elsewhere(LOCK), elsewhere('x: ['), elsewhere('y: [')],
    hidden: ['l.yaml'],
  },
  {
    why: 'a file of another name that came back broken, and no Lock any more',
    readings: [elsewhere(LOCK), readingOf(GOOD), elsewhere('x: [')],
    hidden: [],
  },
  {
    why: 'a file for Locks that cannot be read, a folder, and a file for pipes',
    readings: [readingOf(GOOD, { unread: ['x/', 'b.yaml', 'b.lock.json'] })],
    hidden: ['b.lock.json', 'x/'],
  },
  { why: 'an empty file for Locks', readings: [withLocks('')], hidden: HIDDEN },
  {
    why: 'a file for Locks with nothing but marks and comments',
    readings: [withLocks('---\n# ids\n')],
    hidden: HIDDEN,
  },
  ...['%YAML 1.2\n---\n', '%TAG ! x\n---\n# c', '&a', '--- &a', '!!null', '\ufeff\ufeff', '...\n'].map(
    (text) => ({
      why: `a file for Locks that says nothing: ${JSON.stringify(text)}`,
      readings: [withLocks(text)],
      hidden: HIDDEN,
    }),
  ),
  { why: 'an empty file of another name', readings: [elsewhere('')], hidden: [] },
  { why: 'a file for Locks that was emptied', readings: [withLocks(LOCK), withLocks('')], hidden: HIDDEN },
  { why: 'a broken file that is put right', readings: [withLocks(CONFLICT), withLocks(LOCK)], hidden: [] },
]

describe('what may hold a Lock that cannot be read', () => {
  test.each(rows)('$why', ({ readings, hidden }) => {
    let state: ReturnType<typeof next> | undefined
    for (const reading of readings) state = next(state, reading)
    expect(state?.catalog.hiddenLocks).toEqual(hidden)
  })
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
  const away: readonly { readonly why: string; readonly reading: Reading }[] = [
    { why: 'the file is away for the moment in which it is replaced', reading: readingOf(GOOD) },
    { why: 'the file was cut at the end of a line', reading: withLocks(lock('l', { 'Pipe/b': OTHER_ID })) },
  ]

  test.each(away)('counts until three readings agree: $why', ({ reading }) => {
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
