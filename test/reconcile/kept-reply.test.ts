import { PIPE } from '../../src/kinds/pipe/kind.ts'
import { assert, constantFrom, dictionary, jsonValue, oneof, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keptManifest, partsOf } from '../../src/kinds/kept-manifest.ts'
import type { ResourceManifest } from '../../src/kinds/manifest.ts'
import { PipeManifest } from '../../src/kinds/pipe/schema.ts'
import { returnedBody } from '../../src/kinds/returned-body.ts'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { bodyOf } from '../../src/kinds/lookup.ts'
import { keepReply, shownReply } from '../../src/reconcile/kept-reply.ts'

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

/** What is shown of a reply once it was kept. */
function shown(came: JsonObject, manifest: ResourceManifest | undefined, id: string | undefined): JsonObject {
  const desired = (manifest && bodyOf(manifest)) ?? {}
  const kept = keepReply('Pipe/orders', came, { manifest, desired, id, serviceId: undefined })
  return shownReply('Pipe/orders', kept)
}

/** `null` counts as absent, but in lists. */
function withoutNull(value: JsonObject): JsonObject {
  const text = JSON.stringify(value, (_name, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).filter(([, member]) => member !== null))
      : inner,
  )
  return JSON.parse(text) as JsonObject
}

describe('a reply that is kept', () => {
  test('shows what it returned, whatever it has of what was asked for', () => {
    assert(
      property(reply, constantFrom(MANIFEST, undefined), (fields, manifest) => {
        const came = JSON.parse(JSON.stringify(fields)) as JsonObject
        const expected = withoutNull(returnedBody(PIPE.fields, came))
        expect(withoutNull(shown(came, manifest, 'one'))).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('without the credentials, and with what the platform adds, is mostly nothing', () => {
    const { kafka } = asked['source'] as { kafka: JsonObject }
    const { credentials: _, ...rest } = kafka
    const source = { kafka: { ...rest, iamRole: 'reader', authentication: 'PLAIN' } }
    const came = { ...asked, id: 'one', state: 'Running', source }
    const known = { manifest: MANIFEST, desired: asked, id: 'one', serviceId: 's' }
    const kept = keepReply('Pipe/orders', came, known)
    expect(JSON.parse(kept.patch)).toEqual({
      state: 'Running',
      serviceId: null,
      source: { kafka: { iamRole: 'reader' } },
    })
    expect(shownReply('Pipe/orders', kept)).toEqual({
      ...asked,
      id: 'one',
      state: 'Running',
      source: { kafka: { ...rest, iamRole: 'reader' } },
    })
  })
})
