import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { documents, lock, next, pipe, readingOf, service, statesOf } from './support.ts'

const ONE = {
  'a.yaml': documents(service('analytics'), pipe('a')),
  'b.yaml': pipe('b'),
  'c.yaml': pipe('c'),
  'd.yaml': pipe('d'),
}
const { 'b.yaml': _b, ...WITHOUT_B } = ONE

describe('what stays while nothing is certain', () => {
  test('a key is vanishing for two readings and gone from the third', () => {
    let state = next(undefined, readingOf(ONE))
    for (const expected of ['missing', 'missing', undefined, undefined]) {
      state = next(state, readingOf(WITHOUT_B), { known: { 'Pipe/b': 'b.yaml' } })
      expect(statesOf(state)['Pipe/b']).toBe(expected)
      expect(state.catalog.deleted.has('Pipe/b')).toBe(expected === undefined)
      expect(state.pending.has('Pipe/b')).toBe(expected !== undefined)
    }
  })

  test('a key that comes back starts its count anew', () => {
    let state = next(undefined, readingOf(ONE))
    for (const files of [WITHOUT_B, WITHOUT_B, ONE, WITHOUT_B, WITHOUT_B])
      state = next(state, readingOf(files))
    expect(statesOf(state)['Pipe/b']).toBe('missing')
  })

  test('a vanishing entry keeps its manifest', () => {
    const state = next(next(undefined, readingOf(ONE)), readingOf(WITHOUT_B))
    expect(state.catalog.entries.get('Pipe/b')).toMatchObject({
      state: 'missing',
      manifest: { metadata: { name: 'b' } },
    })
  })

  test('a key of the ledger that no reading saw is pending, and then gone, without an entry', () => {
    let state = next(undefined, readingOf(ONE), { known: { 'Pipe/old': 'old.yaml' } })
    expect([
      state.pending.has('Pipe/old'),
      state.catalog.deleted.has('Pipe/old'),
      statesOf(state)['Pipe/old'],
    ]).toEqual([true, false, undefined])
    for (let i = 0; i < 2; i += 1) state = next(state, readingOf(ONE), { known: { 'Pipe/old': 'old.yaml' } })
    expect([state.pending.has('Pipe/old'), state.catalog.deleted.has('Pipe/old')]).toEqual([false, true])
  })

  test('a manifest with errors keeps the last valid one', () => {
    const before = next(undefined, readingOf(ONE))
    const state = next(before, readingOf({ ...ONE, 'b.yaml': pipe('b').replace('service:', 'servic:') }))
    const entry = state.catalog.entries.get('Pipe/b')
    expect(entry).toMatchObject({
      state: 'invalid',
      manifest: before.catalog.entries.get('Pipe/b')?.manifest,
    })
    expect(entry?.findings.map((finding) => finding.code)).toEqual(['unknown-field'])
    expect(entry?.digest).not.toBe(before.catalog.entries.get('Pipe/b')?.digest)
  })

  test('an invalid manifest is as of the commit that brought its mistake, also when it had another one before', () => {
    const WRONG = pipe('b').replace('service:', 'servic:')
    const OTHERWISE = pipe('b').replace('topics:', 'topcs:')
    let state = next(undefined, readingOf(ONE))
    const revisions = [WRONG, `\n${WRONG}`, OTHERWISE, `${OTHERWISE}---\n${pipe('e')}`].map((text, index) => {
      const revision = { id: `commit-${index}`, from: 'git' } as const
      state = next(state, readingOf({ ...ONE, 'b.yaml': text }, { revision }))
      return state.catalog.entries.get('Pipe/b')?.revision
    })
    expect(revisions).toEqual(['commit-0', 'commit-0', 'commit-2', 'commit-2'])
  })

  test('a file that does not parse holds its keys, and those of the ledger last seen in it', () => {
    let state = next(undefined, readingOf(ONE))
    for (let i = 0; i < 4; i += 1)
      state = next(state, readingOf({ ...ONE, 'b.yaml': 'x: [\n' }), { known: { 'Pipe/old': 'b.yaml' } })
    expect(statesOf(state)).toMatchObject({ 'Pipe/b': 'invalid', 'Pipe/old': 'invalid', 'Pipe/c': 'valid' })
    expect(state.catalog.entries.get('Pipe/old')).toMatchObject({
      manifest: undefined,
      position: { file: 'b.yaml' },
      findings: [{ code: 'yaml-syntax' }],
    })
  })

  test('an unreadable folder holds everything below it', () => {
    const before = next(undefined, readingOf({ ...ONE, 'x/e.yaml': pipe('e') }))
    expect(statesOf(next(before, readingOf(ONE, { unread: ['x/'] })))['Pipe/e']).toBe('invalid')
  })

  test('a broken Lock file keeps its locks', () => {
    const id = '11111111-1111-4111-8111-111111111111'
    let state = next(undefined, readingOf({ ...ONE, 'lock.yaml': lock('l', { 'Pipe/a': id }) }))
    state = next(state, readingOf({ ...ONE, 'lock.yaml': '<<<<<<< HEAD\nkind: Lock\n' }))
    expect([...state.catalog.locks]).toEqual([['Pipe/a', id]])
    for (let i = 0; i < 3; i += 1) state = next(state, readingOf(ONE))
    expect([...state.catalog.locks]).toEqual([])
  })

  test('a pipe refers to a Service that is invalid or vanishing without harm', () => {
    const before = next(
      undefined,
      readingOf({ 's.yaml': service('analytics'), 'p.yaml': documents(pipe('a'), pipe('b')) }),
    )
    const broken = next(before, readingOf({ 's.yaml': 'x: [', 'p.yaml': documents(pipe('a'), pipe('b')) }))
    expect(statesOf(broken)).toEqual({ 'Pipe/a': 'valid', 'Pipe/b': 'valid', 'Service/analytics': 'invalid' })
    const missing = next(before, readingOf({ 'p.yaml': documents(pipe('a'), pipe('b')) }))
    expect(statesOf(missing)).toEqual({
      'Pipe/a': 'valid',
      'Pipe/b': 'valid',
      'Service/analytics': 'missing',
    })
  })
})

