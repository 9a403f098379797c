import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALERT } from '../../src/kinds/alert/kind.ts'
import { PIPE } from '../../src/kinds/pipe/kind.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/query-endpoint/kind.ts'
import { returnedBody, returnedPatch } from '../../src/kinds/returned-body.ts'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { mergePatch } from '../../src/lib/merge-patch.ts'
import { bodies } from './bodies.ts'

describe('what is kept of a reply', () => {
  test('is what the interface returns, at every depth', () => {
    const body = {
      id: 'p-1',
      serviceId: 's-1',
      name: 'orders',
      state: 'Running',
      source: {
        validateSamples: true,
        kafka: { brokers: 'b:9092', credentials: { username: 'u', password: 'p' }, echo: 'you sent p' },
      },
      destination: { roles: ['r'], columns: [{ name: 'id', type: 'UInt64', note: 'p' }, 'p'] },
      fieldMappings: [{ sourceField: 'a', destinationField: 'b' }],
      scaling: { replicas: 2 },
      request: { headers: { Authorization: 'Basic p' } },
    }
    expect(returnedBody(PIPE.fields, body)).toEqual({
      id: 'p-1',
      serviceId: 's-1',
      name: 'orders',
      state: 'Running',
      source: { kafka: { brokers: 'b:9092' } },
      destination: { columns: [{ name: 'id', type: 'UInt64' }] },
      fieldMappings: [{ sourceField: 'a', destinationField: 'b' }],
      scaling: { replicas: 2 },
    })
  })

  test('is nothing of another shape', () => {
    expect(returnedBody(PIPE.fields, { name: { told: 'p' }, source: 'p', scaling: null })).toEqual({
      scaling: null,
    })
    expect(
      returnedBody(ALERT.fields, { state: 'OK', channel: [{ type: 'email', note: 'p' }], x: 'p' }),
    ).toEqual({
      state: 'OK',
      channel: [{ type: 'email' }],
    })
    expect(returnedBody({}, { a: 1 })).toEqual({})
  })
})

describe('what a reply says otherwise than is known', () => {
  const FIELDS = { Pipe: PIPE.fields, QueryEndpoint: QUERY_ENDPOINT.fields, Alert: ALERT.fields } as const

  test.each(['Pipe', 'QueryEndpoint', 'Alert'] as const)('leads back to the reply: %s', (kind) => {
    fc.assert(
      fc.property(bodies(FIELDS[kind]), ({ body, same, rewritten, changes }) => {
        for (const reply of [body, same, rewritten, {}, ...changes.map((change) => change.body)]) {
          expect(roundTrip(kind, body, reply)).toEqual(withoutNull(returnedBody(FIELDS[kind], reply)))
          expect(roundTrip(kind, {}, reply)).toEqual(withoutNull(returnedBody(FIELDS[kind], reply)))
        }
      }),
      { numRuns: 25 },
    )
  })

  test('is nothing when it says the same, but for what is never returned', () => {
    const known = {
      name: 'orders',
      source: {
        kafka: { brokers: 'b:9092', credentials: { username: { secretRef: { name: 'a', key: 'b' } } } },
      },
      destination: { columns: [{ name: 'id', type: 'UInt64' }], roles: ['r'] },
    }
    const reply = {
      destination: { columns: [{ type: 'UInt64', name: 'id' }] },
      source: { kafka: { brokers: 'b:9092' } },
      name: 'orders',
      echo: 'you sent p',
    }
    expect(returnedPatch(PIPE.fields, known, reply)).toEqual({})
  })

  test('is what is new, what is other and what is gone, and nothing that the interface does not return', () => {
    const known = {
      name: 'orders',
      scaling: { replicas: 2, concurrency: 1 },
      settings: { db_max_threads: 4 },
    }
    const reply = {
      id: 'p-1',
      name: 'orders',
      scaling: { replicas: 3 },
      settings: null,
      echo: 'p',
      source: 'p',
    }
    expect(returnedPatch(PIPE.fields, known, reply)).toEqual({
      id: 'p-1',
      scaling: { replicas: 3, concurrency: null },
      settings: null,
    })
  })

  function roundTrip(kind: keyof typeof FIELDS, known: JsonObject, reply: JsonObject): JsonObject {
    const patch = JSON.parse(JSON.stringify(returnedPatch(FIELDS[kind], known, reply))) as JsonObject
    return returnedBody(FIELDS[kind], mergePatch(known, patch))
  }
})

/** A field that is null counts as absent; in lists it stays. */
function withoutNull(value: JsonObject): JsonObject {
  const kept = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined)
  return Object.fromEntries(
    kept.map(([name, inner]): [string, Json | undefined] => [
      name,
      isObject(inner) ? withoutNull(inner) : inner,
    ]),
  )
}
