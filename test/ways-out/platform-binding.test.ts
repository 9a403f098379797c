import { expect, test } from 'vitest'
import { platformName } from '../../src/cli/compose.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createWorkspace } from '../support/workspace.ts'
import { story } from './story.ts'

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

const ELSEWHERE = '--base-url http://localhost:1/elsewhere'

test.each(['apply', 'plan', 'adopt Pipe/orders {orders}'])(
  'a ledger with records is refused to another platform, for %s, until it is untied',
  (command) =>
    story(
      'orders',
      `apply
      ${command} ${ELSEWHERE} => 1 | used with http://localhost, not http://localhost/elsewhere
      | pipewright forget --platform
      apply
      forget --platform ${ELSEWHERE} | no longer belongs to http://localhost.
      apply ${ELSEWHERE} => 1 | not: belongs to another platform
      apply => 1 | used with http://localhost/elsewhere, not http://localhost.
      forget --platform -o json | "result": "done",
      posts 1`,
    ),
)

test('neither a key nor --platform, or both, is wrong use', () =>
  story('orders', 'forget => 64\nforget Pipe/orders --platform => 64'))

test('a ledger without records takes any platform; who names none compares nothing', async () => {
  using workspace = createWorkspace()
  const url = `sqlite:${workspace.path('ledger.db')}`
  const options = { init: 'auto', clock: createFakeClock(), emit: () => undefined } as const
  const open = async (mode: 'owner' | 'reader', platform: string | undefined) =>
    (await openLedger(url, { mode, platform, ...options })).ledger
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
