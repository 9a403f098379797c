import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { type Given, given } from './given.ts'

async function ownedAt({ workspace }: Given, url: string) {
  const of = { mode: 'owner', init: 'never', clock: createFakeClock(), emit: () => undefined } as const
  const ledger = await openLedger(`sqlite:${workspace.path('ledger.db')}`, of)
  const at = { startedAt: Date.now(), seenAt: Date.now() }
  await ledger.noteActivity({ command: 'run', process: 1, host: 'here', url, ...at }, new Map())
  return ledger
}

test.each([
  ['no daemon ever ran', undefined],
  ['the daemon of before is gone', 'http://127.0.0.1:9'],
])('commands without a daemon wait for each other: %s', async (_, url) => {
  await using world = await given('orders', 'refunds')
  await world.apply()
  if (url !== undefined) await (await ownedAt(world, url))[Symbol.asyncDispose]()
  const ended = await Promise.all(['Pipe/orders', 'Pipe/refunds'].map((key) => world.command('suspend', key)))
  expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ])
})

test('the owner of this ledger is asked without a proxy, which would see the token', async () => {
  await using world = await given('orders')
  await world.apply()
  const outside = Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
  )
  await using ledger = await ownedAt(world, `http://${outside[0]?.address ?? '127.0.0.1'}:9`)
  world.env['HTTP_PROXY'] = 'http://127.0.0.1:1'
  expect(await ledger.owned()).toBe(true)
  const { stderr } = await world.command('suspend', 'Pipe/orders')
  expect(stderr).toMatch(/does not answer: it was refused/)
})