describe('whose a manifest is that never was valid', () => {
  const TEAM = pipe('b').replace('{name: b}', '{name: b, labels: {team: growth}}')
  const growth = { labels: { team: 'growth' }, service: 'analytics', claims: [] }
  const CLAIMS = 'policy: {renamedFrom: Pipe/a, adopt: not-an-id, dependsOn: []}\n'

  test.each([
    ['an unknown field', TEAM.replace('topics', 'tpics'), growth],
    ['no YAML below its labels', `${TEAM}  x: "\n`, growth],
    ['a service that there is not', TEAM.replace('analytics', 'other'), { ...growth, service: 'other' }],
    ['no service', TEAM.replace(/ {2}service: .*\n/, ''), { ...growth, service: undefined }],
    ['no labels', pipe('b').replace('topics', 'tpics'), { ...growth, labels: {} }],
    ['claims', `${CLAIMS}${TEAM}`, { ...growth, claims: ['Pipe/a', 'not-an-id'] }],
    ['claims that are none', `policy: {renamedFrom: [7], adopt: ${'a'.repeat(201)}}\n${TEAM}`, growth],
    [
      'labels that are none beside one that is',
      TEAM.replace(
        '{team: growth}',
        `{team: growth, cost: 7, ${'x'.repeat(64)}: y, z: {a: b}, key: ${'0A'.repeat(20)}}`,
      ),
      growth,
    ],
    ['labels in a list', TEAM.replace('{team: growth}', '[team]'), { ...growth, labels: {} }],
    [
      'more labels than are looked at',
      TEAM.replace(
        '{team: growth}',
        `{${Array.from({ length: 99 }, (_, n) => `l${n}: a`).join(', ')}}`,
      ).replace('topics', 'x'),
      { ...growth, labels: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`l${n}`, 'a'])) },
    ],
    ['neither', pipe('b').replace(/ {2}service: .*\n/, ''), undefined],
  ])('%s', (_why, text, stated) => {
    const { catalog } = next(undefined, readingOf({ 's.yaml': service('analytics'), 'b.yaml': text }))
    expect(catalog.entries.get('Pipe/b')).toMatchObject({ state: 'invalid', manifest: undefined })
    expect(catalog.entries.get('Pipe/b')?.stated).toEqual(stated)
  })
})

