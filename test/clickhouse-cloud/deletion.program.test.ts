import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SERVICE } from '../support/manifests.ts'
import { given, pipe, type World } from './listed-world.ts'

/* What commands say of deletions, each as a process of its own, against the sandbox. */

const MINUTE = 60_000
const REPLACE = 'policy: {onImmutable: replace}'
const DELETE = 'policy: {ensure: absent}'

/** Pipes that were created, with these names, and seen in sync. */
async function created(...names: readonly string[]): Promise<World> {
  const world = await given([], { fixture: { times: { deletingMs: 0 } } })
  for (const name of names) world.workspace.write(`manifests/${name}.yaml`, pipe(name, '', REPLACE))
  await world.apply()
  world.skip(20 * MINUTE)
  await world.apply()
  return world
}

/** Their manifests say `policy.ensure: absent`. */
function unwant({ workspace }: World, ...names: readonly string[]): void {
  for (const name of names) workspace.write(`manifests/${name}.yaml`, pipe(name, '', DELETE))
}

function remove({ workspace }: World, ...names: readonly string[]): void {
  for (const name of names) rmSync(workspace.path(`manifests/${name}.yaml`))
}

test('a plan says what is deleted, when, and what stays; then the manifest can go', async () => {
  await using world = await created('a', 'b', 'c')
  unwant(world, 'a')
  expect(await world.apply()).toMatchObject({ a: 'Deleting', b: 'InSync', c: 'InSync' })
  const plan = await world.run('plan')
  expect(plan.code).toBe(2)
  expect(plan.stdout).toContain('- Pipe/a  delete Deleting')
  expect(plan.stdout).toMatch(/The pipe will be deleted at \d{4}-\d\d-\d\dT/)
  expect(plan.stdout).toContain('Its destination tables and their data stay.')
  world.skip(11 * MINUTE)
  await world.apply()
  expect(world.requests('deletePipe')).toBe(1)
  expect(world.messageOf('Pipe/a')).toContain('The request to delete the pipe was sent at ')
  world.skip(MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'Absent' })
  expect((await world.run('status')).stdout).toMatch(/Pipe\/a\s+Absent/)
  expect((await world.run('plan')).code).toBe(0)
  remove(world, 'a')
  expect(Object.keys(await world.apply())).toEqual(['b', 'c'])
})

test('a plan says what is replaced, with what it was before', async () => {
  await using world = await created('a', 'b')
  const edited = pipe('a', '', REPLACE).replace('streamName: a', 'streamName: z')
  world.workspace.write('manifests/a.yaml', edited)
  const plan = await world.run('plan')
  expect(plan.code).toBe(2)
  expect(plan.stdout).toContain('- Pipe/a  delete Deleting')
  expect(plan.stdout).toMatch(/streamName.*a.*z/s)
  expect(plan.stdout).toContain('Then it is created again.')
  expect(world.requests('deletePipe')).toBe(0)
})

test('more than the limit are held back, all of them, until a person allows them', async () => {
  await using world = await created('a', 'b', 'c', 'd', 'e')
  unwant(world, 'a', 'b')
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit', b: 'DeleteLimit', c: 'InSync' })
  expect(world.messageOf('Pipe/a')).toBe(
    'In service analytics, 2 of 5 pipes would be deleted. The limit is 1: a tenth of them, but at least one and at most five. No resource is deleted. ' +
      'If you intend so many deletions, allow them once: "pipewright allow --deletions --service analytics". If not, undo the edits.',
  )
  expect(world.requests('deletePipe')).toBe(0)
  // Whoever allows creations has not seen these.
  expect((await world.run('allow', '--service', 'analytics')).stdout).toContain(
    'The create limit blocks no resource now',
  )
  const asked = ['allow', '--deletions', '--service', 'analytics']
  const dry = await world.run(...asked, '--dry-run')
  expect(dry.stdout).toContain(
    'The limit on deletions blocks 2 deletions in service analytics. No action was allowed:',
  )
  expect((await world.run(...asked)).stdout).toContain('Allowed 2 deletions in service analytics, once')
  unwant(world, 'c')
  await world.apply()
  await world.apply()
  expect(world.requests('deletePipe')).toBe(2)
})

test('the limit counts anew once a Service manifest that had errors is back', async () => {
  await using world = await created('a', 'b', 'c', 'd', 'e')
  world.workspace.write('manifests/service.yaml', SERVICE.replace('serviceId', 'serviceIdd'))
  unwant(world, 'a', 'b')
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DependencyNotReady' })
  world.workspace.write('manifests/service.yaml', SERVICE)
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit', b: 'DeleteLimit' })
  expect(world.requests('deletePipe')).toBe(0)
})

test('most manifests are lost while they wait to be replaced: that is not believed', async () => {
  const names = ['a', 'b', 'c', 'd']
  await using world = await created(...names)
  for (const name of names) {
    const edited = pipe(name, '', REPLACE).replace(`streamName: ${name}`, `streamName: ${name}2`)
    world.workspace.write(`manifests/${name}.yaml`, edited)
  }
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit' })
  remove(world, ...names)
  const { stdout, stderr } = await world.run('apply')
  expect(stdout + stderr).toContain('lost 4 of 4 manifests')
})
