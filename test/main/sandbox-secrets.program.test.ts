import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { liveOf } from '../support/live.ts'
import { pipeManifest, pipeThere, SERVICE } from '../support/manifests.ts'
import { runProgram, startProgram, urlOf } from '../support/process.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* The secrets of `--sandbox`: who makes them up, and which key is right. */

const SECRET_FILE = '.pipewright/credentials/analytics-api/keySecret'

/** A pipe in the console, which no manifest names. */
const FOUND = '7d1a5c3e-48b0-4f96-b2d7-e90c6a1f8b44'
const WORLD = { pipes: [pipeThere(FOUND, 'found')] }

function givenManifests(): Workspace {
  const workspace = createWorkspace()
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  workspace.write('manifests/.sandbox.yaml', JSON.stringify(WORLD))
  return workspace
}

async function startDaemon({ dir }: Workspace) {
  const args = ['run', '--sandbox', '--listen', '127.0.0.1:0', '--interval', '1s']
  const program = startProgram(args, { cwd: dir })
  return {
    ...liveOf(program, await urlOf(program)),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

function plan({ dir }: Workspace) {
  return runProgram(['plan', '--sandbox'], { cwd: dir })
}

/** Each file below a folder, with what is in it. */
function filesIn({ dir }: Workspace): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(dir, name)).isFile())
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(dir, name)))
          .digest('hex')}`,
    )
    .toSorted()
}

test('a look before the first start shows what that start would do, and writes nothing', async () => {
  using workspace = givenManifests()
  const before = filesIn(workspace)
  const { code, stdout } = await plan(workspace)
  expect([code, stdout]).toEqual([2, expect.stringContaining('+ Pipe/orders  create New')])
  const imported = ['import', 'Pipe/found', FOUND, '--service', 'analytics', '--sandbox']
  expect(await runProgram(imported, { cwd: workspace.dir })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('You can then remove policy.adopt') as string,
  })
  expect(filesIn(workspace)).toEqual(before)
})

test('a secret that is new is missing for plan as it is for the daemon, until the next start makes it up', async () => {
  using workspace = givenManifests()
  {
    await using live = await startDaemon(workspace)
    await live.says('Pipe/orders', 'Ready')
    const kafka = pipeManifest('clicks').replaceAll('name: kafka', 'name: other')
    workspace.write('manifests/clicks.yaml', kafka)
    await live.says('Pipe/clicks', 'SecretUnavailable')
    const { code, stdout } = await plan(workspace)
    expect([code, stdout]).toEqual([1, expect.stringContaining('Pipe/clicks  refuse SecretUnavailable')])
    expect(readdirSync(workspace.path('.pipewright/secrets'))).not.toContain('other')
    await live.stop()
  }
  const before = filesIn(workspace)
  expect(await plan(workspace)).toMatchObject({ code: 1 })
  expect(filesIn(workspace)).toEqual(before)
  const { stdout } = await runProgram(['apply', '--wait', '--sandbox'], { cwd: workspace.dir })
  expect(stdout).toMatch(/Pipe\/clicks +Ready/)
})

test('a key that is revoked stays revoked, for every command and after a restart, until the right one is back', async () => {
  using workspace = givenManifests()
  const secretFile = workspace.path(SECRET_FILE)
  let right: string
  {
    await using live = await startDaemon(workspace)
    await live.says('Pipe/orders', 'Ready')
    right = readFileSync(secretFile, 'utf8')
    writeFileSync(secretFile, 'revoked')
    await live.says('Service/analytics', 'AuthFailed')
    await isRefused(workspace)
    await live.stop()
  }
  await isRefused(workspace)
  {
    await using live = await startDaemon(workspace)
    await live.says('Service/analytics', 'AuthFailed')
    writeFileSync(secretFile, right)
    await live.says('Service/analytics', 'Ready')
    rmSync(secretFile)
    await live.says('Service/analytics', 'SecretUnavailable')
    await live.stop()
  }
  await using live = await startDaemon(workspace)
  await live.says('Service/analytics', 'Ready')
  expect(readFileSync(secretFile, 'utf8')).toBe(right)
  expect(statSync(workspace.path('.pipewright/sandbox.db')).mode & 0o777).toBe(0o600)
})

async function isRefused(workspace: Workspace): Promise<void> {
  const { code, stdout } = await plan(workspace)
  expect([code, stdout]).toEqual([1, expect.stringContaining('AuthFailed')])
  const imported = ['import', 'Pipe/found', FOUND, '--service', 'analytics', '--sandbox']
  const answer = await runProgram(imported, { cwd: workspace.dir })
  expect([answer.code, answer.stderr]).toEqual([1, expect.stringContaining('401')])
}

test('a sandbox of before, which remembered no keys, takes those that are there for right, once', async () => {
  using workspace = givenManifests()
  const apply = () => runProgram(['apply', '--wait', '--sandbox'], { cwd: workspace.dir })
  expect(await apply()).toMatchObject({ code: 0 })
  {
    using older = new DatabaseSync(workspace.path('.pipewright/sandbox.db'))
    older.exec("DELETE FROM object WHERE kind = 'secret'")
  }
  writeFileSync(workspace.path(SECRET_FILE), 'of before')
  expect(await plan(workspace)).toMatchObject({ code: 0 })
  expect(await apply()).toMatchObject({ code: 0 })
  writeFileSync(workspace.path(SECRET_FILE), 'another')
  expect(await apply()).toMatchObject({ code: 1, stdout: expect.stringContaining('AuthFailed') })
})
