import { describe, expect, test } from 'vitest'
import type { Recorded } from '../../src/contract/catalog.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { CatalogState } from '../../src/manifest/catalog/deletion-grace.ts'
import type { Reading } from '../../src/manifest/files/read-directory.ts'
import { UUID, documents, endpoint, lock, next, pipe, readingOf, service, statesOf } from './support.ts'

const OTHER = '11111111-1111-4111-8111-111111111111'
const THIRD = '22222222-2222-4222-8222-222222222222'
const s = service('analytics')
const BROKEN = pipe('a').replace('service:', 'servic:')
const EDITED = pipe('a', { topics: 'edited' })
const FOREIGN = pipe('a', { topics: 'foreign' })
const depending = (on: string) => ({ policy: `dependsOn: [${on}]` })

interface Row {
  readonly why: string
  /** A Service and a pipe in one file unless given. */
  readonly before?: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
  readonly more?: Partial<Reading>
  /** Keys that are not valid after the newcomer came; none unless given. */
  readonly invalid?: readonly Key[]
  /** Errors after it, each as `code file`. */
  readonly errors: readonly string[]
}

const TOGETHER = { 'm.yaml': documents(s, pipe('a')) }

const rows: readonly Row[] = [
  {
    why: 'a second pipe of the same name, in a file that comes first',
    after: { ...TOGETHER, 'a.yaml': FOREIGN },
    errors: ['duplicate-key a.yaml'],
  },
  {
    why: 'a copy of what the first one said, while that is edited',
    after: { 'm.yaml': documents(s, EDITED), 'a.yaml': pipe('a') },
    errors: ['duplicate-key a.yaml'],
  },
  {
    why: 'a second one above the first in the same file',
    after: { 'm.yaml': documents(FOREIGN, s, pipe('a')) },
    errors: ['duplicate-key m.yaml'],
  },
  {
    why: 'a second one while the first moves to another file',
    after: { 'm.yaml': s, 'n.yaml': pipe('a'), 'a.yaml': FOREIGN },
    errors: ['duplicate-key a.yaml'],
  },
  {
    why: 'a second one while the first is broken: it does not take its place',
    after: { 'm.yaml': documents(s, BROKEN), 'a.yaml': FOREIGN },
    invalid: ['Pipe/a'],
    errors: ['duplicate-key a.yaml', 'unknown-field m.yaml'],
  },
  {
    why: 'a second one while the file of the first is not even YAML',
    before: { 's.yaml': s, 'm.yaml': pipe('a') },
    after: { 's.yaml': s, 'm.yaml': 'x: [', 'a.yaml': FOREIGN },
    invalid: ['Pipe/a'],
    errors: ['duplicate-key a.yaml', 'yaml-syntax m.yaml'],
  },
  {
    why: 'two more while the file of the first cannot be read',
    before: { 's.yaml': s, 'm.yaml': pipe('a') },
    after: { 's.yaml': s, 'a.yaml': FOREIGN, 'b.yaml': pipe('a') },
    more: { unread: ['m.yaml'] },
    invalid: ['Pipe/a'],
    errors: ['duplicate-key a.yaml', 'duplicate-key b.yaml'],
  },
  {
    why: 'a second Service of the same name, which would take its users to another service',
    after: { ...TOGETHER, 'a.yaml': service('analytics', OTHER) },
    errors: ['duplicate-key a.yaml'],
  },
  {
    why: 'the first goes, and the second is the only one: it counts',
    after: { 'm.yaml': s, 'a.yaml': FOREIGN },
    errors: [],
  },
  {
    why: 'two new ones at once in place of the first: nobody can tell, also not by where they stand',
    after: { 'm.yaml': s, 'a.yaml': FOREIGN, 'n.yaml': EDITED },
    invalid: ['Pipe/a'],
    errors: ['duplicate-key a.yaml', 'duplicate-key n.yaml'],
  },
  {
    why: 'two copies, letter by letter, in place of the first: nobody can tell which of them it is',
    after: { 'm.yaml': s, 'a.yaml': pipe('a'), 'n.yaml': pipe('a') },
    invalid: ['Pipe/a'],
    errors: ['duplicate-key a.yaml', 'duplicate-key n.yaml'],
  },
  {
    why: 'another endpoint of the service',
    before: { 'm.yaml': documents(s, endpoint('x')) },
    after: { 'm.yaml': documents(s, endpoint('x')), 'a.yaml': endpoint('b') },
    invalid: ['QueryEndpoint/b'],
    errors: ['endpoint-repeated a.yaml'],
  },
  {
    why: 'another endpoint while the first has a mistake',
    before: { 'm.yaml': documents(s, endpoint('x')) },
    after: {
      'm.yaml': documents(s, endpoint('x').replace('{service', '{x: 1, service')),
      'a.yaml': endpoint('b'),
    },
    invalid: ['QueryEndpoint/b', 'QueryEndpoint/x'],
    errors: ['endpoint-repeated a.yaml', 'unknown-field m.yaml'],
  },
  {
    why: 'another pipe that adopts the same id while the file of the first cannot be read',
    before: { 's.yaml': s, 'm.yaml': pipe('m', { policy: `adopt: ${OTHER}` }) },
    after: { 's.yaml': s, 'a.yaml': pipe('a', { policy: `adopt: ${OTHER}` }) },
    more: { unread: ['m.yaml'] },
    invalid: ['Pipe/a', 'Pipe/m'],
    errors: ['pipe-claimed-twice a.yaml'],
  },
  {
    why: 'a Lock that gives this pipe another id',
    before: { 'm.yaml': documents(s, pipe('m')), 'm.lock.yaml': lock('l', { 'Pipe/m': OTHER }) },
    after: {
      'm.yaml': documents(s, pipe('m')),
      'm.lock.yaml': lock('l', { 'Pipe/m': OTHER }),
      'a.lock.yaml': lock('foreign', { 'Pipe/m': THIRD }),
    },
    errors: ['lock-conflict a.lock.yaml'],
  },
  {
    why: 'a Lock that gives the id of this pipe to another one, which is not created with it',
    before: { 'm.yaml': documents(s, pipe('m')), 'm.lock.yaml': lock('l', { 'Pipe/m': OTHER }) },
    after: {
      'm.yaml': documents(s, pipe('m'), pipe('n')),
      'm.lock.yaml': lock('l', { 'Pipe/m': OTHER }),
      'a.lock.yaml': lock('foreign', { 'Pipe/n': OTHER }),
    },
    invalid: ['Pipe/n'],
    errors: ['pipe-claimed-twice a.lock.yaml', 'lock-conflict m.yaml'],
  },
  {
    why: 'a manifest with an error that adopts the same id, when neither did before',
    before: { 'm.yaml': s },
    after: {
      'm.yaml': documents(s, pipe('m', { policy: `adopt: ${OTHER}` })),
      'a.yaml': pipe('a', { policy: `adopt: ${OTHER}`, service: 'nowhere' }),
    },
    invalid: ['Pipe/a'],
    errors: ['unknown-service a.yaml'],
  },
  {
    why: 'a dependency that closes a circle: the manifest that brings it has the finding',
    before: { 'm.yaml': documents(s, pipe('m', depending('Pipe/a'))), 'a.yaml': pipe('a') },
    after: {
      'm.yaml': documents(s, pipe('m', depending('Pipe/a'))),
      'a.yaml': pipe('a', depending('Pipe/m')),
    },
    invalid: ['Pipe/a'],
    errors: ['circular-dependency a.yaml'],
  },
]

