import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

/** What `.ci/run` comes to when these are its steps. */
function runOf(steps: string) {
  const [functions = ''] = readFileSync(join(ROOT, '.ci/run'), 'utf8').split('\nexport PATH=')
  const script = `${functions}\n${steps}\nfinish\n`
  return spawnSync('bash', ['-c', script, join(ROOT, '.ci/run')], { encoding: 'utf8' })
}

function summary(counts: string): string {
  return String.raw`printf '\e[2m      Tests \e[22m \e[1m${counts}\e[90m (7)\e[39m\n'`
}

test('tests that a machine skips are told in the last line of CI, which would pass for all', () => {
  const { stdout: said } = runOf(`
    some() { ${summary(String.raw`\e[32m4 passed\e[39m\e[2m | \e[22m\e[33m3 skipped\e[39m`)}; }
    all() { ${summary(String.raw`\e[32m7 passed\e[39m`)}; }
    step 'slow tests' some
    step 'tests' all
  `)
  expect(said).toContain('=== NOT CHECKED: slow tests: 3 skipped\n')
  expect(said).toContain('=== tests: passed after')
  expect(said).toMatch(/\nAll passed in \d+ s; 1 check could not be made: slow tests \(3 skipped\)\.\n$/)
})

test('a suite of the night that has no time left is told as not checked; a failed test of it, and a late step, fail CI', () => {
  const said = runOf(`
    STEP_LIMIT=1
    SUITES=(long broken)
    suite() { [ $1 = long ] || printf ' FAIL  some test\\n'; sleep 100; }
    late() { sleep 100; }
    night long broken
    step 'late' late
  `)
  expect(said.stdout).toMatch(/=== NOT CHECKED: long: no time left after \d+ s\n/)
  expect(said.stdout).toMatch(
    /\nFAILED: broken late; 1 check could not be made: long \(no time left after \d+ s\)\n$/,
  )
  expect(said.status).toBe(1)
})

test('CI names each suite of the night, and the path for which it runs', () => {
  using workspace = createWorkspace()
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], {
      cwd: workspace.dir,
      encoding: 'utf8',
    })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'before')
  workspace.write('docs/reference/runbook.md', 'text')
  git('add', '.')
  git('commit', '--quiet', '--message', 'after')
  const before = git('rev-parse', 'HEAD~1').trim()
  const { stdout } = runOf(
    `cd '${workspace.dir}'; CI_BASE=${before} SUITES_SINCE=$(base); changed_suites 2>&1; cd - >/dev/null`,
  )
  const since = `since ${before.slice(0, 8)}`
  expect(stdout).toContain(`The suite runbook runs: ${since}, docs/reference/runbook.md changed.\nrunbook\n`)
  expect(stdout).toContain(`The suite cluster runs at night only: ${since}, no path of it changed.\n`)
})

function matchIn(file: string, pattern: RegExp): string | undefined {
  return pattern.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1]
}

test('each suite of the night has a job in the nightly workflow', () => {
  const suites = matchIn('.ci/run', /^SUITES=\((.*)\)$/m)?.split(' ')
  expect(suites?.length).toBeGreaterThan(5)
  expect(matchIn('.github/workflows/nightly.yml', /suite: \[(.*)\]/)?.split(', ')).toEqual([
    ...(suites ?? []),
    'mutants',
  ])
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
