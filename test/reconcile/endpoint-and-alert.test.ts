import { describe, expect, test } from 'vitest'
import { messageOf } from '../../src/plan/reason.ts'
import { ended, given, HOUR, MINUTE, startProcess } from './given.ts'
import { alert, endpoint } from './manifests.ts'

const KEY = 'QueryEndpoint/analytics'

describe('a query endpoint', () => {
  test('is applied, left alone, applied again at its interval, and again when it is edited', async () => {
    const world = await given({ 'endpoint.yaml': endpoint('analytics') })
    const reasons = []
    for (const ms of [0, MINUTE, HOUR - MINUTE, MINUTE]) {
      await world.clock.advance(ms)
      reasons.push((await world.go(KEY)).action.reason)
    }
    world.write('endpoint.yaml', endpoint('analytics', { openApiKeys: [] }))
    const edited = await world.go(KEY)
    expect([...reasons, edited.action.reason]).toEqual(['New', 'InSync', 'Changing', 'InSync', 'Changing'])
    expect(messageOf(edited.action, { key: 'Pipe/orders' })).toContain('takes away')
    expect(messageOf(edited.action, { key: 'Pipe/orders' })).toContain('key-1')
    expect(world.board.get(KEY)).toMatchObject({ status: 'Ready', reason: 'InSync' })
    expect(world.platform.upserts).toHaveLength(3)
    const lines = await world.ledger.history({ key: KEY, limit: 100 })
    const told = lines.flatMap((line) => (line.type === 'action' ? line.reason : []))
    expect(told, 'not of the upsert at the interval').toEqual(['Changing', 'New'])
  })
})

test('a query endpoint shows the fields that the platform did not take, until it takes them', async () => {
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  world.platform.script('upsert', { type: 'other', change: { openApiKeys: ['key-2'] } })
  const seen: unknown[] = []
  for (const ms of [0, 0, HOUR, 0]) {
    await world.clock.advance(ms)
    const { reason } = (await world.go(KEY)).action
    seen.push([reason, ...(world.board.get(KEY)?.differences.map(({ field }) => field) ?? [])])
  }
  expect(seen).toEqual([['New', 'openApiKeys'], ['Stalled', 'openApiKeys'], ['Changing'], ['InSync']])
})

test('a query endpoint is applied again when its manifest returns after another key had the endpoint', async () => {
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  await world.go(KEY)
  world.remove('endpoint.yaml')
  world.write('other.yaml', endpoint('renamed', { openApiKeys: ['key-1', 'key-2'] }))
  world.readAgain()
  await world.go(KEY)
  await world.go('QueryEndpoint/renamed')
  world.remove('other.yaml')
  world.write('endpoint.yaml', endpoint('analytics'))
  world.readAgain()
  expect((await world.go(KEY)).action.reason).toBe('Changing')
  expect(world.platform.upserts.at(-1)?.['openApiKeys']).toEqual(['key-1'])
})

test('a query endpoint whose manifest gets another name keeps its record, so nothing is sent', async () => {
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  await world.go(KEY)
  world.write('endpoint.yaml', endpoint('renamed'))
  world.readAgain()
  expect((await world.go('QueryEndpoint/renamed')).action.reason).toBe('InSync')
  expect(world.platform.upserts).toHaveLength(1)
  expect((await world.ledger.list()).map(({ key }) => key)).not.toContain(KEY)
})

test('a back-off ends after its time, although the clock was set back meanwhile', async () => {
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  world.platform.script('upsert', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false })
  const { next } = await world.go(KEY)
  world.clock.jump(-8 * MINUTE)
  expect((await world.go(KEY)).next?.afterMs).toBeLessThanOrEqual(next?.afterMs ?? 0)
  await world.clock.advance(next?.afterMs ?? 0)
  expect((await world.go(KEY)).action.type).toBe('upsert')
})

