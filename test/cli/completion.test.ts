import { expect, test } from 'vitest'
import { SHELLS } from '../../src/cli/completion.ts'
import { runHere } from '../support/command.ts'
import { given } from '../ways-out/given.ts'

async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await runHere(['__complete', ...words])
  expect(code).toBe(0)
  return stdout.trim() === '' ? [] : stdout.trim().split('\n')
}

test.each([
  { why: 'a command', words: ['sta'], is: ['status'] },
  { why: 'a flag of the command', words: ['status', '--wat'], is: ['--watch'] },
  { why: 'a setting', words: ['plan', '--base'], is: ['--base-url'] },
  { why: 'a choice of a flag', words: ['plan', '-o', ''], is: ['text', 'json', 'markdown'] },
  { why: 'a status', words: ['status', '--status', 'Dri'], is: ['Drifted'] },
  { why: 'a kind', words: ['history', '--kind', 'Qu'], is: ['QueryEndpoint'] },
  { why: 'a shell', words: ['completion', ''], is: [...SHELLS] },
  { why: 'nothing where a file belongs', words: ['status', '--config', ''], is: [] },
  { why: 'nothing after a command that is not there', words: ['nothing', ''], is: [] },
])('completes $why', async ({ words, is }) => {
  expect(await complete(...words)).toEqual(is)
})

test('completes the keys of the ledger', async () => {
  await using world = await given('orders', 'returns')
  await world.apply()
  const ledger = `sqlite:${world.workspace.path('ledger.db')}`
  expect(await complete('status', '--ledger', ledger, 'Pipe/')).toEqual(['Pipe/orders', 'Pipe/returns'])
  expect(await complete('status', '--ledger', 'sqlite:/nowhere/x.db', 'Pipe/')).toEqual([])
})

test('a shell that is not known is refused, with the nearest', async () => {
  const { code, stderr } = await runHere(['completion', 'fisch'])
  expect([code, stderr]).toEqual([64, expect.stringContaining('Did you mean fish?')])
})
