import { expect, test } from 'vitest'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { remoteResourceOf } from '../../src/kinds/remote-resource.ts'
import type { Json } from '../../src/lib/json.ts'

const WHOLE = {
  id: 'p-1',
  serviceId: 's-1',
  name: 'orders',
  state: 'Running',
  scaling: { replicas: 2 },
  source: { kafka: { topics: 'orders' } },
  destination: {},
  fieldMappings: [{ sourceField: 'a', destinationField: 'b' }],
  settings: { db_max_threads: 4 },
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
}

test.each([
  ['with all that the interface names', WHOLE],
  ['with its id alone', { id: 'p-1' }],
  ['with nulls', Object.fromEntries(Object.keys(WHOLE).map((name) => [name, name === 'id' ? 'p-1' : null]))],
  ['with fields that nobody knows', { ...WHOLE, echo: [1, { any: 'thing' }], toString: 'x' }],
] as const)('a pipe is taken as it came: %s', (_, reply) => {
  expect(remoteResourceOf(PIPE.reply, reply)).toBe(reply)
})

test.each<readonly [string, Json | undefined]>([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'p-1'],
  ['a list', [WHOLE]],
  ['one without an id', { ...WHOLE, id: null }],
  ['one with an empty id', { ...WHOLE, id: '' }],
  ['one with a number for an id', { ...WHOLE, id: 7 }],
  ['one with a number for a state', { ...WHOLE, state: 3 }],
  ['one with a list for a source', { ...WHOLE, source: [] }],
  ['one with a text for a destination', { ...WHOLE, destination: 'default' }],
  ['one with an object for mappings', { ...WHOLE, fieldMappings: {} }],
  ['one with a text among its mappings', { ...WHOLE, fieldMappings: [{ sourceField: 'a' }, 'b'] }],
])('%s is no pipe', (_, reply) => {
  expect(remoteResourceOf(PIPE.reply, reply)).toBeUndefined()
})

test('an endpoint has lists of texts', () => {
  const reply = { id: 'e', roles: ['r'], openApiKeys: [], allowedOrigins: '*' }
  expect(remoteResourceOf(QUERY_ENDPOINT.reply, reply)).toBe(reply)
  expect(remoteResourceOf(QUERY_ENDPOINT.reply, { ...reply, roles: null })).toBeDefined()
  expect(remoteResourceOf(QUERY_ENDPOINT.reply, { ...reply, roles: ['r', 1] })).toBeUndefined()
  expect(remoteResourceOf(QUERY_ENDPOINT.reply, { ...reply, openApiKeys: 'k' })).toBeUndefined()
})

test('of an alert, id, name and state are texts, and the rest is anything', () => {
  const reply = { id: 'a', name: 'Lag', state: 'OK', threshold: '7', channel: 1 }
  expect(remoteResourceOf(ALERT.reply, reply)).toBe(reply)
  expect(remoteResourceOf(ALERT.reply, { ...reply, name: 1 })).toBeUndefined()
})
