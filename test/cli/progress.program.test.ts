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
async function onTerminal(workspace: Workspace, args: readonly string[]) {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const printed = workspace.path('printed')
  const child = spawn('script', ['-qefc', `${command} > '${printed}'`, '/dev/null'], {
    cwd: workspace.dir,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const terminal = await text(child.stdout)
  return { terminal, printed: readFileSync(printed, 'utf8') }
}

test('what takes long shows one line that moves, on a terminal, and leaves nothing of it behind', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  workspace.write('credentials/alerts/token', ALERTS_TOKEN)
  furnish(workspace)
  for (let number = 0; number < 6; number += 1)
    workspace.write(`manifests/p${number}.yaml`, pipeManifest(`p${number}`))
  // So little that a plan of these takes more than a second.
  const args = [...platformArgs(workspace, platform.url), '--api-budget', '2/1s']
  const applied = await onTerminal(workspace, ['apply', ...args, '--log-format', 'json'])
  expect(applied.terminal).toMatch(/Reconciling \d of 7 …[^]*"msg":"Create finished"/)
  expect(applied.printed).not.toContain('…')
  expect(lastLine(applied.terminal)).toBe('')

  const planned = await onTerminal(workspace, ['plan', ...args])
  expect(planned.terminal).toMatch(/Planning \d of 7 …/)
  expect(planned.terminal.endsWith(ERASE)).toBe(true)
  expect(planned.printed).toContain('7 unchanged')
})

test.each([
  ['what is no terminal', false, {}],
  ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }],
  ['a terminal with TERM=dumb', true, { TERM: 'dumb' }],
])('%s gets nothing', (_, isTTY, env) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const stream = Object.assign(new PassThrough(), { isTTY })
  using progress = createProgress({ stderr: stream, env: { TERM: 'xterm', ...env } })
  progress.show('Reading', 1, 2)
  vi.advanceTimersByTime(10_000)
  expect(stream.read()).toBeNull()
})

/** What stands in the last line of a terminal, after all that was erased. */
function lastLine(shown: string): string {
  return shown.slice(Math.max(shown.lastIndexOf('\n') + 1, shown.lastIndexOf(ERASE) + ERASE.length))
}
