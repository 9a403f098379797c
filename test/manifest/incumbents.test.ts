import { describe, expect, test } from 'vitest'
import type { Recorded } from '../../src/contract/catalog.ts'
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

const TOGETHER = { 'm.yaml': documents(s, pipe('a')) }

/** Documents of the files below, by short names. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  s,
  'other s': service('analytics', OTHER),
  'broken s': s.replace('spec:', 'spek:'),
  same: service('same'),
  a: pipe('a'),
  m: pipe('m'),
  n: pipe('n'),
  edited: EDITED,
  foreign: FOREIGN,
  broken: BROKEN,
  'no YAML': 'x: [',
  'a adopts': pipe('a', { policy: `adopt: ${OTHER}` }),
  'm adopts': pipe('m', { policy: `adopt: ${OTHER}` }),
  'a adopts, nowhere': pipe('a', { policy: `adopt: ${OTHER}`, service: 'nowhere' }),
  'a on m': pipe('a', depending('Pipe/m')),
  'm on a': pipe('m', depending('Pipe/a')),
  x: endpoint('x'),
  'broken x': endpoint('x').replace('{service', '{x: 1, service'),
  b: endpoint('b'),
  'b of same': endpoint('b', 'same'),
  'm locked': lock('l', { 'Pipe/m': OTHER }),
  'm locked elsewhere': lock('foreign', { 'Pipe/m': THIRD }),
  'm locked again': lock('k', { 'Pipe/m': THIRD }),
  'n locked': lock('foreign', { 'Pipe/n': OTHER }),
}

function documentOf(name: string): string {
  const text = DOCUMENTS[name]
  if (text === undefined) throw new Error(`no document is named ${name}`)
  return text
}

/** @param text `m: s + a; a: foreign`, or `a unread` of a file that cannot be read */
function reading(text: string): Reading {
  const parts = text.split('; ')
  const files = parts.flatMap((part) => {
    const [name = '', documentsIn] = part.split(': ')
    const texts = documentsIn?.split(' + ').map(documentOf)
    return texts === undefined ? [] : [[`${name}.yaml`, documents(...texts)] as const]
  })
  const unread = parts.flatMap((part) => (part.endsWith(' unread') ? [part.replace(' unread', '.yaml')] : []))
  return readingOf(Object.fromEntries(files), { unread })
}

/** Errors of a state, each as `code file`, and the keys that are not valid. */
function wrongIn(state: CatalogState): string {
  const errors = errorsIn(state).map((error) => error.replace('.yaml', ''))
  return [...errors, ...invalidIn(state).map((key) => `no ${key}`)].join('; ') || 'nothing'
}

