import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Reason } from '../../src/plan/reason.ts'
import { REASONS } from '../../src/plan/reason.ts'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** Where they are listed, and where a status is made of them: neither gives one to anything. */
const LISTED = new Set(['plan/reason.ts'])

const SOURCES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !LISTED.has(file))
  .map((file) => readFileSync(join(SRC, file), 'utf8'))
  .map((text) => text.replace(/const STATUS_OF_REASON[^}]*\}/, ''))

describe('every reason', () => {
  test.each(Object.keys(REASONS) as Reason[])('%s is given to something', (reason) => {
    // To ask whether something has it is not to give it.
    const given = new RegExp(`(?<![=!]== )'${reason}'`)
    expect(SOURCES.some((text) => given.test(text))).toBe(true)
  })

  test.each(Object.entries(REASONS))('%s means something: %s', (_reason, meaning) => {
    expect(meaning).toMatch(/^[a-z][^.]*[^.]$/)
  })
})