test('after an attempt of unknown outcome, a query endpoint is applied once more: that attempt can arrive late', async () => {
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  await world.go(KEY)
  world.platform.script('upsert', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true })
  world.write('endpoint.yaml', endpoint('analytics', { openApiKeys: [] }))
  await world.go(KEY)
  world.write('endpoint.yaml', endpoint('analytics'))
  const sent: number[] = []
  for (let minute = 0; minute < 100; minute += 1) {
    const before = world.platform.upserts.length
    const { next } = await world.go(KEY)
    if (world.platform.upserts.length > before) sent.push(Math.round((next?.afterMs ?? 0) / MINUTE))
    await world.clock.advance(MINUTE)
  }
  expect(sent.map((minutes) => minutes >= 60)).toEqual([false, true, true])
})

describe('an edit of a query endpoint whose outcome is unknown', () => {
  const lost = { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true } as const

  test.each([
    ['a lost reply', lost, true],
    ['a process that dies before the reply', { type: 'lost', worked: true }, true],
    ['a refusal', { type: 'fail', class: 'Rejected', effect: 'none', worked: false }, false],
  ] as const)('is applied over when it is undone (after %s: %3$s)', async (_why, script, isApplied) => {
    const world = await given({ 'endpoint.yaml': endpoint('analytics') })
    await world.go(KEY)
    world.platform.script('upsert', script)
    world.write('endpoint.yaml', endpoint('analytics', { openApiKeys: [] }))
    await ended(world.clock, world.begin(KEY))
    world.write('endpoint.yaml', endpoint('analytics'))
    const later = await startProcess(world.around)
    await world.clock.advance(MINUTE)
    await later.request(KEY)
    expect(world.platform.upserts).toHaveLength(isApplied ? 2 : 1)
    const lines = await world.ledger.history({ key: KEY, limit: 100 })
    const isTold = lines.some((line) => line.type === 'action' && line.result === 'unknown')
    expect(isTold).toBe(script === lost)
  })

  test('of a first one, the endpoint is an orphan when its manifest goes', async () => {
    const world = await given({ 'endpoint.yaml': endpoint('analytics') })
    world.platform.script('upsert', lost)
    await world.go(KEY)
    expect(world.board.get(KEY)).toMatchObject({ appliedAt: undefined, reply: undefined, differences: [] })
    world.remove('endpoint.yaml')
    world.readAgain()
    await world.go(KEY)
    expect(world.board.get(KEY)).toMatchObject({ reason: 'Orphaned' })
  })
})

describe('an alert', () => {
  const rows = [
    { why: 'as expected', is: { name: 'Lag', state: 'OK' }, status: 'Ready', reason: 'InSync' },
    { why: 'with another name', is: { name: 'Other', state: 'OK' }, status: 'Drifted', reason: 'Drifted' },
    { why: 'that fires', is: { name: 'Lag', state: 'ALERT' }, status: 'NotReady', reason: 'UnhealthyState' },
    { why: 'without a state', is: { name: 'Lag' }, status: 'NotReady', reason: 'UnhealthyState' },
    { why: 'that is not there', is: undefined, status: 'Failed', reason: 'Rejected' },
  ] as const

  test.each(rows)('$why is $status ($reason)', async ({ is, status, reason }) => {
    const world = await given({ 'alert.yaml': alert('lag', { name: 'Lag' }, { healthyStates: ['OK'] }) })
    if (is !== undefined) world.platform.alerts.set('id-of-lag', is)
    await world.go('Alert/lag')
    expect(world.board.get('Alert/lag')).toMatchObject({ status, reason })
  })

  test('leaves nothing behind when its manifest goes', async () => {
    const world = await given({ 'alert.yaml': alert('lag') })
    world.platform.alerts.set('id-of-lag', { state: 'OK' })
    await world.go('Alert/lag')
    world.remove('alert.yaml')
    world.readAgain()
    expect((await world.go('Alert/lag')).next).toBeUndefined()
    expect(await world.ledger.get('Alert/lag')).toBeUndefined()
    expect(world.board.get('Alert/lag')).toBeUndefined()
  })
})
