import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Explored } from '../explore/explore.ts'
import { type Checkout, copyOf, isChanged } from '../removals/checkout.ts'
import { type Removal, REMOVALS } from '../removals/list.ts'
import { ROOT } from '../support/process.ts'

/* Without each protection, the explorer must find a broken law, or tests must fail. */

/** Tests that take longer hang, and so notice: ms. */
const LIMIT_MS = 240_000

const EXPLORER_PARTS = ['explore', 'support', 'reconcile', 'manifest', 'torture'].map((part) =>
  join('test', part),
)

function addParts({ dir }: Checkout, parts: readonly string[]): void {
  for (const part of parts) cpSync(join(ROOT, part), join(dir, part), { recursive: true })
}

/** What the explorer of a copy prints. @param signal ends it, where its test has no more time */
async function exploreCopy(checkout: Checkout, { world = '', depth = 2 }: Removal, signal: AbortSignal) {
  addParts(checkout, EXPLORER_PARTS)
  const args = ['test/explore/main.ts', '--json', '--world', world, '--depth', String(depth)]
  const run = promisify(execFile)(process.execPath, args, { cwd: checkout.dir, maxBuffer: 1e8, signal })
  // It ends with 1 when it found a story.
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return JSON.parse(stdout) as Explored & { told: string | undefined }
}

async function fails(checkout: Checkout, tests: string): Promise<boolean> {
  addParts(checkout, ['test', 'examples', 'docs', 'vitest.config.ts'])
  const args = ['run', '--project', 'in process', '--bail', '1', '--reporter', 'dot', tests]
  const how = { cwd: checkout.dir, maxBuffer: 1e8, timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const
  return promisify(execFile)(join(ROOT, 'node_modules/.bin/vitest'), args, how).then(
    () => false,
    () => true,
  )
}

const BY_STORY = REMOVALS.filter(({ world }) => world !== undefined)
const BY_TESTS = REMOVALS.flatMap(({ tests, ...removal }) =>
  tests === undefined ? [] : { ...removal, tests },
)

describe.concurrent('removed', () => {
  test.for(BY_STORY)('$protection', async (removal, { signal }) => {
    using checkout = copyOf(removal.patches)
    if (!isChanged(checkout, 'test/explore')) return
    const { story, told } = await exploreCopy(checkout, removal, signal)
    expect(story, 'a story').toBeDefined()
    // A patch that does not run breaks no law.
    expect(told).not.toMatch(/It threw (?:Reference|Type|Syntax)Error/)
    process.stdout.write(`\n${removal.protection}:\n${told}\n`)
  })

  test.for(BY_TESTS)('$protection', async ({ patches, tests }) => {
    using checkout = copyOf(patches)
    expect(!isChanged(checkout, tests) || (await fails(checkout, tests))).toBe(true)
  })

  test.for([...new Set(BY_TESTS.map(({ tests }) => tests))])('nothing: %s passes', async (tests) => {
    using checkout = copyOf([])
    expect(isChanged(checkout, tests) && (await fails(checkout, tests))).toBe(false)
  })
})
