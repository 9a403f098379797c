import { describe, expect, test } from 'vitest'
import { pipeManifest } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { ageIntent, type Given, shownAs, unknownOutcome } from '../ways-out/given.ts'

/*
 * A create of unknown outcome, settled by each way out. What counts is what the platform has in the end: one pipe where
 * the person spoke the truth, and never a POST that nobody approved.
 */

interface Way {
  readonly way: string
  readonly settle: (given: Given, pipeId: string, intentId: string) => Promise<void>
}

async function say(given: Given, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await given.command(...args)
  expect(stderr).toBe('')
  expect(code).toBe(0)
}

const ADOPTING: readonly Way[] = [
  { way: 'resolve --adopt', settle: (given, id) => say(given, 'resolve', 'Pipe/orders', '--adopt', id) },
  { way: 'adopt', settle: (given, id) => say(given, 'adopt', 'Pipe/orders', id) },
  {
    way: 'policy.adopt, in capitals',
    settle: async ({ workspace }, id) => {
      const more = `policy: {adopt: ${id.toUpperCase()}}`
      workspace.write('manifests/orders.yaml', pipeManifest('orders', { more }))
    },
  },
  {
    way: 'a Lock',
    settle: async ({ workspace }, id) => {
      const text = `apiVersion: pipewright/v1\nkind: Lock\nmetadata: {name: pipes}\nspec: {pipes: {Pipe/orders: ${id}}}\n`
      workspace.write('manifests/lock.yaml', text)
    },
  },
]

/** Longer ago than anything of a create whose process said that it ended can still be on its way: ms. */
const LONG_AGO_MS = 300_000

const RETRYING: readonly Way[] = [
  { way: 'resolve --retry', settle: (given) => say(given, 'resolve', 'Pipe/orders', '--retry') },
  {
    way: 'policy.retryCreate, in capitals',
    settle: async ({ workspace }, _, intentId) => {
      const more = `policy: {retryCreate: ${intentId.toUpperCase()}}`
      workspace.write('manifests/orders.yaml', pipeManifest('orders', { more }))
    },
  },
]

describe('a create whose reply was lost after the work', () => {
  test.each(ADOPTING)('$way takes the pipe over, and nothing is sent again', async ({ settle }) => {
    await using given = await unknownOutcome({ type: 'cut-after' })
    expect(given.platform.pipes()).toHaveLength(1)
    const stuck = await given.status('Pipe/orders')
    expect(stuck).toMatchObject({ status: 'OutcomeUnknown', intent: { state: 'unknown', attempt: 1 } })

    await settle(given, given.pipeId('orders'), stuck.intent?.id ?? '')
    expect((await given.apply()).code).toBe(0)
    expect((await given.apply()).code).toBe(0)
    expect(await given.status('Pipe/orders')).toMatchObject({
      status: 'Ready',
      pipeId: given.pipeId('orders'),
      intent: { state: 'succeeded' },
    })
    expect(given.platform.pipes()).toHaveLength(1)
    expect(given.posts()).toBe(1)
  })

  test('without a word, it stays as it is, however often it is looked at', async () => {
    await using given = await unknownOutcome({ type: 'cut-after' })
    for (let pass = 0; pass < 3; pass += 1) expect((await given.apply()).code).toBe(1)
    expect(await given.status('Pipe/orders')).toMatchObject({ status: 'OutcomeUnknown' })
    expect(given.posts()).toBe(1)
  })
})

describe('a create whose connection was cut before the work', () => {
  test.each(RETRYING)('$way sends one more, with a new intent', async ({ settle }) => {
    await using given = await unknownOutcome({ type: 'cut-before' })
    ageIntent(given, 'Pipe/orders', LONG_AGO_MS)
    expect(given.platform.pipes()).toHaveLength(0)
    const stuck = await given.status('Pipe/orders')
    await settle(given, '', stuck.intent?.id ?? '')
    expect((await given.apply()).code).toBe(0)
    const settled = await given.status('Pipe/orders')
    expect(settled).toMatchObject({ status: 'Ready', intent: { state: 'succeeded', attempt: 2 } })
    expect(settled.intent?.id).not.toBe(stuck.intent?.id)
    expect(given.platform.pipes()).toHaveLength(1)
    expect(given.posts()).toBe(2)
  })

  test.each(ADOPTING)(
    '$way of an id that is not there is refused, and nothing is sent',
    async ({ settle }) => {
      await using given = await unknownOutcome({ type: 'cut-before' })
      const missing = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a99'
      await settle(given, missing, '').catch(() => undefined) // a command says no at once, Git at the next pass
      expect((await given.apply()).code).toBe(1)
      expect(['OutcomeUnknown', 'Refused']).toContain((await given.status('Pipe/orders')).status)
      expect((await given.status('Pipe/orders')).intent?.state).toBe('unknown')
      expect(given.posts()).toBe(1)
    },
  )

  test('an approval is for one attempt: when that one is lost, too, it is unknown again', async () => {
    await using given = await unknownOutcome({ type: 'cut-before' })
    ageIntent(given, 'Pipe/orders', LONG_AGO_MS)
    const first = await given.status('Pipe/orders')
    const more = `policy: {retryCreate: ${first.intent?.id}}`
    given.workspace.write('manifests/orders.yaml', pipeManifest('orders', { more }))
    given.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
    await given.apply()
    await given.apply()
    expect(await given.status('Pipe/orders')).toMatchObject({
      status: 'OutcomeUnknown',
      intent: { attempt: 2 },
    })
    expect(given.posts()).toBe(2)
    expect(given.platform.pipes()).toHaveLength(1)
  })
})

