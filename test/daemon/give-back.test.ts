import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { createGiveBack } from '../../src/daemon/give-back.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const KEYS = Array.from({ length: 20 }, (_, n) => `Pipe/${n}`)

function setUp() {
  const clock = createFakeClock()
  const collect = vi.fn<() => void>()
  const trim = vi.fn<() => void>()
  const quiet = { forMs: Infinity }
  const giveBack = createGiveBack<string>({ clock, quietFor: () => quiet.forMs, collect, trim })
  return { clock, collect, trim, quiet, giveBack }
}

test('it is done once, when the last key of the first pass had its turn', () => {
  const { collect, giveBack } = setUp()
  giveBack.expect(KEYS)
  for (const key of KEYS.slice(1)) giveBack.had(key)
  giveBack.had('Pipe/other')
  giveBack.had('Pipe/1')
  expect(collect).not.toHaveBeenCalled()
  giveBack.had('Pipe/0')
  for (const key of KEYS) giveBack.had(key)
  expect(collect).toHaveBeenCalledOnce()
})

test('with few keys there is nothing to give back', () => {
  const { collect, giveBack } = setUp()
  giveBack.expect(KEYS.slice(1))
  for (const key of KEYS) giveBack.had(key)
  expect(collect).not.toHaveBeenCalled()
})

test('nobody who edits just then waits for it', async () => {
  const { clock, collect, quiet, giveBack } = setUp()
  quiet.forMs = 4_999
  giveBack.expect(KEYS)
  for (const key of KEYS) giveBack.had(key)
  await clock.advance(5_000)
  expect(collect).not.toHaveBeenCalled()
  quiet.forMs = 5_000
  await clock.advance(5_000)
  expect(collect).toHaveBeenCalledOnce()
})

test('what V8 frees beside is given back a second later', async () => {
  const { clock, collect, trim, giveBack } = setUp()
  giveBack.expect(KEYS)
  for (const key of KEYS) giveBack.had(key)
  expect(collect).toHaveBeenCalledOnce()
  await clock.advance(999)
  expect(trim).not.toHaveBeenCalled()
  await clock.advance(1)
  expect(trim).toHaveBeenCalledOnce()
})

test('nor is it done after the stop', async () => {
  const { clock, collect, quiet, giveBack } = setUp()
  quiet.forMs = 0
  giveBack.expect(KEYS)
  for (const key of KEYS) giveBack.had(key)
  giveBack.stop()
  quiet.forMs = 5_000
  await clock.advance(10_000)
  expect(collect).not.toHaveBeenCalled()
})

/** A process that makes some hundred megabytes of garbage, and one key's turn later says what it still holds. */
const WASTEFUL = `
  const { createGiveBack } = await import(process.argv[1])
  const pass = createGiveBack({ clock: { after: () => undefined }, quietFor: () => 5_000 })
  const keys = Array.from({ length: 20 }, (_, n) => n)
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
