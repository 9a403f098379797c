import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { observedForDiff, beforeWhole } from '../../src/kinds/compare-body.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'

type Row = Readonly<Record<'desired' | 'observed' | 'before', JsonObject>>

const secret = { secretRef: { name: 'kafka', key: 'password' } }

const ROWS: Readonly<Record<string, Row>> = {
  'what means the same is as the manifest writes it': {
    desired: { source: { kafka: { brokers: 'a:1,b:2' } }, scaling: { replicas: 2 } },
    observed: { source: { kafka: { brokers: 'b:2, a:1' } }, scaling: { replicas: '2' } },
    before: { source: { kafka: { brokers: 'a:1,b:2' } }, scaling: { replicas: 2 } },
  },
  'what differs is as it is, and what nobody set is left out': {
    desired: { scaling: { replicas: 2 } },
    observed: { id: 'x', state: 'Running', scaling: { replicas: 5, concurrency: 1 }, settings: { a: 1 } },
    before: { scaling: { replicas: 5 } },
  },
  'what is not there is not shown': {
    desired: { name: 'a', scaling: { replicas: 2 } },
    observed: { name: 'a' },
    before: { name: 'a' },
  },
  'what the platform never returns did not go away': {
    desired: { source: { kafka: { topics: 'a', credentials: { username: 'me', password: secret } } } },
    observed: { source: { kafka: { topics: 'b' } } },
    before: { source: { kafka: { topics: 'b', credentials: { username: 'me', password: secret } } } },
  },
  'records are in the order of the manifest, others come last': {
    desired: {
      fieldMappings: [
        { sourceField: 'a', destinationField: 'x' },
        { sourceField: 'b', destinationField: 'y' },
      ],
    },
    observed: {
      fieldMappings: [
        { sourceField: 'c', destinationField: 'z' },
        { sourceField: 'b', destinationField: 'y' },
        { sourceField: 'a', destinationField: 'x' },
      ],
    },
    before: {
      fieldMappings: [
        { sourceField: 'a', destinationField: 'x' },
        { sourceField: 'b', destinationField: 'y' },
        { sourceField: 'c', destinationField: 'z' },
      ],
    },
  },
}

test.each(Object.entries(ROWS))('%s', (_why, { desired, observed, before }) => {
  expect(observedForDiff(PIPE.fields, desired, observed)).toEqual(before)
})

test('of what is replaced as a whole, what the manifest leaves out is shown: it goes away', () => {
  const desired = { roles: ['sql_console_read_only'] }
  const observed = { roles: ['sql_console_read_only'], openApiKeys: ['key-1'], allowedOrigins: '' }
  expect(beforeWhole(QUERY_ENDPOINT.fields, desired, observed)).toEqual({
    roles: ['sql_console_read_only'],
    openApiKeys: ['key-1'],
  })
})