function afterwards({ before = TOGETHER, after, more }: Row): readonly CatalogState[] {
  const first = next(undefined, readingOf(before))
  const states = [next(first, readingOf(after, more))]
  for (let again = 0; again < 4; again += 1) states.push(next(states.at(-1), readingOf(after, more)))
  return states
}

function invalidIn(state: CatalogState): readonly string[] {
  return Object.entries(statesOf(state))
    .filter(([, entry]) => entry === 'invalid')
    .map(([key]) => key)
}

function errorsIn({ catalog }: CatalogState): readonly string[] {
  return catalog.findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code, file }) => `${code} ${file}`)
}

describe('who had something before keeps it', () => {
  test.each(rows)('$why', (row) => {
    for (const state of afterwards(row)) {
      expect(invalidIn(state)).toEqual(row.invalid ?? [])
      expect(errorsIn(state)).toEqual(row.errors)
    }
  })

  test('what is in use is what stood there before, also when it is edited, and as of its own commit', () => {
    const first = next(undefined, readingOf({ 'm.yaml': documents(s, pipe('a')) }))
    const edited = next(first, readingOf({ 'm.yaml': documents(s, EDITED), 'a.yaml': FOREIGN }))
    const entry = edited.catalog.entries.get('Pipe/a')
    expect(entry).toMatchObject({
      state: 'valid',
      findings: [],
      position: { file: 'm.yaml' },
      manifest: { spec: { source: { kafka: { topics: 'edited' } } } },
    })
  })

  test('the finding names both places', () => {
    const first = next(undefined, readingOf({ 'm.yaml': documents(s, pipe('a')) }))
    const { catalog } = next(first, readingOf({ ...TOGETHER, 'a.yaml': FOREIGN }))
    expect(catalog.findings).toMatchObject([
      {
        code: 'duplicate-key',
        file: 'a.yaml',
        line: 3,
        message: 'There is a Pipe/a already, at m.yaml:6; that one stays in use, and this one is not used.',
        related: [{ file: 'm.yaml', line: 6 }],
      },
    ])
  })

  test('while the first is broken, its last valid manifest stays in use', () => {
    const first = next(undefined, readingOf({ 'm.yaml': documents(s, pipe('a')) }))
    const { catalog } = next(first, readingOf({ 'm.yaml': documents(s, BROKEN), 'a.yaml': FOREIGN }))
    expect(catalog.entries.get('Pipe/a')).toMatchObject({
      state: 'invalid',
      manifest: first.catalog.entries.get('Pipe/a')?.manifest,
    })
  })
})

