import { describe, expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import { type Given, givenAt, pipeOf } from './given.ts'
import { type Step, story } from './story.ts'

/* A pipeline applies, and goes on only when everything runs. */

function worldWith(provisioningMs: number): Promise<Given> {
  return givenAt({ fixture: { times: { provisioningMs } } }, pipeOf)
}

/** It takes an hour until a pipe runs. */
const slow = () => worldWith(3_600_000)

function fail(fault: FaultInput, times: number | 'always'): Step {
  return ({ platform }) => platform.faults.add({ operation: 'getPipe', times, fault })
}

/** `apply --wait`, and what happens once the pipe was read, or asked for. @returns its code and texts */
function waits(then: (world: Given, stop: AbortController) => void, expected: object, isRead = true): Step {
  return async (world) => {
    const stop = new AbortController()
    const ended = world.commandUntil(stop.signal, 'apply', '--wait')
    const read = () => world.platform.requests().filter(({ operation }) => operation === 'getPipe')
    await expect.poll(() => read().some(({ answer }) => !isRead || answer?.status === 200)).toBe(true)
    then(world, stop)
    expect(await ended).toMatchObject(expected)
  }
}

function becomes(state: string): (world: Given) => void {
  return ({ platform }) => platform.change(platform.pipes()[0]?.id ?? '', { state })
}

describe('apply --wait', () => {
  test('ends when all that was created runs, and what waited for it', () =>
    story(
      worldWith(150),
      `write orders
      write listed policy.healthyStates=[Running]
      write later policy.dependsOn=[Pipe/orders]
      apply --wait | None of 4 needs attention. | not: not ready | once: Pipe/orders, at most 15m.
      posts 3`,
      ({ platform }) => expect(platform.pipes().map(({ state }) => state)).toEqual(Array(3).fill('Running')),
    ))

  test('without it, the same pass ends before', () =>
    story(slow(), 'write orders\napply | Pipe/orders Progressing'))

  test('ends at once when one is clearly bad', () =>
    story(
      slow(),
      'write orders',
      waits(becomes('Failed'), {
        code: 1,
        stdout: expect.stringMatching(/Pipe\/orders +NotReady +UnhealthyState/),
        stderr: expect.not.stringContaining('not ready within'),
      }),
    ))

  test('a platform that does not answer in between does not end it', () =>
    story(
      slow(),
      'write orders',
      fail({ type: 'status', status: 503 }, 2),
      waits(becomes('Running'), { code: 0, stdout: expect.stringContaining('None of 2 needs attention.') }),
    ))

  test('says what is not ready when the time is over', () =>
    story(
      slow(),
      `write orders
      apply --wait --timeout 3s => 1 | not ready within 3s: 1 of 2. | Pipe/orders: …Provisioning
      apply --wait --timeout 1s -o json => 1 | "unsettled": [ "Pipe/orders" ]
      apply --wait --timeout soon => 64
      posts 1`,
    ))

  test.each([
    ['is answered', [], true],
    ['hangs', [fail({ type: 'hang' }, 'always')], false],
  ] as const)('a signal ends the waiting, and nothing else: a reading %s', (_how, before, isRead) =>
    story(
      slow(),
      'write orders',
      ...before,
      waits(
        (_, stop) => stop.abort('SIGTERM'),
        {
          code: 1,
          stdout: expect.stringMatching(isRead ? /Pipe\/orders +Progressing/ : /Pipe\/orders/),
          stderr: expect.stringContaining('apply was stopped before all was ready: 1 of 2.'),
        },
        isRead,
      ),
    ),
  )
})

test('a command that waits for the request budget waits, and does not end in the middle', () =>
  story(
    'a b c d e',
    `apply --api-budget 2/1s | not: unsettled
    pipes 5
    plan --api-budget 2/1s | not: pipewright:`,
  ))
