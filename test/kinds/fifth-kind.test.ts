import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { CreateFailpoint } from '../../src/contract/failpoint.ts'
import { keyOf, type Key } from '../../src/kinds/key.ts'
import { MANIFEST_KINDS } from '../../src/kinds/lookup.ts'
import { operationsOf } from '../../src/kinds/profile.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { createTelemetry } from '../../src/telemetry/telemetry.ts'
import { planOf } from '../reconcile/plan-of.ts'
import { given, HOUR, MINUTE, type Given, type ProcessOptions } from '../reconcile/given.ts'
import { manifest, pipe, lock } from '../reconcile/manifests.ts'
import { ask, running } from '../server/running.ts'
import { boardOf, fakeParts } from '../server/fake-parts.ts'
import { VIEW } from './view/kind.ts'
import { SERVICE_ID } from '../support/manifests.ts'

/*
 * A kind is a folder: with `View` in the registry, and nothing else, all that holds for what is created once holds for it.
 */

const PASSWORD = { secretRef: { name: 'kafka', key: 'password' } }
const TOTALS = keyOf('View', 'totals')

interface ViewOptions {
  readonly query?: string
  readonly rows?: number
  readonly called?: string
  readonly policy?: object
}

function view(
  name: string,
  { query = `select 1 from ${name}`, rows = 1, called = name, policy = {} }: ViewOptions = {},
) {
  const origin = { host: 'db.example', credentials: { username: 'reader', password: PASSWORD } }
  return manifest('View', name, { ...policy }, { service: 'analytics', name: called, query, rows, origin })
}

async function settled(count: number, options: ProcessOptions & { readonly policy?: object } = {}) {
  const keys = Array.from({ length: count }, (_, index): Key => `View/v${index}`)
  const files = keys.map((_, index) => [`v${index}.yaml`, view(`v${index}`, options)] as const)
  const world = await given(Object.fromEntries(files), { maxCreates: 100 })
  for (const key of keys) await world.go(key)
  await world.clock.advance(HOUR)
  for (const key of keys) await world.go(key)
  return { world, keys }
}

async function idOf(world: Given, key: Key): Promise<string> {
  return (await world.record(key)).remote?.id ?? ''
}

/** Reconciles some keys every minute, and whom they ask for. @returns the reasons of the first */
async function minutes(world: Given, count: number, ...keys: readonly Key[]): Promise<readonly string[]> {
  const reasons: string[] = []
  for (let minute = 0; minute < count; minute += 1) {
    for (const [index, key] of keys.entries()) {
      const { action, also } = await world.go(key)
      if (index === 0) reasons.push(action.reason)
      for (const other of also) await world.go(other)
    }
    await world.clock.advance(MINUTE)
  }
  return reasons
}

test('a manifest, a request and a schema are known for it', () => {
  expect(MANIFEST_KINDS).toEqual(['Service', 'Pipe', 'QueryEndpoint', 'Alert', 'View', 'Lock'])
  expect(operationsOf(DEFAULT).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['createView', 'getView']),
  )
})