const dependingOn = (others: readonly string[]) =>
  depending(others.map((other) => `Pipe/${other}`).join(', '))

test('of very many circles, only those get the finding that brought a dependency', () => {
  const WIDTH = 20
  const layer = (name: string) => Array.from({ length: WIDTH }, (_, n) => `${name}${n}`)
  const hers = documents(...layer('a').map((name) => pipe(name, dependingOn(layer('b')))))
  const others = documents(...layer('b').map((name) => pipe(name, dependingOn(layer('c')))))
  const files = (last: string) => ({ 's.yaml': s, 'a.yaml': hers, 'b.yaml': others, 'c.yaml': last })
  const first = next(undefined, readingOf(files(documents(...layer('c').map((name) => pipe(name))))))
  const closed = documents(...layer('c').map((name) => pipe(name, dependingOn(layer('a')))))
  const state = next(first, readingOf(files(closed)))
  expect(new Set(errorsIn(state))).toEqual(new Set(['circular-dependency c.yaml']))
  expect(invalidIn(state)).toEqual(
    layer('c')
      .map((name) => `Pipe/${name}`)
      .toSorted(),
  )
})

function following(...readings: readonly Readonly<Record<string, string>>[]): readonly CatalogState[] {
  const states: CatalogState[] = []
  for (const files of [TOGETHER, ...readings]) states.push(next(states.at(-1), readingOf(files)))
  return states
}

