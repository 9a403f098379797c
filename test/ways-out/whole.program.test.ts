import { mkdirSync, renameSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pipeManifest } from '../support/manifests.ts'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { given, type Given, shownAs } from './given.ts'

/* What is wrong with the whole is said by `status`, from the ledger as from the daemon. */

interface WholeJson {
  readonly problems: readonly string[]
  readonly resources: readonly object[]
}

async function wholeOf(world: Given, ...where: readonly string[]) {
  const { stdout, code } = await world.command('status', '-o', 'json', ...where)
  const { problems } = JSON.parse(stdout) as WholeJson // as the command prints it
  return { code, problems }
}

test('errors in manifests, a directory that is not accepted, and that all is well again', async () => {
  await using world = await given('a', 'b', 'c')
  world.workspace.write('token', 'planted-admin-token')
  const token = ['--admin-token-file', world.workspace.path('token')]
  const { url } = await world.startDaemon(...token)
  for (const name of ['a', 'b', 'c']) await shownAs(url, `Pipe/${name}`, 'Ready')
  const from = [[], ['--server', url]] as const
  for (const where of from) expect(await wholeOf(world, ...where)).toEqual({ code: 0, problems: [] })

  world.workspace.write('manifests/wrong.yaml', pipeManifest('wrong').replace('topics', 'topisc'))
  for (const where of from) {
    const { code, problems } = await until('the errors to be said', async () => {
      const whole = await wholeOf(world, ...where)
      return whole.problems.length > 0 ? whole : undefined
    })
    expect([code, problems]).toEqual([
      1,
      [expect.stringMatching(/^\d errors? in manifests: see "pipewright validate"\.$/)],
    ])
  }
  const one = await world.command('status', 'Pipe/a')
  expect([one.code, one.stdout]).toEqual([0, expect.not.stringContaining('in manifests')])
  const waited = await world.command('reconcile', '--wait', ...token)
  expect([waited.code, waited.stdout]).toEqual([1, expect.stringContaining('in manifests: see')])

  const [there, aside] = [world.workspace.path('manifests'), world.workspace.path('aside')]
  renameSync(there, aside)
  mkdirSync(there)
  for (const where of from) {
    const whole = await until('the directory not to be accepted', async () => {
      const now = await wholeOf(world, ...where)
      return now.problems.some((problem) => problem.startsWith('Manifests not accepted')) ? now : undefined
    })
    expect(whole.code).toBe(1)
  }
  const planned = await world.command('plan')
  expect([planned.code, planned.stdout]).toEqual([1, expect.stringContaining('There is no plan')])
  expect(planned.stdout).not.toContain('Pipe/a')
  const kept = await world.command('status', 'Pipe/a')
  expect([kept.code, kept.stdout]).toEqual([1, expect.stringContaining('Manifests not accepted')])
})

test('after a restart, what was not checked yet although it was due', async () => {
  await using world = await given('a', 'b', 'c')
  expect((await world.apply()).code).toBe(0)
  await until('the checks to be overdue', async () => Date.now() > (await lastCheck(world)) + 1_500)
  const { url } = await world.startDaemon('--interval', '1s', '--api-budget', '1/20s')
  const said = await until('overdue checks to be said', async () => {
    const { problems, code } = await wholeOf(world, '--server', url)
    const isReady = problems.some((problem) => !problem.startsWith('The daemon is not ready'))
    return isReady ? { problems, code } : undefined
  })
  expect(said).toEqual({
    code: 1,
    problems: [expect.stringContaining('not checked since the daemon started')],
  })
  const overview: unknown = await (await fetch(`${url}/api/v1/overview`)).json()
  expect(overview).toMatchObject({
    verdict: {
      level: 'waiting',
      sentence: expect.stringContaining('not checked since the daemon started'),
    },
  })
  expect((await resourcesOf(url)).map(({ status }) => status)).toContain('Ready')
  const fromLedger = await until('the ledger to say so', async () => {
    const whole = await wholeOf(world)
    return whole.problems.length === 0 ? undefined : whole
  })
  expect(fromLedger.code).toBe(1)
})

async function lastCheck(world: Given): Promise<number> {
  const { stdout } = await world.command('status', '-o', 'json')
  const { resources } = JSON.parse(stdout) as { resources: readonly { checkedAt?: string }[] } // as the command prints it
  return Math.max(...resources.map(({ checkedAt }) => (checkedAt === undefined ? 0 : Date.parse(checkedAt))))
}

test('a mistake in place of another one is said at once', async () => {
  await using world = await given('orders')
  const { url } = await world.startDaemon('--interval', '1h')
  await shownAs(url, 'Pipe/orders', 'Ready')
  const mistakes = [
    ['topics', 'topisc', 'There is no field "topisc"'],
    ['destination', 'destinatoin', 'There is no field "destinatoin"'],
    ['      topics', '       topics', 'A mapping or list cannot begin here.'],
  ] as const
  for (const [right, wrong, said] of mistakes) {
    world.workspace.write('manifests/orders.yaml', pipeManifest('orders').replace(right, wrong))
    await until(`it to say: ${said}`, async () =>
      (await shownAs(url, 'Pipe/orders', 'Invalid')).message.includes(said),
    )
  }
  expect(world.posts()).toBe(1)
})

test('what is said of an invalid manifest is its mistake, also by the ledger', async () => {
  await using world = await given('orders')
  expect((await world.apply()).code).toBe(0)
  world.workspace.write('manifests/orders.yaml', pipeManifest('orders').replace('topics', 'topisc'))
  expect((await world.apply()).code).toBe(1)
  const { stdout } = await world.command('status')
  expect(stdout).toContain('There is no field "topisc"')
  expect(stdout).not.toContain('In sync.')
})

test('a create that was begun by a process that died is no resource that waits', async () => {
  await using world = await given('orders')
  world.platform.faults.add({ operation: 'createPipe', fault: { type: 'latency', ms: 60_000 } })
  const { program } = await world.startDaemon()
  await until('the create to arrive', () => world.posts() === 1)
  program.signal('SIGKILL')
  await program.ended
  const { stdout, code } = await world.command('status')
  expect([code, stdout]).toEqual([1, expect.stringContaining('The daemon is not running: it started ')])
  const one = await world.command('status', 'Pipe/orders')
  expect(one.stdout).toContain('A create is in progress, or Pipewright stopped before its end.')
  expect(one.stdout).not.toContain('Not reconciled yet.')
})

test('a pipe that is not found is no success, although one reading proves nothing', async () => {
  await using world = await given('orders')
  expect((await world.apply()).code).toBe(0)
  world.platform.vanish(world.pipeId('orders'))
  for (const more of [[], ['--wait', '--timeout', '3s']]) {
    const { code, stderr } = await world.command('apply', ...more)
    expect([code, stderr]).toEqual([1, expect.stringContaining('which does not prove a loss')])
  }
  expect(world.posts()).toBe(1)
})
