import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runArgs, SERVICE } from '../support/manifests.ts'
import { resourcesOf, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { given, pipe, type World } from './listed-world.ts'

/* Deletions with the real program, as often as it is run, against the sandbox. Its wall clock is set by a file. */

const MINUTE = 60_000
const DELETE = 'policy: {onRemove: delete}'

/** Pipes that were created, with these names, and seen in sync. */
async function created(...names: readonly string[]): Promise<World> {
  const world = await given([], { deletingMs: 0 })
  for (const name of names) world.workspace.write(`manifests/${name}.yaml`, pipe(name, '', DELETE))
  await world.apply()
  world.skip(20 * MINUTE)
  await world.apply()
  return world
}

function remove({ workspace }: World, ...names: readonly string[]): void {
  for (const name of names) rmSync(workspace.path(`manifests/${name}.yaml`))
}

test('a plan says what is deleted, and what stays; ten minutes later it is deleted', async () => {
  await using world = await created('a', 'b', 'c')
  remove(world, 'a')
  expect(await world.apply()).toMatchObject({ a: 'Orphaned', b: 'InSync', c: 'InSync' })
  const plan = await world.run('plan')
  expect(plan.code).toBe(2)
  expect(plan.stdout).toContain('- Pipe/a  delete Orphaned')
  expect(plan.stdout).toContain('Its destination tables and their data stay.')
  world.skip(11 * MINUTE)
  await world.apply()
  expect(world.requests('deletePipe')).toBe(1)
  expect(world.messageOf('Pipe/a')).toContain('The request to delete the pipe was sent at ')
})

test('a plan says what is replaced, with what it was before', async () => {
  await using world = await created('a', 'b')
  const edited = pipe('a', '', 'policy: {onImmutable: replace}').replace('streamName: a', 'streamName: z')
  world.workspace.write('manifests/a.yaml', edited)
  const plan = await world.run('plan')
  expect(plan.code).toBe(2)
  expect(plan.stdout).toContain('- Pipe/a  delete Replacing')
  expect(plan.stdout).toMatch(/streamName.*a.*z/s)
  expect(plan.stdout).toContain('Then it is created again.')
  expect(world.requests('deletePipe')).toBe(0)
})

test('as a job, one process after another, it is forgotten, and replaced', async () => {
  await using world = await created('a', 'b', 'c', 'd')
  remove(world, 'a')
  await world.apply()
  world.skip(11 * MINUTE)
  await world.apply()
  world.skip(MINUTE)
  expect(Object.keys(await world.apply())).toEqual(['b', 'c', 'd'])
  const edited = pipe('b', '', 'policy: {onImmutable: replace}').replace('streamName: b', 'streamName: z')
  world.workspace.write('manifests/b.yaml', edited)
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ b: 'Replacing' })
  world.skip(MINUTE)
  expect(await world.apply()).toMatchObject({ b: 'InSync' })
  expect(world.requests('deletePipe')).toBe(2)
  expect(world.requests('createPipe')).toBe(5)
})

test('a job is killed right after the request: later ones ask again, and create it again, or forget it', async () => {
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
  expect(await later()).toMatchObject({ b: 'Replacing' })
  expect(await later()).toMatchObject({ b: 'InSync' })
  remove(world, 'a')
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.killedJob('after-delete')).toBe('SIGKILL')
  expect(await later()).toMatchObject({ a: 'Orphaned' })
  expect(Object.keys(await later())).toEqual(['b', 'c'])
  expect(world.requests('createPipe')).toBe(4)
})

