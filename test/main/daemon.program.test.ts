import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { alertManifest, ENDPOINT, furnish, pipeManifest, runArgs } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { startHere } from '../support/program-here.ts'
import { resourcesOf, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { startPlatform } from '../support/platform.ts'

/** Loaded before the program: once there is a file of the name in `HANGS`, no listing of a folder below `BELOW` ends; each leaves a letter there. */
const HANGING_LISTS = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync, existsSync, promises } from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const { readdir } = promises
  const { HANGS, BELOW } = process.env
  promises.readdir = (...args) => {
    if (!existsSync(HANGS) || !String(args[0]).startsWith(BELOW)) return readdir(...args)
    appendFileSync(HANGS, 'x')
    return new Promise(() => {})
  }
  syncBuiltinESMExports()
`)}`

function writeSet(workspace: Workspace, pipes: number): void {
  furnish(workspace)
  workspace.write('manifests/endpoint.yaml', ENDPOINT)
  workspace.write('manifests/alert.yaml', alertManifest('lag', 'alert-1'))
  for (let i = 0; i < pipes; i += 1) workspace.write(`manifests/pipes/p${i}.yaml`, pipeManifest(`p${i}`))
}

async function allReady(url: string, count: number): Promise<void> {
  await until(`${count} resources to be ready`, async () => {
    const items = await resourcesOf(url)
    return items.length === count && items.every((item) => item.status === 'Ready')
  })
}

describe('the daemon against a platform', () => {
  test.each([['--wait'], ['Pipe/p0', '--wait']])(
    'asked for a reconcile by "%s", it takes the credentials of now, and not of a moment ago',
    async (...words) => {
      using workspace = createWorkspace()
      await using platform = await startPlatform()
      writeSet(workspace, 1)
      workspace.write('token', 'planted-admin-token')
      const token = ['--admin-token-file', workspace.path('token')]
      await using program = startHere(runArgs(workspace, platform.url, token))
      const url = await urlOf(program)
      await allReady(url, 4)
      const check = () => runHere(['reconcile', ...words, '--server', url, ...token])
      expect((await check()).code).toBe(0)
      // Within the second for which the files that were read would serve.
      workspace.write('credentials/analytics-api/keySecret', 'revoked')
      expect((await check()).stdout).toContain('AuthFailed')
    },
  )

  test('creates each pipe once, and a second run sends one GET for each pipe and alert, and nothing else', async () => {
    using workspace = createWorkspace()
    await using platform = await startPlatform()
    writeSet(workspace, 4)
    {
      await using first = startProgram(runArgs(workspace, platform.url))
      await allReady(await urlOf(first), 7)
      first.signal('SIGTERM')
      expect(await first.ended).toBe(0)
    }
    expect(
      platform
        .requests()
        // On a slow machine what was created is read once more before the end: ten seconds later.
        .filter(({ method, path }) => method === 'POST' || !path.includes('/pipes/'))
        .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)
        .toSorted(),
    ).toEqual([
      'GET alert-1',
      'POST pipes',
      'POST pipes',
      'POST pipes',
      'POST pipes',
      'POST serviceQueryEndpoint',
    ])
    const before = platform.requests().length
    {
      await using second = startProgram(runArgs(workspace, platform.url))
      const url = await urlOf(second)
      await allReady(url, 7)
      await until('every pipe and alert to be looked at', () => platform.requests().length >= before + 5)
      // A restart brings no change, so that nothing was applied late.
      const metrics = await (await fetch(`${url}/metrics`)).text()
      expect(metrics).toContain('pipewright_change_to_apply_seconds_count 0')
      second.signal('SIGTERM')
      expect(await second.ended).toBe(0)
      const changes = second
        .log()
        .filter((line) => line['msg'] === 'Reconciled' || line['msg'] === 'Condition changed')
      expect(changes).toEqual([])
    }
    const later = platform.requests().slice(before)
    expect(later.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET', 'GET'])
    expect(new Set(later.map(({ path }) => path)).size).toBe(5)
    expect(platform.pipes()).toHaveLength(4)
  })

  test('a file system that hangs holds up neither a check nor the stop', async () => {
    using workspace = createWorkspace()
    await using platform = await startPlatform()
    writeSet(workspace, 1)
    const hangs = workspace.path('hangs')
    const hung = () => (existsSync(hangs) ? readFileSync(hangs, 'utf8').length : 0)
    const times = ['--interval', '1s', '--request-timeout', '500ms', '--shutdown-grace', '3s']
    const args = [...runArgs(workspace, platform.url), ...times]
    await using program = startProgram(args, {
      nodeFlags: ['--import', HANGING_LISTS],
      env: { HANGS: hangs, BELOW: workspace.manifests },
    })
    const url = await urlOf(program)
    await allReady(url, 4)
    writeFileSync(hangs, '')
    workspace.write('manifests/pipes/more.yaml', pipeManifest('more'))
    await until('a walk and a reading to hang', () => hung() >= 2)
    const before = platform.requests().length
    await until('the check of the pipe', () => platform.requests().length > before)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    program.signal('SIGTERM')
    expect(await program.ended).toBe(0)
    expect(program.log().at(-1)).toMatchObject({ msg: 'Stopped', unfinished: 0 })
  })

  test('an edit of one manifest touches that resource at once, and no other', async () => {
    using workspace = createWorkspace()
    await using platform = await startPlatform()
    writeSet(workspace, 6)
    await using program = startProgram(runArgs(workspace, platform.url))
    const url = await urlOf(program)
    await allReady(url, 9)
    // What was created is read once more after ten seconds; this comes before, so that nothing else reads it meanwhile.
    program.signal('SIGHUP')
    await until('all to be read', () => {
      const read = platform.requests().filter(({ method }) => method === 'GET')
      return (
        platform.pipes().every(({ id }) => read.some(({ path }) => path.endsWith(id))) && read.length >= 8
      )
    })
    const before = platform.requests().length
    workspace.write('manifests/pipes/p3.yaml', pipeManifest('p3', { replicas: 2 }))
    const edited = await until('the edit to be reported', async () =>
      (await resourcesOf(url)).find(({ status }) => status === 'Drifted'),
    )
    expect(edited).toMatchObject({ key: 'Pipe/p3', reason: 'NotUpdatable' })
    expect(edited.message).toContain('scaling.replicas')
    workspace.write('manifests/pipes/p9.yaml', pipeManifest('p9'))
    await until('the new pipe', () => platform.pipes().length === 7)
    const later = platform.requests().slice(before)
    expect(later.map(({ method }) => method)).toEqual(['GET', 'POST'])
    expect(platform.pipes()).toHaveLength(7)
  })
})
