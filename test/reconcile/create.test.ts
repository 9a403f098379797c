import { describe, expect, test } from 'vitest'
import { LedgerError } from '../../src/contract/ledger.ts'
import { conditionMessage, viewMessage } from '../support/messages.ts'
import { given, MINUTE } from './given.ts'
import { during } from './given-listing.ts'
import { endpoint, pipe } from './manifests.ts'
import { idOf, play, story, times, worldAfter } from './story.ts'

/** What the first one comes to, and creates after an hour without faults: a second one only where the first certainly had no effect. */
const ROWS = [
  ['a whole reply', 'ok', 'succeeded', 'InSync', 'Ready', 1],
  ['words that refuse it', 'refused', 'failed', 'Rejected', 'Failed', 2],
  ['words that refuse the credentials', 'unauthorised', 'failed', 'AuthFailed', 'Failed', 2],
  ['a lost reply, the work done', 'lost after the work', 'unknown', 'OutcomeUnknown', 'OutcomeUnknown', 1],
  ['a lost reply, the work not done', 'lost', 'unknown', 'OutcomeUnknown', 'OutcomeUnknown', 1],
  ['a redirect', 'redirected', 'unknown', 'OutcomeUnknown', 'OutcomeUnknown', 1],
] as const

const FIRST = 'write orders; create: '

describe('a create that ends in', () => {
  test.each(ROWS)('%s', async (_, reply, state, reason, status, sent) => {
    const reported = state === 'succeeded' ? [] : [state === 'unknown']
    const world = await worldAfter(
      `${FIRST}${reply}; look orders: create New; shown orders: ${status}; shown orders: ${reason}`,
    )
    const { intent, conditions } = await world.record('Pipe/orders')
    expect(intent).toMatchObject({ state, attempt: 1 })
    expect(conditions?.Synced.reason).toBe(reason)
    await play(world, times(60, '1 min; look orders'))
    expect(world.platform.posts).toHaveLength(sent)
    const told = world.events.flatMap((event) => (event.type === 'ProblemFound' ? event.isReported : []))
    expect(new Set(told)).toEqual(new Set(reported))
  })

  test('a reply with another value than asked for is drift at once', async () => {
    const world = await worldAfter('write orders')
    world.platform.script('create', { type: 'other', change: { scaling: { replicas: 7 } } })
    await play(world, `look orders: create New; shown orders: Drifted; ${times(60, '1 min; look orders')}`)
    expect((await world.record('Pipe/orders')).intent).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(world.platform.posts).toHaveLength(1)
  })

  test('an unknown outcome says what was seen, and each way out', async () => {
    const world = await worldAfter(
      `write same name=orders; write returns; look same; look returns; write orders replaces=Pipe/same; create: unclear;
      look orders`,
    )
    const { intent, conditions } = await world.record('Pipe/orders')
    for (const part of [
      intent?.id ?? '',
      'the platform said BadReply',
      'request-BadReply',
      await idOf(world, 'Pipe/same'),
      'policy.adopt: PIPE_ID',
      `policy.retryCreate: ${intent?.id}`,
      'pipewright resolve Pipe/orders --retry',
    ]) {
      expect(conditionMessage(conditions?.Synced)).toContain(part)
    }
    expect(conditionMessage(conditions?.Synced)).not.toContain(await idOf(world, 'Pipe/returns'))
    expect(conditionMessage(conditions?.Ready)).toMatch(/^It is unknown whether a create worked\. /)
  })

  test('a wait that the platform asked for is kept', async () => {
    const world = await worldAfter(`${FIRST}throttled`)
    expect((await world.go('Pipe/orders')).next).toEqual({ why: 'retry', afterMs: 7_000 })
    await world.clock.advance(6_999)
    await play(world, 'look orders: BackingOff')
    await world.clock.advance(1)
    await play(world, 'look orders: New tried again')
    expect((await world.record('Pipe/orders')).intent).toMatchObject({ attempt: 2, state: 'succeeded' })
  })

  test('an edited manifest waits for no back-off', () =>
    story(`${FIRST}refused; look orders; write orders replicas=2; look orders: New tried again`, { sent: 2 }))
})

