import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { expect, test } from 'vitest'
import { createPlanner } from '../../src/cli/planner.ts'
import type { Platform } from '../../src/contract/platform.ts'
import type { PlanItem } from '../../src/contract/plan.ts'
import type { Key } from '../../src/kinds/key.ts'
import { type Given, given, HOUR, SECOND } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'
import { remoteError } from '../reconcile/model-platform.ts'

/* A plan that a running daemon makes takes over what the daemon knows, and no more than that. */

const SETTINGS = {
  profile: DEFAULT,
  manifests: 'manifests',
  credentialsDir: '/nowhere/credentials',
  secretsDir: '/nowhere/secrets',
  alertsTokenFile: '/nowhere/token',
  adminTokenFile: undefined,
  clientKeyFile: undefined,
  webhookUrl: undefined,
  webhookSecretFile: undefined,
  sandbox: false,
  concurrency: 1,
} as const

/** The plan of a directory with these files in place of what is there. */
async function planOf(
  world: Given,
  files: Readonly<Record<string, string>>,
  platform: Platform = world.platform,
  forgetSecrets: () => void = () => undefined,
) {
  const { context, board } = world
  const engine = { context, board, platform: { beside: () => platform }, forgetSecrets }
  const planner = createPlanner(engine, SETTINGS, new AbortController().signal)
  const all = new Map([...world.around.directory.files, ...Object.entries(files)])
  const plan = await planner(
    { revision: { id: 'abc', from: 'git' }, manifests: 'manifests', files: Object.fromEntries(all) },
    new AbortController().signal,
  )
  const items = new Map<Key, PlanItem>(plan.items.map((item) => [item.key, item]))
  return { plan, item: (key: Key) => items.get(key) }
}

/** A daemon that has known these pipes for an hour. */
async function daemon(...names: readonly string[]): Promise<Given> {
  const world = await given(
    Object.fromEntries(
      names.map((name) => [`${name}.yaml`, pipe(name, { policy: { onMissing: 'report' } })]),
    ),
  )
  for (const name of names) await world.go(`Pipe/${name}`)
  await world.clock.advance(HOUR)
  for (const name of names) await world.go(`Pipe/${name}`)
  return world
}

test('a pipe that the daemon knows to be gone is created by a manifest that says so: the plan says it', async () => {
  const world = await daemon('a', 'b')
  world.platform.pipes.delete((await world.record('Pipe/a')).remote?.id ?? '')
  for (let time = 0; time < 4; time += 1) {
    await world.go('Pipe/a')
    await world.go('Pipe/b')
    await world.clock.advance(31 * SECOND)
  }
  expect((await world.go('Pipe/a')).action.reason).toBe('Missing')
  const { item } = await planOf(world, { 'a.yaml': pipe('a', { policy: { onMissing: 'recreate' } }) })
  expect([item('Pipe/a')?.action, item('Pipe/a')?.verdict]).toEqual(['create', 'change'])
})

test('one pipe of a service is read, and the others are taken as they were found', async () => {
  const world = await daemon('a', 'b', 'c')
  const before = world.platform.requests.get
  const { plan } = await planOf(world, {})
  expect(world.platform.requests.get - before).toBe(1)
  expect(plan.checkedBefore.items).toBe(2)
})

test('credentials that are refused by now fail what would be sent with them', async () => {
  const world = await daemon('a', 'b')
  const platform = { ...world.platform, read: () => Promise.reject(remoteError('AuthFailed', 'none')) }
  const { item } = await planOf(world, { 'n.yaml': pipe('n') }, platform)
  expect([item('Pipe/n')?.verdict, item('Pipe/n')?.reason]).toEqual(['failed', 'AuthFailed'])
  expect(item('Service/analytics')?.verdict).toBe('refused')
})

test('credentials are those of when the plan was asked for', async () => {
  const world = await daemon('a', 'b')
  let isForgotten = false
  const read: Platform['read'] = (...asked) =>
    isForgotten ? world.platform.read(...asked) : Promise.reject(remoteError('AuthFailed', 'none'))
  const { item } = await planOf(world, {}, { ...world.platform, read }, () => (isForgotten = true))
  expect(item('Service/analytics')?.verdict).not.toBe('refused')
})
