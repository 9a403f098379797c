import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { runHere } from '../support/command.ts'
import { furnish } from '../support/manifests.ts'
import { startHere } from '../support/program-here.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { createWorkspace } from '../support/workspace.ts'

test('the daemon ends after a slow reader has all lines of its log', async () => {
  using workspace = createWorkspace()
  let log = ''
  const stdout = new Writable({
    write(line: Buffer, _encoding, done) {
      log += line.toString()
      let turns = 100
      const later = () => void ((turns -= 1) > 0 ? setImmediate(later) : done())
      later()
    },
  })
  const [stopping, forced] = [AbortSignal.abort('SIGTERM'), new AbortController().signal]
  const io = { stdout, stderr: stdout, env: {}, clock: createFakeClock() }
  const args = ['run', '--sandbox', '--listen', '127.0.0.1:0', '--manifests', workspace.dir]
  expect(await runCommand({ ...io, stop: { stopping, forced, onHangup: () => undefined } }, args)).toBe(0)
  expect(log).toContain('"msg":"Stopped"')
  expect(stdout.writableLength).toBe(0)
})

test('a sandbox that cannot write its credentials says so, without a stack', async () => {
  using workspace = createWorkspace()
  furnish(workspace, 'orders')
  const folders = ['--manifests', workspace.manifests, '--credentials-dir', '/dev/null/x']
  const { code, stderr } = await runHere(['apply', '--sandbox', '--ledger', 'memory:', ...folders])
  expect([code, stderr]).toEqual([64, expect.stringMatching(/^pipewright: The sandbox cannot write .*\n$/)])
})

test('the sandbox says once where its page is, when no resource is in progress', async () => {
  using workspace = createWorkspace()
  furnish(workspace, 'orders')
  using clock = createTurningClock()
  const flags = [
    '--ledger',
    'memory:',
    '--listen',
    '127.0.0.1:0',
    '--manifests',
    workspace.manifests,
    '--secrets-dir',
    workspace.secrets,
  ]
  await using daemon = startHere(['run', '--sandbox', '--interval', '15s', ...flags], clock)
  const ready = () => daemon.log().filter(({ page }) => page !== undefined)
  await expect.poll(ready).toHaveLength(1)
  for (const field of ['page', 'baseUrl'])
    expect((await fetch(String(ready()[0]?.[field]))).status).toBeLessThan(500)
  const since = clock.monotonic()
  await expect.poll(() => clock.monotonic() - since).toBeGreaterThan(16_000)
  daemon.signal('SIGTERM')
  expect(await daemon.ended).toBe(0)
  expect(ready()).toHaveLength(1)
})