describe('what is away for a moment, or moves, keeps what it has', () => {
  const both = { ...TOGETHER, 'a.yaml': pipe('a') }

  test('a copy does not get the key when the first is moved and edited', () => {
    const moved = { 'm.yaml': s, 'n.yaml': EDITED, 'a.yaml': pipe('a') }
    for (const state of following(both, moved, moved, moved).slice(1))
      expect(errorsIn(state)).toEqual(['duplicate-key a.yaml'])
    expect(following(both, moved, moved).at(-1)?.catalog.entries.get('Pipe/a')).toMatchObject({
      state: 'valid',
      position: { file: 'n.yaml' },
    })
  })

  test('a copy does not get the key while the first is not found for a moment', () => {
    const without = { 'm.yaml': s, 'a.yaml': pipe('a') }
    const states = following(both, without, without, both)
    expect(states.map((state) => statesOf(state)['Pipe/a'])).toEqual([
      'valid',
      'valid',
      'missing',
      'missing',
      'valid',
    ])
    for (const state of states.slice(1)) expect(errorsIn(state)).toEqual(['duplicate-key a.yaml'])
    expect(states.at(2)?.catalog.findings).toMatchObject([
      {
        message:
          'Pipe/a stood in m.yaml until just now; until it is sure that it is gone, this one is not used.',
        hint: 'If it was removed on purpose, this one is used in a moment.',
      },
    ])
  })

  test.each([
    { when: 'in one process', known: {} },
    { when: 'after a restart', known: { 'Pipe/a': { file: 'm.yaml', pipeId: OTHER } } },
  ])('where nobody can tell, none of them stands in its place: $when', ({ known }) => {
    const before =
      Object.keys(known).length > 0
        ? undefined
        : next(undefined, readingOf({ 'm.yaml': documents(s, pipe('a')) }))
    const { catalog } = next(before, readingOf({ 'm.yaml': s, 'n.yaml': EDITED, 'b.yaml': FOREIGN }), {
      known,
    })
    expect(catalog.entries.get('Pipe/a')).toMatchObject({
      state: 'invalid',
      position: { file: 'm.yaml' },
      findings: [{ file: 'b.yaml' }, { file: 'n.yaml' }],
    })
  })

  test.each([
    { when: 'in one process', known: {} },
    {
      when: 'after a restart',
      known: { 'QueryEndpoint/x': { file: 'm.yaml', endpointOf: `${UUID}/${UUID}` } },
    },
  ])('another endpoint of the service waits until three readings agree: $when', ({ known }) => {
    const isRestarted = Object.keys(known).length > 0
    const first = next(undefined, readingOf({ 'm.yaml': documents(s, endpoint('x')) }))
    const without = { 'm.yaml': s, 'a.yaml': endpoint('b') }
    const states: CatalogState[] = []
    for (let reading = 0; reading < 4; reading += 1)
      states.push(next(states.at(-1) ?? (isRestarted ? undefined : first), readingOf(without), { known }))
    expect(states.map((state) => statesOf(state)['QueryEndpoint/b'])).toEqual([
      'invalid',
      'invalid',
      'valid',
      'valid',
    ])
    expect(states[0]?.catalog.findings).toMatchObject([
      {
        code: 'endpoint-repeated',
        file: 'a.yaml',
        message: expect.stringContaining('QueryEndpoint/x at m.yaml:'),
      },
    ])
  })

  test('who may have created a pipe has it before whoever named its id meanwhile', () => {
    const known = { 'Pipe/m': { file: 'm.yaml', validIn: 'm.yaml', isAwaiting: true } }
    const hers = pipe('a', { policy: `adopt: ${OTHER}` })
    const first = next(undefined, readingOf({ 'm.yaml': documents(s, pipe('m')), 'a.yaml': hers }), { known })
    const said = { 'm.yaml': documents(s, pipe('m', { policy: `adopt: ${OTHER}` })), 'a.yaml': hers }
    for (const before of [first, undefined]) {
      const state = next(before, readingOf(said), { known })
      expect(invalidIn(state)).toEqual(['Pipe/a'])
      expect(errorsIn(state)).toEqual(['pipe-claimed-twice a.yaml'])
    }
  })

  test('what a Lock said of it before counts on while its create has no outcome', () => {
    const known = { 'Pipe/m': { file: 'm.yaml', validIn: 'm.yaml', isAwaiting: true } }
    const mine = { 'm.yaml': documents(s, pipe('m')), 'm.lock.yaml': lock('l', { 'Pipe/m': OTHER }) }
    const first = next(undefined, readingOf(mine), { known })
    const after = { ...mine, 'a.lock.yaml': lock('foreign', { 'Pipe/m': THIRD }) }
    const state = next(first, readingOf(after), { known })
    expect(errorsIn(state)).toEqual(['lock-conflict a.lock.yaml'])
    expect([...state.catalog.locks]).toEqual([['Pipe/m', OTHER]])
  })

  test('a Service that is not found for a moment still says which service it is', () => {
    const first = next(undefined, readingOf({ 's.yaml': s, 'm.yaml': endpoint('x') }))
    const after = { 'm.yaml': endpoint('x'), 'a.yaml': documents(service('same'), endpoint('b', 'same')) }
    expect(statesOf(next(first, readingOf(after)))).toMatchObject({
      'QueryEndpoint/b': 'invalid',
      'QueryEndpoint/x': 'valid',
    })
  })

  test('it gets the key once three readings agree that the first is gone', () => {
    const without = { 'm.yaml': s, 'a.yaml': FOREIGN }
    const states = following(both, without, without, without, without)
    expect(states.map((state) => statesOf(state)['Pipe/a'])).toEqual([
      'valid',
      'valid',
      'missing',
      'missing',
      'valid',
      'valid',
    ])
    expect(states.at(-1)?.catalog.findings).toEqual([])
  })
})

