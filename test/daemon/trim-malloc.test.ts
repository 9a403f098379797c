import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** A process that frees nine of ten small buffers, and then says what it held before and after. */
const HOLEY = `
  const { trimMalloc } = await import(process.argv[1])
  let buffers = Array.from({ length: 20_000 }, () => Buffer.allocUnsafeSlow(5_000).fill(1))
  buffers = buffers.filter((_, n) => n % 10 === 0)
  // Another thread frees them, when it gets to it.
  do {
    globalThis.gc()
    await new Promise(setImmediate)
  } while (process.memoryUsage().arrayBuffers > 20e6)
  const before = process.memoryUsage.rss()
  const done = trimMalloc()
  process.emitWarning('still heard')
  process.stdout.write(JSON.stringify({ done, before, after: process.memoryUsage.rss(), kept: buffers.length }))
`

function trimInAProcess(...flags: readonly string[]) {
  const module = fileURLToPath(new URL('../../src/daemon/trim-malloc.ts', import.meta.url))
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', ...flags, '--input-type=module', '-e', HOLEY, module],
    { encoding: 'utf8' },
  )
  return { ...(JSON.parse(stdout) as { done: boolean; before: number; after: number }), stderr }
}

describe.runIf(process.platform === 'linux')('where the C library is asked', () => {
  test('the system gets back what is free between what is in use', () => {
    const { done, before, after } = trimInAProcess()
    expect(done).toBe(true)
    expect(before - after).toBeGreaterThan(50 * 2 ** 20)
  })

  test('nobody reads of an experiment, and other warnings are heard', () => {
    const { stderr } = trimInAProcess()
    expect(stderr).toContain('still heard')
    expect(stderr).not.toContain('Experimental')
  })
})

test('where Node cannot ask the C library, nothing happens', () => {
  expect(trimInAProcess('--no-experimental-ffi')).toMatchObject({ done: false })
})
