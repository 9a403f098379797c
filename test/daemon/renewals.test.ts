import { expect, test } from 'vitest'
import { createRenewals } from '../../src/daemon/leader-loop.ts'
import { createFakeClock } from '../support/fake-clock.ts'

test('credentials that were refused and are others now are told within five seconds, until it is stopped', async () => {
  const clock = createFakeClock()
  let renewed: readonly string[] = []
  const told: string[] = []
  const renewals = createRenewals(
    clock,
    async () => renewed,
    (service) => told.push(service),
  )
  await clock.advance(60_000)
  expect(told).toEqual([])
  renewed = ['analytics', 'alerts']
  await clock.advance(5_000)
  expect(told).toEqual(['analytics', 'alerts'])
  renewals.stop()
  await clock.advance(60_000)
  expect(told).toHaveLength(2)
})