describe('after a restart, the ledger tells', () => {
  const valid = { 'm.yaml': documents(s, pipe('a'), pipe('m', depending('Pipe/a'))) }
  const { entries } = next(undefined, readingOf(valid)).catalog
  const digest = entries.get('Pipe/a')?.digest
  const dependent = entries.get('Pipe/m')?.digest

  interface Restarted {
    readonly why: string
    readonly known: Readonly<Record<string, Partial<Recorded>>>
    readonly files: Readonly<Record<string, string>>
    readonly invalid?: readonly Key[]
    readonly errors: readonly string[]
  }

  const restarts: readonly Restarted[] = [
    {
      why: 'the file of a pipe that was created, also when it was edited meanwhile',
      known: { 'Pipe/a': { file: 'm.yaml', pipeId: OTHER, digest: digest ?? '' } },
      files: { 'm.yaml': documents(s, EDITED), 'a.yaml': FOREIGN },
      errors: ['duplicate-key a.yaml'],
    },
    {
      why: 'what a manifest said that was valid, and of which nothing was created yet',
      known: { 'Pipe/a': { file: 'm.yaml', digest: digest ?? '', validIn: 'm.yaml' } },
      files: { ...TOGETHER, 'a.yaml': FOREIGN },
      errors: ['duplicate-key a.yaml'],
    },
    {
      why: 'where a valid manifest stood of which nothing was created yet, and that was edited meanwhile',
      known: { 'Pipe/a': { file: 'm.yaml', digest: digest ?? '', validIn: 'm.yaml' } },
      files: { 'm.yaml': documents(s, EDITED), 'a.yaml': pipe('a') },
      errors: ['duplicate-key a.yaml'],
    },
    {
      why: 'where a Service was valid that has a mistake now: the other one does not take its place',
      known: { 'Service/analytics': { file: 's.yaml', digest: 'a mistake', validIn: 's.yaml' } },
      files: { 's.yaml': s.replace('spec:', 'spek:'), 'a.yaml': service('analytics', OTHER) },
      invalid: ['Service/analytics'],
      errors: ['duplicate-key a.yaml', 'unknown-field s.yaml'],
    },
    {
      why: 'that what never was valid has nothing: the valid one is used',
      known: { 'Pipe/a': { file: 'a.yaml', digest: 'a mistake' } },
      files: { ...TOGETHER, 'a.yaml': BROKEN },
      errors: ['duplicate-key a.yaml', 'unknown-field a.yaml'],
    },
    {
      why: 'where it stood whose file has neither of two others: nobody can tell, also not by where they stand',
      known: { 'Pipe/a': { file: 'm.yaml', pipeId: OTHER, digest: digest ?? '' } },
      files: { 'm.yaml': s, 'a.yaml': FOREIGN, 'n.yaml': EDITED },
      invalid: ['Pipe/a'],
      errors: ['duplicate-key a.yaml', 'duplicate-key n.yaml'],
    },
    {
      why: 'which endpoint configured the service',
      known: { 'QueryEndpoint/x': { file: 'm.yaml', endpointOf: `${UUID}/${UUID}` } },
      files: { 'm.yaml': documents(s, endpoint('x')), 'a.yaml': endpoint('b') },
      invalid: ['QueryEndpoint/b'],
      errors: ['endpoint-repeated a.yaml'],
    },
    {
      why: 'that, while nobody says which service that is',
      known: { 'QueryEndpoint/x': { file: 'm.yaml', endpointOf: `${UUID}/${UUID}` } },
      files: {
        's.yaml': s.replace('spec:', 'spek:'),
        'm.yaml': endpoint('x'),
        'a.yaml': documents(service('same'), endpoint('b', 'same')),
      },
      invalid: ['QueryEndpoint/b', 'Service/analytics'],
      errors: ['endpoint-repeated a.yaml', 'unknown-field s.yaml'],
    },
    {
      why: 'which dependency closed a circle',
      known: {
        'Pipe/m': { file: 'm.yaml', pipeId: OTHER, validIn: 'm.yaml', digest: dependent ?? '' },
        'Pipe/a': { file: 'a.yaml', pipeId: THIRD, digest: 'a mistake' },
      },
      files: {
        'm.yaml': documents(s, pipe('m', depending('Pipe/a'))),
        'a.yaml': pipe('a', depending('Pipe/m')),
      },
      invalid: ['Pipe/a'],
      errors: ['circular-dependency a.yaml'],
    },
    {
      why: 'whose pipe an id is that a Lock gives to another one',
      known: { 'Pipe/m': { file: 'm.yaml', pipeId: OTHER } },
      files: {
        'm.yaml': documents(s, pipe('m'), pipe('n')),
        'm.lock.yaml': lock('l', { 'Pipe/m': OTHER }),
        'a.lock.yaml': lock('foreign', { 'Pipe/n': OTHER }),
      },
      invalid: ['Pipe/n'],
      errors: ['pipe-claimed-twice a.lock.yaml', 'lock-conflict m.yaml'],
    },
    {
      why: 'that Locks which disagree mean nothing to a pipe that is recorded',
      known: { 'Pipe/m': { file: 'm.yaml', pipeId: UUID } },
      files: {
        'm.yaml': documents(s, pipe('m')),
        'a.lock.yaml': documents(lock('l', { 'Pipe/m': OTHER }), lock('k', { 'Pipe/m': THIRD })),
      },
      errors: ['lock-conflict a.lock.yaml', 'lock-conflict a.lock.yaml'],
    },
  ]

  test.each(restarts)('$why', ({ known, files, invalid = [], errors }) => {
    let state: CatalogState | undefined
    for (let reading = 0; reading < 4; reading += 1) {
      state = next(state, readingOf(files), { known })
      expect(invalidIn(state)).toEqual(invalid)
      expect(errorsIn(state)).toEqual(errors)
    }
  })
})
