import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { createFirstPass } from '../../src/daemon/give-back.ts'

const KEYS = Array.from({ length: 500 }, (_, n) => `Pipe/${n}`)

test('it is done once, when the last key of the first pass had its turn', () => {
  const done = vi.fn<() => void>()
  const pass = createFirstPass<string>(done)
  pass.expect(KEYS)
  for (const key of KEYS.slice(1)) pass.had(key)
  pass.had('Pipe/other')
  pass.had('Pipe/1')
  expect(done).not.toHaveBeenCalled()
  pass.had('Pipe/0')
  for (const key of KEYS) pass.had(key)
  expect(done).toHaveBeenCalledOnce()
})

test('with few keys there is nothing to give back', () => {
  const done = vi.fn<() => void>()
  const pass = createFirstPass<string>(done)
  pass.expect(KEYS.slice(1))
  for (const key of KEYS) pass.had(key)
  expect(done).not.toHaveBeenCalled()
})

/** A process that makes some hundred megabytes of garbage, and one key's turn later says what it still holds. */
const WASTEFUL = `
  const { createFirstPass } = await import(process.argv[1])
  const pass = createFirstPass()
  const keys = Array.from({ length: 500 }, (_, n) => n)
  pass.expect(keys)
  for (const key of keys.slice(1)) pass.had(key)
  let rows = []
  for (let n = 0; n < 2_000_000; n += 1) rows.push({ n, text: 'row ' + n })
  rows = []
  const before = process.memoryUsage.rss()
  pass.had(0)
  process.stdout.write(JSON.stringify({ before, after: process.memoryUsage.rss(), gc: typeof globalThis.gc }))
`

test('the system gets back what is not held any more', () => {
  const module = fileURLToPath(new URL('../../src/daemon/give-back.ts', import.meta.url))
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', WASTEFUL, module], {
    encoding: 'utf8',
  })
  const { before, after, gc } = JSON.parse(said) as { before: number; after: number; gc: string }
  expect(before - after).toBeGreaterThan(100 * 2 ** 20)
  expect(gc).toBe('undefined')
})
