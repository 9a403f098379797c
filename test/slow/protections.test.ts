import { afterAll, describe, test } from 'vitest'
import { OF_THE_ATTEMPT } from './protections/attempt.ts'
import { AROUND_THE_CREATE } from './protections/around-the-create.ts'
import { copyOf } from './protections/checkout.ts'
import { OF_TWO_PODS } from './protections/two-pods.ts'

/*
 * Each protection of laws 1, 2, 3 and 10 is removed, one at a time, in a copy of the sources: the tests must notice, or they
 * prove nothing. The same tests pass on a copy in which nothing is removed.
 */

const MUTATIONS = [...OF_THE_ATTEMPT, ...AROUND_THE_CREATE, ...OF_TWO_PODS]

const rows: string[] = []

afterAll(() => {
  process.stdout.write(`\nWhat was removed, and what noticed it:\n${rows.join('\n')}\n`)
})

describe.concurrent('without anything removed', () => {
  const checks = new Map(MUTATIONS.flatMap(({ checks: of }) => of.map((check) => [check.name, check])))
  const checkout = copyOf([])
  afterAll(() => checkout[Symbol.dispose]())
  test.for([...checks.values()])('$name', async (check, { expect }) => {
    expect(await check.run(checkout)).toEqual([])
  })
})

describe.concurrent('removed', () => {
  test.for(MUTATIONS)('$protection', async ({ protection, patches, checks }, { expect }) => {
    using checkout = copyOf(patches)
    const seen: string[] = []
    // On a busy machine a process may stand still for too long to be caught: then once more.
    for (let tries = 0; tries < 2 && seen.length === 0; tries += 1)
      for (const { name, run } of checks) {
        const faults = await run(checkout)
        if (faults.length > 0) seen.push(`  ${name}\n    ${faults.join('\n    ')}`)
      }
    rows.push(`- ${protection}`, ...seen)
    expect(seen, 'nothing noticed').not.toEqual([])
  })
})
