import { conditionMessage } from '../support/messages.ts'
import { expect, test } from 'vitest'
import { having, startClient } from './client.ts'
import { KAFKA } from './edited-pipes.ts'
import { SERVICE } from './reach.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { operationsOf } from '../../src/kinds/profile.ts'
import { withRefs } from './refs.ts'
import { on, put, story } from './story.ts'

/* A Service manifest with ids that the API key does not see. */

const { organizationId, serviceId } = SERVICE.spec
const OTHER = '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44'
const LOST = withRefs(having(KAFKA, { name: 'lost', 'source.kafka.topics': 'lost' })).spec

test.each([
  ['another serviceId', { serviceId: OTHER }],
  ['another of both', { organizationId: OTHER, serviceId: OTHER }],
  ['both swapped', { organizationId: serviceId, serviceId: organizationId }],
])('%s: the Service is not ready, and both say which ids to check', (_why, ids) =>
  story(
    startClient(KAFKA),
    (client) =>
      client.put('it.json', { ...SERVICE, metadata: { name: 'wrong' }, spec: { ...SERVICE.spec, ...ids } }),
    put('Pipe/lost', { ...LOST, service: 'wrong' }),
    'turn Pipe/lost; turn Service/wrong; sends nothing',
    (client) => {
      const ready = client.record('Service/wrong')?.conditions?.Ready
      expect(ready?.status).toBe('False')
      const synced = client.record('Pipe/lost')?.conditions?.Synced
      for (const said of [ready, synced].map((of) => conditionMessage(of))) {
        expect(said).toContain('Check organizationId and serviceId')
        expect(said).not.toContain('knows no such pipe')
      }
    },
  ),
)

test('every request to the service says which permission it needs', () => {
  const nameless = operationsOf(CLICKHOUSE_CLOUD).filter(
    ({ api, permission }) => api === 'services' && !permission,
  )
  expect(nameless).toEqual([])
})

test('a service that answers is known, whatever a create names in vain: its own words are shown', () => {
  const reason = 'reverse private endpoint does not exist'
  return story(
    startClient(KAFKA),
    on(({ method }) => (method === 'POST' ? { status: 404, error: reason } : undefined)),
    put('Pipe/lost', LOST),
    'turn Pipe/lost; turn Service/analytics',
    (client) => {
      const pipe = client.record('Pipe/lost')?.conditions?.Synced
      expect(pipe?.reason).toBe('Rejected')
      expect(conditionMessage(pipe)).toContain(reason)
      expect(conditionMessage(pipe)).not.toContain('serviceId')
      expect(client.record('Service/analytics')?.conditions?.Ready.status).toBe('True')
    },
  )
})
