import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { isObject } from '../../src/lib/json.ts'
import { alertManifest, CREDENTIAL, furnish, pipeManifest, runArgs, SERVICE } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { LAUNCHER, ROOT, startProgram, urlOf } from '../support/process.ts'
import { liveOf } from '../support/live.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

const page = readFileSync(new URL('../../docs/how-to/pull-requests.md', import.meta.url), 'utf8')

const RIGHT = 'apiVersion: pipewright/v1\nkind: Alert\nmetadata: {name: lag}\nspec: {id: one}\n'
const WRONG = RIGHT.replace('id:', 'ident: one, id:')
const TOKEN = 'planted-admin-token-3e1'

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
  expect(taken.output).toContain('1 manifest')
  expect(taken.status).toBe(0)
})

describe('the workflow', () => {
  test('checks the manifests, and marks what is wrong', async () => {
    using workspace = createWorkspace()
    workspace.write('manifests/lag.yaml', WRONG)
    const runner = createRunner(workspace, {})
    const [mark] = await runner.runAll(job('check'))
    expect(mark).toMatchObject({ code: 1 })
    expect(mark?.stdout).toMatch(/^::error file=manifests\/lag\.yaml,line=4,/m)
    const sarif: unknown = JSON.parse(readFileSync(workspace.path('findings.sarif'), 'utf8'))
    expect(JSON.stringify(sarif)).toContain('unknown-field')

    workspace.write('manifests/lag.yaml', RIGHT)
    expect((await runner.runAll(job('check'))).map(({ code }) => code)).toEqual([0])
  })

  test('asks the daemon for the plan, comments, and fails for what would be refused', async () => {
    using workspace = createWorkspace()
    await using platform = await startPlatform()
    workspace.write('token', TOKEN)
    furnish(workspace, 'orders')
    const more = ['--admin-token-file', workspace.path('token')]
    await using daemon = startProgram(runArgs(workspace, platform.url, more))
    const live = liveOf(daemon, await urlOf(daemon))
    await live.says('Pipe/orders', 'Ready')

    using checkout = createWorkspace()
    checkout.write('manifests/service.yaml', SERVICE)
    checkout.write('manifests/orders.yaml', pipeManifest('orders'))
    checkout.write(
      'manifests/refunds.yaml',
      pipeManifest('refunds', { policy: { dependsOn: '[Pipe/orders]' } }),
    )
    const runner = createRunner(checkout, {
      'secrets.PIPEWRIGHT_ADMIN_TOKEN': TOKEN,
      'vars.PIPEWRIGHT_SERVER': live.url,
    })
    const created = await runner.runAll(job('plan'))
    expect(created.map(({ code, stderr }) => [code, stderr])).toEqual(created.map(() => [0, '']))
    expect(runner.comment()).toContain('create New, after Pipe/orders')
    expect(runner.comment()).toContain('+     topics: refunds')
    expect(runner.comment()).toContain('1 to create, 2 unchanged')

    checkout.write('manifests/orders.yaml', pipeManifest('orders', { replicas: 3 }))
    const refused = await runner.runAll(job('plan'))
    expect(refused.map(({ code }) => code)).toEqual([...refused.slice(1).map(() => 0), 1])
    expect(runner.comment()).toContain('-   replicas: 1')
    expect(runner.comment()).toContain('+   replicas: 3')
    expect(runner.comment()).not.toContain(TOKEN)
    expect(platform.pipes()).toHaveLength(1)
  })

  test('plans without the daemon as well: with a key, without the secrets of sources, and whatever an Alert lacks', async () => {
    using checkout = createWorkspace()
    await using platform = await startPlatform()
    checkout.write('manifests/service.yaml', SERVICE)
    checkout.write('manifests/orders.yaml', pipeManifest('orders'))
    checkout.write('manifests/lag.yaml', alertManifest('lag', 'alert-1'))
    const runner = createRunner(checkout, {
      'secrets.ANALYTICS_KEY_ID': CREDENTIAL.keyId,
      'secrets.ANALYTICS_KEY_SECRET': CREDENTIAL.keySecret,
      'vars.PIPEWRIGHT_BASE_URL': platform.url,
    })
    const own = [
      ...job('plan').slice(0, 1),
      ...steps(parse(blockWith('Mount the key'))),
      ...job('plan').slice(-2),
    ]
    const lacking = await runner.runAll(own)
    expect(lacking.map(({ code }) => code)).toEqual([0, 0, 0, 1])
    expect(runner.comment()).toContain('secret kafka/password not mounted here; not checked')
    expect(runner.comment()).toMatch(/\| create New \| `Pipe\/orders`/)
    expect(runner.comment()).toMatch(/`Alert\/lag` \| [^|]*--alerts-base-url/)

    // Nothing else is wrong.
    spawnSync('rm', [checkout.path('manifests/lag.yaml')])
    expect((await runner.runAll(own)).map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(platform.pipes()).toHaveLength(0)
  })
})

interface Step {
  readonly run: string | undefined
  readonly id: string | undefined
  readonly env: Readonly<Record<string, string>>
}

/** The steps of a job of the workflow that run something, with the variables of the job. */
function job(name: string): readonly Step[] {
  const workflow: unknown = parse(blockWith('upload-sarif'))
  const jobs = isObject(workflow) && isObject(workflow['jobs']) ? workflow['jobs'] : {}
  expect(Object.keys(jobs)).toEqual(['check', 'plan'])
  const found = jobs[name]
  if (!isObject(found)) throw new Error(`there is no job ${name}`)
  return steps(found['steps'], textsIn(found['env']))
}

function steps(list: unknown, env: Readonly<Record<string, string>> = {}): readonly Step[] {
  return (Array.isArray(list) ? list : [])
    .filter(isObject)
    .flatMap(({ run, uses, id, env: own, with: given }) => {
      const [, action] =
        /^your-org\/pipewright\/\.github\/actions\/([a-z]+)@v/.exec(typeof uses === 'string' ? uses : '') ??
        []
      if (action !== undefined) return stepsOfAction(action, textsIn(given))
      if (typeof run !== 'string') return []
      return [{ run, id: typeof id === 'string' ? id : undefined, env: { ...env, ...textsIn(own) } }]
    })
}

/** Those of an action of this repository, with its inputs filled in. */
function stepsOfAction(name: string, given: Readonly<Record<string, string>>): readonly Step[] {
  const folder = join(ROOT, '.github/actions', name)
  const action: unknown = parse(readFileSync(join(folder, 'action.yml'), 'utf8'))
  if (!isObject(action) || !isObject(action['runs'])) throw new Error(`${name} is no action`)
  const inputs = Object.entries(isObject(action['inputs']) ? action['inputs'] : {}).map(
    ([input, about]) => [input, given[input] ?? textsIn(about)['default'] ?? ''] as const,
  )
  expect(Object.keys(given).filter((input) => !inputs.some(([known]) => known === input))).toEqual([])
  const filled = ([variable, text]: readonly [string, string]) => [
    variable,
    inputs.reduce((sofar, [input, value]) => sofar.replace(`\${{ inputs.${input} }}`, value), text),
  ]
  return steps(action['runs']['steps']).map(({ run, id, env }) => ({
    run,
    id,
    env: { ...Object.fromEntries(Object.entries(env).map(filled)), GITHUB_ACTION_PATH: folder },
  }))
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  const pairs = isObject(value) ? Object.entries(value) : []
  return Object.fromEntries(pairs.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])))
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs the steps of a job as they stand on the page, in a checkout. Made up is only what GitHub gives: the values of `${{ … }}`, and `gh`, which takes a comment of at most 65,536 characters.
 */
