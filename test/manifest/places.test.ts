import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { expect, test } from 'vitest'
import type { Finding } from '../../src/kinds/finding.ts'
import { createSource } from '../../src/manifest/source.ts'
import { never, pipe, service, temporaryFolder } from './support.ts'

function wrong(name: string): string {
  return pipe(name, { service: 'nowhere' })
}

function isExact({ lineText }: Finding): boolean {
  return lineText.includes('service: nowhere')
}

test('of very many findings, a file with few of them has all places exactly, and one with many its first five hundred', async () => {
  using folder = temporaryFolder()
  folder.write('service.yaml', service('analytics'))
  folder.write('a.yaml', Array.from({ length: 600 }, (_, n) => wrong(`p${n}`)).join('---\n'))
  folder.write('z.yaml', wrong('last'))
  const { state } = await createSource({ profile: DEFAULT, root: folder.path }).load(
    new Map(),
    { accept: 'normal' },
    never,
  )
  const unknown = state.catalog.findings.filter(({ code }) => code === 'unknown-service')
  expect(unknown.filter(({ file }) => file === 'z.yaml').map(isExact)).toEqual([true])
  const exact = unknown.filter(({ file }) => file === 'a.yaml').filter(isExact).length
  expect(exact).toBeGreaterThan(100)
  expect(exact).toBeLessThan(510)
})
