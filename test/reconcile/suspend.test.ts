import { expect, test } from 'vitest'
import { operate, suspendKey } from '../../src/reconcile/operator/operate.ts'
import { given, HOUR, MINUTE } from './given.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { endpoint, pipe } from './manifests.ts'

/* `suspend` and `resume`: a person's word counts until the next revision, and then Git's does. */

const ORDERS = 'Pipe/orders'
const NEVER = new AbortController().signal
type World = Awaited<ReturnType<typeof given>>

const soon = (world: World) => new Date(world.clock.now() + HOUR).toISOString()

const suspend = (world: World, key: 'Pipe/orders' | 'QueryEndpoint/totals' = ORDERS) =>
  operate(world.context, { command: 'suspend', key, reason: 'a "migration"', until: soon(world) }, NEVER)

const resume = (world: World) => operate(world.context, { command: 'resume', key: ORDERS }, NEVER)

test('a pipe that is suspended is neither created nor changed, until the next revision', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const { message } = await suspend(world)
  expect(message).toContain(
    'write under policy: in orders.yaml:\nsuspend: { reason: "a \\"migration\\"", until: "20',
  )
  expect((await world.go(ORDERS)).action).toMatchObject({ type: 'hold', reason: 'Suspended' })
  expect(world.platform.posts).toHaveLength(0)
  world.write('other.yaml', pipe('other'))
  expect((await world.go(ORDERS)).action.type).toBe('create')
  expect((await world.record(ORDERS)).suspension).toBeUndefined()
})

test('a pipe that is suspended does not count as wanted, so it takes no room below the create limit', async () => {
  const world = await given({ 'orders.yaml': pipe('orders'), 'other.yaml': pipe('other') }, { maxCreates: 1 })
  expect((await world.go('Pipe/other')).action.reason).toBe('CreateLimit')
  await suspend(world)
  await world.clock.advance(2_000)
  expect((await world.go('Pipe/other')).action.type).toBe('create')
})

test('it ends by itself at the time that was given', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await suspend(world)
  await world.go(ORDERS)
  await world.clock.advance(HOUR + MINUTE)
  expect((await world.go(ORDERS)).action.type).toBe('create')
})

test('it outlives the process, and a revision that comes back does not bring it back', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await suspend(world)
  const next = await given({}, { around: world.around })
  expect((await next.go(ORDERS)).action.reason).toBe('Suspended')
  next.write('other.yaml', pipe('other'))
  await next.go(ORDERS)
  next.remove('other.yaml')
  next.readAgain()
  expect((await next.go(ORDERS)).action.reason).not.toBe('Suspended')
})

test('resume counts against the manifest until the next revision', async () => {
  const policy = { suspend: { reason: 'a freeze', until: '2999-01-01T00:00:00Z' } }
  const world = await given({ 'orders.yaml': pipe('orders', { policy }) })
  expect((await world.go(ORDERS)).action.reason).toBe('Suspended')
  expect((await resume(world)).message).toContain('remove policy.suspend from its manifest at orders.yaml:')
  expect((await world.go(ORDERS)).action.type).toBe('create')
  expect((await suspend(world)).result).toBe('done')
  expect((await world.go(ORDERS)).action.reason).toBe('Suspended')
  await resume(world)
  world.write('other.yaml', pipe('other'))
  expect((await world.go(ORDERS)).action.reason).toBe('Suspended')
})

test('a stale checkout is no next revision, and neither is a directory that cannot be read yet', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await world.go(ORDERS)
  await suspend(world)
  let olderThan: string | undefined = 'revision-1'
  const next = await given({}, { around: world.around, olderThan: () => olderThan })
  const { store } = next.context
  next.readAgain()
  expect((await next.go(ORDERS)).action.reason).toBe('Suspended')
  const { catalog } = world.context.store
  if (catalog === undefined) throw new Error('it was read')
  olderThan = undefined
  store.setCatalog({ ...catalog, revision: { id: 'content-0', from: 'content' }, entries: new Map() })
  expect((await next.go(ORDERS)).action.reason).toBe('ManifestVanishing')
  store.setCatalog(catalog)
  expect((await next.go(ORDERS)).action.reason).toBe('Suspended')
})

test.each([
  ['suspended', suspend, undefined, 'Suspended'],
  ['resumed', resume, { reason: 'a freeze', until: '2999-01-01T00:00:00Z' }, 'InSync'],
] as const)('a new name that was %s before its record moves stays so', async (_, command, inGit, is) => {
  const world = await given({ 'old.yaml': pipe('old', { platformName: 'old' }) })
  await world.go('Pipe/old')
  world.remove('old.yaml')
  const policy = { renamedFrom: 'Pipe/old', ...(inGit && { suspend: inGit }) }
  world.write('orders.yaml', pipe('orders', { platformName: 'old', topics: 'old', policy }))
  world.readAgain()
  await command(world)
  expect(await world.go(ORDERS)).toMatchObject({ movedFrom: 'Pipe/old', action: { reason: is } })
})

test('the end of a command does not end what the manifest suspends longer', async () => {
  const policy = { suspend: { reason: 'a freeze', until: '2999-01-01T00:00:00Z' } }
  const world = await given({ 'orders.yaml': pipe('orders') })
  await suspend(world)
  // An edit that is not committed has no revision of its own.
  const { catalog } = (await given({ 'orders.yaml': pipe('orders', { policy }) })).context.store
  if (catalog === undefined) throw new Error('it was read')
  world.context.store.setCatalog(catalog)
  await world.clock.advance(HOUR + MINUTE)
  expect((await world.go(ORDERS)).action.reason).toBe('Suspended')
  expect((await suspend(world)).message).toContain('by its manifest, until a later time: orders.yaml:1')
})

test('a secret in the reason is masked', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const context = { ...world.context, mask: createSecretMask(['planted-password']) }
  const asked = { command: 'suspend', key: ORDERS, reason: 'planted-password', until: soon(world) } as const
  const { message } = await operate(context, asked, NEVER)
  expect(message + JSON.stringify(await world.record(ORDERS))).not.toContain('planted')
})

test('a query endpoint is not applied', async () => {
  const world = await given({ 'totals.yaml': endpoint('totals') })
  await suspend(world, 'QueryEndpoint/totals')
  expect((await world.go('QueryEndpoint/totals')).action.reason).toBe('Suspended')
})

test.each([
  ['has no manifest', 'Pipe/none', '2999-01-01T00:00:00Z', 'has no valid manifest'],
  ['is only read', 'Service/analytics', '2999-01-01T00:00:00Z', 'is only read'],
  ['ends before it begins', ORDERS, '2001-01-01T00:00:00Z', 'is in the past'],
] as const)('what %s is refused', async (_, key, until, words) => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const { result, message } = await suspendKey(world.context, { command: 'suspend', key, reason: 'x', until })
  expect([result, message]).toEqual(['refused', expect.stringContaining(words)])
  expect(world.writes).toEqual([])
})

test('what is not suspended is not resumed', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  expect(await resume(world)).toEqual({ result: 'refused', message: 'Pipe/orders is not suspended.' })
})
