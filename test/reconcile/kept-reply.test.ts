import { assert, constantFrom, dictionary, jsonValue, oneof, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keptManifest, partsOf } from '../../src/kinds/kept-manifest.ts'
import { PipeManifest } from '../../src/kinds/pipe/schema.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { bodyOf } from '../../src/reconcile/asked-body.ts'
import { KeptReply } from '../../src/reconcile/kept-reply.ts'

const MANIFEST = keptManifest(
  partsOf(
    PipeManifest.parse({
      apiVersion: 'pipewright/v1',
      kind: 'Pipe',
      metadata: { name: 'orders' },
      spec: {
        service: 'analytics',
        source: {
          kafka: {
            brokers: 'b:9092',
            topics: 'orders',
            credentials: {
              username: { secretRef: { name: 'kafka', key: 'username' } },
              password: { secretRef: { name: 'kafka', key: 'password' } },
            },
          },
        },
        destination: { database: 'default', table: 't', columns: [{ name: 'id', type: 'UInt64' }] },
        fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
        scaling: { replicas: 2 },
      },
    }),
  ),
)

const asked: JsonObject = bodyOf(MANIFEST) ?? {}

/** Objects that have some of what was asked for, at its place or at another. */
const part = oneof(
  constantFrom(...Object.values(asked)),
  jsonValue(),
  dictionary(constantFrom('kafka', '__proto__', 'x'), jsonValue()),
)
const reply = dictionary(
  oneof(constantFrom(...Object.keys(asked)), constantFrom('id', '__proto__', 'toString')),
  part,
)

describe('a reply that is kept', () => {
  test('comes back as it came, whatever it has of what was asked for', () => {
    assert(
      property(reply, constantFrom(MANIFEST, undefined), (fields, manifest) => {
        const came = JSON.parse(JSON.stringify(fields)) as JsonObject
        expect(JSON.parse(JSON.stringify(new KeptReply(came, manifest).body))).toEqual(came)
      }),
      { numRuns: 500 },
    )
  })

  test('without the credentials, and with what the platform adds', () => {
    const { kafka } = asked['source'] as { kafka: JsonObject }
    const { credentials: _, ...rest } = kafka
    const came = {
      ...asked,
      id: 'one',
      state: 'Running',
      source: { kafka: { ...rest, authentication: 'PLAIN' } },
    }
    expect(new KeptReply(came, MANIFEST).body).toEqual(came)
  })
})
