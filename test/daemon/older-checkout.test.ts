import { expect, test } from 'vitest'
import { NotLeading } from '../../src/contract/leadership.ts'
import { createOlderCheckout } from '../../src/daemon/older-checkout.ts'

function startAt(before: string | undefined, revision: string) {
  const state = { now: 0, revision }
  const checkout = createOlderCheckout({
    clock: { monotonic: () => state.now },
    before,
    revision: () => state.revision,
  })
  return { state, may: () => attempt(() => checkout.check()) }
}

function attempt(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(NotLeading)
    return false
  }
}

test('a process with the checkout that was acted on before acts at once; and so does the first one', () => {
  expect(startAt('r2', 'r2').may()).toBe(true)
  expect(startAt(undefined, 'r1').may()).toBe(true)
})

test('one with another checkout waits for that one', () => {
  const { state, may } = startAt('r2', 'r1')
  expect(may()).toBe(false)
  state.revision = 'r2'
  expect(may()).toBe(true)
  state.revision = 'r1'
  expect(may()).toBe(true)
})

test('or for one that comes later', () => {
  const { state, may } = startAt('r2', 'r1')
  expect(may()).toBe(false)
  state.revision = 'r3'
  expect(may()).toBe(true)
})

test('or for five minutes', () => {
  const { state, may } = startAt('r2', 'r1')
  state.now = 5 * 60_000 - 1
  expect(may()).toBe(false)
  state.now += 1
  expect(may()).toBe(true)
})
