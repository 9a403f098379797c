import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { createSource } from '../../src/manifest/source.ts'
import { never, pipe, recordedAs, service, statesOf, temporaryFolder } from './support.ts'

const DOUBT = { accept: 'normal' } as const

test('what is more in all than is read is one finding (too-many-manifests), and the rest is as it was', async () => {
  using folder = temporaryFolder()
  folder.write('a.yaml', service('analytics'))
  folder.write('b.yaml', pipe('b'))
  const source = createSource({ profile: DEFAULT, root: folder.path, limits: { allDocuments: 2 } })
  await source.load(new Map(), DOUBT, never)
  folder.write('z.yaml', pipe('new'))
  const { state } = await source.load(new Map(), DOUBT, never)
  expect(state.catalog.findings).toMatchObject([{ code: 'too-many-manifests', file: 'z.yaml' }])
  expect(statesOf(state)).toEqual({ 'Pipe/b': 'valid', 'Service/analytics': 'valid' })
})

test('what is new takes no room of what was there before, wherever its name stands', async () => {
  using folder = temporaryFolder()
  folder.write('m.yaml', service('analytics'))
  folder.write('n.yaml', pipe('n'))
  const source = createSource({ profile: DEFAULT, root: folder.path, limits: { allDocuments: 2 } })
  await source.load(new Map(), DOUBT, never)
  folder.write('a.yaml', pipe('new'))
  folder.write('n.yaml', `${pipe('n')}---\n${pipe('next')}`)
  const { state } = await source.load(new Map(), DOUBT, never)
  expect(state.catalog.findings).toMatchObject([{ code: 'too-many-manifests', file: 'a.yaml' }])
  expect(Object.keys(statesOf(state)).toSorted()).toEqual(['Pipe/n', 'Pipe/next', 'Service/analytics'])
})

/** More readings than have to agree before something counts as gone. */
const READINGS = 5

describe('what was not read is not gone', () => {
  const recorded = new Map([
    ['Pipe/b', recordedAs('b.yaml')],
    ['Pipe/c', recordedAs(undefined)],
  ] as const)

  test.each([
    ['for want of room for documents', { allDocuments: 1 }],
    ['for want of room for bytes', { bytes: 300 }],
  ])('after a restart, %s', async (_, limits) => {
    using folder = temporaryFolder()
    const source = createSource({ profile: DEFAULT, root: folder.path, limits })
    for (let round = 0; round < READINGS; round += 1) {
      folder.write('a.yaml', `# ${round}\n${service('analytics')}`)
      for (const name of ['b', 'c']) folder.write(`${name}.yaml`, pipe(name, { topics: `t${round}` }))
      const { state } = await source.load(recorded, DOUBT, never)
      expect(state.catalog.findings).toMatchObject([{ severity: 'error', file: 'b.yaml' }])
      expect(statesOf(state)).toEqual({
        'Pipe/b': 'invalid',
        'Pipe/c': 'invalid',
        'Service/analytics': 'valid',
      })
      expect(state.catalog.deleted).toEqual(new Set())
    }
  })

  test('beside a file that grows until it fills all the room, and what it said last counts', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', service('analytics'))
    for (const name of ['b', 'c']) folder.write(`${name}.yaml`, pipe(name))
    const source = createSource({ profile: DEFAULT, root: folder.path, limits: { bytes: 3_000 } })
    const { state: before } = await source.load(recorded, DOUBT, never)
    const saidLast = before.catalog.entries.values().map(({ manifest }) => manifest)
    const expected = saidLast.toArray()
    for (let round = 0; round < READINGS; round += 1) {
      folder.write('a.yaml', `${service('analytics')}# ${round} `.padEnd(2_950, 'x'))
      for (const name of ['b', 'c']) folder.write(`${name}.yaml`, `# ${round}\n${pipe(`${name}${name}`)}`)
      const { state } = await source.load(recorded, DOUBT, never)
      const { entries, deleted, findings } = state.catalog
      expect(findings.map(({ code }) => code)).toEqual(['too-many-manifests'])
      expect([...entries.values()].map(({ manifest }) => manifest)).toEqual(expected)
      expect(deleted).toEqual(new Set())
    }
  })
})
