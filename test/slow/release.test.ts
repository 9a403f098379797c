import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/process.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { CHART, GOOD, HELMS, objectsIn, podsIn, renderValues, validated, type Helm } from './support/chart.ts'
import { run, runWell, tool } from './support/tools.ts'

/* What a release is made of, as far as it can be made on any machine: .ci/release, .github, .pre-commit-hooks.yaml. */

const SCRIPTS = join(ROOT, '.ci/release')

const RIGHT = 'apiVersion: pipewright/v1\nkind: Alert\nmetadata: {name: lag}\nspec: {id: one}\n'
const WRONG = RIGHT.replace('id:', 'ident: one, id:')

const MINUTES = 60_000

/** With the Node that this process runs on before any other. */
function withNode(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    ...more,
  }
}

test('actionlint finds nothing in the workflows', async () => {
  const ended = await run(tool('actionlint'), ['-shellcheck', tool('shellcheck')], { cwd: ROOT })
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('shellcheck finds nothing in the scripts', async () => {
  const files = (await runWell('git', ['ls-files', '.ci', '.github', 'test/kubernetes/*.sh'], { cwd: ROOT }))
    .trim()
    .split('\n')
  const scripts = files.filter((file) =>
    readFileSync(join(ROOT, file), 'utf8').startsWith('#!/usr/bin/env bash'),
  )
  expect(scripts.length).toBeGreaterThan(5)
  const ended = await run(tool('shellcheck'), scripts, { cwd: ROOT })
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
})

describe('the npm package', () => {
  test('works in an empty folder: a right directory ends with 0, a wrong manifest with 1 and its line', async () => {
    using workspace = createWorkspace()
    const out = workspace.path('out')
    const env = withNode({ GITHUB_REPOSITORY: 'acme/pipewright' })
    const file = (await runWell(process.execPath, [join(SCRIPTS, 'npm-package.ts'), out], { env })).trim()
    expect(readdirSync(out)).toEqual([`pipewright-${packageJson.version}.tgz`])
    const about: unknown = JSON.parse(await runWell('tar', ['xzOf', file, 'package/package.json']))
    expect(about).toMatchObject({
      name: 'pipewright',
      version: packageJson.version,
      repository: { url: 'git+https://github.com/acme/pipewright.git' },
      publishConfig: { access: 'public', provenance: true },
    })
    for (const member of ['private', 'dependencies', 'devDependencies', 'scripts'])
      expect(about).not.toHaveProperty(member)

    const tried = await run(join(SCRIPTS, 'try-package'), [file], { env, limitMs: 4 * MINUTES })
    expect(tried).toMatchObject({ code: 0 })
    expect(tried.stdout).toContain(`${packageJson.version}\n`)
    expect(tried.stdout).toContain('no findings')
    expect(tried.stdout).toContain('::error file=wrong.yaml,line=4,')
  })
})

describe('the chart', () => {
  const image = 'ghcr.io/acme/pipewright'
  const digest = `sha256:${'ab'.repeat(32)}`
  const make = (folder: string, said = digest) =>
    run(process.execPath, [join(SCRIPTS, 'chart.ts'), folder, image, said], {
      env: withNode({
        PATH: [dirname(tool('helm')), process.env['PATH'] ?? ''].join(delimiter),
        GITHUB_REPOSITORY: 'Acme/pipewright',
      }),
    })

  test('is packed with its image by digest, renders install.yaml, and runs examples with platform.sandbox alone', async () => {
    using workspace = createWorkspace()
    expect(await make(workspace.dir)).toMatchObject({ code: 0 })
    const file = workspace.path(`pipewright-chart-${packageJson.version}.tgz`)
    const values: unknown = parse(await runWell('tar', ['xzOf', file, 'pipewright/values.yaml']))
    const about: unknown = parse(await runWell('tar', ['xzOf', file, 'pipewright/Chart.yaml']))
    expect(about).toMatchObject({
      home: 'https://github.com/Acme/pipewright',
      sources: ['https://github.com/Acme/pipewright'],
    })
    const before = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as { readonly image: object }
    expect(values).toEqual({ ...before, image: { ...before.image, repository: image } })

    const install = workspace.path('install.yaml')
    const objects = objectsIn(readFileSync(install, 'utf8'))
    expect(objects.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Namespace', 'StatefulSet']))
    const elsewhere = objects.filter(
      ({ kind, metadata }) =>
        kind !== 'Namespace' && !('namespace' in metadata && metadata.namespace === 'pipewright'),
    )
    expect(elsewhere).toEqual([])
    expect(JSON.stringify(objects)).toContain(`"image":"${image}@${digest}"`)
    const checked = await run(tool('kubectl-validate'), [install, '--version', '1.30'])
    expect(checked.stdout + checked.stderr).not.toContain('ERROR')
    expect(checked.code).toBe(0)

    const demo = await renderValues(workspace.dir, { platform: { sandbox: true } }, { chart: file })
    const [pod] = podsIn(await validated(workspace.dir, demo))
    const examples = { name: 'PIPEWRIGHT_MANIFESTS', value: '/app/manifests' }
    expect(pod?.containers[0]?.env).toContainEqual(examples)
    expect(pod?.volumes).toEqual([])
  })

  test('runs the released image, unless a tag or a digest is named', async () => {
    using workspace = createWorkspace()
    expect(await make(workspace.dir)).toMatchObject({ code: 0 })
    const file = workspace.path(`pipewright-chart-${packageJson.version}.tgz`)
    const other = `sha256:${'cd'.repeat(32)}`
    const images = async (helm: Helm, own: object) => {
      const rendered = await renderValues(workspace.dir, { ...GOOD, image: own }, { helm, chart: file })
      return podsIn(rendered).flatMap(({ containers }) => containers.map((container) => container.image))
    }
    for (const helm of HELMS) {
      expect(new Set(await images(helm, {}))).toEqual(new Set([`${image}@${digest}`]))
      expect(new Set(await images(helm, { tag: 'hotfix' }))).toEqual(new Set([`${image}:hotfix`]))
      expect(new Set(await images(helm, { digest: other }))).toEqual(new Set([`${image}@${other}`]))
      expect(new Set(await images(helm, { repository: 'mirror.example/x' }))).toEqual(
        new Set([`mirror.example/x@${digest}`]),
      )
    }
  })

  test('is not packed with a tag in place of a digest', async () => {
    using workspace = createWorkspace()
    const ended = await make(workspace.path('out'), '1.2.3')
    expect(ended.code).not.toBe(0)
    expect(ended.stderr).toContain('"1.2.3" is no digest')
  })
})

/** Of this repository, what somebody gets who uses it in theirs. */
function checkoutIn(workspace: Workspace): string {
  const checkout = workspace.path('checkout')
  for (const name of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'bin',
    'src',
    '.ci',
    '.github',
    '.pre-commit-hooks.yaml',
  ])
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true })
  return checkout
}

