import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { given } from './given.ts'

test.each([
  ['no daemon ever ran', undefined],
  ['the daemon of before is gone', 'http://127.0.0.1:9'],
])('commands without a daemon wait for each other: %s', async (_, url) => {
  await using world = await given('orders', 'refunds')
  await world.apply()
  if (url !== undefined) await (await world.own(url))[Symbol.asyncDispose]()
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
  await using ledger = await world.own(`http://${outside[0]?.address ?? '127.0.0.1'}:9`)
  world.env['HTTP_PROXY'] = 'http://127.0.0.1:1'
  expect(await ledger.owned()).toBe(true)
  const { stderr } = await world.command('suspend', 'Pipe/orders')
  expect(stderr).toMatch(/does not answer: it was refused/)
})
