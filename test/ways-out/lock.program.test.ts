import { existsSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { pipeManifest } from '../support/manifests.ts'
import { given } from './given.ts'

test('with a Lock, a lost ledger rebuilds itself by adopting, with no POST', async () => {
  await using world = await given('orders', 'refunds')
  await world.apply()
  const lock = await world.command('lock')
  expect(lock).toMatchObject({ code: 0, stderr: '' })
  expect(parse(lock.stdout)).toEqual({
    apiVersion: 'pipewright/v1',
    kind: 'Lock',
    metadata: { name: 'pipes' },
    spec: { pipes: { 'Pipe/orders': world.pipeId('orders'), 'Pipe/refunds': world.pipeId('refunds') } },
  })
  world.workspace.write('manifests/pipes.lock.yaml', lock.stdout)
  expect(lock.stdout).toMatch(/^# .* as pipes\.lock\.yaml\.\n/)
  expect((await world.command('validate')).stdout).toContain('no findings')

  rmSync(world.workspace.path('ledger.db'))
  expect(await world.command('apply')).toMatchObject({ code: 0 })
  expect(world.posts()).toBe(2)
  expect(world.platform.pipes()).toHaveLength(2)
  expect((await world.command('lock')).stdout).toBe(lock.stdout)
})

describe('with no ledger, and --ledger-init=never', () => {
  test('plan says so first, what would be created, and what the Lock takes over; it makes nothing', async () => {
    await using world = await given('orders', 'refunds')
    await world.apply()
    const lock = (await world.command('lock')).stdout
    const ledger = world.workspace.path('ledger.db')
    rmSync(ledger)
    const plan = (...args: readonly string[]) => world.command('plan', '--ledger-init', 'never', ...args)
    const without = await plan()
    expect(without.code).toBe(2)
    expect(without.stdout).toMatch(
      new RegExp(`^There is no ledger at ${ledger}\\. --ledger-init=never keeps`),
    )
    expect(without.stdout).toContain('2 to create')
    expect((await plan('-o', 'markdown')).stdout).toContain('> There is no ledger at ')

    world.workspace.write('manifests/pipes.lock.yaml', lock)
    const { stdout } = await plan('-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      missingLedger: { file: ledger, init: 'never' },
      items: [
        { key: 'Pipe/orders', action: 'adopt', remoteId: world.pipeId('orders') },
        { key: 'Pipe/refunds', action: 'adopt', remoteId: world.pipeId('refunds') },
        { key: 'Service/analytics' },
      ],
    })
    expect(existsSync(ledger)).toBe(false)

    // "apply" refuses, and leads there; with a word for this one time, it takes over what the Lock names.
    const refused = await world.command('apply', '--ledger-init', 'never')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('pipewright plan') as string })
    expect(await world.command('apply', '--ledger-init', 'auto')).toMatchObject({ code: 0 })
    expect(world.posts()).toBe(2)
    expect((await plan()).stdout).not.toContain('There is no ledger')
  })

  test('a damaged ledger is none that is missing: plan refuses it, and works with an empty one in its place', async () => {
    await using world = await given('orders')
    await world.apply()
    world.workspace.write('ledger.db', 'no database at all, but as long as one begins'.repeat(10))
    expect(await world.command('plan')).toMatchObject({ code: 1, stdout: '' })
    expect(await world.command('plan', '--ledger', 'memory:')).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('1 to create') as string,
    })
  })
})

test('a pipe of unknown outcome is not in it, and that is a failure, since it would be created again', async () => {
  await using world = await given('orders', 'refunds')
  world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
  await world.apply()
  const { code, stdout, stderr } = await world.command('lock', '--name', 'ids', '-o', 'json')
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    metadata: { name: 'ids' },
    spec: { pipes: { 'Pipe/refunds': world.pipeId('refunds') } },
  })
  expect(stdout).not.toContain('Pipe/orders')
  expect(stderr).toContain('Pipe/orders is not in the Lock: it is unknown whether its pipe was created')
})

test('without pipes, it is an empty Lock; a key that was never created needs no line', async () => {
  await using world = await given()
  world.workspace.write(
    'manifests/never.yaml',
    pipeManifest('never', { more: 'policy: {dependsOn: [Alert/none]}' }),
  )
  await world.apply()
  expect(parse((await world.command('lock')).stdout)).toMatchObject({ spec: { pipes: {} } })
  expect((await world.command('lock')).code).toBe(0)
})

test('one that names the pipe which was given up stands in the way of nobody who found the new one', async () => {
  await using world = await given('orders', 'refunds')
  await world.apply()
  const gone = world.pipeId('orders')
  world.workspace.write('manifests/lock.yaml', (await world.command('lock')).stdout)
  world.platform.vanish(gone)
  expect(await world.command('resolve', 'Pipe/orders', '--recreate')).toMatchObject({ code: 0, stderr: '' })
  world.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
  await world.apply()
  await world.apply()
  expect(await world.status('Pipe/orders')).toMatchObject({ status: 'OutcomeUnknown' })
  const made = world.pipeId('orders')
  expect(await world.command('resolve', 'Pipe/orders', '--adopt', made)).toMatchObject({
    code: 0,
    stderr: '',
  })
  await world.apply()
  expect(await world.status('Pipe/orders')).toMatchObject({ status: 'Ready', pipeId: made })
})
