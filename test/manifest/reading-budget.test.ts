import { expect, test } from 'vitest'
import { createSource } from '../../src/manifest/source.ts'
import { never, pipe, service, statesOf, temporaryFolder } from './support.ts'

const DOUBT = { accept: 'normal' } as const

test('a reading that takes too long ends in one finding (reading-too-long), and the next goes on with the rest', async () => {
  using folder = temporaryFolder()
  folder.write('a.yaml', service('analytics'))
  for (const name of ['b', 'c', 'd']) folder.write(`${name}.yaml`, pipe(name))
  const source = createSource({ root: folder.path, limits: { cpuMs: 0 } })
  const first = await source.load(new Map(), DOUBT, never)
  expect(first.state.catalog.findings).toMatchObject([{ code: 'reading-too-long', file: 'b.yaml' }])
  expect(Object.keys(statesOf(first.state))).toEqual(['Service/analytics'])
  const loads = [first]
  for (let next = 0; next < 3; next += 1) loads.push(await source.load(new Map(), DOUBT, never))
  expect(loads.map(({ parsed }) => parsed)).toEqual([1, 1, 1, 1])
  expect(loads.at(-1)?.state.catalog.findings).toEqual([])
  expect(statesOf(loads[3]?.state ?? first.state)).toMatchObject({ 'Pipe/d': 'valid' })
})

test('what is more in all than is read is one finding (too-many-manifests), and the rest is as it was', async () => {
  using folder = temporaryFolder()
  folder.write('a.yaml', service('analytics'))
  folder.write('b.yaml', pipe('b'))
  const source = createSource({ root: folder.path, limits: { allDocuments: 2 } })
  await source.load(new Map(), DOUBT, never)
  folder.write('z.yaml', pipe('new'))
  const { state } = await source.load(new Map(), DOUBT, never)
  expect(state.catalog.findings).toMatchObject([{ code: 'too-many-manifests', file: 'z.yaml' }])
  expect(statesOf(state)).toEqual({ 'Pipe/b': 'valid', 'Service/analytics': 'valid' })
})
