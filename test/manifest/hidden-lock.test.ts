import { describe, expect, test } from 'vitest'
import type { Reading } from '../../src/manifest/read-directory.ts'
import { documents, lock, next, parse, pipe, readingOf, service } from './support.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const GOOD = { 'a.yaml': documents(service('analytics'), pipe('a')) }
const LOCK = lock('l', { 'Pipe/a': ID })
const CONFLICT = `<<<<<<< HEAD\n${LOCK}>>>>>>> theirs\n`

interface Row {
  readonly why: string
  readonly readings: readonly Reading[]
  readonly hidden: readonly string[]
}

function broken(text: string): Reading {
  return readingOf({ ...GOOD, 'l.yaml': text })
}

const rows: readonly Row[] = [
  { why: 'a Lock that can be read hides nothing', readings: [broken(LOCK)], hidden: [] },
  { why: 'a Lock between the marks of a merge', readings: [broken(CONFLICT)], hidden: ['l.yaml'] },
  { why: 'a Lock behind a NUL byte', readings: [broken(`${LOCK}\0`)], hidden: ['l.yaml'] },
  { why: 'a Lock as JSON, cut off', readings: [broken('{"kind" : "Lock", "spec": {')], hidden: ['l.yaml'] },
  { why: 'a kind in another case', readings: [broken(LOCK.replace('Lock', 'lock'))], hidden: ['l.yaml'] },
  { why: 'an id with a typing error', readings: [broken(lock('l', { 'Pipe/a': 'x' }))], hidden: ['l.yaml'] },
  { why: 'a broken pipe', readings: [broken('kind: Pipe\nx: [')], hidden: [] },
  {
    why: 'a broken pipe beside a good Lock in one file',
    readings: [broken(documents(LOCK, 'kind: Pipe\nx: [\n'))],
    hidden: [],
  },
  {
    why: 'an unreadable file, and a folder',
    readings: [readingOf(GOOD, { unread: ['x/', 'b.yaml'] })],
    hidden: ['b.yaml', 'x/'],
  },
  { why: 'a file that was whole before', readings: [broken(LOCK), broken(CONFLICT)], hidden: [] },
  {
    why: 'a file that was whole long before, and broken since',
    readings: [broken(LOCK), broken(CONFLICT), broken('x: ['), broken(CONFLICT)],
    hidden: [],
  },
  {
    why: 'a file that was whole, went away and came back broken',
    readings: [broken(LOCK), readingOf(GOOD), broken(CONFLICT)],
    hidden: ['l.yaml'],
  },
  {
    why: 'a folder whose files were read before',
    readings: [readingOf({ ...GOOD, 'x/l.yaml': LOCK }), readingOf(GOOD, { unread: ['x/'] })],
    hidden: [],
  },
  { why: 'a broken file that is put right', readings: [broken(CONFLICT), broken(LOCK)], hidden: [] },
]

describe('files that may hold a Lock which nobody has read', () => {
  test.each(rows)('$why', ({ readings, hidden }) => {
    let state: ReturnType<typeof next> | undefined
    for (const reading of readings) state = next(state, reading)
    expect(state?.catalog.hiddenLocks).toEqual(hidden)
  })

  test('a Lock in UTF-16', () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(LOCK, 'utf16le')])
    expect(parse(bytes).mayHideLock).toBe(true)
  })
})