function createRunner(checkout: Workspace, values: Readonly<Record<string, string>>) {
  const bin = checkout.path('bin')
  mkdirSync(bin)
  mkdirSync(checkout.path('temp'))
  const comment = checkout.path('comment.md')
  const gh = `#!/bin/sh
set -e
test "$1 $2 $3 $4 $5 $6" = "pr comment 7 --edit-last --create-if-none --body-file"
test -n "$GH_TOKEN"
test "$(wc -m < "$7")" -le 65536
cp "$7" '${comment}'
`
  writeExecutable(join(bin, 'gh'), gh)
  // What it installs is there already.
  writeExecutable(
    join(bin, 'npm'),
    '#!/bin/sh\ntest "$1 $2 $6" = "ci --omit=dev --prefix" && test -f "$7/package-lock.json"\n',
  )
  const outputs = new Map<string, string>()
  const added = checkout.path('added-to-path')
  writeFileSync(added, '')
  const known: Readonly<Record<string, string>> = {
    'github.event.number': '7',
    'github.token': 'a-token',
    ...values,
  }
  const filled = (text: string) =>
    text.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, name: string) => {
      const value = known[name] ?? outputs.get(name)
      if (value === undefined) throw new Error(`GitHub gives no ${name}`)
      return value
    })

  async function runStep({ run, id, env }: Step): Promise<Ran> {
    const output = checkout.path('output')
    writeFileSync(output, '')
    const own = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, filled(text)]))
    const installed = readFileSync(added, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    const given = {
      PATH: [bin, ...installed, dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
      GITHUB_PATH: added,
      HOME: checkout.dir,
      RUNNER_TEMP: checkout.path('temp'),
      GITHUB_OUTPUT: output,
    }
    const ended = await inShell(filled(run ?? ''), checkout.dir, { ...given, ...own })
    for (const line of readFileSync(output, 'utf8').split('\n')) {
      const [name = '', value] = line.split('=')
      if (value !== undefined) outputs.set(`steps.${id}.outputs.${name}`, value)
    }
    return ended
  }

  return {
    /** Without those that install, which say nothing. */
    async runAll(all: readonly Step[]): Promise<readonly Ran[]> {
      const ran: Ran[] = []
      for (const step of all) {
        const ended = await runStep(step)
        if (step.run?.endsWith('/install"') === true) expect(ended).toMatchObject({ code: 0, stderr: '' })
        else ran.push(ended)
        if (ended.code !== 0) break
      }
      return ran
    },
    comment: () => (existsSync(comment) ? readFileSync(comment, 'utf8') : ''),
  }
}

/** As GitHub does: bash, up to the first command that fails. The daemon that is asked may be watched by this process. */
function inShell(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Ran> {
  return promisify(execFile)('bash', ['-e', '-c', script], { cwd, env }).then(
    (ended) => ({ code: 0, ...ended }),
    (error: Ran) => error,
  )
}

/** The code block of the page that holds these words. */
function blockWith(words: string): string {
  const blocks = [...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  return blocks.find((block) => block.includes(words)) ?? ''
}

/** The `pipewright` of the page, with this checkout as the one that it names. */
function pathWithPipewright(workspace: Workspace): string {
  const bin = workspace.path('bin')
  mkdirSync(bin)
  const script = blockWith('exec /opt').replaceAll('/opt/pipewright/', ROOT)
  expect(script).toContain(LAUNCHER)
  writeExecutable(join(bin, 'pipewright'), script)
  return `${bin}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
}

/** A repository with that hook, and with a `pipewright` in the path. */
function repository(workspace: Workspace, hook: string) {
  const env = { PATH: pathWithPipewright(workspace), HOME: workspace.dir, GIT_CONFIG_NOSYSTEM: '1' }
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
