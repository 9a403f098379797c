import { expect, test } from 'vitest'
import { REMOVALS } from '../explore/protections.ts'
import { placeOf, sourcesIn } from '../slow/protections/checkout.ts'
import { TESTED_REMOVALS } from '../slow/protections/list.ts'
import { ROOT } from '../support/process.ts'

test('each protection that is removed by a slow suite has one place in the sources', () => {
  const sources = sourcesIn(ROOT)
  const without: string[] = []
  for (const { protection, patches } of [...REMOVALS, ...TESTED_REMOVALS]) {
    try {
      for (const patch of [patches].flat()) placeOf(sources, patch)
    } catch (error) {
      without.push(`${protection}: ${String(error)}`)
    }
  }
  expect(without).toEqual([])
})
