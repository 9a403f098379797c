import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { given } from './given.ts'
import { play, type Step, story } from './story.ts'

/* Commands beside a daemon ask it, by its address in the ledger, and without one wait for each other. */

function become(status: string, ...keys: readonly string[]): Step {
  return ({ url }) =>
    until(`${keys.join(', ')} to be ${status}`, async () => {
      const shown = await resourcesOf(url())
      return keys.every((key) => shown.some((one) => one.key === key && one.status === status)) || undefined
    })
}

test('a daemon is asked to let pass what is held back, to suspend a pipe, and what is wrong with the whole', () =>
  story(
    'a b c',
    ({ startDaemon }) => startDaemon('--max-creates', '2'),
    become('Refused', 'Pipe/a', 'Pipe/b', 'Pipe/c'),
    `apply => 1 | Two processes could create a pipe twice. Stop the other process.
    | if it is a daemon, use "pipewright reconcile --wait"
    allow --count 2 => 1 | blocks 3 now
    posts 0
    allow | Allowed 3 creations, once`,
    become('Ready', 'Pipe/a', 'Pipe/b', 'Pipe/c'),
    'suspend Pipe/a --reason frozen | frozen',
    become('Suspended', 'Pipe/a'),
    'resume Pipe/a | Resumed Pipe/a.',
    become('Ready', 'Pipe/a'),
    'write wrong replicas=-1',
    become('Invalid', 'Pipe/wrong'),
    `posts 3
    status => 1 | Errors in manifests: 1. See "pipewright validate".
    status Pipe/a -o json | "daemon": { "state": "running" | not: in manifests`,
  ))

test('the owner of a ledger is asked without a proxy, which would see the token', async () => {
  await using world = await given(['orders'])
  const outside = Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
  )
  await world.startDaemon('--listen', `${outside[0]?.address ?? '127.0.0.1'}:0`)
  const suspend = ['suspend', 'Pipe/orders', '--ledger', `sqlite:${world.workspace.path('ledger.db')}`]
  const asked = await runHere(suspend, { HTTP_PROXY: 'http://127.0.0.1:1' })
  expect(asked).toMatchObject({ code: 0, stderr: '' })
})

test('commands without a daemon wait for each other', async () => {
  await using world = await given(['orders', 'refunds'])
  await play(world, 'apply')
  const ended = await Promise.all(['Pipe/orders', 'Pipe/refunds'].map((key) => world.command('suspend', key)))
  for (const one of ended) expect(one).toMatchObject({ code: 0, stderr: '' })
})