describe('readings that are not believed', () => {
  const before = next(undefined, readingOf(ONE))
  const rows = [
    {
      name: 'an unreadable root',
      reading: readingOf({}, { problem: { reason: 'SourceUnreadable', message: 'x', unfound: 'all' } }),
      reason: 'SourceUnreadable',
    },
    { name: 'an empty directory', reading: readingOf({}), reason: 'SourceEmpty' },
    {
      name: 'empty files, as a checkout onto a full disk leaves them',
      reading: readingOf({ 'a.yaml': '', 'd.yaml': '', 'pipes.lock.yaml': '' }),
      reason: 'SourceEmpty',
    },
    {
      name: 'nothing but a file that says nothing to anybody',
      reading: readingOf({ 'x.yaml': 'x: [' }),
      reason: 'SourceEmpty',
    },
    {
      name: 'more than half is missing',
      reading: readingOf({ 'd.yaml': pipe('d') }),
      reason: 'SourceShrunk',
    },
    { name: 'a few are missing', reading: readingOf(WITHOUT_B), reason: undefined },
  ] as const

  test.each(rows)('$name', ({ reading, reason }) => {
    let state = before
    for (let i = 0; i < 5; i += 1) state = next(state, reading)
    expect(state.catalog.problem?.reason).toBe(reason)
    if (reason === undefined) return
    expect([...state.catalog.entries.values()]).toEqual([...before.catalog.entries.values()])
    expect(state.catalog.deleted.size).toBe(0)
  })

  test('a person is believed, and later readings do not doubt it again', () => {
    const few = readingOf({ 'a.yaml': service('analytics'), 'd.yaml': pipe('d') })
    let state = next(before, few, { accept: 'force' })
    expect(statesOf(state)).toMatchObject({ 'Pipe/a': 'missing', 'Pipe/d': 'valid' })
    state = next(next(state, few), few)
    expect(state.catalog.problem).toBeUndefined()
    expect([...state.catalog.deleted]).toEqual(['Pipe/a', 'Pipe/b', 'Pipe/c'])
  })

  test('slices of a large loss add up', () => {
    let state = next(before, readingOf({ 'a.yaml': ONE['a.yaml'], 'd.yaml': ONE['d.yaml'] }))
    expect(state.catalog.problem).toBeUndefined()
    state = next(state, readingOf({ 'd.yaml': ONE['d.yaml'] }))
    expect(state.catalog.problem?.reason).toBe('SourceShrunk')
  })

  test('an empty directory is no problem where there was nothing', () => {
    expect(next(undefined, readingOf({})).catalog.problem).toBeUndefined()
    expect(next(undefined, readingOf({}), { known: { 'Pipe/a': undefined } })).toMatchObject({
      catalog: { problem: { reason: 'SourceEmpty' } },
      pending: new Set(['Pipe/a']),
    })
  })

  test('what stands where there are no manifests any more is shown all the same', () => {
    const broken = readingOf({ 'pipes.lock.yaml': '' })
    const known = { 'Pipe/a': 'a.yaml', 'Pipe/b': 'b.yaml' }
    const states = [next(before, broken), next(next(undefined, broken, { known }), broken, { known })]
    expect(states.map(({ catalog }) => catalog.problem?.reason)).toEqual(['SourceEmpty', 'SourceEmpty'])
    expect(states.map(({ catalog }) => catalog.findings.map(({ code }) => code))).toEqual([
      ['lock-empty'],
      ['lock-empty'],
    ])
  })

  test('manifests of which nothing was created are no loss, such as a commit that is reverted', () => {
    const few = readingOf({ 'a.yaml': ONE['a.yaml'] })
    const reasonOf = (...created: readonly Key[]) => next(before, few, { created }).catalog.problem?.reason
    expect(reasonOf('Pipe/a')).toBeUndefined()
    expect(reasonOf('Pipe/a', 'Pipe/b', 'Pipe/c', 'Pipe/d')).toBe('SourceShrunk')
  })

  test('old orphans of the ledger do not make a first reading look like a loss', () => {
    const known = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`Pipe/old${i}`, 'x.yaml']))
    expect(next(undefined, readingOf(ONE), { known }).catalog.problem).toBeUndefined()
  })
})

describe('digests and revisions', () => {
  test('an entry keeps its revision until its meaning changes', () => {
    const first = next(undefined, readingOf(ONE))
    const revision = { id: 'content-000000000002', from: 'content' } as const
    const second = next(
      first,
      readingOf(
        { ...ONE, 'b.yaml': `# c\n${pipe('b')}`, 'c.yaml': pipe('c', { topics: 'x' }) },
        { revision },
      ),
    )
    expect(second.catalog.entries.get('Pipe/a')).toBe(first.catalog.entries.get('Pipe/a'))
    expect(second.catalog.entries.get('Pipe/b')).toMatchObject({
      revision: 'content-000000000001',
      position: { line: 2 },
    })
    expect(second.catalog.entries.get('Pipe/c')).toMatchObject({ revision: revision.id })
  })
})
