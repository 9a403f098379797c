import { spawn, type StdioOptions } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { furnish, pipeManifest, runArgs } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { MAIN, ROOT } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* A log that cannot be written, or that nobody reads, holds up neither the work nor the end. */

const PIPES = 100

/** A daemon that creates so many pipes and logs all about it, until it is told to stop. @returns its exit code */
async function livesThrough(stdout: 'stopped' | 'gone' | number): Promise<unknown> {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace)
  const pipes = Array.from({ length: PIPES }, (_, index) => pipeManifest(`p${index}`))
  workspace.write('manifests/pipes.yaml', pipes.join('---\n'))
  const more = ['--interval=1s', '--max-creates=1000', '--api-budget=1000/1s', '--log-level=trace']
  const stdio: StdioOptions = ['ignore', typeof stdout === 'number' ? stdout : 'pipe', 'ignore']
  const child = spawn(process.execPath, [MAIN, ...runArgs(workspace, platform.url, more)], {
    cwd: ROOT,
    stdio,
  })
  if (stdout === 'gone') child.stdout?.destroy()
  const ended = once(child, 'exit')
  try {
    // By then it has said far more than a pipe holds.
    await until(
      'pipes to be created, and each to be read again',
      () => platform.requests().length > 4 * PIPES,
    )
    child.kill('SIGTERM')
    const [code] = (await ended) as [unknown]
    return code
  } finally {
    child.kill('SIGKILL')
  }
}

test.concurrent('a reader that has stopped', async () => {
  expect(await livesThrough('stopped')).toBe(0)
})

test.concurrent('a reader that is gone', async () => {
  expect(await livesThrough('gone')).toBe(0)
})

test.concurrent('a disk that is full', async () => {
  const full = openSync('/dev/full', 'w')
  try {
    expect(await livesThrough(full)).toBe(0)
  } finally {
    closeSync(full)
  }
})
