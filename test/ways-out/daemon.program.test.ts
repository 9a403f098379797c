import { execFile } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { pipeManifest } from '../support/manifests.ts'
import { MAIN } from '../support/process.ts'
import { until } from '../support/until.ts'
import { given, type Given, shownAs } from './given.ts'
import { play } from './story.ts'

/* Commands beside a daemon: they ask it, by its address in the ledger or by `--server`. */

function tokenOf({ workspace }: Given): readonly string[] {
  workspace.write('token', 'planted-admin-token')
  return ['--admin-token-file', workspace.path('token')]
}

test('what is held back passes when the daemon is asked with the admin token, and only then', async () => {
  await using world = await given('a', 'b', 'c')
  const token = tokenOf(world)
  const { url } = await world.startDaemon('--max-creates', '2', ...token)
  await shownAs(url, 'Pipe/c', 'Refused')
  expect((await fetch(`${url}/-/allow`, { method: 'POST' })).status).toBe(401)
  const misspelt = await fetch(`${url}/-/allow`, {
    method: 'POST',
    headers: { authorization: 'Bearer planted-admin-token', 'content-type': 'application/json' },
    body: JSON.stringify({ services: 'analytics' }),
  })
  expect(misspelt.status).toBe(400)
  const overview: unknown = await (await fetch(`${url}/api/v1/overview`)).json()
  expect(overview).toMatchObject({ createLimit: { held: 3 } })
  const asking = `--server ${url} ${token.join(' ')}`
  await play(
    world,
    `allow --dry-run ${asking} | The create limit blocks 3 creations. No action was allowed: | allow --count 3
    allow --count 2 ${asking} => 1 | blocks 3 now
    posts 0
    allow ${asking} | Allowed 3 creations, once`,
  )
  for (const name of ['a', 'b', 'c']) await shownAs(url, `Pipe/${name}`, 'Ready')
  world.workspace.write(
    'manifests/more.yaml',
    ['d', 'e', 'f'].map((name) => pipeManifest(name)).join('---\n'),
  )
  await shownAs(url, 'Pipe/f', 'Refused')
  await play(world, 'posts 3\nallow')
  await until('all to be created', () => world.platform.pipes().length === 6)
})

test('what was allowed is refused no more, also while it waits for its turn; the list has what waits, too', async () => {
  await using world = await given('a', 'b', 'c')
  const { url } = await world.startDaemon('--max-creates', '2', '--api-budget', '1/60s')
  await shownAs(url, 'Pipe/c', 'Refused')
  await play(world, 'allow\nlater 1 min')
  await until('the first to be created', () => world.platform.pipes().length === 1)
  const waiting = ['a', 'b', 'c'].filter((name) => name !== world.platform.pipes()[0]?.name)
  for (const name of waiting)
    expect((await shownAs(url, `Pipe/${name}`, 'Progressing')).message).toContain(
      'An operator allowed the create.',
    )
  await play(world, 'allow --dry-run | The create limit blocks no resource now.')
  const { stdout } = await world.command('status')
  for (const name of waiting)
    expect(stdout).toMatch(new RegExp(`^Pipe/${name} +Progressing +Unobserved`, 'm'))
})

test('a command for a create that the daemon sends waits for its end', async () => {
  await using world = await given('orders')
  world.platform.faults.add({ operation: 'createPipe', fault: { type: 'latency', ms: 300 } })
  await world.startDaemon('--interval', '1h')
  await until('the POST', () => world.posts() === 1)
  await play(world, 'resolve Pipe/orders --retry => 1 | it has pipe {orders}, created at\nposts 1')
})

