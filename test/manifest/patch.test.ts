import { array, assert, constantFrom, integer, oneof, property, record, subarray } from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '../../src/kinds/catalog.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { CatalogState } from '../../src/manifest/catalog-state.ts'
import { patchCatalog } from '../../src/manifest/patch.ts'
import type { Reading } from '../../src/manifest/read-directory.ts'
import { documents, endpoint, inputOf, lock, next, pipe, readingOf, service, UUID } from './support.ts'

const OTHER_ID = '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44'

const DIRECTORY: Readonly<Record<string, string>> = {
  'services.yaml': documents(service('analytics'), service('other', OTHER_ID)),
  'a.yaml': pipe('a'),
  'b.yaml': documents(pipe('b'), pipe('c', { policy: 'dependsOn: [Pipe/a]' })),
  'd.yaml': documents(pipe('d'), '# nothing but a note\n'),
  'e.yaml': endpoint('e'),
}

const ALL: Readonly<Record<string, string>> = {
  'Pipe/a': 'a.yaml',
  'Pipe/c': 'b.yaml',
  'Pipe/d': 'd.yaml',
  'Pipe/z': 'z.yaml',
}

/** What may come to stand in a file: what stays inside of its manifest, and what bears on others. */
const text = oneof(
  record({
    name: constantFrom('a', 'b', 'd', 'z'),
    topics: constantFrom('orders', 'events'),
    service: constantFrom('analytics', 'other', 'nowhere'),
    policy: constantFrom(
      '',
      'interval: 7m',
      'dependsOn: [Pipe/a]',
      'dependsOn: [Pipe/d]',
      `adopt: ${UUID}`,
      'replaces: Pipe/a',
      'onMissing: no',
    ),
  }).map(({ name, ...options }) => pipe(name, options)),
  constantFrom(
    '',
    '# a note\n',
    'a: [',
    'b: "',
    endpoint('e', 'other'),
    endpoint('f'),
    service('analytics', OTHER_ID),
    lock('l', { 'Pipe/a': UUID }),
    lock('l', { 'Pipe/gone': UUID }),
  ),
)

/** An edit that may be anything, and one of those that people make all day. */
const wild = record({
  file: constantFrom('a.yaml', 'b.yaml', 'd.yaml', 'e.yaml', 'services.yaml', 'new.yaml'),
  texts: array(text, { minLength: 1, maxLength: 2 }),
})
const ofPipe = record({
  name: constantFrom('a', 'd'),
  topics: constantFrom('orders', 'events', 'clicks'),
  policy: constantFrom('', 'interval: 7m', 'onMissing: report'),
}).map(({ name, ...options }) => ({ file: `${name}.yaml`, texts: [pipe(name, options)] }))
const ofEndpoint = constantFrom('[key-1]', '[key-1, key-1]', '[key-2, key-2]').map((keys) => ({
  file: 'e.yaml',
  texts: [endpoint('e').replace(/}\n$/, `, openApiKeys: ${keys}}\n`)],
}))
const daily = oneof({ arbitrary: ofPipe, weight: 3 }, { arbitrary: ofEndpoint, weight: 1 })
const edit = record({
  what: oneof({ arbitrary: daily, weight: 4 }, { arbitrary: wild, weight: 1 }),
  lines: integer({ min: 0, max: 2 }),
  known: subarray(Object.keys(ALL)),
}).map(({ what, ...rest }) => ({ ...what, ...rest }))

/** The files of one directory after an edit. */
function edited(
  files: Readonly<Record<string, string>>,
  { file, texts, lines }: Edit,
): Record<string, string> {
  return { ...files, [file]: '\n'.repeat(lines) + documents(...texts) }
}

interface Edit {
  readonly file: string
  readonly texts: readonly string[]
  readonly lines: number
  /** Keys that the ledger knows by then. */
  readonly known: readonly string[]
}

