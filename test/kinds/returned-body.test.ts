import { describe, expect, test } from 'vitest'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { returnedBody } from '../../src/kinds/remote-resource.ts'

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

  test('is nothing where it says null, which counts as absent', () => {
    const body = { name: 'orders', scaling: null, source: { kafka: { brokers: null } } }
    expect(returnedBody(PIPE.fields, body)).toEqual({ name: 'orders', source: { kafka: {} } })
  })

  test('is nothing of another shape', () => {
    expect(returnedBody(PIPE.fields, { name: { told: 'p' }, source: 'p' })).toEqual({})
    expect(
      returnedBody(ALERT.fields, { state: 'OK', channel: [{ type: 'email', note: 'p' }], x: 'p' }),
    ).toEqual({ state: 'OK', channel: [{ type: 'email' }] })
    expect(returnedBody({}, { a: 1 })).toEqual({})
  })
})