describe('a view', () => {
  test('is created once, with its secret, which is kept nowhere', async () => {
    const world = await given({ 'totals.yaml': view('totals') })
    world.secrets.mounted.set('kafka/password', 'planted-password')
    expect((await world.go(TOTALS)).action).toMatchObject({ type: 'create', reason: 'New' })
    expect((await world.go(TOTALS)).action.reason).toBe('InSync')
    expect(world.platform.posts).toHaveLength(1)
    expect(JSON.stringify(world.platform.posts)).toContain('planted-password')
    const kept = [await world.record(TOTALS), world.events, world.board.list()]
    expect(JSON.stringify(kept)).not.toContain('planted-password')
  })

  test('whose secret is rotated, or whose manifest is edited, is not created again', async () => {
    const world = await given({ 'totals.yaml': view('totals') })
    await world.go(TOTALS)
    world.secrets.mounted.set('kafka/password', 'another')
    expect((await world.go(TOTALS)).action.reason).toBe('SecretRotated')
    world.write('totals.yaml', view('totals', { rows: 2 }))
    expect((await world.go(TOTALS)).action.reason).toBe('NotUpdatable')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('that was changed behind our back has drifted', async () => {
    const world = await given({ 'totals.yaml': view('totals') })
    await world.go(TOTALS)
    const made = world.platform.pipes.get(await idOf(world, TOTALS))
    if (made !== undefined) made.body = { ...made.body, rows: 7 }
    const { action } = await world.go(TOTALS)
    expect(action).toMatchObject({ reason: 'Drifted', facts: { fields: ['rows'] } })
  })

  test.each<{ at: CreateFailpoint; posts: number; reason: string }>([
    { at: 'before-intent', posts: 1, reason: 'New' },
    { at: 'after-intent', posts: 0, reason: 'OutcomeUnknown' },
    { at: 'before-id', posts: 1, reason: 'OutcomeUnknown' },
  ])('whose process dies $at is $reason for the next one', async ({ at, posts, reason }) => {
    const dead = new Promise<never>(() => undefined)
    const fail = (reached: CreateFailpoint) => (reached === at ? dead : Promise.resolve())
    const before = await given({ 'totals.yaml': view('totals') }, { fail })
    expect(await before.request(TOTALS)).toBeUndefined()
    const world = await given({}, { around: before.around })
    expect((await world.go(TOTALS)).action.reason).toBe(reason)
    await minutes(world, 90, TOTALS)
    expect(world.platform.posts).toHaveLength(posts)
    const [id] = world.platform.pipes.keys()
    expect((await world.record(TOTALS)).remote?.id).toBe(reason === 'OutcomeUnknown' ? undefined : id)
  })

  test.each<{ worked: boolean }>([{ worked: true }, { worked: false }])(
    'whose reply is lost (work done: $worked) is not sent again, until a line in Git says so',
    async ({ worked }) => {
      const world = await given({ 'totals.yaml': view('totals') })
      world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked })
      await world.go(TOTALS)
      expect(await minutes(world, 90, TOTALS)).toEqual(Array(90).fill('OutcomeUnknown'))
      expect(world.platform.posts).toHaveLength(1)
      const { intent } = await world.record(TOTALS)
      world.write('totals.yaml', view('totals', { policy: { retryCreate: intent?.id ?? '' } }))
      expect((await world.go(TOTALS)).action.reason).toBe('New')
      expect(world.platform.posts).toHaveLength(2)
    },
  )

  test('counts for the create limit, together with pipes', async () => {
    const files = { 'a.yaml': view('a'), 'b.yaml': view('b'), 'c.yaml': pipe('c') }
    const world = await given(files, { maxCreates: 2 })
    for (const key of ['View/a', 'View/b', 'Pipe/c'] as const)
      expect((await world.go(key)).action.reason).toBe('CreateLimit')
    expect(world.platform.posts).toEqual([])
  })

  test('under another name waits until the old manifest is gone: then its record moves', async () => {
    const world = await given({ 'totals.yaml': view('old', { query: 'select 1', called: 'totals' }) })
    await world.go('View/old')
    const id = await idOf(world, 'View/old')
    world.write(
      'totals.yaml',
      view('new', { query: 'select 1', called: 'totals', policy: { renamedFrom: 'View/old' } }),
    )
    world.write('copy.yaml', view('old', { query: 'select 1', called: 'totals' }))
    expect((await world.go('View/new')).action.reason).toBe('Ambiguous')
    world.remove('copy.yaml')
    world.readAgain()
    expect((await world.go('View/new')).action.reason).toBe('InSync')
    expect(await idOf(world, 'View/new')).toBe(id)
    expect(await world.ledger.get('View/old')).toBeUndefined()
    expect(world.platform.posts).toHaveLength(1)
  })

  test('that looks like an orphan is refused', async () => {
    const world = await given({ 'old.yaml': view('old', { query: 'select 1' }) })
    await world.go('View/old')
    world.remove('old.yaml')
    world.write('new.yaml', view('new', { query: 'select 1' }))
    expect((await world.go('View/new')).action.reason).toBe('Ambiguous')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('has nothing to do with a pipe of the same name', async () => {
    const world = await given({ 'pipe.yaml': pipe('totals') })
    await world.go('Pipe/totals')
    world.write('view.yaml', view('totals'))
    world.platform.script('create', { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true })
    expect((await world.go(TOTALS)).action.reason).toBe('New')
    const { action } = await world.go(TOTALS)
    expect(action).toMatchObject({ reason: 'OutcomeUnknown', facts: { olderIds: [] } })
    expect(messageOf(action, { key: TOTALS })).toContain(
      'It is unknown whether the view "totals" was created',
    )
    world.remove('pipe.yaml')
    world.readAgain()
    world.write('other.yaml', view('other', { policy: { renamedFrom: 'Pipe/totals' } }))
    expect((await world.go('View/other')).action.reason).toBe('InvalidManifest')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('that is gone is replaced, once that is confirmed and witnessed', async () => {
    const { world, keys } = await settled(2)
    const [gone = TOTALS, witness = TOTALS] = keys
    world.platform.pipes.delete(await idOf(world, gone))
    const reasons = await minutes(world, 4, gone, witness)
    expect(reasons.slice(0, 3)).toEqual(['MissingUnconfirmed', 'MissingUnconfirmed', 'Missing'])
    expect(world.platform.posts).toHaveLength(3)
    expect((await world.record(gone)).replaced).toMatchObject({ count: 1 })
  })

  test('that is gone is not replaced without a witness, nor where policy.onMissing says so', async () => {
    const alone = await settled(1)
    alone.world.platform.pipes.clear()
    expect(new Set(await minutes(alone.world, 10, ...alone.keys))).toEqual(new Set(['MissingUnconfirmed']))
    const { world, keys } = await settled(2, { policy: { onMissing: 'report' } })
    world.platform.pipes.delete(await idOf(world, keys[0] ?? 'View/none'))
    expect((await minutes(world, 4, ...keys)).at(-1)).toBe('Missing')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('that no reading ever found is never replaced by itself', async () => {
    const world = await given({ 'totals.yaml': view('totals') })
    await world.go(TOTALS)
    world.platform.pipes.clear()
    expect((await minutes(world, 90, TOTALS)).at(-1)).toBe('NeverSeen')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('and many others that are gone at once are a lost permission', async () => {
    const { world, keys } = await settled(10)
    for (const key of keys.slice(0, 4)) world.platform.pipes.delete(await idOf(world, key))
    await minutes(world, 5, ...keys)
    expect(world.board.get('View/v0')?.reason).toBe('MassMissing')
    expect(world.platform.posts).toHaveLength(10)
  })

  test('is adopted by policy.adopt or a Lock, but a pipe is no view', async () => {
    const world = await given()
    const body = { name: 'totals', query: 'select 1 from totals', rows: 1, origin: { host: 'db.example' } }
    const id = world.platform.make(SERVICE_ID, body, VIEW)
    world.write('totals.yaml', view('totals', { policy: { adopt: id } }))
    expect((await world.go(TOTALS)).action.type).toBe('adopt')
    expect(await idOf(world, TOTALS)).toBe(id)
    const locked = world.platform.make(SERVICE_ID, { ...body, name: 'locked' }, VIEW)
    world.write('pipes.lock.yaml', lock({ 'View/locked': locked }))
    world.write('locked.yaml', view('locked'))
    await world.go('View/locked')
    expect(await idOf(world, 'View/locked')).toBe(locked)
    const other = world.platform.make(SERVICE_ID, { name: 'other' })
    world.write('other.yaml', view('other', { policy: { adopt: other } }))
    expect((await world.go('View/other')).outcome).toMatchObject({ reason: 'AdoptRefused' })
    expect(world.platform.posts).toEqual([])
  })

  test('is previewed without a request, shown, counted, and a filter of the page', async () => {
    const world = await given({ 'totals.yaml': view('totals') })
    const { items } = await planOf(world)
    expect(items.find(({ key }) => key === TOTALS)).toMatchObject({ action: 'create', verdict: 'change' })
    expect(world.platform.posts).toEqual([])
    await world.go(TOTALS)
    const id = await idOf(world, TOTALS)
    const [shown] = world.board.list().filter(({ key }) => key === TOTALS)
    expect(shown).toMatchObject({
      kind: 'View',
      status: 'Ready',
      pipeId: id,
      state: 'Running',
      service: 'analytics',
    })

    const telemetry = createTelemetry({
      operations: operationsOf(DEFAULT).map(({ name }) => name),
      version: '1',
      clock: world.clock,
      board: () => world.board.list(),
      namedResources: 9,
      facts: () => ({ isActing: true, withoutLock: 0, withoutManifest: undefined, budgetUsed: 0 }),
      log: { level: 'silent', format: 'json', destination: new PassThrough() },
    })
    for (const event of world.events) telemetry.emit(event)
    const { text } = await telemetry.metrics.render()
    await telemetry.close()
    expect(text).toMatch(/_view_state\{name="totals",state="Running"\} 1/)
    expect(text).toMatch(/_resources\{kind="View",status="Ready"\} 1/)
    expect(text).toMatch(/_reconcile_total\{kind="View",action="create",result="done"\} 1/)

    const server = await running(fakeParts({ board: boardOf(world.board.list()) }))
    const { body } = await ask(`${server.url}/api/v1/page`)
    expect(body).toMatchObject({ whole: { facets: { kinds: [{ value: 'View', count: 1 }] } } })
    expect((await ask(`${server.url}/api/v1/resources?kind=View`)).body).toMatchObject({
      items: [{ key: TOTALS }],
    })
  })
})