/** A reading in which files of the same text are the same objects, as the loader keeps them. */
function readAfter(before: Reading, files: Readonly<Record<string, string>>, id: string): Reading {
  const fresh = readingOf(files, { revision: { id, from: 'git' } })
  const kept = [...fresh.files].map(([file, parsed]) => {
    const old = before.files.get(file)
    return [file, old?.hash === parsed.hash ? old : parsed] as const
  })
  return { ...fresh, files: new Map(kept) }
}

const keysOf = (entries: readonly Entry[]) => entries.map(({ key }) => key)

test('what a patch says is just what the whole would say', () => {
  let patched = 0
  assert(
    property(array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      let files = DIRECTORY
      let before = readingOf(files, { revision: { id: 'r0', from: 'git' } })
      let state: CatalogState = next(undefined, before)
      for (const [n, one] of edits.entries()) {
        files = edited(files, one)
        const reading = readAfter(before, files, `r${n + 1}`)
        const known = Object.fromEntries(one.known.map((key) => [key, ALL[key]]))
        const input = inputOf(state, reading, { known })
        const patch = patchCatalog(input, before)
        const whole = next(state, reading, { known })
        if (patch !== undefined) patched += 1
        expect(patch?.state ?? whole).toEqual(whole)
        const other = [...whole.catalog.entries.values()].filter(
          (entry) => JSON.stringify(state.catalog.entries.get(entry.key)) !== JSON.stringify(entry),
        )
        const said = new Set(keysOf(patch?.entries ?? other))
        expect(keysOf(other).filter((key) => !said.has(key))).toEqual([])
        state = whole
        before = reading
      }
    }),
    { numRuns: 400 },
  )
  // of four hundred stories, those in which nothing could be patched would prove nothing
  expect(patched).toBeGreaterThan(100)
})

const inside: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['an edit of a body', { 'a.yaml': pipe('a', { topics: 'events' }) }],
  ['a manifest that moves down', { 'a.yaml': `\n\n${pipe('a')}` }],
  [
    'an edit of one of two in a file',
    { 'b.yaml': documents(pipe('b', { topics: 'x' }), pipe('c', { policy: 'dependsOn: [Pipe/a]' })) },
  ],
  ['nothing', {}],
]

test.each(inside)('%s is patched', (_name, files) => {
  const before = readingOf(DIRECTORY)
  const state = next(undefined, before)
  const reading = readAfter(before, { ...DIRECTORY, ...files }, 'content-2')
  expect(patchCatalog(inputOf(state, reading), before)).toBeDefined()
})

const outside: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['a new file', { 'new.yaml': pipe('new') }],
  ['another name', { 'a.yaml': pipe('x') }],
  ['another service', { 'a.yaml': pipe('a', { service: 'other' }) }],
  ['a new dependency', { 'a.yaml': pipe('a', { policy: 'dependsOn: [Pipe/b]' }) }],
  ['an id to adopt', { 'a.yaml': pipe('a', { policy: `adopt: ${UUID}` }) }],
  ['an error', { 'a.yaml': pipe('a', { policy: 'onMissing: no' }) }],
  ['text that cannot be parsed', { 'a.yaml': 'a: [' }],
  ['a Service', { 'services.yaml': documents(service('analytics', OTHER_ID), service('other', OTHER_ID)) }],
]

test.each(outside)('%s takes the whole', (_name, files) => {
  const before = readingOf(DIRECTORY)
  const state = next(undefined, before)
  const reading = readAfter(before, { ...DIRECTORY, ...files }, 'content-2')
  expect(patchCatalog(inputOf(state, reading), before)).toBeUndefined()
})

test('while something is missing, each reading counts', () => {
  const before = readingOf(DIRECTORY)
  const known = { 'Pipe/a': 'a.yaml', 'Pipe/lost': 'lost.yaml' }
  const state = next(undefined, before, { known })
  expect(state.pending).toEqual(new Set<Key>(['Pipe/lost']))
  expect(patchCatalog(inputOf(state, before, { known }), before)).toBeUndefined()
})
