import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

/** What `.ci/run` says when these are its steps. */
function saidOf(steps: string): string {
  const [functions = ''] = readFileSync(join(ROOT, '.ci/run'), 'utf8').split('\nexport PATH=')
  const script = `${functions}\n${steps}\nfinish\n`
  return execFileSync('bash', ['-c', script, join(ROOT, '.ci/run')], { encoding: 'utf8' })
}

function summary(counts: string): string {
  return String.raw`printf '\e[2m      Tests \e[22m \e[1m${counts}\e[90m (7)\e[39m\n'`
}

test('tests that a machine skips are told in the last line of CI, which would pass for all', () => {
  const said = saidOf(`
    some() { ${summary(String.raw`\e[32m4 passed\e[39m\e[2m | \e[22m\e[33m3 skipped\e[39m`)}; }
    all() { ${summary(String.raw`\e[32m7 passed\e[39m`)}; }
    step 'slow tests' some
    step 'tests' all
  `)
  expect(said).toContain('=== NOT CHECKED: slow tests: 3 skipped\n')
  expect(said).toContain('=== tests: passed after')
  expect(said).toMatch(/\nAll passed in \d+ s; 1 check could not be made: slow tests \(3 skipped\)\.\n$/)
})

/** For Node's `--import`: nearly all of the memory is used. */
const FULL = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from 'node:module'
  import v8 from 'node:v8'
  v8.getHeapStatistics = () => ({ used_heap_size: 9, heap_size_limit: 10 })
  syncBuiltinESMExports()
`)}`

test('an exploration whose memory is full before its end does not pass for a whole one', () => {
  const args = ['--import', FULL, join(ROOT, 'test/explore/main.ts'), '--world', 'words']
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stdout).toContain('(the memory is full)')
  expect(status).toBe(1)
})

test('the hook under an older Node says what to do where pre-commit runs, and installs nothing before', () => {
  using workspace = createWorkspace()
  workspace.write('bin/node', '#!/bin/sh\n[ "$1" = --version ] && echo v20.20.2\n')
  chmodSync(workspace.path('bin/node'), 0o755)
  const env = { PATH: [workspace.path('bin'), process.env['PATH']].join(delimiter) }
  const { status, stderr } = spawnSync(join(ROOT, '.ci/hook'), ['manifests'], { env, encoding: 'utf8' })
  expect(stderr).toBe(
    'pipewright-validate needs Node 26 or newer, and this is v20.20.2 at ' +
      `${workspace.path('bin/node')}. Put the newer one first in the PATH.\n`,
  )
  expect(status).toBe(1)
})
