import { expect, test } from 'vitest'
import { createFailpoints } from '../support/failpoints.ts'
import { given } from './given.ts'

test.each(['before-intent', 'after-intent'] as const)(
  'apply ends with 70 if a reconcile throws (%s), and the next one creates each pipe once',
  async (failpoint) => {
    await using world = await given('orders', 'refunds')
    const plan = { at: failpoint, action: 'throw', nth: 1 } as const
    Object.assign(globalThis, { pipewrightFailpoints: createFailpoints(plan) })
    const { code, stdout } = await world.apply('--concurrency', '1')
    expect(code).toBe(70)
    // It might have been made in a second reconcile of the same pass.
    const missing = 2 - world.platform.pipes().length
    expect(stdout).toMatch(missing === 0 ? 'None of 3 needs' : new RegExp(`${missing} of 3 needs? attention`))
    Object.assign(globalThis, { pipewrightFailpoints: undefined })
    await expect.poll(async () => (await world.apply()).code, { interval: 1_000 }).toBe(0)
    expect(world.platform.pipes()).toHaveLength(2)
    expect(world.posts()).toBe(2)
  },
)
