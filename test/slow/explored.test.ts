import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { type Checkout, copyOf, isChanged } from './protections/checkout.ts'
import { ROOT } from '../support/process.ts'
import type { Explored } from '../explore/explore.ts'
import { REMOVALS, type Removal } from '../explore/protections.ts'

/*
 * Each protection is removed from a copy of the sources: the explorer has to find a story in which a law is broken. By day, CI removes those
 * of files that changed.
 */

const rows: string[] = []

afterAll(() => {
  const head =
    '| removed | world | faults | steps | situations | played | seconds |\n|---|---|---|---|---|---|---|'
  process.stdout.write(`\nThe shortest story without each protection:\n${head}\n${rows.join('\n')}\n`)
})

/** What the explorer is made of. */
const PARTS = ['explore', 'support', 'reconcile', 'manifest', 'torture'].map((part) => join('test', part))

/** What the explorer of a copy prints. @param signal ends it, where its test has no more time */
async function exploreCopy(checkout: Checkout, { world, depth = 2 }: Removal, signal: AbortSignal) {
  for (const part of PARTS) cpSync(join(ROOT, part), join(checkout.dir, part), { recursive: true })
  const args = ['test/explore/main.ts', '--json', '--world', world, '--depth', String(depth)]
  const run = promisify(execFile)(process.execPath, args, { cwd: checkout.dir, maxBuffer: 1e8, signal })
  // It ends with 1 when it found a story.
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return JSON.parse(stdout) as Explored & { told: string | undefined }
}

describe('removed', () => {
  test.for(REMOVALS.map((removal) => [removal.protection, removal] as const))(
    '%s',
    async ([protection, removal], { signal }) => {
      using checkout = copyOf(removal.patches)
      if (!isChanged(checkout, 'test/explore')) return
      const { story, told, situations, plays, seconds } = await exploreCopy(checkout, removal, signal)
      expect(story, 'a story').toBeDefined()
      // A patch that does not run breaks no law.
      expect(told).not.toMatch(/It threw (?:Reference|Type|Syntax)Error/)
      const numbers = [story?.cost, story?.moves.length, situations, plays, seconds.toFixed(2)].join(' | ')
      rows.push(`| ${protection} | ${removal.world} | ${numbers} |`)
      process.stdout.write(`\n${protection}:\n${told}\n`)
    },
  )
})
