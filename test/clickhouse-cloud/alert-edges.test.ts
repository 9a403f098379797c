import { expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { KEY, SPEC, WEBHOOK, startAlerts, type AlertClient } from './alert-client.ts'
import { ORGANIZATION } from './ask.ts'

/* Alerts that are created (design §14): what happens before, after, beside and by somebody else. */

const MINUTE = 60_000
const GRACE = 10 * MINUTE + 1_000

const writes = (client: AlertClient) => client.sent().filter((each) => !each.startsWith('GET'))
const LAG2 = 'Alert/lag2' as Key

test('what was left behind and is gone since blocks no other', async () => {
  await using client = await startAlerts()
  await client.apply()
  const id = client.record()?.remote?.id ?? ''
  await client.apply({ spec: { id } })
  client.asker.ask('DELETE', `/clickstack/alerts/${id}`)
  await client.want({ lag: { spec: { id } }, lag2: { spec: { ...SPEC, name: 'Second', threshold: 77 } } })
  for (let i = 0; i < 10; i += 1) {
    client.skip(10 * MINUTE)
    await client.reconcile()
    await client.reconcile(LAG2)
  }
  expect(client.alerts()).toHaveLength(1)
})

test('fields of a channel that are not returned are kept by the PUT', async () => {
  await using client = await startAlerts()
  const channel = { ...WEBHOOK, webhookService: 'slack_api', slackChannelId: 'C1', severity: 'critical' }
  await client.apply({ spec: { ...SPEC, channel } })
  const id = client.record()?.remote?.id ?? ''
  // The service does not return them.
  client.change(id, { channel: WEBHOOK })
  await client.settle()
  await client.apply({ spec: { ...SPEC, channel, threshold: 11 } })
  expect(client.bodies().at(-1)).toMatchObject({ channel })
})

test('another channel that somebody has added is a change', async () => {
  await using client = await startAlerts()
  await client.apply()
  client.skip(5 * MINUTE)
  await client.reconcile()
  const id = client.record()?.remote?.id ?? ''
  await client.want({ lag: { policy: { ensure: 'absent' } } })
  await client.reconcile()
  client.change(id, { channels: [WEBHOOK, { type: 'email', emailRecipients: ['b@example.com'] }] })
  client.sent()
  client.skip(GRACE)
  await client.reconcile()
  expect(writes(client)).toEqual([])
})

test('a saved search is exchanged for a tile, and somebody has set groupBy', async () => {
  await using client = await startAlerts()
  await client.apply()
  const id = client.record()?.remote?.id ?? ''
  client.change(id, { groupBy: 'ServiceName' })
  const { savedSearchId: _, ...rest } = SPEC
  const tile = { ...rest, source: 'tile', dashboardId: 'a'.repeat(24), tileId: 't' }
  await client.apply({ spec: tile })
  expect(client.shown()?.reason).toBe('InSync')
})

test('what is watched in another service is no witness', async () => {
  await using client = await startAlerts()
  const B = 'Alert/b' as Key
  const b = { spec: { ...SPEC, name: 'B', threshold: 77 } }
  const second = {
    apiVersion: 'pipewright/v1',
    kind: 'Service',
    metadata: { name: 'second' },
    spec: {
      organizationId: ORGANIZATION,
      serviceId: 'b1111111-1111-4111-8111-111111111111',
      credentials: { secretRef: { name: 'api' } },
    },
  }
  expect(await client.want({ lag: {}, b }, [second])).toEqual([])
  await client.settle()
  await client.settle(B)
  client.skip(5 * MINUTE)
  const x = 'c'.repeat(24)
  expect(await client.want({ lag: {}, b: { spec: { service: 'second', id: x } } }, [second])).toEqual([])
  let asking: Key = KEY
  client.interfere(({ method }) => {
    if (method !== 'GET') return undefined
    if (asking === B) return { answered: { ...SPEC, id: x, name: 'X', state: 'OK' } }
    return { status: 404, error: 'NOT_FOUND: alert' }
  })
  for (let i = 0; i < 6; i += 1) {
    asking = KEY
    await client.reconcile()
    client.skip(10_000)
    asking = B
    await client.reconcile(B)
    client.skip(20_000)
  }
  asking = KEY
  client.sent()
  await client.reconcile()
  expect(client.shown()?.reason).toBe('MissingUnconfirmed')
})