describe('a create', () => {
  test('is not sent, nor is an upsert, while a credential of the platform is not mounted', async () => {
    const refused =
      'unmount api/keyId; write orders; look orders: SecretUnavailable; look QueryEndpoint/q: SecretUnavailable'
    const world = await play(await given({ 'q.yaml': endpoint('q') }), refused)
    expect([world.platform.posts, world.platform.upserts]).toEqual([[], []])
  })

  test('that stands still for a minute before its intent is decided anew', async () => {
    let isStill = true
    const world = await given(
      { 'orders.yaml': pipe('orders') },
      {
        async fail(at) {
          if (at !== 'before-intent' || !isStill) return
          isStill = false
          world.write('orders.yaml', pipe('orders', { topics: 'edited' }))
          await world.clock.advance(MINUTE)
        },
      },
    )
    await world.begin('Pipe/orders')
    expect(world.platform.posts.map(({ body }) => JSON.stringify(body).includes('edited'))).toEqual([true])
  })

  test('sends the values of secrets, and records none of them', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.secrets.mounted.set('kafka/password', 'planted-password')
    await world.go('Pipe/orders')
    expect(JSON.stringify(world.platform.posts)).toContain('planted-password')
    const kept = [
      await world.record('Pipe/orders'),
      world.events,
      await world.ledger.history({ key: undefined, limit: 99 }),
    ]
    expect(JSON.stringify(kept)).not.toContain('planted-password')
  })

  test('is in the history with its intent, its request and its id', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go('Pipe/orders')
    const { intent, remote: made } = await world.record('Pipe/orders')
    const told = (await world.ledger.history({ key: 'Pipe/orders', limit: 99 })).filter(
      ({ type }) => type === 'action',
    )
    expect(told.toReversed()).toMatchObject([
      { action: 'intent', result: 'started', intentId: intent?.id },
      { action: 'create', result: 'done', intentId: intent?.id, requestId: 'request-1' },
    ])
    expect(told[0]?.message).toContain(made?.id)
  })

  test('is approved by policy.retryCreate, for that intent and once', async () => {
    const world = await worldAfter(
      `${FIRST}lost; create: lost; look orders; write orders retryCreate=@orders; 2 min; 5 s; look orders: New settled`,
    )
    expect((await world.record('Pipe/orders')).intent).toMatchObject({ attempt: 2, state: 'unknown' })
    await play(world, 'look orders: OutcomeUnknown')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('is not approved by words that stood there too early: they are written again', async () => {
    const says = 'write orders retryCreate=@orders'
    const world = await worldAfter(
      `${FIRST}lost; look orders; ${says}; ${times(3, 'look orders: OutcomeUnknown; 1 h')}; shown orders: OutcomeUnknown`,
      { sent: 1 },
    )
    expect(viewMessage(world.board.get('Pipe/orders'))).toMatch(
      /has no effect: it was already set at .*, when the create could still arrive\. Remove it/,
    )
    await play(world, `write orders; look orders; ${says}; look orders: New settled`)
    expect(world.platform.posts).toHaveLength(2)
  })

  test.each([2, -48])('waits as long after a restart if the clock was set by %d h before', async (hours) => {
    const [world, says] = [await given(), 'write orders retryCreate=@orders']
    world.clock.jump(hours * 60 * MINUTE)
    await play(world, `${FIRST}lost; look orders`)
    const next = await play(world, `restart; 2 min; ${says}; look orders: OutcomeUnknown`)
    await play(next, `write orders; look orders; 5 s; ${says}; look orders: New settled`)
    expect(next.platform.posts).toHaveLength(2)
  })

  test('stays in sight while its outcome is unknown: suspended, with errors from the start, and gone', async () => {
    const before = await given({ 'orders.yaml': pipe('orders') })
    before.platform.script('create', { type: 'lost', worked: true })
    expect(await before.request('Pipe/orders')).toBeUndefined()
    const world = await given({ 'orders.yaml': pipe('orders', { replicas: -1 }) }, { around: before.around })
    await play(
      world,
      `look orders; shown orders: OutcomeUnknown; shown orders: InvalidManifest;
      write orders suspended; look orders; shown orders: OutcomeUnknown; remove orders; read again; look orders`,
    )
    expect(world.board.get('Pipe/orders')).toMatchObject({
      status: 'Orphaned',
      conditions: { Ready: { reason: 'OutcomeUnknown' } },
    })
    expect(world.platform.posts).toHaveLength(1)
  })

  test('keeps its pipe if policy.adopt names another one after a takeover, before the reply', async () => {
    const [world, reply] = [await worldAfter('write orders'), Promise.withResolvers<void>()]
    world.platform.script('create', { type: 'slow', until: reply.promise })
    const creating = world.begin('Pipe/orders')
    await world.clock.settle()
    const next = await play(world, 'make orders; restart')
    Object.assign(next.ledger, { isShared: true })
    await play(next, 'write orders adopt=#1; look orders; shown orders: OutcomeUnknown')
    reply.resolve()
    await creating
    expect((await next.record('Pipe/orders')).remote?.id).toBe(world.platform.posts[0]?.pipeId)
  })

  test('is unknown after a crash in the middle, whatever the manifest says since', async () => {
    const world = await worldAfter('write orders')
    world.platform.script('create', { type: 'lost', worked: true })
    expect(await world.request('Pipe/orders')).toBeUndefined()
    for (const to of ['replicas=2', 'retryCreate=b0000000-0000-4000-8000-000000000001'])
      await play(world, `restart; write orders ${to}; look orders: OutcomeUnknown`)
    expect(world.platform.posts).toHaveLength(1)
  })
})

const NO_PIPE = '00000000-0000-4000-8000-00000000abcd'

test('while an id cannot be written, no other create begins, although intents can be written', async () => {
  const world = await worldAfter('write a; write b')
  const settle = world.ledger.settle.bind(world.ledger)
  Object.assign(world.ledger, { settle: () => Promise.reject(new LedgerError('io', 'no outcomes')) })
  await play(world, 'look a: OutcomeUnsaved')
  await play(world, 'look b: LedgerFailed')
  expect(world.platform.posts).toHaveLength(1)
  Object.assign(world.ledger, { settle })
  await play(world, 'look b: New; look a: InSync')
  expect(world.platform.posts).toHaveLength(2)
})

test('a new key backs off also while the ledger cannot be written', async () => {
  const world = await given({ 'a.yaml': pipe('a', { policy: { adopt: NO_PIPE } }) })
  Object.assign(world.ledger, { swap: () => Promise.reject(new LedgerError('io', 'no writes')) })
  await during(world, 'Pipe/a', 5 * MINUTE)
  expect(world.platform.requests.get).toBeLessThan(40)
})
