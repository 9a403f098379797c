import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'
import { placeOf, sourcesIn } from './checkout.ts'
import { REMOVALS } from './list.ts'

test('each protection that is removed by a slow suite has one place in the sources', () => {
  const sources = sourcesIn(ROOT)
  const without: string[] = []
  for (const { protection, patches } of REMOVALS) {
    try {
      for (const patch of [patches].flat()) placeOf(sources, patch)
    } catch (error) {
      without.push(`${protection}: ${String(error)}`)
    }
  }
  expect(without).toEqual([])
})
