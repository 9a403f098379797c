import { expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { given } from './given.ts'

test.each([
  ['no daemon ever ran', undefined],
  ['the daemon of before is gone', 'http://127.0.0.1:9'],
])('commands without a daemon wait for each other: %s', async (_, url) => {
  await using world = await given('orders', 'refunds')
  await world.apply()
  if (url !== undefined) {
    const clock = createFakeClock()
    const of = { mode: 'owner', init: 'never', clock, emit: () => undefined } as const
    await using ledger = await openLedger(`sqlite:${world.workspace.path('ledger.db')}`, of)
    const at = { startedAt: Date.now(), seenAt: Date.now() }
    await ledger.noteActivity({ command: 'run', process: 1, host: 'here', url, ...at }, new Map())
  }
  const ended = await Promise.all(['Pipe/orders', 'Pipe/refunds'].map((key) => world.command('suspend', key)))
  expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ])
})
