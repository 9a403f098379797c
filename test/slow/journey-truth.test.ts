import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ALERT, alertManifest, pipeManifest } from '../support/manifests.ts'
import type { Ended } from '../support/command.ts'
import { type Program, resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { given, type Given, shownAs } from '../ways-out/given.ts'
import { createRepository } from './support/git-sync-repository.ts'

/* "Is all well?" is never answered wrongly: the real program, stopped, killed and started again. */

interface StatusJson {
  readonly daemon: { readonly state: string; readonly url?: string }
  readonly resources: readonly {
    readonly key: string
    readonly status: string
    readonly reason: string
    readonly since: string
    readonly checkedAt?: string
    readonly manifestRevision?: string
  }[]
}

async function statusOf(world: Given): Promise<StatusJson & { readonly code: Ended['code'] }> {
  const { stdout, code } = await world.command('status', '-o', 'json')
  return { ...(JSON.parse(stdout) as StatusJson), code } // as the command prints it
}

async function settled(url: string, keys: readonly string[]): Promise<void> {
  await until('all to be reconciled', async () => {
    const shown = await resourcesOf(url)
    return keys.every((key) => shown.some((one) => one.key === key && one.status !== 'Progressing'))
  })
}

async function stopped(program: Program): Promise<void> {
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
}

/** What is shown comes from the reading at once; what is written down, and so known after a restart, from the reconcile. */
async function writtenDown(program: Program, key: string, reason: string): Promise<void> {
  await until(`the reconcile that writes down ${reason} of ${key}`, () =>
    program
      .log()
      .some((line) => line['msg'] === 'Reconciled' && line['key'] === key && line['reason'] === reason),
  )
}

const KEYS = ['Alert/lag', 'Pipe/drifted', 'Pipe/fine', 'Pipe/gone', 'Pipe/odd', 'Service/analytics']

/** A world with a drifted pipe, one in a bad state, an orphan, an alert and a service. */
async function troubled(): Promise<Given> {
  const world = await given('fine', 'drifted', 'odd', 'gone')
  world.workspace.write('manifests/lag.yaml', alertManifest('lag', ALERT.id))
  const { code } = await world.apply()
  expect(code).toBe(0)
  const ids = new Map(world.platform.pipes().map((pipe) => [pipe.name, pipe.id]))
  world.platform.change(ids.get('drifted') ?? '', { scaling: { replicas: 9 } })
  world.platform.change(ids.get('odd') ?? '', { state: 'Failed' })
  rmSync(world.workspace.path('manifests/gone.yaml'))
  return world
}

describe('the answer to "is all well?"', () => {
  test('a pipe in a bad state is not ready, one that nobody judged is not called healthy, a service is ready by an answer', async () => {
    await using world = await troubled()
    const { program, url } = await world.startDaemon()
    await shownAs(url, 'Pipe/odd', 'NotReady')
    await shownAs(url, 'Pipe/drifted', 'Drifted')
    await shownAs(url, 'Pipe/gone', 'Orphaned')
    await shownAs(url, 'Service/analytics', 'Ready')
    const fine = (await resourcesOf(url)).find(({ key }) => key === 'Pipe/fine')
    expect(fine).toMatchObject({
      status: 'Ready',
      message: 'In sync. Nothing says whether state Running is healthy.',
    })
    await stopped(program)
    const details = await world.command('status', 'Pipe/drifted')
    expect(details.stdout).toMatch(/scaling\.replicas\n\s+manifest {2}\S+\n\s+platform {2}9/)
  })

  test('after two restarts without an edit nothing is new: no line, no history, no since', async () => {
    await using world = await troubled()
    const first = await world.startDaemon('--log-level', 'debug')
    await settled(first.url, KEYS)
    await writtenDown(first.program, 'Pipe/gone', 'Orphaned')
    await shownAs(first.url, 'Pipe/odd', 'NotReady')
    await shownAs(first.url, 'Pipe/drifted', 'Drifted')
    // What was valid in this process, and is not, is as much so for the next one.
    world.workspace.write('manifests/fine.yaml', pipeManifest('fine').replace('scaling', 'scalling'))
    await writtenDown(first.program, 'Pipe/fine', 'InvalidManifest')
    await stopped(first.program)
    const before = await statusOf(world)
    const history = await world.command('history', '-o', 'json')
    for (const round of ['the first', 'the second']) {
      const { program, url } = await world.startDaemon()
      await settled(url, KEYS)
      // By the third reading that agrees, this process knows that the orphan's manifest is gone.
      await until('a reading that finds the orphan gone', async () => {
        const gone = await fetch(`${url}/api/v1/resources/Pipe/gone`)
        return ((await gone.json()) as { readonly action?: string }).action === 'report'
      })
      await stopped(program)
      const told = program.log().filter(({ level, msg }) => level !== 'debug' && !QUIET.has(String(msg)))
      expect(told, `what ${round} restart logs`).toEqual([])
      const readings = program.log().filter(({ msg }) => msg === 'Manifests read')
      expect(readings.map(({ changed }) => changed)).toEqual(readings.map(() => 0))
    }
    const after = await statusOf(world)
    expect(times(after)).toEqual(times(before))
    expect((await world.command('history', '-o', 'json')).stdout).toBe(history.stdout)
  })

  test('a daemon that was killed is said to have died, first, and status ends with 1', async () => {
    await using world = await given('orders')
    const { program, url } = await world.startDaemon()
    await shownAs(url, 'Pipe/orders', 'Ready')
    await until('a check that is written down', async () => {
      const { daemon, code } = await statusOf(world)
      return daemon.state === 'running' && code === 0
    })
    program.signal('SIGKILL')
    await program.ended
    const dead = await world.command('status')
    expect(dead.code).toBe(1)
    expect(dead.stdout.split('\n')[0]).toMatch(
      /^The daemon is not running: it died \(process \d+ on .*\)\. Its last sign of life was written (just now|.* ago);/,
    )
    const again = await world.startDaemon()
    await until('a check of its own', async () => {
      const orders = await fetch(`${again.url}/api/v1/resources/Pipe/orders`)
      return ((await orders.json()) as { readonly checkedAt?: number }).checkedAt !== undefined
    })
    await shownAs(again.url, 'Pipe/orders', 'Ready')
    await stopped(again.program)
    const ended = await world.command('status')
    expect(ended.code).toBe(0)
    expect(ended.stdout.split('\n')[0]).toMatch(/^No daemon is running\. The daemon stopped/)
    expect((await statusOf(world)).resources.find(({ key }) => key === 'Pipe/orders')?.checkedAt).toMatch(
      /^20/,
    )
  })

  test('right after a check that a person asked for, status says when it was', async () => {
    await using world = await given('orders', 'other')
    world.workspace.write('token', 'planted-admin-token')
    const token = ['--admin-token-file', world.workspace.path('token')]
    const { program, url } = await world.startDaemon(...token, '--interval', '1h')
    await settled(url, ['Pipe/orders', 'Pipe/other', 'Service/analytics'])
    const checkedAt = async (key: string) =>
      (await statusOf(world)).resources.find((one) => one.key === key)?.checkedAt
    await until(
      'the first checks to be written down',
      async () => (await checkedAt('Pipe/other')) !== undefined,
    )
    for (const key of [['Pipe/orders'], []]) {
      const before = Date.now()
      const asked = await world.command('reconcile', ...key, '--wait', ...token)
      expect(asked.code).toBe(0)
      expect(Date.parse((await checkedAt('Pipe/orders')) ?? '')).toBeGreaterThanOrEqual(before)
    }
    await stopped(program)
  })

  test('a revision says when this resource changed, and which one is in force', async () => {
    await using world = await given('orders')
    const { program, url } = await world.startDaemon()
    await shownAs(url, 'Pipe/orders', 'Ready')
    const before = (await statusOf(world)).resources.find(({ key }) => key === 'Pipe/orders')
    world.workspace.write('manifests/more.yaml', pipeManifest('more'))
    await shownAs(url, 'Pipe/more', 'Ready')
    const detail = (await (await fetch(`${url}/api/v1/resources/Pipe/orders`)).json()) as Record<
      string,
      unknown
    >
    expect(detail['manifestRevision']).toBe(before?.manifestRevision)
    expect(detail['revision']).not.toBe(before?.manifestRevision)
    await stopped(program)
  })

  test('an edit that no commit holds is applied, and shown as the commit of the checkout', async () => {
    await using world = await given('orders', 'other')
    const { commit } = checkoutOf(world)
    const { program, url } = await world.startDaemon()
    await shownAs(url, 'Pipe/orders', 'Ready')
    await shownAs(url, 'Pipe/other', 'Ready')
    world.workspace.write('manifests/orders.yaml', pipeManifest('orders', { replicas: 2 }))
    await until('the edit to be in force', () =>
      program.log().some(({ msg, changed }) => msg === 'Manifests read' && changed === 1),
    )
    expect(await revisionsOf(url)).toEqual({ inForce: commit, orders: commit, other: commit })
    await stopped(program)
  })
})

/** Puts the manifests under Git, and nothing else. */
function checkoutOf({ workspace }: Given) {
  const repository = createRepository(workspace.dir, workspace.path('origin.git'))
  workspace.write('.gitignore', '/*\n!/manifests/\n')
  return { commit: repository.commit('one') }
}

/** What the API says is in force, and where two pipes changed last. */
async function revisionsOf(url: string) {
  const of = async (path: string) =>
    (await (await fetch(`${url}/api/v1/${path}`)).json()) as {
      readonly revision?: string | { readonly id: string }
      readonly manifestRevision?: string
    }
  const [orders, other] = [await of('resources/Pipe/orders'), await of('resources/Pipe/other')]
  return { inForce: orders.revision, orders: orders.manifestRevision, other: other.manifestRevision }
}

function times({ resources }: StatusJson) {
  return resources.map(({ key, status, since, manifestRevision }) => [key, status, since, manifestRevision])
}

/** Lines that each start and stop have. */
const QUIET: ReadonlySet<string> = new Set([
  'Started',
  'Stopping',
  'Stopped',
  'Manifests read',
  'Watch mode changed',
])
