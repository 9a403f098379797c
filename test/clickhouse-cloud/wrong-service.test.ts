import { conditionMessage } from '../support/messages.ts'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { having, startClient, type Client } from './client.ts'
import { KAFKA, sent } from './edited-pipes.ts'
import { SERVICE } from './reach.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import { operationsOf } from '../../src/kinds/profile.ts'
import { withRefs } from './refs.ts'

/* A Service manifest with ids that the API key does not see. */

const { organizationId, serviceId } = SERVICE.spec
const OTHER = '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44'

async function withService(ids: JsonObject): Promise<Client> {
  const client = await startClient(KAFKA)
  sent(client)
  await client.put('wrong.json', {
    ...SERVICE,
    metadata: { name: 'wrong' },
    spec: { ...SERVICE.spec, ...ids },
  })
  await wantLost(client, 'wrong')
  return client
}

/** Another pipe of this service. */
async function wantLost(client: Client, service: string): Promise<void> {
  const spec = { service, ...withRefs(having(KAFKA, { name: 'lost', 'source.kafka.topics': 'lost' })).spec }
  const metadata = { name: 'lost' }
  await client.put('lost.json', { apiVersion: 'pipewright/v1', kind: 'Pipe', metadata, spec })
  await client.reconcile('asked', 'Pipe/lost')
  await client.reconcile('asked', `Service/${service}`)
}

test.each([
  ['another serviceId', { serviceId: OTHER }],
  ['another of both', { organizationId: OTHER, serviceId: OTHER }],
  ['both swapped', { organizationId: serviceId, serviceId: organizationId }],
])('%s: the Service is not ready, and both say which ids to check', async (_why, ids) => {
  await using client = await withService(ids)
  const ready = client.record('Service/wrong')?.conditions?.Ready
  expect(ready?.status).toBe('False')
  const pipe = client.record('Pipe/lost')?.conditions?.Synced
  for (const said of [conditionMessage(ready), conditionMessage(pipe)]) {
    expect(said).toContain('Check organizationId and serviceId')
    expect(said).not.toContain('knows no such pipe')
  }
  expect(sent(client)).toEqual([])
})

test('every request to the service says which permission it needs', () => {
  const nameless = operationsOf(CLICKHOUSE_CLOUD).filter(
    ({ api, permission }) => api === 'services' && !permission,
  )
  expect(nameless).toEqual([])
})

test('a service that answers is known, whatever a create names in vain: its own words are shown', async () => {
  await using client = await startClient(KAFKA)
  const reason = 'reverse private endpoint does not exist'
  client.interfere(({ method }) => (method === 'POST' ? { status: 404, error: reason } : undefined))
  await wantLost(client, 'analytics')
  const pipe = client.record('Pipe/lost')?.conditions?.Synced
  expect(pipe?.reason).toBe('Rejected')
  expect(conditionMessage(pipe)).toContain(reason)
  expect(conditionMessage(pipe)).not.toContain('serviceId')
  expect(client.record('Service/analytics')?.conditions?.Ready.status).toBe('True')
})