test('the actions: one puts the command into the PATH, the other marks what is wrong and fails', async () => {
  using workspace = createWorkspace()
  const actions = join(checkoutIn(workspace), '.github/actions')
  mkdirSync(workspace.path('temp'))
  workspace.write('path', '')
  const runner = { RUNNER_TEMP: workspace.path('temp'), GITHUB_PATH: workspace.path('path') }
  await runWell(join(actions, 'setup/install'), [], { env: withNode(runner), limitMs: 4 * MINUTES })
  const [bin = ''] = readFileSync(workspace.path('path'), 'utf8').split('\n')
  const env = withNode({ PATH: [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter) })
  const version = await runWell('pipewright', ['--version'], { env, cwd: workspace.dir })
  expect(version).toBe(`${packageJson.version}\n`)

  const validate = (more: Readonly<Record<string, string>> = {}) =>
    run(join(actions, 'validate/validate'), [], {
      cwd: workspace.dir,
      env: { ...env, MANIFESTS: 'manifests', ...more },
    })
  workspace.write('manifests/lag.yaml', WRONG)
  const wrong = await validate({ SARIF_FILE: 'findings.sarif' })
  expect(wrong).toMatchObject({ code: 1 })
  expect(wrong.stdout).toMatch(/^::error file=manifests\/lag\.yaml,line=4,/m)
  expect(JSON.stringify(JSON.parse(readFileSync(workspace.path('findings.sarif'), 'utf8')))).toContain(
    'unknown-field',
  )

  workspace.write('manifests/lag.yaml', RIGHT)
  expect(await validate()).toMatchObject({ code: 0 })
  expect(await validate({ MANIFESTS: 'nowhere', SARIF_FILE: 'none.sarif' })).not.toMatchObject({ code: 0 })
})

test('the hook stops a commit with a wrong manifest, in the hands of pre-commit itself', async () => {
  using workspace = createWorkspace()
  const hooks = checkoutIn(workspace)
  const author = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  }
  const env = withNode({ ...author, PRE_COMMIT_HOME: workspace.path('home') })
  const git = (cwd: string, ...args: readonly string[]) =>
    run('git', args, { cwd, env, limitMs: 5 * MINUTES })
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'hooks'],
  ])
    await git(hooks, ...args)
  const revision = (await git(hooks, 'rev-parse', 'HEAD')).stdout.trim()

  const mine = workspace.path('mine')
  mkdirSync(mine)
  await git(mine, 'init', '-q')
  workspace.write(
    'mine/.pre-commit-config.yaml',
    `repos:\n  - repo: ${hooks}\n    rev: ${revision}\n    hooks: [{id: pipewright-validate}]\n`,
  )
  await runWell(tool('pre-commit'), ['install', '--install-hooks'], { cwd: mine, env, limitMs: 5 * MINUTES })
  const commit = async () => {
    await git(mine, 'add', '.')
    return git(mine, 'commit', '-qm', 'manifests')
  }
  workspace.write('mine/manifests/lag.yaml', WRONG)
  const refused = await commit()
  expect(refused.code).toBe(1)
  expect(refused.stdout + refused.stderr).toContain('manifests/lag.yaml:4:8')

  workspace.write('mine/manifests/lag.yaml', RIGHT)
  expect(await commit()).toMatchObject({ code: 0 })
  expect((await git(mine, 'log', '--format=%s')).stdout).toBe('manifests\n')

  // Of each form that a manifest has; and where one goes that another needs.
  workspace.write('mine/manifests/later.json', JSON.stringify(parse(WRONG.replace('lag', 'later'))))
  expect(await commit()).toMatchObject({ code: 1 })
  const later = RIGHT.replace('lag}', 'later}').replace('spec:', 'policy: {dependsOn: [Alert/lag]}\nspec:')
  workspace.write('mine/manifests/later.json', JSON.stringify(parse(later.replace('id: one', 'id: two'))))
  expect(await commit()).toMatchObject({ code: 0 })
  rmSync(workspace.path('mine/manifests/lag.yaml'))
  const gone = await commit()
  expect(gone.code).toBe(1)
  expect(gone.stdout + gone.stderr).toContain('Alert/lag')
})
