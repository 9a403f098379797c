import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { isObject } from '../../src/lib/json.ts'
import { createWorkspace } from '../support/workspace.ts'
import type { Workspace } from '../support/workspace.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

const page = readFileSync(new URL('../../docs/pull-requests.md', import.meta.url), 'utf8')

const RIGHT = 'apiVersion: pipewright/v1\nkind: Alert\nmetadata: {name: lag}\nspec: {id: one}\n'
const WRONG = RIGHT.replace('id:', 'ident: one, id:')

test('the plain hook stops a wrong commit, by what is staged and not by what lies about', () => {
  using workspace = createWorkspace()
  const git = repository(workspace, blockWith('git checkout-index'))
  workspace.write('manifests/lag.yaml', WRONG)
  git('add', '.')
  const refused = git('commit', '-m', 'wrong')
  expect(refused.status).not.toBe(0)
  expect(refused.output).toContain('manifests/lag.yaml:4:8')
  expect(refused.output).toContain('There is no field "ident" in spec.')

  workspace.write('manifests/lag.yaml', RIGHT)
  expect(git('commit', '-m', 'still wrong in the index').status).not.toBe(0)
  git('add', '.')
  workspace.write('manifests/lag.yaml', WRONG)
  const taken = git('commit', '-m', 'right')
  expect(taken.output).toContain('1 manifest, no findings.')
  expect(taken.status).toBe(0)
})

test('the hook of pre-commit runs what exists', () => {
  const config: unknown = parse(blockWith('pipewright-validate'))
  expect(config).toMatchObject({
    repos: [
      {
        repo: 'local',
        hooks: [{ language: 'system', entry: 'pipewright validate manifests', pass_filenames: false }],
      },
    ],
  })
})

test('the workflow is YAML, and its commands are ours', () => {
  const workflow: unknown = parse(blockWith('upload-sarif'))
  const jobs = isObject(workflow) && isObject(workflow['jobs']) ? workflow['jobs'] : {}
  expect(Object.keys(jobs)).toEqual(['check', 'plan'])
  const steps = Object.values(jobs).flatMap((job) =>
    isObject(job) && Array.isArray(job['steps']) ? job['steps'] : [],
  )
  const runs = steps.flatMap((step: unknown) =>
    isObject(step) && typeof step['run'] === 'string' ? [step['run']] : [],
  )
  for (const run of runs)
    expect(spawnSync('sh', ['-n'], { input: run.replaceAll(/\$\{\{.*?\}\}/g, 'x') }).status).toBe(0)
  const all = runs.join('\n')
  expect(all).toContain('validate manifests -o github')
  expect(all).toContain('validate manifests -o sarif > findings.sarif')
  expect(all).toMatch(/plan --manifests[\s\S]*-o markdown > plan\.md/)
  expect(JSON.stringify(steps)).toContain('"sarif_file":"findings.sarif"')
})

test.each([
  ['github', /^::error file=manifests\/lag\.yaml,line=4,/m],
  ['sarif', /"ruleId": ?"unknown-field"/],
])('validate -o %s says what the workflow passes on', (output, said) => {
  using workspace = createWorkspace()
  workspace.write('manifests/lag.yaml', WRONG)
  const args = [MAIN, 'validate', 'manifests', '-o', output]
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: workspace.dir, encoding: 'utf8' })
  expect(stdout).toMatch(said)
  expect(status).toBe(1)
})

/** The code block of the page that holds these words. */
function blockWith(words: string): string {
  const blocks = [...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  return blocks.find((block) => block.includes(words)) ?? ''
}

/** A repository with that hook, and with a `pipewright` in the path. */
function repository(workspace: Workspace, hook: string) {
  const bin = workspace.path('bin')
  mkdirSync(bin)
  writeExecutable(join(bin, 'pipewright'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: workspace.dir, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: readonly string[]) => {
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com']
    const { status, stdout, stderr } = spawnSync('git', [...who, ...args], {
      cwd: workspace.dir,
      env,
      encoding: 'utf8',
    })
    return { status, output: stdout + stderr }
  }
  git('init', '-q')
  writeFileSync(workspace.path('.gitignore'), 'bin\nsecrets\n')
  writeExecutable(workspace.path('.git', 'hooks', 'pre-commit'), hook)
  return git
}

function writeExecutable(path: string, text: string): void {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}
