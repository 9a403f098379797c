import { expect, test } from 'vitest'
import { given, type Given } from './given.ts'
import { story } from './story.ts'

/* A pipeline applies, and goes on only when everything runs. */

const worldWith = (provisioningMs: number) => given([], { fixture: { times: { provisioningMs } } })

test('apply --wait ends when all that was created runs, and what waited for it', () =>
  story(
    worldWith(150),
    `write orders
    write listed policy.healthyStates=[Running]
    write later policy.dependsOn=[Pipe/orders]
    apply --wait | None of 4 needs attention. | not: not ready | once: Pipe/orders, at most 15m.
    posts 3`,
    ({ platform }) => expect(platform.pipes().map(({ state }) => state)).toEqual(Array(3).fill('Running')),
  ))

test('apply says what is not ready when the time is over; without --wait it ends before', () =>
  story(
    worldWith(3_600_000),
    `write orders
    apply | Pipe/orders Progressing
    apply --wait --timeout 3s => 1 | not ready within 3s: 1 of 2. | Pipe/orders: …Provisioning
    apply --wait --timeout 1s -o json => 1 | "unsettled": [ "Pipe/orders" ]
    apply --wait --timeout soon => 64
    posts 1`,
  ))

/** Ends a wait for a pipe that takes an hour until it runs. */
test.each<readonly [what: string, (world: Given, stop: AbortController) => void, code: number, says: RegExp]>(
  [
    [
      'one is clearly bad',
      becomes('Failed'),
      1,
      /^(?![^]*not ready within)[^]*Pipe\/orders +NotReady +Unhealthy/,
    ],
    ['it runs', becomes('Running'), 0, /None of 2 needs attention\./],
    [
      'a signal comes',
      (_, stop) => stop.abort('SIGTERM'),
      1,
      /apply was stopped before all was ready: 1 of 2\./,
    ],
  ],
)(
  'apply --wait ends at once when %s, although the platform did not answer in between',
  (_, then, code, says) =>
    story(worldWith(3_600_000), 'write orders', async (world) => {
      const { platform, commandUntil } = world
      platform.faults.add({ operation: 'getPipe', times: 2, fault: { type: 'status', status: 503 } })
      const stop = new AbortController()
      const ended = commandUntil(stop.signal, 'apply', '--wait')
      const read = () => platform.requests().filter(({ operation }) => operation === 'getPipe')
      await expect.poll(() => read().some(({ answer }) => answer?.status === 200)).toBe(true)
      then(world, stop)
      const { stdout, stderr, ...end } = await ended
      expect([end.code, stdout + stderr]).toEqual([code, expect.stringMatching(says)])
    }),
)

function becomes(state: string): (world: Given) => void {
  return ({ platform }) => platform.change(platform.pipes()[0]?.id ?? '', { state })
}

test('a command that waits for the request budget waits, and does not end in the middle', () =>
  story('a b c d e', 'apply --api-budget 2/1s | not: unsettled\npipes 5'))
