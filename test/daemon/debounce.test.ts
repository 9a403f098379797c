import { expect, it } from 'vitest'
import { createDebounce } from '../../src/daemon/watcher.ts'
import { createFakeClock } from '../support/fake-clock.ts'

function setUp() {
  const clock = createFakeClock()
  const quiet: number[] = []
  const onQuiet = () => void quiet.push(clock.monotonic())
  return { clock, quiet, debounce: createDebounce({ clock, quietMs: 250, noisyLimitMs: 5_000, onQuiet }) }
}

it('tells once, when it has been quiet for 250 ms', async () => {
  const { clock, quiet, debounce } = setUp()
  for (let n = 0; n < 1_000; n += 1) debounce.noise()
  await clock.advance(100)
  debounce.noise()
  await clock.advance(249)
  expect([quiet, debounce.isPending()]).toEqual([[], true])
  await clock.advance(1)
  expect([quiet, debounce.isPending()]).toEqual([[350], false])
  await clock.advance(10_000)
  expect(quiet).toHaveLength(1)
})

it('tells every 5 s when it is never quiet', async () => {
  const { clock, quiet, debounce } = setUp()
  for (let n = 0; n < 120; n += 1) {
    debounce.noise()
    await clock.advance(100)
  }
  expect(quiet).toEqual([5_000, 10_000])
})

it('takes one timer, however much happens', () => {
  const { clock, debounce } = setUp()
  for (let n = 0; n < 1_000; n += 1) debounce.noise()
  expect(clock.pending).toBe(1)
})

it('takes up new noise while it tells', async () => {
  const { clock, quiet, debounce } = setUp()
  debounce.noise()
  await clock.advance(250)
  debounce.noise()
  await clock.advance(250)
  expect(quiet).toEqual([250, 500])
})

it('tells nothing after it was cancelled, and leaves no timer behind', async () => {
  const { clock, quiet, debounce } = setUp()
  debounce.noise()
  debounce.cancel()
  expect([debounce.isPending(), clock.pending]).toEqual([false, 0])
  await clock.advance(10_000)
  expect(quiet).toEqual([])
})