test('suspend counts until the next revision, resume ends it sooner, and a mistake in place of another is said at once', async () => {
  await using world = await given('orders')
  const { url } = await world.startDaemon('--interval', '1h')
  const suspend = 'suspend Pipe/orders --reason frozen | frozen'
  await shownAs(url, 'Pipe/orders', 'Ready')
  await play(world, suspend)
  await shownAs(url, 'Pipe/orders', 'Suspended')
  await play(world, 'resume Pipe/orders | Resumed Pipe/orders.')
  await shownAs(url, 'Pipe/orders', 'Ready')
  await play(world, suspend)
  await shownAs(url, 'Pipe/orders', 'Suspended')
  for (const [right, wrong, said] of [
    ['topics', 'topisc', 'There is no field "topisc"'],
    ['destination', 'destinatoin', 'There is no field "destinatoin"'],
    ['      topics', '       topics', 'A mapping or list cannot begin here.'],
  ] as const) {
    world.workspace.write('manifests/orders.yaml', pipeManifest('orders').replace(right, wrong))
    await until(`it to say: ${said}`, async () =>
      (await shownAs(url, 'Pipe/orders', 'Invalid')).message.includes(said),
    )
  }
})

async function problems(world: Given, where: readonly string[]) {
  const { stdout, code } = await world.command('status', '-o', 'json', ...where)
  const whole = JSON.parse(stdout) as { readonly problems: readonly string[] } // as the command prints it
  return [code, whole.problems]
}

describe('what is wrong with the whole is said by status, from the ledger as from the daemon:', () => {
  test('errors in manifests, and a directory that is not accepted', async () => {
    await using world = await given('a', 'b', 'c')
    const token = tokenOf(world)
    const { url } = await world.startDaemon(...token)
    for (const name of ['a', 'b', 'c']) await shownAs(url, `Pipe/${name}`, 'Ready')
    const from = [[], ['--server', url]]
    for (const where of from) expect(await problems(world, where)).toEqual([0, []])
    await play(world, 'write wrong flawed')
    const errors = expect.stringMatching(/^Errors in manifests: \d\. See "pipewright validate"\.$/)
    for (const where of from) await expect.poll(() => problems(world, where)).toEqual([1, [errors]])
    await play(
      world,
      `status Pipe/a | not: in manifests
      status Pipe/a -o json | "daemon": { "state": "running"
      reconcile --wait ${token.join(' ')} => 1 | Errors in manifests: 1`,
    )
    renameSync(world.workspace.manifests, world.workspace.path('aside'))
    mkdirSync(world.workspace.manifests)
    const refused = expect.stringContaining('Manifests not accepted; keeping the last state. ')
    for (const where of from)
      await expect.poll(() => problems(world, where)).toEqual([1, expect.arrayContaining([refused])])
    await play(
      world,
      `plan => 1 | There is no plan | not: Pipe/a
      status Pipe/a => 1 | Manifests not accepted`,
    )
  })

  test('after a restart, what was not checked yet although it was due', async () => {
    await using world = await given('a', 'b', 'c')
    await play(world, 'apply\nlater 1 h')
    const { url } = await world.startDaemon('--api-budget', '1/60s')
    const late = expect.stringContaining('not checked since the daemon started')
    for (const where of [['--server', url], []])
      await expect.poll(() => problems(world, where)).toEqual([1, [late]])
    const overview: unknown = await (await fetch(`${url}/api/v1/overview`)).json()
    const sentence = expect.stringContaining('not checked since the daemon started')
    expect(overview).toMatchObject({ verdict: { level: 'waiting', sentence } })
  })
})

test('status --watch ends, and quietly, when nobody reads it any more', async () => {
  await using world = await given('orders')
  await world.apply()
  const ledger = `sqlite:${world.workspace.path('ledger.db')}`
  const line = `("$0" "$1" status --watch --ledger "$2"; echo "code $?" >&2) | head -n 1`
  let ended: { readonly stdout: string; readonly stderr: string } | undefined
  const shell = execFile('bash', ['-c', line, process.execPath, MAIN, ledger], (_, stdout, stderr) => {
    ended = { stdout, stderr }
  })
  try {
    let count = 0
    // It notices when it has something to say.
    await until('the watch to end', async () => {
      if (ended !== undefined) return true
      count += 1
      await play(world, `write more-${count}\napply`)
      return undefined
    })
    expect(ended).toEqual({ stdout: expect.stringContaining('apply'), stderr: 'code 0\n' })
  } finally {
    shell.kill('SIGKILL')
  }
})
