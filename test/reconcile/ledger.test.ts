import { viewMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import { messageOf } from '../../src/plan/reason.ts'
import { type Given, given, HOUR, startProcess } from './given.ts'
import { endpoint, pipe } from './manifests.ts'
import type { WriteScript } from './model-ledger.ts'
import { recordedPipe } from '../plan/inputs.ts'
import { fails, rowsOf } from './story.ts'

/* Writes of a first reconcile, in order: the intent, the outcome, the conditions. */

/** After the reconcile in which it happened; `dead`: the process died in it. */
type First = 'nothing sent' | 'created' | 'kept' | 'dead' | 'told otherwise'

const six: readonly WriteScript[] = Array.from({ length: 6 }, () => 'fails')

/** What the ledger does at each write, what comes of the first reconcile, and of another one, by a new process if the first one died. */
const ROWS = `
  fails at the intent | fails | nothing sent | InSync
  fails at the intent, and has it all the same | fails-after | created | InSync
  loses the intent to another writer, once | conflict | created | InSync
  fails at the id, once | ok fails | created | InSync
  fails at the id, and has it all the same | ok fails-after | created | InSync
  fails at the id, five times | ok ${six.slice(1).join(' ')} | created | InSync
  fails at the id, for longer than it is tried | ok ${six.join(' ')} | kept | InSync
  loses the id to another writer | ok conflict | created | InSync
  fails at the conditions | ok ok fails | created | InSync
  loses the conditions to another writer | ok ok conflict | created | InSync
  dies before the intent | dies | dead | InSync
  dies after the intent | dies-after | dead | OutcomeUnknown
  dies before the id | ok dies | dead | OutcomeUnknown
  dies after the id | ok dies-after | dead | InSync
  dies before the conditions | ok ok dies | dead | InSync`

async function firstTurn(world: Given): Promise<First> {
  const request = await world.request('Pipe/orders')
  if (request === undefined) return 'dead'
  if (request.outcome.result === 'failed' && request.outcome.reason === 'OutcomeUnsaved') {
    const [id = 'no id'] = world.platform.pipes.keys()
    const message = messageOf(request.outcome, { key: 'Pipe/orders' })
    const isTold = message.includes(id) && message.includes('a restart would lose this')
    return isTold && request.next?.why === 'retry' ? 'kept' : 'told otherwise'
  }
  return world.platform.posts.length === 0 ? 'nothing sent' : 'created'
}

describe('a create whose ledger', () => {
  test.each(rowsOf(ROWS))('%s', async (_why, writes, first, ends) => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.ledger.script(...(writes.split(' ') as WriteScript[])) // as they stand there
    expect(await firstTurn(world)).toBe(first)
    const next = first === 'dead' ? await given({}, { around: world.around }) : world
    await next.clock.advance(1_000)
    await next.go('Pipe/orders')
    await next.clock.advance(600_000)
    await next.go('Pipe/orders')
    expect((await next.conditions('Pipe/orders')).Synced.reason).toBe(ends)
    const { remote: made, intent } = await next.record('Pipe/orders')
    expect(made?.id).toBe(ends === 'InSync' ? [...world.platform.pipes.keys()][0] : undefined)
    expect(intent?.state).toBe(ends === 'InSync' ? 'succeeded' : 'open')
    expect(world.platform.posts.length).toBeLessThanOrEqual(1)
    expect((await next.reconciler.saveOutcomes()).size).toBe(0)
  })

  test('gets the intent of an unsent request only minutes later knows that it was not sent', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.ledger.script('fails-late', ...six.slice(0, 5))
    for (let left = 3; left > 0; left -= 1) {
      await world.go('Pipe/orders')
      await world.clock.advance(10_000)
    }
    await world.ledger.arrive()
    expect((await world.record('Pipe/orders')).intent?.state).toBe('open')
    expect((await world.go('Pipe/orders')).action.reason).toBe('New')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('fails at an unknown outcome keeps it, with what was seen', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.platform.script('create', { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true })
    world.ledger.script('ok', ...six)
    await world.go('Pipe/orders')
    await world.go('Pipe/orders')
    expect((await world.record('Pipe/orders')).intent).toMatchObject({
      state: 'unknown',
      seen: { httpStatus: 200 },
    })
    expect(world.platform.posts).toHaveLength(1)
  })

  test('cannot be written until the very end is told so by saveOutcomes', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.ledger.script('ok', ...six, 'fails', 'fails')
    await world.go('Pipe/orders')
    expect([...(await world.reconciler.saveOutcomes()).keys()]).toEqual(['Pipe/orders'])
    expect((await world.reconciler.saveOutcomes()).size).toBe(0)
    expect((await world.record('Pipe/orders')).remote?.id).toBe([...world.platform.pipes.keys()][0])
  })

  test('is held by somebody when the process has to stop is waited for, but not beyond the deadline', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.ledger.script('ok', ...six, 'fails', 'fails', 'fails', 'fails')
    await world.go('Pipe/orders')
    const deadline = new AbortController()
    const cut = world.reconciler.saveOutcomes(deadline.signal)
    await world.clock.advance(300)
    deadline.abort()
    expect([...(await cut).keys()]).toEqual(['Pipe/orders'])
    world.ledger.script(...Array.from({ length: 50 }, () => 'fails' as const))
    const waited = world.reconciler.saveOutcomes(new AbortController().signal)
    await world.clock.advance(10_000)
    expect([...(await waited).keys(), world.clock.pending]).toEqual(['Pipe/orders', 0])
    const last = world.reconciler.saveOutcomes(new AbortController().signal)
    await world.clock.advance(5_000)
    expect((await last).size).toBe(0)
    expect((await world.record('Pipe/orders')).remote?.id).toBe([...world.platform.pipes.keys()][0])
  })
})

