import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { startPlatform } from '../support/platform.ts'
import { createWorkspace } from '../support/workspace.ts'

/** It listens, and is stopped at once. */
function sandbox(...args: readonly string[]) {
  return runHere(['sandbox', '--listen', '127.0.0.1:0', ...args], {}, { stopping: AbortSignal.abort() })
}

test('the sandbox says where it listens, and the credentials that it made', async () => {
  const { code, stdout, stderr } = await sandbox()
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(
    /^The sandbox listens on http:\/\/127\.0\.0\.1:\d+: give .*\nkeyId sandbox\nkeySecret [\da-f]{24}\nalerts token [\da-f]{24}\n$/,
  )
})

test('the sandbox does not repeat secrets that it was given, and makes the folder of its file', async () => {
  using workspace = createWorkspace()
  const given = ['--key-id', 'me', '--key-secret', 'planted-1', '--alerts-token', 'planted-2']
  const { code, stdout } = await sandbox(...given, '--data', workspace.path('new/world.json'))
  expect([code, existsSync(workspace.path('new'))]).toEqual([0, true])
  expect(stdout).toContain('keyId me\nkeySecret (as given)\nalerts token (as given)\n')
})

test('a port in use is told with the way out', async () => {
  await using other = await startPlatform()
  const { code, stderr } = await sandbox('--listen', new URL(other.url).host)
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/EADDRINUSE.* Give another address with --listen\.\n$/),
  ])
})

test.each([
  [['--listen', 'x'], /--listen: /],
  [['--profile', 'x'], /--profile/],
  [['--faults', '/none'], /^pipewright: \/none: cannot be read/],
  [['--world', '/none'], /^pipewright: \/none: cannot be read/],
  [['--data', import.meta.filename], /^pipewright: cannot use .* for the sandbox: file is not a database/],
])('%j is wrong use', async (args, says) => {
  const { code, stderr } = await sandbox(...args)
  expect([code, says.test(stderr)]).toEqual([64, true])
})
