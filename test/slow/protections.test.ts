import { afterAll, describe, expect, test } from 'vitest'
import { copyOf, MUTATIONS } from './mutations.ts'

/*
 * Each protection of laws 1 and 2 is removed, one at a time, in a copy of the sources: the tests must notice, or they
 * prove nothing. The same tests pass on a copy in which nothing is removed.
 */

const rows: string[] = []

afterAll(() => {
  process.stdout.write(`\nWhat was removed, and what noticed it:\n${rows.join('\n')}\n`)
})

describe('without anything removed', () => {
  const checks = new Map(MUTATIONS.flatMap(({ checks: of }) => of.map((check) => [check.name, check])))
  test.each([...checks.values()].map((check) => [check.name, check] as const))('%s', async (_, check) => {
    using checkout = copyOf([])
    expect(await check.run(checkout)).toEqual([])
  })
})

describe('removed', () => {
  test.each(MUTATIONS.map((mutation) => [mutation.protection, mutation] as const))(
    '%s',
    async (protection, { patches, checks }) => {
      using checkout = copyOf(patches)
      const seen: string[] = []
      for (const { name, run } of checks) {
        const faults = await run(checkout)
        if (faults.length > 0) seen.push(`  ${name}\n    ${faults.join('\n    ')}`)
      }
      rows.push(`- ${protection}`, ...seen)
      expect(seen, 'nothing noticed').not.toEqual([])
    },
  )
})
