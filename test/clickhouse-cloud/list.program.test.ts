import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { given, pipe } from './listed-world.ts'

/*
 * What the list of all pipes settles (design §14): a lost reply, a lost ledger, pipes that somebody else made. With the real program, and
 * a platform that lists.
 */

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

describe('a list', () => {
  test('settles a create whose reply was lost: one POST in all', async () => {
    await using world = await given(['orders'])
    world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
    expect(await world.apply()).toEqual({ orders: 'InSync' })
    expect(world.requests('createPipe')).toBe(1)
    expect(world.platform.pipes()).toHaveLength(1)
  })

  test('rebuilds a ledger that is lost: nothing is created', async () => {
    await using world = await given(NAMES)
    await world.apply()
    const before = world.platform.pipes().map(({ id }) => id)
    world.loseLedger()
    await world.apply('--max-creates', '1')
    expect(await world.apply()).toEqual(Object.fromEntries(NAMES.map((name) => [name, 'InSync'])))
    expect(world.requests('createPipe')).toBe(NAMES.length)
    expect(world.platform.pipes().map(({ id }) => id)).toEqual(before)
  })

  test('that lags behind leaves an outcome unknown until it has the pipe', async () => {
    await using world = await given(['orders'], { listLagMs: 3_600_000 })
    world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
    expect(world.requests('createPipe')).toBe(1)
  })

  test('with two that look alike asks which it is, and names them', async () => {
    await using world = await given(['orders'])
    await world.apply()
    const [first] = world.platform.pipes()
    world.loseLedger()
    // a second one that somebody made by hand
    world.workspace.write('manifests/twin.yaml', pipe('twin'))
    await world.apply()
    const twin = world.platform.pipes().find(({ name }) => name === 'twin')
    world.platform.change(twin?.id ?? '', {
      name: 'orders',
      source: { kinesis: { streamName: 'orders' } },
      destination: { table: 'orders' },
    })
    rmSync(world.workspace.path('manifests/twin.yaml'))
    world.loseLedger()
    expect(await world.apply()).toEqual({ orders: 'Ambiguous' })
    expect(world.messageOf('Pipe/orders')).toContain(first?.id)
    expect(world.messageOf('Pipe/orders')).toContain(twin?.id)
    expect(world.requests('createPipe')).toBe(2)
  })

  test('with one that differs asks, and names what differs', async () => {
    await using world = await given(['orders'])
    await world.apply()
    const [made] = world.platform.pipes()
    world.platform.change(made?.id ?? '', { source: { kinesis: { region: 'us-east-1' } } })
    world.loseLedger()
    expect(await world.apply()).toEqual({ orders: 'Ambiguous' })
    expect(world.messageOf('Pipe/orders')).toContain('source.kinesis.region')
    expect(world.requests('createPipe')).toBe(1)
  })

  test('is asked about, and not acted on, where a manifest says so', async () => {
    await using world = await given(['orders'])
    await world.apply()
    world.loseLedger()
    world.workspace.write('manifests/orders.yaml', pipe('orders', '', 'policy: {onUnknown: ask}'))
    expect(await world.apply()).toEqual({ orders: 'Ambiguous' })
    expect(world.messageOf('Pipe/orders')).toContain('policy.onUnknown is "ask"')
    expect(world.requests('createPipe')).toBe(1)
  })

  test('that does not have what is recorded is not believed: nothing is created beside it', async () => {
    await using world = await given(NAMES, { listLagMs: 3_600_000 })
    await world.apply()
    world.workspace.write('manifests/new.yaml', pipe('new'))
    const reasons = await world.apply()
    expect(reasons['new']).toBe('MassMissing')
    expect(NAMES.map((name) => reasons[name])).toEqual(NAMES.map(() => 'InSync'))
    expect(world.requests('createPipe')).toBe(NAMES.length)
  })

  test('is one request for the drift of all pipes, and one more for each that differs', async () => {
    await using world = await given(NAMES)
    await world.apply()
    const [made] = world.platform.pipes()
    world.platform.change(made?.id ?? '', { source: { kinesis: { region: 'us-east-1' } } })
    const before = { lists: world.requests('listPipes'), gets: world.requests('getPipe') }
    const reasons = Object.values(await world.apply())
    expect(reasons.filter((reason) => reason === 'Drifted')).toHaveLength(1)
    expect(reasons.filter((reason) => reason === 'InSync')).toHaveLength(NAMES.length - 1)
    expect(world.requests('listPipes') - before.lists).toBe(1)
    expect(world.requests('getPipe') - before.gets).toBe(1)
  })

  test('that is answered 404 says nothing of a pipe: it is asked for by its id', async () => {
    await using world = await given(['orders'])
    await world.apply()
    const fault = { type: 'status', status: 404 } as const
    world.platform.faults.add({ operation: 'listPipes', times: 'always', fault })
    expect(await world.apply()).toEqual({ orders: 'InSync' })
    expect(world.requests('getPipe')).toBe(1)
  })

  test('that fails leaves an unknown outcome as it is', async () => {
    await using world = await given(['orders'])
    world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    await world.apply()
    const fault = { type: 'status', status: 500 } as const
    world.platform.faults.add({ operation: 'listPipes', times: 'always', fault })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
  })
})
