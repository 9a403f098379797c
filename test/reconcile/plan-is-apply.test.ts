import { type Arbitrary, array, asyncProperty, assert, constantFrom, integer, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { keysOf, reconcileAll } from '../../src/daemon/pass.ts'
import { decisiveRun } from '../../src/reconcile/dry-run/plan-item.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import type { Platform, Reply } from '../../src/contract/platform.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import { OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'
import { given, HOUR, type Given } from './given.ts'
import { alert, endpoint, lock, pipe, pipeBodyOf, service } from './manifests.ts'
import { planOf } from './plan-of.ts'

/* What a plan says is what apply then does: both are made of the same world, and held against each other. */

const never = new AbortController().signal

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const
const NOBODY = '00000000-0000-4000-9000-0000000000ff'

const OTHERS = [undefined, 'Alert/one', 'Alert/two', 'Pipe/a'] as const
const ADOPTING = ['adopts', 'adopts another', 'adopts in vain', 'adopts what differs'] as const

/** What one pipe has been through when the plan is made. */
const PIPE = record({
  name: constantFrom(...NAMES),
  /** What is done about it in the directory after the first pass. */
  fate: constantFrom('stays', 'edited', 'removed', 'renamed', 'invalid', 'suspended', 'other service'),
  /** What somebody does to it on the platform. */
  meanwhile: constantFrom('nothing', 'nothing', 'changed', 'deleted', 'unreadable'),
  dependsOn: constantFrom(...OTHERS, 'Pipe/c', 'QueryEndpoint/q'),
  service: constantFrom('analytics', 'analytics', 'other', 'nobody'),
})

/** What one manifest asks for that is new when the plan is made. */
const NEW = record({
  how: constantFrom('new', 'new', ...ADOPTING, 'locked', 'same name', 'renamed from'),
  dependsOn: constantFrom(...OTHERS, 'Pipe/n0', 'Pipe/n1', 'QueryEndpoint/q'),
  secret: constantFrom('there', 'there', 'there', 'not there'),
})

const WORLD = record({
  pipes: array(PIPE, { maxLength: 5 }),
  fresh: array(NEW, { maxLength: 4 }),
  alerts: constantFrom('both', 'one', 'none'),
  endpoint: constantFrom('none', 'new', 'edited', 'same'),
  maxCreates: constantFrom(1, 2, 25),
  credentials: constantFrom(true, true, true, false),
  hours: integer({ min: 0, max: 2 }),
})
type World = typeof WORLD extends Arbitrary<infer T> ? T : never

/** What is made from now on is not ready for a while: how long, nobody knows beforehand. */
function slowToStart(platform: Given['platform']): Platform {
  const known = new Set(platform.pipes.keys())
  const starting = (reply: Reply<RemoteResource>): Reply<RemoteResource> =>
    known.has(reply.value.id) || !platform.pipes.has(reply.value.id)
      ? reply
      : { ...reply, value: { ...reply.value, state: 'Provisioning' } }
  return {
    ...platform,
    read: async (target, options) => starting(await platform.read(target, options)),
    async admitCreate(kind, access, options) {
      const permit = await platform.admitCreate(kind, access, options)
      return { ...permit, send: async (request) => starting(await permit.send(request)) }
    },
  }
}

function told({ action, outcome, movedFrom }: ReconcileResult): string {
  const reason = outcome.result === 'failed' ? outcome.reason : action.reason
  return `${action.type} ${reason}${movedFrom === undefined ? '' : ` from ${movedFrom}`}`
}

async function apply(world: Given): Promise<Readonly<Record<Key, string>>> {
  const context: ReconcileContext = { ...world.context, platform: slowToStart(world.platform) }
  const runs = new Map<Key, ReconcileResult>()
  const { bugs } = await reconcileAll({
    context,
    reconciler: createReconciler(context, world.board),
    concurrency: 1,
    urgency: 'normal',
    stopping: never,
    deadline: () => never,
    onReconciled: (key, result) => void runs.set(key, decisiveRun(runs.get(key), result)),
  })
  expect([...bugs.values()]).toEqual([])
  return Object.fromEntries(
    keysOf(context).flatMap((key) => [runs.get(key)].flatMap((run) => (run ? [[key, told(run)]] : []))),
  )
}

function policyOf(dependsOn: string | undefined, key: string) {
  const others = dependsOn === undefined || dependsOn === key ? {} : { dependsOn: [dependsOn] }
  return { healthyStates: ['Running'], ...others }
}

/** A world in which something was applied before, and which has changed since. */
async function changedWorld(script: World): Promise<Given> {
  const before = await given({ 'other.yaml': service('other', OTHER_SERVICE_ID) }, { maxCreates: 100 })
  const pipes = new Map(script.pipes.map((each) => [each.name, each]))
  for (const id of { both: ['one', 'two'], one: ['one'], none: [] }[script.alerts])
    before.platform.alerts.set(`id-of-${id}`, { state: 'ok' })
  before.write('alerts.yaml', [alert('one'), alert('two', { name: 'other' })].join('\n---\n'))
  for (const [name, each] of pipes) {
    const options = {
      service: each.service === 'other' ? 'other' : 'analytics',
      policy: policyOf(undefined, ''),
    }
    before.write(`${name}.yaml`, pipe(name, options))
  }
  if (script.endpoint !== 'none' && script.endpoint !== 'new') before.write('q.yaml', endpoint('q'))
  await apply(before)
  await before.clock.advance(script.hours * HOUR)

  for (const [name, each] of pipes) await change(before, name, each)
  if (script.endpoint === 'new') before.write('q.yaml', endpoint('q'))
  if (script.endpoint === 'edited') before.write('q.yaml', endpoint('q', { roles: ['sql_console_admin'] }))
  for (const [index, each] of script.fresh.entries()) add(before, `n${index}`, each)
  if (!script.credentials) before.secrets.mounted.delete('api/keyId')

  // Both commands begin anew, and know nothing but what is on disk.
  const world = await given({}, { around: before.around, maxCreates: script.maxCreates })
  world.readAgain()
  return world
}

type Change = World['pipes'][number]

async function change(world: Given, name: string, { fate, meanwhile, dependsOn, service: to }: Change) {
  const { remote } = await world.record(`Pipe/${name}`)
  const there = remote && world.platform.pipes.get(remote.id)
  if (there !== undefined && meanwhile === 'changed') there.body = { ...there.body, scaling: { replicas: 9 } }
  if (there !== undefined && meanwhile === 'deleted') world.platform.pipes.delete(there.id)
  if (there !== undefined && meanwhile === 'unreadable') world.platform.unreadable.add(there.id)
  const policy = policyOf(dependsOn, `Pipe/${name}`)
  const common = { service: to === 'other' ? 'other' : 'analytics', policy }
  const suspend = { reason: 'a test', until: '2099-01-01T00:00:00Z' }
  if (fate === 'removed' || fate === 'renamed') world.remove(`${name}.yaml`)
  if (fate === 'removed') return
  const now = fate === 'renamed' ? `new-${name}` : name
  const options = {
    stays: {},
    edited: { replicas: 3 },
    renamed: { platformName: name, topics: name },
    invalid: { more: { nonsense: 1 } },
    suspended: { policy: { ...policy, suspend } },
    'other service': { service: to === 'nobody' ? 'nobody' : 'other' },
  }[fate]
  world.write(`${now}.yaml`, pipe(now, { ...common, ...options }))
}

function add(world: Given, name: string, { how, dependsOn, secret }: World['fresh'][number]) {
  const password = { secretRef: { name: 'kafka', key: secret === 'there' ? 'password' : 'nowhere' } }
  const source = { kafka: { brokers: 'b:1', topics: name, credentials: { username: 'me', password } } }
  const make = (at = SERVICE_ID) => world.platform.make(at, { ...pipeBodyOf(name), name })
  const { policy: more, ...options } = {
    new: () => ({ policy: {}, more: { source } }),
    adopts: () => ({ policy: { adopt: make() } }),
    'adopts another': () => ({ policy: { adopt: make(OTHER_SERVICE_ID) } }),
    'adopts in vain': () => ({ policy: { adopt: NOBODY } }),
    'adopts what differs': () => ({ replicas: 7, policy: { adopt: make() } }),
    locked: () => ({ policy: {} }),
    'same name': () => ({ policy: {}, platformName: 'a' }),
    'renamed from': () => ({ policy: { renamedFrom: 'Pipe/a' }, platformName: 'a' }),
  }[how]()
  world.write(
    `${name}.yaml`,
    pipe(name, { ...options, policy: { ...policyOf(dependsOn, `Pipe/${name}`), ...more } }),
  )
  if (how === 'locked') world.write(`${name}.lock.yaml`, lock({ [`Pipe/${name}`]: make() }, name))
}

async function planned(world: Given) {
  const { items } = await planOf({ context: world.context, ledger: world.around.ledger })
  const words = items.map(({ key, action, reason, renamedFrom }) => [
    key,
    `${action} ${reason}${renamedFrom === undefined ? '' : ` from ${renamedFrom}`}`,
  ])
  const unchecked = new Set(
    items.filter(({ uncheckedSecrets }) => uncheckedSecrets.length > 0).map(({ key }) => key),
  )
  return { says: Object.fromEntries(words) as Readonly<Record<Key, string>>, unchecked }
}

test('a plan writes nothing, and says of each resource what apply then does', async () => {
  const seen = new Set<string>()
  await assert(
    asyncProperty(WORLD, async (script) => {
      const world = await changedWorld(script)
      const records = await world.around.ledger.list()
      const sent = () => [world.platform.posts.length, world.platform.upserts.length]
      const before = sent()
      const { says, unchecked } = await planned(world)
      expect(sent()).toEqual(before)
      expect(await world.around.ledger.list()).toEqual(records)
      const does = await apply(world)
      const expected = Object.fromEntries(
        Object.entries(does).map(([key, words]) => {
          const isNoted = unchecked.has(key as Key) && words === 'refuse SecretUnavailable'
          const said = says[key as Key] ?? ''
          // Nobody has asked the service before something is sent to it.
          const isAsked = words === 'observe InSync' && said === 'observe Unobserved'
          const may = (isNoted && ['create New', 'refuse CreateLimit'].includes(said)) || isAsked
          return [key, may ? says[key as Key] : words]
        }),
      )
      for (const words of Object.values(does)) seen.add(words.split(' from ')[0] ?? words)
      expect(says).toEqual(expected)
    }),
    { numRuns: 20, seed: 8 },
  )
  // It is of no use when nothing happens in those worlds.
  expect([...seen]).toEqual(expect.arrayContaining(EXPECTED))
})

const EXPECTED = `
  adopt Adopt, adopt AdoptRefused, create New, hold InvalidManifest, hold MissingUnconfirmed, hold Suspended,
  observe InSync, refuse CreateLimit, refuse DependencyNotReady, refuse Ambiguous, refuse SecretUnavailable,
  report Drifted, report NotUpdatable, report Orphaned, upsert Changing, upsert New`
  .trim()
  .split(/,\s+/)
