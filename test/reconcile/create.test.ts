import { conditionMessage, viewMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { Reason } from '../../src/plan/reason.ts'
import type { Status } from '../../src/plan/severity.ts'
import type { Intent } from '../../src/plan/record.ts'
import { given, HOUR, MINUTE, SECOND } from './given.ts'
import { pipe } from './manifests.ts'
import type { Script } from './model-script.ts'

interface Row {
  readonly why: string
  readonly reply: Script | 'ok'
  readonly intent: Intent['state']
  readonly reason: Reason
  readonly status: Status
  /** POSTs after an hour without faults: a second one only where the first certainly had no effect. */
  readonly posts: number
}

function fails(
  errorClass: (Script & { type: 'fail' })['class'],
  effect: 'none' | 'unknown',
  worked: 'worked' | 'in vain' = 'in vain',
): Script {
  return { type: 'fail', class: errorClass, effect, worked: worked === 'worked' }
}

const none = { intent: 'failed', status: 'Failed', posts: 2 } as const
const unknown = { intent: 'unknown', reason: 'OutcomeUnknown', status: 'OutcomeUnknown', posts: 1 } as const

const ROWS: readonly Row[] = [
  { why: 'a whole reply', reply: 'ok', intent: 'succeeded', reason: 'InSync', status: 'Ready', posts: 1 },
  {
    why: 'a reply with another value than asked for is drift at once',
    reply: { type: 'other', change: { scaling: { replicas: 7 } } },
    intent: 'succeeded',
    reason: 'Drifted',
    status: 'Drifted',
    posts: 1,
  },
  { why: 'refused in clear words', reply: fails('Rejected', 'none'), reason: 'Rejected', ...none },
  { why: 'refused for the credentials', reply: fails('AuthFailed', 'none'), reason: 'AuthFailed', ...none },
  {
    why: 'a reply that was lost, the work done',
    reply: fails('Unavailable', 'unknown', 'worked'),
    ...unknown,
  },
  { why: 'a reply that was lost, the work not done', reply: fails('Unavailable', 'unknown'), ...unknown },
  { why: 'a redirect', reply: fails('Redirected', 'unknown'), ...unknown },
]

describe('a create that ends in', () => {
  test.each(ROWS)('$why is $status, and in an hour $posts POSTs', async (row) => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    const { platform, clock } = world
    platform.script('create', row.reply)
    const first = await world.go('Pipe/orders')
    expect(first.action).toMatchObject({ type: 'create', reason: 'New' })
    const record = await world.record('Pipe/orders')
    expect(record.intent).toMatchObject({ state: row.intent, attempt: 1 })
    expect(record.conditions?.Synced.reason).toBe(row.reason)
    expect(world.board.get('Pipe/orders')).toMatchObject({ status: row.status, reason: row.reason })
    for (let request = 0; request < 60; request += 1) {
      await clock.advance(HOUR / 60)
      await world.go('Pipe/orders')
    }
    expect(platform.posts).toHaveLength(row.posts)
    expect(platform.violations).toEqual([])
  })

  test('an unknown outcome says what was seen, and each way out', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.platform.script('create', fails('BadReply', 'unknown'))
    await world.go('Pipe/orders')
    const { intent, conditions } = await world.record('Pipe/orders')
    for (const part of [
      intent?.id ?? '',
      'the platform said BadReply',
      'request-BadReply',
      '"adopt: <its id>"',
      `"retryCreate: ${intent?.id}"`,
      'pipewright resolve Pipe/orders --retry',
    ]) {
      expect(conditionMessage(conditions?.Synced)).toContain(part)
    }
    expect(conditionMessage(conditions?.Ready)).toBe('It is unknown whether a create worked.')
  })

  test('a wait that the platform asked for is kept', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.platform.script('create', fails('Throttled', 'none'))
    const first = await world.go('Pipe/orders')
    expect(first.next).toEqual({ why: 'retry', afterMs: 7_000 })
    await world.clock.advance(6_999)
    expect((await world.go('Pipe/orders')).action.reason).toBe('BackingOff')
    await world.clock.advance(1)
    expect((await world.go('Pipe/orders')).action.reason).toBe('RetryFailed')
    expect((await world.record('Pipe/orders')).intent).toMatchObject({ attempt: 2, state: 'succeeded' })
  })

  test('an edited manifest waits for no back-off', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.platform.script('create', fails('Rejected', 'none'))
    await world.go('Pipe/orders')
    world.write('orders.yaml', pipe('orders', { replicas: 2 }))
    expect((await world.go('Pipe/orders')).action.reason).toBe('RetryFailed')
    expect(world.platform.posts).toHaveLength(2)
  })
})