test('more than the limit are held back, all of them, until a person allows them', async () => {
  await using world = await created('a', 'b', 'c', 'd', 'e')
  remove(world, 'a', 'b')
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit', b: 'DeleteLimit', c: 'InSync' })
  expect(world.messageOf('Pipe/a')).toBe(
    'In service analytics, 2 of 5 pipes are to be deleted, and at most 1 may be at once: a tenth of them, and no more than five. None is deleted. ' +
      'If they are meant, run "pipewright allow --deletions --service analytics". If not, bring the manifests back, or undo the edits.',
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
  remove(world, 'c')
  await world.apply()
  await world.apply()
  expect(world.requests('deletePipe')).toBe(2)
})

test('a rename that is seen half way deletes nothing', async () => {
  await using world = await created('a', 'b')
  remove(world, 'a')
  // Another body, so that the record does not move by itself; the same name on the platform.
  world.workspace.write(
    'manifests/renamed.yaml',
    pipe('renamed', '', DELETE).replace('spec:', 'spec:\n  name: a'),
  )
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'Orphaned', renamed: 'RenameSuspected' })
  expect(world.messageOf('Pipe/a')).toContain(
    'Nothing is deleted, because Pipe/renamed may ask for this pipe.',
  )
  // The one that may ask for it goes, too: from then on there is as much time to take it back as ever.
  remove(world, 'renamed')
  await world.apply()
  world.skip(9 * MINUTE)
  await world.apply()
  expect(world.messageOf('Pipe/a')).toContain('The pipe is deleted ten minutes after that is known')
  expect(world.requests('deletePipe')).toBe(0)
  world.skip(2 * MINUTE)
  await world.apply()
  expect(world.requests('deletePipe')).toBe(1)
})

test('a daemon notices at once what may ask for a pipe that it is to delete', async () => {
  await using world = await created('a', 'b')
  const { workspace, platform } = world
  remove(world, 'a')
  await using program = startProgram(runArgs(workspace, platform.url, ['--profile', 'clickhouse-cloud']))
  const url = await urlOf(program)
  const said = async () => (await resourcesOf(url)).find(({ key }) => key === 'Pipe/a')?.message
  const saysOfIt = (words: string) =>
    until(`Pipe/a to say that ${words}`, async () => (await said())?.includes(words))
  await saysOfIt('is deleted ten minutes after that is known')
  workspace.write('manifests/renamed.yaml', pipe('renamed', '', DELETE).replace('spec:', 'spec:\n  name: a'))
  await saysOfIt('Pipe/renamed may ask for this pipe')
  remove(world, 'renamed')
  await saysOfIt('is deleted ten minutes after that is known')
  workspace.write('manifests/broken.yaml', 'kind: [')
  await saysOfIt('may be in broken.yaml')
  expect(world.requests('deletePipe')).toBe(0)
})

test('nor does a file that cannot be read, in which its manifest may be', async () => {
  await using world = await created('a', 'b')
  remove(world, 'a')
  world.workspace.write('manifests/broken.yaml', 'kind: [')
  await world.apply()
  world.skip(11 * MINUTE)
  await world.apply()
  expect(world.messageOf('Pipe/a')).toContain('a manifest of this pipe may be in broken.yaml')
  rmSync(world.workspace.path('manifests/broken.yaml'))
  await world.apply()
  expect(world.requests('deletePipe')).toBe(0)
  world.skip(11 * MINUTE)
  await world.apply()
  expect(world.requests('deletePipe')).toBe(1)
})

test('an empty directory deletes nothing', async () => {
  await using world = await created('a')
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
  remove(world, 'a', 'b')
  await world.apply()
  world.skip(11 * MINUTE)
  await world.apply()
  expect(world.messageOf('Pipe/a')).toContain('no valid Service manifest')
  world.workspace.write('manifests/service.yaml', SERVICE)
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit', b: 'DeleteLimit' })
  expect(world.requests('deletePipe')).toBe(0)
})

test('the limit counts what a file that cannot be read has held up, once it can be read', async () => {
  await using world = await created('a', 'b', 'c', 'd', 'e')
  remove(world, 'a', 'b')
  world.workspace.write('manifests/broken.yaml', 'kind: [')
  await world.apply()
  world.skip(5 * MINUTE)
  await world.apply()
  rmSync(world.workspace.path('manifests/broken.yaml'))
  await world.apply()
  world.skip(11 * MINUTE)
  expect(await world.apply()).toMatchObject({ a: 'DeleteLimit', b: 'DeleteLimit' })
  expect(world.requests('deletePipe')).toBe(0)
})

test('most manifests are lost while they wait to be replaced: that is not believed', async () => {
  await using world = await created('a', 'b', 'c', 'd')
  const names = ['a', 'b', 'c', 'd']
  const policy = 'policy: {onRemove: delete, onImmutable: replace}'
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
