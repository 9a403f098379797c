import { expect, test } from 'vitest'
import { platformName } from '../../src/cli/compose.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createWorkspace } from '../support/workspace.ts'
import { given } from './given.ts'

test.each([
  ['an address', 'https://api.example/base', 'https://api.example/base'],
  ['with the slash that means nothing', 'https://api.example/', 'https://api.example'],
  ['a port of somewhere else', 'https://api.example:8443', 'https://api.example:8443'],
  ['a port of this machine says little', 'http://127.0.0.1:4711', 'http://localhost'],
  ['by each of its names', 'http://localhost:80/x', 'http://localhost/x'],
])('a platform is known by %s', (_, baseUrl, name) => {
  expect(platformName({ sandbox: false, baseUrl })).toBe(name)
})

test('the sandbox is a platform of its own; without any there is nothing to compare', () => {
  expect(platformName({ sandbox: true, baseUrl: 'https://api.example' })).toBe('the sandbox')
  expect(platformName({ sandbox: false, baseUrl: undefined })).toBeUndefined()
})

test('a ledger with records is refused to another platform, for the daemon, for a plan and for words, until it is untied', async () => {
  await using world = await given('orders')
  expect((await world.apply()).code).toBe(0)
  const elsewhere = ['--base-url', 'http://localhost:1/elsewhere']
  for (const args of [['apply'], ['plan'], ['adopt', 'Pipe/orders', world.pipeId('orders')]]) {
    const refused = await world.command(...args, ...elsewhere)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/used with http:\/\/localhost, not http:\/\/localhost\/elsewhere/)
    expect(refused.stderr).toContain('pipewright forget --platform')
  }
  expect((await world.apply()).code).toBe(0)
  const untied = await world.command('forget', '--platform', ...elsewhere)
  expect(untied).toMatchObject({ code: 0, stderr: '' })
  expect(untied.stdout).toContain('no longer belongs to http://localhost.')
  expect((await world.command('apply', ...elsewhere)).stderr).not.toContain('belongs to another platform')
  expect((await world.apply()).stderr).toContain(
    'used with http://localhost/elsewhere, not http://localhost.',
  )
  expect(world.posts()).toBe(1)
})

test.each([
  ['neither a key nor --platform', ['forget']],
  ['both', ['forget', 'Pipe/orders', '--platform']],
])('%s is wrong use', async (_, args) => {
  await using world = await given('orders')
  expect(await world.command(...args)).toMatchObject({ code: 64 })
})

test('a ledger without records takes any platform; who names none compares nothing', async () => {
  using workspace = createWorkspace()
  const url = `sqlite:${workspace.path('ledger.db')}`
  const open = (mode: 'owner' | 'reader', platform: string | undefined) =>
    openLedger(url, { mode, platform, init: 'auto', clock: createFakeClock(), emit: () => undefined })
  await (await open('owner', 'the sandbox'))[Symbol.asyncDispose]()
  {
    await using owner = await open('owner', 'https://api.example')
    await owner.swap(blankRecord('Pipe/orders'), [])
  }
  await expect(open('owner', 'the sandbox')).rejects.toMatchObject({ code: 'platform' })
  await expect(open('reader', 'the sandbox')).rejects.toMatchObject({ code: 'platform' })
  await (await open('reader', undefined))[Symbol.asyncDispose]()
  await (await open('owner', undefined))[Symbol.asyncDispose]()
  await (await open('owner', 'https://api.example'))[Symbol.asyncDispose]()
})
