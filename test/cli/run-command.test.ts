import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { runCommand } from '../../src/cli/program.ts'
import { createFakeClock } from '../support/fake-clock.ts'
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
