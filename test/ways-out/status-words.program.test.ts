import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pipeManifest } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { until } from '../support/until.ts'
import { given, shownAs } from './given.ts'

/* What `status` says of one resource, and how it ends. */

test('what has a manifest and no record yet is said to be where it is, and not mistaken for another', async () => {
  await using world = await given('orders')
  expect((await world.apply()).code).toBe(0)
  world.workspace.write('manifests/neworders.yaml', pipeManifest('neworders'))
  world.workspace.write('manifests/wrong.yaml', pipeManifest('wrong').replace('topics', 'topisc'))
  const { manifests } = world.workspace
  expect((await world.command('status', 'Pipe/neworders')).stderr).toBe(
    `pipewright: Pipe/neworders was not reconciled yet. Its manifest: ${manifests}/neworders.yaml:1.\n`,
  )
  const { stderr } = await world.command('status', 'Pipe/wrong')
  expect(stderr).toMatch(
    /not reconciled yet\. Its manifest: .*wrong\.yaml:1\. It has errors: see "pipewright validate"\.\n$/,
  )
  expect((await world.command('status', 'Pipe/order')).stderr).toContain('Did you mean Pipe/orders?')
})

test('a kind may be written small', async () => {
  await using world = await given('orders')
  expect((await world.apply()).code).toBe(0)
  for (const command of ['status', 'history']) {
    const { code, stdout } = await world.command(command, 'pipe/orders')
    expect([code, stdout]).toEqual([0, expect.stringContaining('Pipe/orders')])
  }
  expect((await runHere(['schema', 'pipe'])).code).toBe(0)
})

test('a reason is found wherever it is shown', async () => {
  await using world = await given('orders')
  expect((await world.apply()).code).toBe(0)
  for (const [reason, keys] of [
    ['NotJudged', 'Pipe/orders\n'],
    ['InSync', 'Pipe/orders\nService/analytics\n'],
  ] as const)
    expect((await world.command('status', '--reason', reason, '-o', 'name')).stdout).toBe(keys)
})

test('who needs the ledger for itself says so, and what to do', async () => {
  await using world = await given('orders')
  await world.startDaemon()
  const { stderr } = await world.apply()
  expect(stderr).toContain('Two processes could create a pipe twice. Stop the other process.')
  expect(stderr).toContain('if it is a daemon, use "pipewright reconcile --wait"')
})

test('while a daemon has not come to all, the list has the others too', async () => {
  await using world = await given('a', 'b', 'c')
  await world.startDaemon('--api-budget', '1/20s')
  const { stdout } = await until('the list to say so', async () => {
    const shown = await world.command('status')
    return shown.stdout.includes('Unobserved') ? shown : undefined
  })
  for (const name of ['a', 'b', 'c'])
    expect(stdout).toMatch(new RegExp(`^Pipe/${name} .* (Ready|Progressing) `, 'm'))
})

test('of a daemon that died, the list does not end with all that was fine then', async () => {
  await using world = await given('orders')
  const { program, url } = await world.startDaemon()
  await shownAs(url, 'Pipe/orders', 'Ready')
  program.signal('SIGKILL')
  await program.ended
  expect((await world.command('status')).stdout).toMatch(
    /\nAs recorded, none of 2 needed attention\. 1 is in a state/,
  )
})

test('no sentence stands twice, and no step asks for what was just asked', async () => {
  await using world = await given('orders')
  expect((await world.apply()).code).toBe(0)
  await world.apply('--base-url', 'http://127.0.0.1:1')
  const away = await world.command('status', 'Pipe/orders')
  expect(away.stdout).toContain('If it lasts, check the network')
  expect(away.stdout).not.toContain('status Pipe/orders')
  const service = await world.command('status', 'Service/analytics')
  expect(service.stdout).toContain('The last request with its credentials failed: no connection to')
  expect(service.stdout).not.toContain('the pipe')
  rmSync(world.workspace.path('manifests/orders.yaml'))
  await world.apply()
  const { stdout } = await world.command('status', 'Pipe/orders')
  expect(stdout).toContain('Orphaned')
  expect(stdout.split('No resource is deleted')).toHaveLength(2)
  expect(stdout.match(/forget Pipe\/orders/g)).toHaveLength(1)
  expect(stdout).toMatch(/Ready .* as Synced/)
})
