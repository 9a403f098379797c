import { expect, test } from 'vitest'
import { operate } from '../../src/reconcile/operator/operate.ts'
import { given, HOUR } from './given.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { endpoint, pipe } from './manifests.ts'
import { play, story, worldAfter } from './story.ts'

/* `suspend` and `resume`: a person's word counts until the next revision, and then Git's does. */

const ORDERS = 'Pipe/orders'
const NEVER = new AbortController().signal
const FREEZE = { suspend: { reason: 'a freeze', until: '2999-01-01T00:00:00Z' } }

test('a pipe that is suspended is neither created nor changed, until the next revision', async () => {
  const world = await worldAfter(
    'write orders; suspend orders; look orders: hold Suspended; write other; look orders: create',
    { sent: 1 },
  )
  expect((await world.record(ORDERS)).suspension).toBeUndefined()
})

test('a pipe that is suspended does not count as wanted, so it takes no room below the create limit', () =>
  story(
    'write orders; write other; look other: CreateLimit; suspend orders; 2 s; look other: create',
    {},
    { maxCreates: 1 },
  ))

test('it ends by itself at the time that was given', () =>
  story('write orders; suspend orders; look orders; 61 min; look orders: create'))

test('it outlives the process, and a revision that comes back does not bring it back', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await play(
    world,
    `suspend orders; restart; look orders: Suspended; write other; look orders; remove other; read again;
    look orders: InSync`,
  )
})

test('resume counts against the manifest until the next revision', () =>
  story(
    `write orders suspended; look orders: Suspended; resume orders: remove policy.suspend at orders.yaml:;
    look orders: create; suspend orders; look orders: Suspended; resume orders; write other; look orders: Suspended`,
  ))

test('a stale checkout is no next revision, and neither is a directory that cannot be read yet', async () => {
  const world = await worldAfter('write orders; look orders; suspend orders')
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
  ['suspend', '', 'Suspended'],
  ['resume', 'suspended', 'InSync'],
])('a new name after a %s before its record moves stays so', (command, inGit, is) =>
  story(
    `write old; look old; remove old; write orders name=old topics=old renamedFrom=Pipe/old ${inGit}; read again;
    ${command} orders; look orders: from Pipe/old; look orders: ${is}`,
  ),
)

test('the end of a command does not end what the manifest suspends longer', async () => {
  const world = await worldAfter('write orders; suspend orders')
  // An edit that is not committed has no revision of its own.
  const { catalog } = (await given({ 'orders.yaml': pipe('orders', { policy: FREEZE }) })).context.store
  if (catalog === undefined) throw new Error('it was read')
  world.context.store.setCatalog(catalog)
  await play(
    world,
    '61 min; look orders: Suspended; suspend orders: stays suspended until the later time in its manifest',
  )
})

test('the message says what to write into Git, and masks a secret in the reason', async () => {
  const world = await worldAfter('write orders')
  const context = { ...world.context, mask: createSecretMask(['planted-password']) }
  const until = new Date(world.clock.now() + HOUR).toISOString()
  const suspend = (reason: string) =>
    operate(context, { command: 'suspend', key: ORDERS, reason, until }, NEVER)
  expect((await suspend('a "migration"')).message).toContain(
    'write under policy: in orders.yaml:\nsuspend: { reason: "a \\"migration\\"", until: "20',
  )
  const { message } = await suspend('planted-password')
  expect(message + JSON.stringify(await world.record(ORDERS))).not.toContain('planted')
})

test('a query endpoint is not applied', async () => {
  const world = await given({ 'totals.yaml': endpoint('totals') })
  await play(world, 'suspend QueryEndpoint/totals; look QueryEndpoint/totals: Suspended')
})

test.each([
  ['has no manifest', 'Pipe/none', '2999-01-01T00:00:00Z', 'Write a manifest first'],
  ['is only read', 'Service/analytics', '2999-01-01T00:00:00Z', 'Pipewright only reads'],
  ['ends before it begins', ORDERS, '2001-01-01T00:00:00Z', 'is in the past'],
] as const)('what %s is refused', async (_, key, until, words) => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const asked = { command: 'suspend', key, reason: 'x', until } as const
  const { result, message } = await operate(world.context, asked, new AbortController().signal)
  expect([result, message]).toEqual(['refused', expect.stringContaining(words)])
  expect(world.writes).toEqual([])
})

test('what is not suspended is not resumed, nor a key that has no manifest, for which the nearest is named', () =>
  story(
    `write orders; resume orders: refused: Pipe/orders is not suspended.;
    resume order: refused: There is no manifest of Pipe/order. Did you mean Pipe/orders?;
    write other invalid; suspend other: refused: Pipe/other was not suspended`,
  ))