/** What was read first, what is read after it, five times, and what is wrong then. */
const ROWS: Readonly<Record<string, string>> = {
  'a second pipe of the same name, in a file that comes first':
    'm: s + a -> m: s + a; a: foreign => duplicate-key a',
  'a copy of what the first one said, while that is edited':
    'm: s + a -> m: s + edited; a: a => duplicate-key a',
  'a second one above the first in the same file': 'm: s + a -> m: foreign + s + a => duplicate-key m',
  'a second one while the first moves to another file':
    'm: s + a -> m: s; n: a; a: foreign => duplicate-key a',
  'a second one while the first is broken: it does not take its place':
    'm: s + a -> m: s + broken; a: foreign => duplicate-key a; unknown-field m; no Pipe/a',
  'a second one while the file of the first is not even YAML':
    's: s; m: a -> s: s; m: no YAML; a: foreign => duplicate-key a; yaml-syntax m; no Pipe/a',
  'two more while the file of the first cannot be read':
    's: s; m: a -> s: s; a: foreign; b: a; m unread => duplicate-key a; duplicate-key b; no Pipe/a',
  'a second Service of the same name, which would take its users to another service':
    'm: s + a -> m: s + a; a: other s => duplicate-key a',
  'the first goes, and the second is the only one: it counts': 'm: s + a -> m: s; a: foreign => nothing',
  'two new ones at once in place of the first: nobody can tell, also not by where they stand':
    'm: s + a -> m: s; a: foreign; n: edited => duplicate-key a; duplicate-key n; no Pipe/a',
  'two copies, letter by letter, in place of the first: nobody can tell which of them it is':
    'm: s + a -> m: s; a: a; n: a => duplicate-key a; duplicate-key n; no Pipe/a',
  'another endpoint of the service': 'm: s + x -> m: s + x; a: b => endpoint-repeated a; no QueryEndpoint/b',
  'another endpoint while the first has a mistake':
    'm: s + x -> m: s + broken x; a: b => endpoint-repeated a; unknown-field m; no QueryEndpoint/b; no QueryEndpoint/x',
  'another pipe that adopts the same id while the file of the first cannot be read':
    's: s; m: m adopts -> s: s; a: a adopts; m unread => pipe-claimed-twice a; no Pipe/a; no Pipe/m',
  'a Lock that gives this pipe another id':
    'm: s + m; m.lock: m locked -> m: s + m; m.lock: m locked; a.lock: m locked elsewhere => lock-conflict a.lock',
  'a Lock that gives the id of this pipe to another one, which is not created with it':
    'm: s + m; m.lock: m locked -> m: s + m + n; m.lock: m locked; a.lock: n locked => pipe-claimed-twice a.lock; lock-conflict m; no Pipe/n',
  'a manifest with an error that adopts the same id, when neither did before':
    'm: s -> m: s + m adopts; a: a adopts, nowhere => unknown-service a; no Pipe/a',
  'a dependency that closes a circle: the manifest that brings it has the finding':
    'm: s + m on a; a: a -> m: s + m on a; a: a on m => circular-dependency a; no Pipe/a',
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
  test.each(Object.entries(ROWS))('%s', (_why, text) => {
    const [before = '', after = '', wrong] = text.split(/ -> | => /)
    let state = next(undefined, reading(before))
    for (let again = 0; again < 5; again += 1) {
      state = next(state, reading(after))
      expect(wrongIn(state)).toBe(wrong)
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
        message: 'Pipe/a exists already, at m.yaml:9. The manifest there stays in use. This one is not used.',
        related: [{ file: 'm.yaml', line: 9 }],
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
    expect(states.map((state) => statesOf(state)['Pipe/a']).join(' ')).toBe(
      'valid valid missing missing valid',
    )
    for (const state of states.slice(1)) expect(errorsIn(state)).toEqual(['duplicate-key a.yaml'])
    expect(states.at(2)?.catalog.findings).toMatchObject([
      {
        message:
          'Pipe/a was in m.yaml a moment ago. This manifest is not used until three reads confirm that Pipe/a is no longer there.',
        hint: 'If you moved the manifest here, wait a moment. If not, rename or remove this manifest.',
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
    for (let count = 0; count < 4; count += 1)
      states.push(next(states.at(-1) ?? (isRestarted ? undefined : first), readingOf(without), { known }))
    expect(states.map((state) => statesOf(state)['QueryEndpoint/b']).join(' ')).toBe(
      'invalid invalid valid valid',
    )
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
    expect(states.map((state) => statesOf(state)['Pipe/a']).join(' ')).toBe(
      'valid valid missing missing valid valid',
    )
    expect(states.at(-1)?.catalog.findings).toEqual([])
  })
})

describe('after a restart, the ledger tells', () => {
  const valid = { 'm.yaml': documents(s, pipe('a'), pipe('m', depending('Pipe/a'))) }
  const { entries } = next(undefined, readingOf(valid)).catalog
  const digest = entries.get('Pipe/a')?.digest
  const dependent = entries.get('Pipe/m')?.digest

  /** @param text `Pipe/a file=m.yaml pipeId=OTHER; …` */
  function knownOf(text: string): Readonly<Record<string, Partial<Recorded>>> {
    const values: Readonly<Record<string, string | undefined>> = { OTHER, THIRD, UUID, digest, dependent }
    const recorded = text.split('; ').map((part) => {
      const [key = '', ...facts] = part.split(' ')
      const named = facts.map((fact) => {
        const [name = '', value = ''] = fact.split('=')
        return [name, values[value] ?? (name === 'endpointOf' ? `${UUID}/${UUID}` : value)]
      })
      return [key, Object.fromEntries(named) as Partial<Recorded>]
    })
    return Object.fromEntries(recorded) as Readonly<Record<string, Partial<Recorded>>>
  }

  /** What is recorded, what is read, four times, and what is wrong then. */
  const RESTARTS: Readonly<Record<string, string>> = {
    'the file of a pipe that was created, also when it was edited meanwhile':
      'Pipe/a file=m.yaml pipeId=OTHER digest=digest -> m: s + edited; a: foreign => duplicate-key a',
    'what a manifest said that was valid, and of which nothing was created yet':
      'Pipe/a file=m.yaml digest=digest validIn=m.yaml -> m: s + a; a: foreign => duplicate-key a',
    'where a valid manifest stood of which nothing was created yet, and that was edited meanwhile':
      'Pipe/a file=m.yaml digest=digest validIn=m.yaml -> m: s + edited; a: a => duplicate-key a',
    'where a Service was valid that has a mistake now: the other one does not take its place':
      'Service/analytics file=s.yaml digest=mistake validIn=s.yaml -> s: broken s; a: other s => duplicate-key a; unknown-field s; no Service/analytics',
    'that what never was valid has nothing: the valid one is used':
      'Pipe/a file=a.yaml digest=mistake -> m: s + a; a: broken => duplicate-key a; unknown-field a',
    'where it stood whose file has neither of two others: nobody can tell, also not by where they stand':
      'Pipe/a file=m.yaml pipeId=OTHER digest=digest -> m: s; a: foreign; n: edited => duplicate-key a; duplicate-key n; no Pipe/a',
    'which endpoint configured the service':
      'QueryEndpoint/x file=m.yaml endpointOf=it -> m: s + x; a: b => endpoint-repeated a; no QueryEndpoint/b',
    'that, while nobody says which service that is':
      'QueryEndpoint/x file=m.yaml endpointOf=it -> s: broken s; m: x; a: same + b of same => endpoint-repeated a; unknown-field s; no QueryEndpoint/b; no Service/analytics',
    'which dependency closed a circle':
      'Pipe/m file=m.yaml pipeId=OTHER validIn=m.yaml digest=dependent; Pipe/a file=a.yaml pipeId=THIRD digest=mistake -> m: s + m on a; a: a on m => circular-dependency a; no Pipe/a',
    'whose pipe an id is that a Lock gives to another one':
      'Pipe/m file=m.yaml pipeId=OTHER -> m: s + m + n; m.lock: m locked; a.lock: n locked => pipe-claimed-twice a.lock; lock-conflict m; no Pipe/n',
    'that Locks which disagree mean nothing to a pipe that is recorded':
      'Pipe/m file=m.yaml pipeId=UUID -> m: s + m; a.lock: m locked + m locked again => lock-conflict a.lock; lock-conflict a.lock',
  }

  test.each(Object.entries(RESTARTS))('%s', (_why, text) => {
    const [recorded = '', files = '', wrong] = text.split(/ -> | => /)
    let state: CatalogState | undefined
    for (let again = 0; again < 4; again += 1) {
      state = next(state, reading(files), { known: knownOf(recorded) })
      expect(wrongIn(state)).toBe(wrong)
    }
  })
})
