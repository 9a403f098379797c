import { expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { recordedOf } from '../../src/reconcile/state/recorded.ts'
import { intent } from '../plan/inputs.ts'
import { given } from './given.ts'
import { pipe } from './manifests.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

const IDENTITY = `${ORGANIZATION}/${SERVICE_ID}`.toLowerCase()

function applied(name: string, at: number, serviceName: string): LedgerRecord {
  return {
    ...blankRecord(`QueryEndpoint/${name}`),
    service: { name: serviceName, organizationId: ORGANIZATION, serviceId: SERVICE_ID.toUpperCase() },
    upsert: { at, revision: 'r', reply: {} },
  }
}

test('of several that configured the endpoint of one service, the last one has it', () => {
  const recorded = recordedOf([applied('a', 1, 'x'), applied('c', 3, 'y'), applied('b', 2, 'x')])
  expect([...recorded].map(([key, { endpointOf }]) => [key, endpointOf])).toEqual([
    ['QueryEndpoint/a', undefined],
    ['QueryEndpoint/c', IDENTITY],
    ['QueryEndpoint/b', undefined],
  ])
})

test('a later upsert counts also if the clock was set back before it', () => {
  const now: LedgerRecord = { ...applied('new', 1, 'x'), applied: { digest: 'd', fields: {}, secrets: {} } }
  const recorded = recordedOf([applied('old', 2, 'x'), now])
  expect([...recorded].map(([, { endpointOf }]) => endpointOf)).toEqual([undefined, IDENTITY])
})

test('a manifest with a mistake is known by where it was last valid, and one that never was by nothing', async () => {
  const world = await given({ 'a.yaml': pipe('a') })
  const validIn = (key: Key) => recordedOf(world.context.store.records()).get(key)?.validIn
  await world.go('Pipe/a')
  expect(validIn('Pipe/a')).toBe('a.yaml')
  expect((await world.record('Pipe/a')).validIn).toBeUndefined()
  for (const name of ['a', 'b']) world.write(`${name}.yaml`, pipe(name, { more: { mistake: 1 } }))
  for (const key of ['Pipe/a', 'Pipe/b'] as const) await world.go(key)
  expect([validIn('Pipe/a'), validIn('Pipe/b')]).toEqual(['a.yaml', undefined])
  await world.go('Pipe/a')
  expect(await world.record('Pipe/a')).toMatchObject({
    validIn: 'a.yaml',
    conditions: { Valid: { status: 'False' } },
  })
  world.write('a.yaml', pipe('a'))
  await world.go('Pipe/a')
  expect((await world.record('Pipe/a')).validIn).toBeUndefined()
})

test('a key whose create has no outcome awaits what that made', () => {
  const states = ['open', 'unknown', 'failed', 'dismissed', 'succeeded'] as const
  const records = states.map((state) => ({ ...blankRecord(`Pipe/${state}`), intent: intent(state) }))
  const awaiting = [...recordedOf(records)].filter(([, { isAwaiting }]) => isAwaiting)
  expect(awaiting.map(([key]) => key)).toEqual(['Pipe/open', 'Pipe/unknown'])
})