describe('a create', () => {
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
    const world = await given({ 'orders.yaml': pipe('orders') })
    const lost = fails('Unavailable', 'unknown')
    world.platform.script('create', lost, lost)
    await world.go('Pipe/orders')
    const first = (await world.record('Pipe/orders')).intent
    world.write('orders.yaml', pipe('orders', { policy: { retryCreate: first?.id ?? '' } }))
    await world.clock.advance(2 * MINUTE + 5 * SECOND)
    expect((await world.go('Pipe/orders')).action.reason).toBe('RetryApproved')
    const second = (await world.record('Pipe/orders')).intent
    expect(second).toMatchObject({ attempt: 2, state: 'unknown' })
    expect((await world.go('Pipe/orders')).action.reason).toBe('OutcomeUnknown')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('is not approved by words that stood there too early: they are written again', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.platform.script('create', fails('Unavailable', 'unknown'))
    await world.go('Pipe/orders')
    const { intent } = await world.record('Pipe/orders')
    const says = pipe('orders', { policy: { retryCreate: intent?.id ?? '' } })
    world.write('orders.yaml', says)
    for (let hours = 0; hours < 3; hours += 1) {
      expect((await world.go('Pipe/orders')).action.reason).toBe('OutcomeUnknown')
      await world.clock.advance(HOUR)
    }
    const view = world.board.get('Pipe/orders')
    expect(view?.status).toBe('OutcomeUnknown')
    expect(viewMessage(view)).toMatch(
      /was already there at .*, when the request could still arrive\. Check once more/,
    )
    expect(world.platform.posts).toHaveLength(1)

    world.write('orders.yaml', pipe('orders'))
    await world.go('Pipe/orders')
    world.write('orders.yaml', says)
    expect((await world.go('Pipe/orders')).action.reason).toBe('RetryApproved')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('stays in sight while its outcome is unknown: suspended, with errors from the start, and gone', async () => {
    const before = await given({ 'orders.yaml': pipe('orders') })
    before.platform.script('create', { type: 'lost', worked: true })
    expect(await before.request('Pipe/orders')).toBeUndefined()
    const world = await given({ 'orders.yaml': pipe('orders', { replicas: -1 }) }, { around: before.around })
    await world.go('Pipe/orders')
    expect(world.board.get('Pipe/orders')).toMatchObject({
      status: 'OutcomeUnknown',
      reason: 'InvalidManifest',
    })
    const suspend = { reason: 'moving', until: '2026-01-01T02:00:00Z' }
    world.write('orders.yaml', pipe('orders', { policy: { suspend } }))
    await world.go('Pipe/orders')
    expect(world.board.get('Pipe/orders')).toMatchObject({
      status: 'OutcomeUnknown',
      reason: 'OutcomeUnknown',
    })
    world.remove('orders.yaml')
    world.readAgain()
    await world.go('Pipe/orders')
    expect(world.board.get('Pipe/orders')).toMatchObject({
      status: 'Orphaned',
      conditions: { Ready: { reason: 'OutcomeUnknown' } },
    })
    expect(world.platform.posts).toHaveLength(1)
  })

  test('is unknown after a crash in the middle, whatever the manifest says since', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.platform.script('create', { type: 'lost', worked: true })
    expect(await world.request('Pipe/orders')).toBeUndefined()
    const again = await given({}, { around: world.around })
    for (const change of [
      { replicas: 2 },
      { policy: { retryCreate: 'b0000000-0000-4000-8000-000000000001' } },
    ]) {
      again.write('orders.yaml', pipe('orders', change))
      expect((await again.go('Pipe/orders')).action.reason).toBe('OutcomeUnknown')
    }
    expect(world.platform.posts).toHaveLength(1)
  })
})
