import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { createHeapTrim } from '../../src/daemon/leader-loop.ts'

test('it collects once, and not for a few resources', () => {
  const collect = vi.fn<() => void>()
  const trim = createHeapTrim((_, callback) => {
    callback()
    return () => undefined
  }, collect)
  trim(19)
  expect(collect).not.toHaveBeenCalled()
  trim(20)
  trim(10_000)
  expect(collect).toHaveBeenCalledOnce()
})

/** A process that makes some hundred megabytes of garbage, and says what it holds before and after. */
const WASTEFUL = `
  const { createHeapTrim } = await import(process.argv[1])
  let rows = []
  for (let n = 0; n < 2_000_000; n += 1) rows.push({ n, text: 'row ' + n })
  rows = []
  const before = process.memoryUsage.rss()
  createHeapTrim((_, callback) => callback())(20)
  process.stdout.write(JSON.stringify({ before, after: process.memoryUsage.rss(), gc: typeof globalThis.gc }))
`

test('the system gets back what is not held any more', () => {
  const module = fileURLToPath(new URL('../../src/daemon/leader-loop.ts', import.meta.url))
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', WASTEFUL, module], {
    encoding: 'utf8',
  })
  const { before, after, gc } = JSON.parse(said) as { before: number; after: number; gc: string }
  expect(before - after).toBeGreaterThan(100 * 2 ** 20)
  expect(gc).toBe('undefined')
})
