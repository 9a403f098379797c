import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createProgress } from '../../src/cli/render/progress.ts'
import { ALERTS_TOKEN, furnish, pipeManifest, platformArgs } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { MAIN } from '../support/process.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

const ERASE = '\r\u001b[2K'

/** Runs a command on a terminal of its own. @returns all that it wrote there, and what it printed into a file */
async function onTerminal(
  workspace: Workspace,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const printed = workspace.path('printed')
  const child = spawn('script', ['-qefc', `${command} > '${printed}'`, '/dev/null'], {
    cwd: workspace.dir,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const terminal = await text(child.stdout)
  return { terminal, printed: readFileSync(printed, 'utf8') }
}

/** A platform that lets through so little that a plan of these takes more than a second. */
async function manyPipes() {
  const stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  const platform = stack.use(await startPlatform())
  workspace.write('credentials/alerts/token', ALERTS_TOKEN)
  furnish(workspace)
  for (let number = 0; number < 6; number += 1)
    workspace.write(`manifests/p${number}.yaml`, pipeManifest(`p${number}`))
  const args = [...platformArgs(workspace, platform.url), '--api-budget', '2/1s']
  return { workspace, args, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('what takes long shows one line that moves, on a terminal, and leaves nothing of it behind', async () => {
  await using given = await manyPipes()
  const { workspace, args } = given
  const applied = await onTerminal(workspace, ['apply', ...args])
  expect(applied.terminal).toMatch(/Reconciling \d of 7 …/)
  expect(applied.printed).not.toContain('…')
  expect(lastLine(applied.terminal)).toBe('')

  const planned = await onTerminal(workspace, ['plan', ...args])
  expect(planned.terminal).toMatch(/Planning \d of 7 …/)
  expect(planned.terminal.endsWith(ERASE)).toBe(true)
  expect(planned.printed).toContain('7 unchanged')
})

test.each([
  ['NO_COLOR', { NO_COLOR: '1' }],
  ['TERM=dumb', { TERM: 'dumb' }],
])('nothing moves with %s', async (_, env) => {
  await using given = await manyPipes()
  const { workspace, args } = given
  const { terminal, printed } = await onTerminal(workspace, ['apply', ...args], env)
  expect(terminal).not.toContain(ERASE)
  expect(terminal).not.toContain('Reconciling 1')
  expect(printed).toContain('Pipe/p5')
})

test('what is no terminal gets nothing', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const stream = new PassThrough()
  using progress = createProgress({ stderr: stream, env: { TERM: 'xterm' } })
  progress.show('Reading', 1, 2)
  vi.advanceTimersByTime(10_000)
  expect(stream.read()).toBeNull()
})

/** What stands in the last line of a terminal, after all that was erased. */
function lastLine(shown: string): string {
  return shown.slice(Math.max(shown.lastIndexOf('\n') + 1, shown.lastIndexOf(ERASE) + ERASE.length))
}
