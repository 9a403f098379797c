import { expect, test } from 'vitest'
import { ResourceName } from '../../src/kinds/manifest.ts'
import { manifestNames } from '../../src/kinds/imported.ts'

test.each<{ why: string; names: readonly string[]; taken?: readonly string[]; given: readonly string[] }>([
  { why: 'a right name stays as it is', names: ['orders.v2'], given: ['orders.v2'] },
  { why: 'what no name can have is a dash, once', names: [' Web / Clicks! '], given: ['web-clicks'] },
  { why: 'accents go', names: ['Café', 'ÉTÉ'], given: ['cafe', 'ete'] },
  {
    why: 'a name that says nothing is made of the id',
    names: ['订单', ''],
    given: ['pipe-0a1b2c3d', 'pipe-0a1b2c3d-2'],
  },
  { why: 'the second of a name gets a number', names: ['a', 'a', 'A'], given: ['a', 'a-2', 'a-3'] },
  { why: 'no number makes the name of another pipe', names: ['a', 'a', 'a-2'], given: ['a', 'a-3', 'a-2'] },
  { why: 'what a manifest has is left to it', names: ['a'], taken: ['a', 'a-2'], given: ['a-3'] },
  { why: 'a long one is cut', names: [`${'x'.repeat(55)}-${'y'.repeat(300)}`], given: ['x'.repeat(55)] },
])('$why', ({ names, taken = [], given }) => {
  const pipes = names.map((name) => ({ id: '0A1B2C3D-0000-4000-8000-000000000000', name }))
  const made = manifestNames(pipes, new Set(taken))
  expect(made).toEqual(given)
  for (const name of made) expect(ResourceName.safeParse(name).success).toBe(true)
})

test('ten thousand of one name take no longer than ten thousand different ones, by the number of tries', () => {
  const names = manifestNames(
    Array.from({ length: 10_000 }, () => ({ id: 'x', name: 'same' })),
    new Set(),
  )
  expect(new Set(names).size).toBe(10_000)
  expect(names.at(-1)).toBe('same-10000')
})
