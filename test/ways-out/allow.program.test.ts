import { expect, test } from 'vitest'
import { OTHER_SERVICE_ID, pipeManifest, serviceManifest } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { given, type Given, shownAs } from './given.ts'

/* Too many creations at once, let pass beside a running daemon. */

const NAMES = ['a', 'b', 'c'] as const

async function heldBack(...more: readonly string[]) {
  const world = await given(...NAMES)
  const daemon = await world.startDaemon('--max-creates', '2', ...more)
  await shownAs(daemon.url, 'Pipe/c', 'Refused')
  return { world, ...daemon }
}

async function allCreated(world: Given): Promise<void> {
  await until('all to be created', () => world.platform.pipes().length === NAMES.length)
}

test('the command lets them pass; what a later commit adds waits again', async () => {
  const { world, url } = await heldBack()
  await using _ = world
  const allowed = await world.command('allow', '-o', 'json')
  expect(JSON.parse(allowed.stdout)).toEqual({ allowed: ['Pipe/a', 'Pipe/b', 'Pipe/c'], dryRun: false })
  await allCreated(world)
  const more = ['d', 'e', 'f'].map((name) => pipeManifest(name))
  world.workspace.write('manifests/more.yaml', more.join('---\n'))
  await shownAs(url, 'Pipe/f', 'Refused')
  expect(world.posts()).toBe(3)
  expect((await world.command('history', 'Pipe/a', '-o', 'json')).stdout).toContain('"action": "allow"')
})

test('the daemon lets them pass when it is asked with the admin token, and only then', async () => {
  await using world = await given(...NAMES)
  world.workspace.write('token', 'planted-admin-token')
  const file = world.workspace.path('token')
  const { url } = await world.startDaemon('--max-creates', '2', '--admin-token-file', file)
  await shownAs(url, 'Pipe/c', 'Refused')
  const bare = await fetch(`${url}/-/allow`, { method: 'POST' })
  expect(bare.status).toBe(401)
  const misspelt = await fetch(`${url}/-/allow`, {
    method: 'POST',
    headers: { authorization: 'Bearer planted-admin-token', 'content-type': 'application/json' },
    body: JSON.stringify({ services: 'analytics' }),
  })
  expect(misspelt.status).toBe(400)
  expect(world.posts()).toBe(0)
  const asked = await world.command('allow', '--server', url, '--admin-token-file', file)
  expect(asked.stdout).toContain('Allowed 3 creations, once')
  await allCreated(world)
  expect(world.posts()).toBe(3)
})

test('a daemon that is killed right after the word creates each once when it is back', async () => {
  const { world, program } = await heldBack()
  await using _ = world
  expect((await world.command('allow')).code).toBe(0)
  program.signal('SIGKILL')
  await program.ended
  const again = await world.startDaemon('--max-creates', '2')
  await allCreated(world)
  for (const name of NAMES) await shownAs(again.url, `Pipe/${name}`, 'Ready')
  expect(world.posts()).toBe(3)
})

test('where nothing is held back it says so', async () => {
  await using world = await given('orders')
  await world.apply()
  expect((await world.command('allow')).stdout).toContain('The create limit blocks no resource now')
  // Another directory than that of which some are held back.
  const more = NAMES.map((name) => pipeManifest(name))
  world.workspace.write('manifests/more.yaml', more.join('---\n'))
  await world.apply('--max-creates', '2')
  world.workspace.write('manifests/more.yaml', '# gone\n')
  const wrong = await world.command('allow')
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('It blocks 3 resources of the ledger without a manifest there'),
  ])
})

test('a dry run names what is held back; its number lets pass as many, and no more', async () => {
  await using world = await given(...NAMES)
  world.workspace.write('token', 'planted-admin-token')
  const asking = ['--admin-token-file', world.workspace.path('token')]
  const { url } = await world.startDaemon('--max-creates', '2', ...asking)
  await shownAs(url, 'Pipe/c', 'Refused')
  const dry = await world.command('allow', '--dry-run', '--server', url, ...asking)
  expect(dry.stdout).toContain('The create limit blocks 3 creations. No action was allowed:')
  expect(dry.stdout).toContain('allow --count 3')

  world.workspace.write('manifests/d.yaml', pipeManifest('d'))
  await shownAs(url, 'Pipe/d', 'Refused')
  for (const where of [[], ['--server', url, ...asking]]) {
    const late = await world.command('allow', '--count', '3', ...where)
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('blocks 4 now')])
  }
  expect(world.posts()).toBe(0)

  const overview: unknown = await (await fetch(`${url}/api/v1/overview`)).json()
  expect(overview).toMatchObject({ createLimit: { held: 4 } })
  expect((await world.command('allow', '--count', '4')).code).toBe(0)
  await until('all to be created', () => world.platform.pipes().length === 4)
})

test('what was allowed is refused no more, also while it waits for its turn', async () => {
  await using world = await given(...NAMES)
  const { url } = await world.startDaemon('--max-creates', '2', '--api-budget', '1/60s')
  await shownAs(url, 'Pipe/c', 'Refused')
  expect((await world.command('allow')).code).toBe(0)
  await until('the first to be created', () => world.platform.pipes().length === 1)
  const [waiting] = NAMES.map((name) => `Pipe/${name}`).filter(
    (key) => !key.endsWith(String(world.platform.pipes()[0]?.name)),
  )
  const shown = await shownAs(url, String(waiting), 'Progressing')
  expect(shown.message).toContain('An operator allowed the create.')
  expect((await world.command('status', '--status', 'Refused', '-o', 'name')).stdout).toBe('')
  expect((await world.command('allow', '--dry-run')).stdout).toContain(
    'The create limit blocks no resource now',
  )
})

test('the create limit of one service holds no other, and each text names the service', async () => {
  await using world = await given('many-0', 'many-1', 'many-2')
  const limit = ['--max-creates', '2']
  const other = serviceManifest({ name: 'other', serviceId: OTHER_SERVICE_ID, secret: 'analytics-api' })
  world.workspace.write('manifests/other.yaml', other)
  world.workspace.write('manifests/one.yaml', pipeManifest('one', { service: 'other' }))
  const planned = await world.command('plan', ...limit)
  expect(planned.stdout).toContain('The create limit refuses 3 of them')
  expect((await world.apply(...limit)).code).toBe(1)
  expect(world.platform.pipes().map(({ name }) => name)).toEqual(['one'])
  const said =
    'Creates are paused in service analytics: 3 pending, and the create limit is 2 (--max-creates).'
  expect((await world.command('status')).stdout.replaceAll(/\s+/g, ' ')).toContain(said)
  const nothing = await world.command('allow', '--service', 'other', ...limit)
  expect(nothing.stdout).toContain('The create limit blocks no resource now in service other.')
  expect((await world.command('allow', '--service', 'analytics', ...limit)).code).toBe(0)
  expect((await world.apply(...limit)).code).toBe(0)
  expect(world.platform.pipes()).toHaveLength(4)
})