/** The pipe `orders` under another key, and of another topic. */
function named(more: string): string {
  return pipeManifest('sales', { name: 'orders', more }).replace('topics: orders', 'topics: sales')
}

describe('a key of unknown outcome that gets another name', () => {
  test('policy.renamedFrom takes the unknown outcome along, and the new name is what is resolved', async () => {
    await using given = await unknownOutcome({ type: 'cut-after' })
    const { intent } = await given.status('Pipe/orders')
    given.workspace.write('manifests/orders.yaml', named('policy: {renamedFrom: Pipe/orders}'))
    expect((await given.apply()).code).toBe(1)
    const moved = await given.status('Pipe/sales')
    expect(moved).toMatchObject({ status: 'OutcomeUnknown', intent: { id: intent?.id, state: 'unknown' } })
    expect(moved.message).toContain('pipewright resolve Pipe/sales --retry')
    await say(given, 'resolve', 'Pipe/sales', '--adopt', given.pipeId('orders'))
    await given.apply()
    expect(await given.status('Pipe/sales')).toMatchObject({ pipeId: given.pipeId('orders') })
    expect(given.posts()).toBe(1)
  })

  test('without a word it is refused as a suspected rename; policy.replaces creates one more, and the old one stays an orphan', async () => {
    await using given = await unknownOutcome({ type: 'cut-after' })
    given.workspace.write('manifests/orders.yaml', named(''))
    expect((await given.apply()).code).toBe(1)
    expect(await given.status('Pipe/sales')).toMatchObject({ status: 'Refused', reason: 'RenameSuspected' })
    expect(given.posts()).toBe(1)
    given.workspace.write('manifests/orders.yaml', named('policy: {replaces: Pipe/orders}'))
    await given.apply()
    expect(await given.status('Pipe/sales')).toMatchObject({ status: 'Ready' })
    expect(await given.status('Pipe/orders')).toMatchObject({
      status: 'Orphaned',
      intent: { state: 'unknown' },
    })
    expect(given.posts()).toBe(2)
    expect(given.platform.pipes()).toHaveLength(2)
  })
})

describe('beside a running daemon', () => {
  test('each word is noticed within a few seconds, though the next look is an hour away', async () => {
    await using given = await unknownOutcome({ type: 'cut-after' })
    const { program, url } = await given.startDaemon('--interval', '1h')
    await shownAs(url, 'Pipe/orders', 'OutcomeUnknown')
    await say(given, 'resolve', 'Pipe/orders', '--adopt', given.pipeId('orders'))
    await shownAs(url, 'Pipe/orders', 'Ready')

    given.platform.faults.add({ operation: 'createPipe', subject: 'refunds', fault: { type: 'cut-before' } })
    given.workspace.write('manifests/refunds.yaml', pipeManifest('refunds'))
    await shownAs(url, 'Pipe/refunds', 'OutcomeUnknown')
    const forced = await given.command('resolve', 'Pipe/refunds', '--retry', '--force')
    expect(forced.code).toBe(0)
    await shownAs(url, 'Pipe/refunds', 'Ready')

    expect(given.platform.pipes()).toHaveLength(2)
    expect(given.posts()).toBe(3)
    program.signal('SIGTERM')
    expect(await program.ended).toBe(0)
  })

  test('forget is noticed, and a manifest that comes back under the name is a new pipe', async () => {
    await using given = await unknownOutcome({ type: 'cut-after' })
    const { url } = await given.startDaemon('--interval', '1h')
    await shownAs(url, 'Pipe/orders', 'OutcomeUnknown')
    await given.command('resolve', 'Pipe/orders', '--adopt', given.pipeId('orders'))
    await shownAs(url, 'Pipe/orders', 'Ready')
    given.workspace.write('manifests/orders.yaml', '# nothing here any more\n')
    await shownAs(url, 'Pipe/orders', 'Orphaned')
    await say(given, 'forget', 'Pipe/orders')
    await until('it to be gone from the page', async () => {
      const reply = await fetch(`${url}/api/v1/resources/Pipe/orders`)
      return reply.status === 404
    })
    given.workspace.write('manifests/orders.yaml', pipeManifest('orders'))
    await shownAs(url, 'Pipe/orders', 'Ready')
    expect(given.platform.pipes()).toHaveLength(2)
    expect(given.posts()).toBe(2)
  })
})
