import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runArgs, SERVICE } from '../support/manifests.ts'
import { resourcesOf, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { given, pipe, type World } from './listed-world.ts'

/* Deletions with the real program, as often as it is run, against the sandbox. Its wall clock is set by a file. */

const MINUTE = 60_000
const REPLACE = 'policy: {onImmutable: replace}'
const DELETE = 'policy: {ensure: absent}'

/** Pipes that were created, with these names, and seen in sync. */
async function created(...names: readonly string[]): Promise<World> {
  const world = await given([], { deletingMs: 0 })
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
  expect(plan.stdout).toMatch(/The pipe is deleted at \d{4}-\d\d-\d\dT/)
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
  const edited = pipe('a', '', 'policy: {onImmutable: replace}').replace('streamName: a', 'streamName: z')
  world.workspace.write('manifests/a.yaml', edited)
  const plan = await world.run('plan')
  expect(plan.code).toBe(2)
  expect(plan.stdout).toContain('- Pipe/a  delete Deleting')
  expect(plan.stdout).toMatch(/streamName.*a.*z/s)
  expect(plan.stdout).toContain('Then it is created again.')
  expect(world.requests('deletePipe')).toBe(0)
})

test('as a job, one process after another, it is deleted, and replaced', async () => {
  await using world = await created('a', 'b', 'c', 'd')
  unwant(world, 'a')
  await world.apply()
  world.skip(11 * MINUTE)
  await world.apply()
  world.skip(MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'Absent', b: 'InSync' })
  const edited = pipe('b', '', 'policy: {onImmutable: replace}').replace('streamName: b', 'streamName: z')
  world.workspace.write('manifests/b.yaml', edited)
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ b: 'Deleting' })
  world.skip(MINUTE)
  expect(await world.apply()).toMatchObject({ b: 'InSync' })
  expect(world.requests('deletePipe')).toBe(2)
  expect(world.requests('createPipe')).toBe(5)
})

test('a job is killed right after the request: later ones ask again, and create it again, or not', async () => {
  await using world = await created('a', 'b', 'c')
  const later = async () => {
    world.skip(11 * MINUTE)
    return world.apply()
  }
  const policy = 'policy: {onImmutable: replace}'
  world.workspace.write('manifests/b.yaml', pipe('b', '', policy).replace('streamName: b', 'streamName: z'))
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.killedJob('after-delete')).toBe('SIGKILL')
  expect(await later()).toMatchObject({ b: 'Deleting' })
  expect(await later()).toMatchObject({ b: 'InSync' })
  unwant(world, 'a')
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.killedJob('after-delete')).toBe('SIGKILL')
  expect(await later()).toMatchObject({ a: 'Deleting' })
  expect(await later()).toMatchObject({ a: 'Absent' })
  expect(world.requests('createPipe')).toBe(4)
})

test('more than the limit are held back, all of them, until a person allows them', async () => {
  await using world = await created('a', 'b', 'c', 'd', 'e')
  unwant(world, 'a', 'b')
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit', b: 'DeleteLimit', c: 'InSync' })
  expect(world.messageOf('Pipe/a')).toBe(
    'In service analytics, 2 of 5 pipes are to be deleted, and at most 1 may be at once: a tenth of them, and no more than five. None is deleted. ' +
      'If they are meant, run "pipewright allow --deletions --service analytics". If not, undo the edits.',
  )
  expect(world.requests('deletePipe')).toBe(0)
  // Whoever allows creations has not seen these.
  expect((await world.run('allow', '--service', 'analytics')).stdout).toContain(
    'The create limit holds nothing back',
  )
  const asked = ['allow', '--deletions', '--service', 'analytics']
  const dry = await world.run(...asked, '--dry-run')
  expect(dry.stdout).toContain(
    'The limit on deletions holds back 2 deletions in service analytics. Nothing was allowed:',
  )
  expect((await world.run(...asked)).stdout).toContain('Allowed 2 deletions in service analytics, once')
  unwant(world, 'c')
  await world.apply()
  await world.apply()
  expect(world.requests('deletePipe')).toBe(2)
})

test('a daemon deletes nothing of what is removed, and of what is taken back', async () => {
  await using world = await created('a', 'b')
  const { workspace, platform } = world
  unwant(world, 'a')
  await using program = startProgram(runArgs(workspace, platform.url, ['--profile', 'clickhouse-cloud']))
  const url = await urlOf(program)
  const isSaid = (reason: string) =>
    until(`Pipe/a to be ${reason}`, async () =>
      (await resourcesOf(url)).some((each) => each.key === 'Pipe/a' && each.reason === reason),
    )
  await isSaid('Deleting')
  workspace.write('manifests/a.yaml', pipe('a', ''))
  await isSaid('InSync')
  unwant(world, 'a')
  await isSaid('Deleting')
  remove(world, 'a')
  await isSaid('Orphaned')
  world.skip(60 * MINUTE)
  await program[Symbol.asyncDispose]()
  expect(await world.apply()).toMatchObject({ a: 'Orphaned' })
  expect(world.requests('deletePipe')).toBe(0)
})

test('an empty directory deletes nothing', async () => {
  await using world = await created('a')
  unwant(world, 'a')
  await world.apply()
  remove(world, 'a', 'service')
  for (let times = 0; times < 3; times += 1) {
    await world.run('apply')
    world.skip(60 * MINUTE)
  }
  expect(world.requests('deletePipe')).toBe(0)
})

test('the limit counts anew once a Service manifest that had errors is back', async () => {
  await using world = await created('a', 'b', 'c', 'd', 'e')
  world.workspace.write('manifests/service.yaml', SERVICE.replace('serviceId', 'serviceIdd'))
  unwant(world, 'a', 'b')
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'ServiceInvalid' })
  world.workspace.write('manifests/service.yaml', SERVICE)
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit', b: 'DeleteLimit' })
  expect(world.requests('deletePipe')).toBe(0)
})

test('most manifests are lost while they wait to be replaced: that is not believed', async () => {
  await using world = await created('a', 'b', 'c', 'd')
  const names = ['a', 'b', 'c', 'd']
  const policy = 'policy: {onImmutable: replace}'
  for (const name of names)
    world.workspace.write(
      `manifests/${name}.yaml`,
      pipe(name, '', policy).replace(`streamName: ${name}`, `streamName: ${name}2`),
    )
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit' })
  remove(world, ...names)
  const { stdout, stderr } = await world.run('apply')
  expect(stdout + stderr).toContain('lost 4 of 4 manifests')
})
