import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'
import { copyOf, isChanged, type Checkout } from './protections/checkout.ts'
import { TESTED_REMOVALS } from './protections/list.ts'

/* Each protection is removed from a copy of the sources: its tests must fail. By day CI tries those whose files changed. `explored.test.ts` does the same with stories. */

/** Tests that take longer hang, and so notice: ms. */
const LIMIT_MS = 240_000

function fails({ dir }: Checkout, tests: string): boolean {
  for (const part of ['test', 'examples', 'docs', 'vitest.config.ts'])
    cpSync(join(ROOT, part), join(dir, part), { recursive: true })
  const args = ['run', '--project', 'in process', '--bail', '1', '--reporter', 'dot', tests]
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin/vitest'), args, {
    cwd: dir,
    stdio: 'ignore',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  return status !== 0
}

test.each([...new Set(TESTED_REMOVALS.map(({ tests }) => tests))])(
  'without anything removed %s passes',
  (tests) => {
    using checkout = copyOf([])
    expect(isChanged(checkout, tests) && fails(checkout, tests)).toBe(false)
  },
)

test.each(TESTED_REMOVALS)('$protection', ({ patches, tests }) => {
  using checkout = copyOf(patches)
  expect(!isChanged(checkout, tests) || fails(checkout, tests)).toBe(true)
})