async function kept(): Promise<Given> {
  const world = await given({ 'orders.yaml': pipe('orders') })
  world.ledger.script('ok', ...six)
  await world.go('Pipe/orders')
  return world
}

describe('an id that could not be written', () => {
  test('outlives a ledger that stays broken, and no resource is created meanwhile', async () => {
    const world = await kept()
    for (let request = 0; request < 5; request += 1) {
      world.ledger.script('fails')
      expect((await world.go('Pipe/orders')).outcome).toMatchObject({ reason: 'OutcomeUnsaved' })
    }
    expect((await world.go('Pipe/orders')).action.reason).toBe('InSync')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('is written before a command acts, and the command is refused as long as it cannot be', async () => {
    const world = await kept()
    const suspend = () =>
      world.reconciler.operate(
        { command: 'suspend', key: 'Pipe/orders', reason: 'a test', until: '2099-01-01T00:00:00Z' },
        new AbortController().signal,
      )
    world.ledger.script('fails')
    await expect(suspend()).rejects.toThrow('the disk is full')
    expect((await world.record('Pipe/orders')).remote).toBeUndefined()
    expect((await suspend()).result).toBe('done')
    expect((await world.record('Pipe/orders')).remote?.id).toBe([...world.platform.pipes.keys()][0])
    world.ledger.script('fails')
    await expect(suspend(), 'as any command').rejects.toThrow('the disk is full')
  })

  test('is told in the history if somebody recorded another one', async () => {
    const world = await kept()
    const lost = [...world.platform.pipes.keys()][0] ?? ''
    const record = await world.record('Pipe/orders')
    const other = world.platform.make('7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44', { name: 'orders' })
    const held = recordedPipe(other, { origin: 'adopted' })
    const intent = record.intent && { ...record.intent, state: 'succeeded' as const }
    await world.ledger.swap({ ...record, remote: held, intent }, [])
    await world.go('Pipe/orders')
    expect((await world.record('Pipe/orders')).remote?.id).toBe(other)
    const told = await world.ledger.history({ key: 'Pipe/orders', limit: 99 })
    expect(told.some(({ message }) => message.includes(lost))).toBe(true)
  })
})

describe('a ledger', () => {
  test('that cannot be written does not end the back-off of a failing pipe', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go('Pipe/orders')
    world.platform.always('get', fails('BadReply'))
    world.ledger.script(...Array.from({ length: 9 }, () => 'fails' as const))
    const waits: number[] = []
    for (let left = 3; left > 0; left -= 1) {
      const { next } = await world.go('Pipe/orders')
      waits.push(next?.afterMs ?? 0)
      await world.clock.advance(next?.afterMs ?? 0)
    }
    expect(
      waits.every((wait, at) => at === 0 || wait > (waits[at - 1] ?? 0)),
      String(waits),
    ).toBe(true)
  })

  test('that cannot be read is what the condition of a resource says', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go('Pipe/orders')
    world.ledger.unreadable(1)
    await world.go('Pipe/orders')
    const shown = world.board.get('Pipe/orders')
    expect(shown).toMatchObject({ status: 'Failed', reason: 'LedgerFailed' })
    expect(shown?.conditions.Synced).toMatchObject({
      reason: 'LedgerFailed',
      facts: { said: 'the disk is gone' },
    })
    expect(viewMessage(shown)).toMatch(/^The disk is gone\. /)
    await world.go('Pipe/orders')
    expect(world.board.get('Pipe/orders')?.conditions.Synced.reason).toBe('InSync')
  })

  test('that cannot be written when a manifest is gone for good says so, and forgets later', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.platform.script('create', { type: 'fail', class: 'Rejected', effect: 'none', worked: false })
    await world.go('Pipe/orders')
    world.remove('orders.yaml')
    world.readAgain()
    await world.clock.advance(HOUR)
    world.ledger.script('fails')
    expect((await world.go('Pipe/orders')).outcome).toMatchObject({ reason: 'LedgerFailed' })
    expect((await world.go('Pipe/orders')).next).toBeUndefined()
    expect(await world.ledger.get('Pipe/orders')).toBeUndefined()
  })

  test('that loses an upsert has it made again', async () => {
    const world = await given({ 'endpoint.yaml': endpoint('analytics') })
    world.ledger.script('ok', 'fails')
    await world.go('QueryEndpoint/analytics')
    await world.go('QueryEndpoint/analytics')
    expect(world.platform.upserts).toHaveLength(2)
    expect((await world.record('QueryEndpoint/analytics')).upsert).toBeDefined()
  })

  test('that another writer changes at each try gives up after ten, loudly', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.ledger.script(...Array.from({ length: 10 }, (): WriteScript => 'conflict'))
    await expect(world.request('Pipe/orders')).rejects.toThrow('no longer at version')
    expect(world.platform.posts).toEqual([])
  })
})

describe('two processes on one ledger', () => {
  test.each(Array.from({ length: 24 }, (_, hops) => hops))(
    'create a pipe once, however they meet (%i)',
    async (hops) => {
      const world = await given({ 'orders.yaml': pipe('orders') })
      let step = 0
      const uneven = () => (step = (step * 5 + 1) % 7) % (hops + 1)
      const processes = [
        await startProcess(world.around, { hops: uneven }),
        await startProcess(world.around, { hops: uneven }),
      ]
      await Promise.all(processes.map((process) => process.request('Pipe/orders')))
      for (const process of processes) await process.request('Pipe/orders')
      expect(world.platform.posts).toHaveLength(1)
      expect((await world.record('Pipe/orders')).remote?.id).toBe([...world.platform.pipes.keys()][0])
      expect((await world.conditions('Pipe/orders')).Synced.reason).toBe('InSync')
    },
  )
})
