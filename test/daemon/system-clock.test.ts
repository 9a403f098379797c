import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'

const LONGEST = 2 ** 31 - 1

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each(
    Object.entries({
      'an ordinary delay': { delayMs: 1_500 },
      'the longest delay a timer takes': { delayMs: LONGEST },
      'one more than a timer takes, which would otherwise run at once': { delayMs: LONGEST + 1 },
      'a delay of several such timers': { delayMs: LONGEST * 3 + 7 },
    }),
  )('runs a callback once, after %s', (_why, { delayMs }) => {
    const callback = vi.fn<() => void>()
    systemClock.after(delayMs, callback)
    vi.advanceTimersByTime(delayMs - 1)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(callback).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(LONGEST)
    expect(callback).toHaveBeenCalledOnce()
  })

  it.each([0, -5])('takes a delay of %i ms as soon as possible', (delayMs) => {
    const callback = vi.fn<() => void>()
    systemClock.after(delayMs, callback)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(callback).toHaveBeenCalledOnce()
  })

  it('can be cancelled in any part of a long delay', () => {
    const callback = vi.fn<() => void>()
    const cancel = systemClock.after(LONGEST + 100, callback)
    vi.advanceTimersByTime(LONGEST + 50)
    cancel()
    vi.advanceTimersByTime(LONGEST)
    expect(callback).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('systemClock and the process', () => {
  it('does not keep it alive', () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const cancel = systemClock.after(60_000, () => undefined)
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')).toHaveLength(before)
    cancel()
  })
})
