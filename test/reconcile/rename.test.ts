import { viewMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import { messageOf } from '../../src/plan/reason.ts'
import type { Given } from './given.ts'
import { given } from './given.ts'
import { pipe, pipeBodyOf } from './manifests.ts'

const DESTINATION = {
  database: 'default',
  table: 'events',
  columns: [{ name: 'id', type: 'UInt64' }],
} as const

const NAMED = { platformName: 'orders', topics: 'orders' } as const

/** A pipe `old` that was created, and whose manifest is gone. */
async function orphan(options: Parameters<typeof pipe>[1] = NAMED): Promise<Given> {
  const world = await given({ 'old.yaml': pipe('old', options) })
  await world.go('Pipe/old')
  world.remove('old.yaml')
  world.readAgain()
  await world.go('Pipe/old')
  return world
}

interface Row {
  readonly why: string
  readonly old: Parameters<typeof pipe>[1]
  readonly fresh: Parameters<typeof pipe>[1]
  readonly reason: string
  readonly posts: number
  /** Where the first pipe is recorded in the end. */
  readonly at: 'Pipe/old' | 'Pipe/new'
}

const ROWS: readonly Row[] = [
  { why: 'the same service and body', old: NAMED, fresh: NAMED, reason: 'InSync', posts: 1, at: 'Pipe/new' },
  {
    why: 'the same name on the platform, another body',
    old: NAMED,
    fresh: { ...NAMED, replicas: 2 },
    reason: 'RenameSuspected',
    posts: 1,
    at: 'Pipe/old',
  },
  {
    why: 'the same body, and a name on the platform that follows metadata.name',
    old: { topics: 'orders' },
    fresh: { topics: 'orders' },
    reason: 'RenameSuspected',
    posts: 1,
    at: 'Pipe/old',
  },
  {
    why: 'the same source and table, another name and another size',
    old: { topics: 'orders' },
    fresh: { topics: 'orders', replicas: 2 },
    reason: 'RenameSuspected',
    posts: 1,
    at: 'Pipe/old',
  },
  {
    why: 'the same source and table, another name and size, and policy.replaces: it is a new one',
    old: { topics: 'orders' },
    fresh: { topics: 'orders', replicas: 2, policy: { replaces: 'Pipe/old' } },
    reason: 'New',
    posts: 2,
    at: 'Pipe/old',
  },
  {
    why: 'the same source and table, another name and size, and policy.renamedFrom',
    old: { topics: 'orders' },
    fresh: { topics: 'orders', replicas: 2, policy: { renamedFrom: 'Pipe/old' } },
    reason: 'NotUpdatable',
    posts: 1,
    at: 'Pipe/new',
  },
  {
    why: 'the same table, another source',
    old: { topics: 'orders' },
    fresh: { topics: 'returns' },
    reason: 'New',
    posts: 2,
    at: 'Pipe/old',
  },
  {
    why: 'the same source, another table',
    old: { topics: 'orders' },
    fresh: { topics: 'orders', more: { destination: { ...DESTINATION, table: 'returns' } } },
    reason: 'New',
    posts: 2,
    at: 'Pipe/old',
  },
  {
    why: 'nothing in common',
    old: NAMED,
    fresh: { platformName: 'returns', topics: 'returns' },
    reason: 'New',
    posts: 2,
    at: 'Pipe/old',
  },
  {
    why: 'a body of its own, and policy.renamedFrom',
    old: NAMED,
    fresh: { ...NAMED, replicas: 2, policy: { renamedFrom: 'Pipe/old' } },
    reason: 'NotUpdatable',
    posts: 1,
    at: 'Pipe/new',
  },
  {
    why: 'the same body, and policy.replaces: it is a new one',
    old: NAMED,
    fresh: { ...NAMED, policy: { replaces: 'Pipe/old' } },
    reason: 'New',
    posts: 2,
    at: 'Pipe/old',
  },
  {
    why: 'the same body, and policy.replaces of another one',
    old: NAMED,
    fresh: { ...NAMED, replicas: 2, policy: { replaces: 'Pipe/other' } },
    reason: 'RenameSuspected',
    posts: 1,
    at: 'Pipe/old',
  },
]

describe('a new manifest beside an orphan with', () => {
  test.each(ROWS)('$why: $reason, $posts POSTs', async ({ old, fresh, reason, posts, at }) => {
    const world = await orphan(old)
    const { remote: first } = await world.record('Pipe/old')
    world.write('new.yaml', pipe('new', fresh))
    expect((await world.go('Pipe/new')).action.reason).toBe(reason)
    await world.go('Pipe/new')
    expect(world.platform.posts).toHaveLength(posts)
    expect((await world.record(at)).remote?.id).toBe(first?.id)
    const holders = (await world.ledger.list()).filter((record) => record.remote?.id === first?.id)
    expect(holders.map(({ key }) => key)).toEqual([at])
    expect(world.board.get('Pipe/old') === undefined).toBe(at === 'Pipe/new')
  })
})

describe('a rename', () => {
  test('is refused until its old manifest is believed to be gone, and then moves by itself', async () => {
    const world = await given({ 'orders.yaml': pipe('old', NAMED) })
    await world.go('Pipe/old')
    world.write('orders.yaml', pipe('new', NAMED))
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    world.readAgain()
    expect((await world.go('Pipe/new')).action.reason).toBe('InSync')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('with another edit in the same commit creates nothing, before and after its old manifest is believed to be gone', async () => {
    const world = await given({ 'orders.yaml': pipe('old', { topics: 'orders' }) })
    await world.go('Pipe/old')
    world.write('orders.yaml', pipe('new', { topics: 'orders', replicas: 2 }))
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    world.readAgain()
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    expect(viewMessage(world.board.get('Pipe/new'))).toContain('policy.renamedFrom: Pipe/old')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('is compared with the pipe as it was last seen, too', async () => {
    const world = await given({ 'old.yaml': pipe('old') })
    await world.go('Pipe/old')
    for (const there of world.platform.pipes.values())
      there.body = { ...there.body, ...pipeBodyOf('new'), name: 'new' }
    expect((await world.go('Pipe/old')).action.reason).toBe('Drifted')
    world.remove('old.yaml')
    world.write('new.yaml', pipe('new'))
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    world.readAgain()
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('by policy.renamedFrom waits until it is sure that the old manifest is gone', async () => {
    const world = await given({ 'old.yaml': pipe('old', NAMED) })
    await world.go('Pipe/old')
    world.remove('old.yaml')
    world.write('new.yaml', pipe('new', { ...NAMED, policy: { renamedFrom: 'Pipe/old' } }))
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameWaiting')
    world.write('old.yaml', pipe('old', NAMED))
    await world.go('Pipe/new')
    expect((await world.go('Pipe/old')).action.reason).toBe('InSync')
    world.remove('old.yaml')
    world.readAgain()
    expect((await world.go('Pipe/old')).also).toContain('Pipe/new')
    expect((await world.go('Pipe/old')).also).not.toContain('Pipe/new')
    expect((await world.go('Pipe/new')).movedFrom).toBe('Pipe/old')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('that two manifests claim by policy.renamedFrom waits until one of them does', async () => {
    const claiming = { ...NAMED, policy: { renamedFrom: 'Pipe/old' } }
    const world = await given({ 'old.yaml': pipe('old', NAMED) })
    await world.go('Pipe/old')
    world.write('a.yaml', pipe('a', claiming))
    await world.go('Pipe/a')
    world.remove('old.yaml')
    world.write('new.yaml', pipe('new', claiming))
    world.readAgain()
    for (const [key, rival] of [
      ['Pipe/a', 'Pipe/new'],
      ['Pipe/new', 'Pipe/a'],
    ] as const) {
      const { action } = await world.go(key)
      expect(action.reason).toBe('RenameWaiting')
      expect(messageOf(action, key)).toBe(
        `policy.renamedFrom names Pipe/old (old.yaml), and so does that of ${rival}; the record can move to one of them. ` +
          'Remove that line from the wrong manifest.',
      )
    }
    world.write('a.yaml', pipe('a', NAMED))
    expect((await world.go('Pipe/new')).movedFrom).toBe('Pipe/old')
    expect((await world.go('Pipe/a')).action.reason).toBe('NameTaken')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('gives nothing to a copy that was there before: a person says which of the two it is', async () => {
    const world = await given({ 'old.yaml': pipe('old', NAMED), 'copy.yaml': pipe('a-copy', NAMED) })
    await world.go('Pipe/old')
    await world.go('Pipe/a-copy')
    world.remove('old.yaml')
    world.write('new.yaml', pipe('new', NAMED))
    world.readAgain()
    for (const key of ['Pipe/a-copy', 'Pipe/new'] as const)
      expect((await world.go(key)).action.reason).toBe('RenameSuspected')
    world.write('new.yaml', pipe('new', { ...NAMED, policy: { renamedFrom: 'Pipe/old' } }))
    expect((await world.go('Pipe/new')).movedFrom).toBe('Pipe/old')
    expect((await world.go('Pipe/a-copy')).action.reason).toBe('NameTaken')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('takes an unknown outcome along', async () => {
    const world = await given({ 'orders.yaml': pipe('old', NAMED) })
    world.platform.script('create', { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true })
    await world.go('Pipe/old')
    const { intent } = await world.record('Pipe/old')
    world.write('orders.yaml', pipe('new', NAMED))
    world.readAgain()
    expect((await world.go('Pipe/new')).action.reason).toBe('OutcomeUnknown')
    expect((await world.record('Pipe/new')).intent).toEqual(intent)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('of two manifests that cannot be told apart is suspected', async () => {
    const world = await given({
      'a.yaml': pipe('a', NAMED),
      'b.yaml': pipe('b', { ...NAMED, policy: { replaces: 'Pipe/a' } }),
    })
    await world.go('Pipe/a')
    await world.go('Pipe/b')
    world.remove('a.yaml')
    world.remove('b.yaml')
    world.readAgain()
    world.write('c.yaml', pipe('c', NAMED))
    expect((await world.go('Pipe/c')).action.reason).toBe('RenameSuspected')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('back and forth stays one pipe', async () => {
    const world = await given({ 'orders.yaml': pipe('old', NAMED) })
    await world.go('Pipe/old')
    for (const name of ['new', 'old', 'other', 'old'] as const) {
      world.write('orders.yaml', pipe(name, NAMED))
      world.readAgain()
      await world.go(`Pipe/${name}`)
      expect(world.board.get(`Pipe/${name}`)?.status).toBe('Ready')
    }
    expect(world.platform.posts).toHaveLength(1)
    expect((await world.ledger.list()).filter(({ remote: made }) => made !== undefined)).toHaveLength(1)
  })

  test('decides anew when somebody else wrote the record that is to move', async () => {
    const world = await orphan()
    const record = await world.record('Pipe/old')
    await world.ledger.swap({ ...record, file: 'elsewhere.yaml' }, [])
    world.write('new.yaml', pipe('new', NAMED))
    expect((await world.go('Pipe/new')).action.reason).toBe('InSync')
    expect((await world.record('Pipe/new')).remote?.id).toBe(record.remote?.id)
  })

  test('of a record that a person forgot meanwhile creates a new pipe', async () => {
    const world = await orphan()
    await world.ledger.remove(await world.record('Pipe/old'), [])
    world.write('new.yaml', pipe('new', NAMED))
    expect((await world.go('Pipe/new')).action.reason).toBe('New')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('waits for a ledger that cannot be written, and says so', async () => {
    const world = await orphan()
    world.write('new.yaml', pipe('new', NAMED))
    world.ledger.script('fails')
    const { outcome, next } = await world.go('Pipe/new')
    expect(outcome).toMatchObject({ result: 'failed', reason: 'LedgerFailed' })
    expect(next?.why).toBe('retry')
    expect((await world.go('Pipe/new')).action.reason).toBe('InSync')
    expect(world.platform.posts).toHaveLength(1)
  })
})

describe('a rename while a create is under way', () => {
  test('waits for the create, and then takes its pipe along: one POST', async () => {
    const world = await given({ 'orders.yaml': pipe('old', NAMED) })
    const reply = Promise.withResolvers<void>()
    world.platform.script('create', { type: 'slow', until: reply.promise })
    const creating = world.begin('Pipe/old')
    await world.clock.settle()
    expect(world.platform.posts).toHaveLength(1)

    world.write('orders.yaml', pipe('new', NAMED))
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    world.readAgain()
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    world.write('orders.yaml', pipe('new', { ...NAMED, policy: { renamedFrom: 'Pipe/old' } }))
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameWaiting')

    reply.resolve()
    await creating
    expect((await world.go('Pipe/new')).action.reason).toBe('InSync')
    expect(world.platform.posts).toHaveLength(1)
    expect((await world.record('Pipe/new')).remote?.id).toBe(world.platform.posts[0]?.pipeId)
  })

  test('that still waits for its place creates the pipe under the new name: one POST', async () => {
    const world = await given({ 'orders.yaml': pipe('old', NAMED) })
    const place = Promise.withResolvers<void>()
    world.platform.script('admit', { type: 'slow', until: place.promise })
    const waiting = world.begin('Pipe/old')
    await world.clock.settle()
    world.write('orders.yaml', pipe('new', NAMED))
    await world.go('Pipe/new')
    place.resolve()
    await waiting
    world.readAgain()
    await world.go('Pipe/old')
    await world.go('Pipe/new')
    expect(world.platform.posts.map(({ key }) => key)).toEqual(['Pipe/new'])
    expect((await world.ledger.list()).filter(({ intent }) => intent !== undefined)).toHaveLength(1)
  })

  test('whose outcome is not on disk yet waits for that, too', async () => {
    const world = await given({ 'orders.yaml': pipe('old', NAMED) })
    const reply = Promise.withResolvers<void>()
    world.platform.script('create', { type: 'slow', until: reply.promise })
    const creating = world.begin('Pipe/old')
    await world.clock.settle()
    world.ledger.script(...Array.from({ length: 8 }, () => 'fails' as const))
    world.write('orders.yaml', pipe('new', NAMED))
    world.readAgain()
    reply.resolve()
    await world.clock.advance(10_000)
    await creating
    expect((await world.go('Pipe/new')).action.reason).toBe('RenameSuspected')
    for (let request = 0; request < 3; request += 1) await world.go('Pipe/old')
    expect((await world.go('Pipe/new')).action.reason).toBe('InSync')
    expect(world.platform.posts).toHaveLength(1)
    expect((await world.record('Pipe/new')).remote?.id).toBe(world.platform.posts[0]?.pipeId)
  })
})

test('a look that was still due at a key that is forgotten writes nothing', async () => {
  const world = await given({ 'old.yaml': pipe('old', NAMED) })
  world.remove('old.yaml')
  world.readAgain()
  await world.go('Pipe/old')
  world.readAgain()
  const writes = world.writes.length
  await world.go('Pipe/old')
  expect(world.writes).toHaveLength(writes)
  expect(await world.ledger.get('Pipe/old')).toBeUndefined()
  expect(world.board.get('Pipe/old')).toBeUndefined()
})

describe('a new manifest beside one that still holds its pipe', () => {
  const BESIDE: readonly {
    readonly why: string
    readonly fresh: Parameters<typeof pipe>[1]
    readonly reason: string
    readonly moves: boolean
  }[] = [
    { why: 'the same service and body', fresh: NAMED, reason: 'NameTaken', moves: true },
    {
      why: 'the same name, another body',
      fresh: { ...NAMED, replicas: 2 },
      reason: 'NameTaken',
      moves: false,
    },
    {
      why: 'the same body under another name',
      fresh: { ...NAMED, platformName: 'orders-v2' },
      reason: 'NameTaken',
      moves: false,
    },
    {
      why: 'policy.renamedFrom, and nothing else in common',
      fresh: { platformName: 'returns', topics: 'returns', policy: { renamedFrom: 'Pipe/old' } },
      reason: 'RenameWaiting',
      moves: true,
    },
  ]

  test.each(BESIDE)('$why: $reason, and no second pipe when the old one goes', async (row) => {
    const { fresh, reason, moves } = row
    const world = await given({ 'old.yaml': pipe('old', NAMED) })
    await world.go('Pipe/old')
    world.write('new.yaml', pipe('new', fresh))
    const { action } = await world.go('Pipe/new')
    expect(action.reason).toBe(reason)
    expect(messageOf(action, 'Pipe/orders')).toContain('Pipe/old (old.yaml)')
    await world.go('Pipe/old')
    expect(world.board.get('Pipe/old')?.status).toBe('Ready')

    world.remove('old.yaml')
    world.readAgain()
    await world.go('Pipe/new')
    expect(world.platform.posts).toHaveLength(1)
    expect((await world.record('Pipe/new')).remote !== undefined).toBe(moves)
  })

  const EDITED = { topics: 'orders', replicas: 2 } as const

  test.each([
    { by: { topics: 'returns' }, reply: 'ok' },
    {
      by: { topics: 'returns' },
      reply: { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true },
    },
    { by: { more: { unknown: true } }, reply: 'ok' },
  ] as const)(
    'the same source in an edited body, where the first manifest is another one or has errors by now: %j',
    async ({ by, reply }) => {
      const world = await given({ 'old.yaml': pipe('old', NAMED) })
      world.platform.script('create', reply)
      await world.go('Pipe/old')
      world.write('old.yaml', pipe('old', by))
      world.write('new.yaml', pipe('new', EDITED))
      expect((await world.go('Pipe/new')).action.reason).toBe('NameTaken')
      world.write('new.yaml', pipe('new', { ...EDITED, policy: { replaces: 'Pipe/old' } }))
      expect((await world.go('Pipe/new')).action.reason).toBe('New')
    },
  )

  test.each([
    { old: pipe('old', { topics: 'returns' }), reason: 'NameTaken' },
    { old: undefined, reason: 'RenameSuspected' },
  ])('the same source by an edit after its own pipe was deleted: $reason', async ({ old, reason }) => {
    const world = await given({ 'old.yaml': pipe('old', NAMED), 'new.yaml': pipe('new') })
    for (const key of ['Pipe/old', 'Pipe/new'] as const) await world.go(key)
    const { id = '' } = (await world.record('Pipe/new')).remote ?? {}
    world.platform.pipes.delete(id)
    world.write('new.yaml', pipe('new', { ...EDITED, policy: { recreate: id } }))
    if (old === undefined) world.remove('old.yaml')
    else world.write('old.yaml', old)
    world.readAgain()
    expect((await world.go('Pipe/new')).action.reason).toBe(reason)
  })

  test('is created when policy.replaces says that it is a new one', async () => {
    const world = await given({ 'old.yaml': pipe('old', NAMED) })
    await world.go('Pipe/old')
    world.write('new.yaml', pipe('new', { ...NAMED, policy: { replaces: 'Pipe/old' } }))
    expect((await world.go('Pipe/new')).action.reason).toBe('New')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('of two that are new, one is created, though both were decided', async () => {
    const world = await given({ 'a.yaml': pipe('a', NAMED), 'b.yaml': pipe('b', NAMED) })
    const reasons = await Promise.all([world.go('Pipe/a'), world.go('Pipe/b')])
    expect(reasons.map(({ action }) => action.reason).toSorted()).toEqual(['NameTaken', 'New'])
    expect(world.platform.posts).toHaveLength(1)
  })

  test('is created where the other one failed without effect', async () => {
    const world = await given({ 'a.yaml': pipe('a', NAMED), 'b.yaml': pipe('b', NAMED) })
    world.platform.script('create', { type: 'fail', class: 'Rejected', effect: 'none', worked: false })
    await world.go('Pipe/a')
    expect((await world.go('Pipe/b')).action.reason).toBe('New')
    await world.clock.advance(3_600_000)
    expect((await world.go('Pipe/a')).action.reason).toBe('NameTaken')
    expect(world.platform.posts).toHaveLength(2)
  })
})

describe('an orphan whose pipe has another name or source in the console', () => {
  const RAW = 'clicks-2024-x'
  const LONG = Array.from({ length: 8_000 }, (_, index) => `topic-${index}`).join(',')

  test.each([
    {
      is: 'its name',
      body: { name: RAW },
      wanted: pipe(RAW, { topics: 'other' }),
      key: `Pipe/${RAW}`,
      secret: RAW,
    },
    { is: 'its topics', topics: RAW, wanted: pipe('sales', { topics: RAW }), key: 'Pipe/sales', secret: RAW },
    {
      is: 'long topics',
      topics: LONG,
      wanted: pipe('sales', { topics: LONG }),
      key: 'Pipe/sales',
      secret: '',
    },
  ] as const)('is found by $is, also if the text is masked or shortened where it is shown', async (row) => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go('Pipe/orders')
    const [there] = world.platform.pipes.values()
    const body = (there?.body ?? {}) as { source?: { kafka: object } }
    if ('topics' in row) Object.assign(body.source?.kafka ?? {}, { topics: row.topics })
    else Object.assign(body, row.body)
    world.context.mask.add(row.secret)
    await world.go('Pipe/orders')
    world.remove('orders.yaml')
    world.readAgain()
    await world.go('Pipe/orders')
    world.write('wanted.yaml', row.wanted)
    expect((await world.go(row.key)).action.reason).toBe('RenameSuspected')
  })

  test.each([
    { is: 'name', body: { name: RAW }, wanted: pipe(RAW, { topics: 'other' }), reason: 'RenameSuspected' },
    { is: 'topics', body: { topics: RAW }, wanted: pipe(RAW, { topics: RAW }), reason: 'RenameSuspected' },
    { is: 'long name', body: { name: LONG }, wanted: pipe(RAW, { topics: 'other' }), reason: 'New' },
    { is: 'other topics', body: { topics: LONG }, wanted: pipe(RAW, { topics: 'other' }), reason: 'New' },
  ] as const)(
    'after a restart, with another $is in the console: $reason',
    async ({ body, wanted, reason }) => {
      const world = await given({ 'orders.yaml': pipe('orders') })
      await world.go('Pipe/orders')
      const [there] = world.platform.pipes.values()
      const { source } = (there?.body ?? {}) as { source?: { kafka: object } }
      Object.assign('topics' in body ? (source?.kafka ?? {}) : (there?.body ?? {}), body)
      world.context.mask.add(RAW)
      await world.go('Pipe/orders')
      world.remove('orders.yaml')
      const next = await given({}, { around: world.around })
      next.write('wanted.yaml', wanted)
      next.readAgain()
      await next.go('Pipe/orders')
      expect((await next.go(`Pipe/${RAW}`)).action.reason).toBe(reason)
    },
  )

  test('is found after a restart, if the new manifest writes out a default of its destination', async () => {
    const manifest = JSON.parse(pipe('orders')) as { spec: object }
    const { database: _, ...destination } = DESTINATION
    const spec = { ...manifest.spec, destination }
    const world = await given({ 'orders.yaml': JSON.stringify({ ...manifest, spec }) })
    await world.go('Pipe/orders')
    world.remove('orders.yaml')
    const next = await given({}, { around: world.around })
    next.write('sales.yaml', pipe('sales', { topics: 'orders' }))
    next.readAgain()
    await next.go('Pipe/orders')
    expect((await next.go('Pipe/sales')).action.reason).toBe('RenameSuspected')
  })
})
