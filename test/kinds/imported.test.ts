import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { importedManifest } from '../../src/kinds/imported.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { PipeManifest } from '../../src/kinds/profiles/default/pipe/schema.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { pipeBody, SERVICE_ID } from '../support/manifests.ts'
import { fullPipe, SOURCE_KINDS } from './manifests.ts'
import { findingsOf, parse } from '../manifest/support.ts'
import { anyText } from '../support/any-text.ts'

const ID = '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d'

/** What a platform says of every pipe beside its body. */
const ABOUT = { id: ID, serviceId: SERVICE_ID, state: 'Running', createdAt: '2026-01-01T00:00:00Z' }

const ORDERS = pipeBody('orders')

function imported(reply: JsonObject) {
  const resource = { ...ABOUT, ...reply } as RemoteResource // it has an id
  const mask = createSecretMask(['Hq7kV2xe9Lm4'])
  const names = { name: 'orders', service: 'analytics', secret: 'orders' } as const
  return importedManifest({ kind: PIPE, ...names, resource, mask })
}

function specOf(reply: JsonObject): JsonObject {
  return imported(reply).manifest?.['spec'] as JsonObject
}

/** What is wrong with a manifest that stands in a file. */
function errorsIn(manifest: JsonObject): readonly string[] {
  return findingsOf(parse(stringify(manifest)))
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => message)
}

const kafka = (more: JsonObject): JsonObject => ({ source: { kafka: { ...ORDERS.source.kafka, ...more } } })

describe('what a manifest cannot have is left out of an imported one, and named', () => {
  const rows: Readonly<
    Record<string, readonly [reply: JsonObject, out: readonly (readonly [string, string])[]]>
  > = {
    'a pipe as the interface shows it: nothing': [{}, []],
    'a field that the interface does not have, here and inside': [
      { owner: 'me', scaling: { replicas: 1, autoscale: true } },
      [
        ['spec.scaling.autoscale', 'A manifest has no such field.'],
        ['spec.owner', 'A manifest has no such field.'],
      ],
    ],
    null: [
      { settings: null, scaling: { replicas: null, concurrency: 2 } },
      [
        ['spec.scaling.replicas', 'It is null.'],
        ['spec.settings', 'It is null.'],
      ],
    ],
    'an object that holds nothing but null; without anything in it, nothing is said, and an empty list stays':
      [
        { ...kafka({ reversePrivateEndpointIds: [] }), settings: {}, scaling: { replicas: null } },
        [['spec.scaling', 'It is empty.']],
      ],
    'source kinds that are not used': [
      { source: { ...ORDERS.source, postgres: {}, objectStorage: null } },
      [['spec.source.objectStorage', 'It is null.']],
    ],
    'a second source kind': [
      { source: { ...ORDERS.source, managedStream: { streamName: 's' } } },
      [['spec.source.managedStream', 'The source has more than one kind: kafka, managedStream.']],
    ],
    'an empty text': [kafka({ consumerGroup: '' }), [['spec.source.kafka.consumerGroup', 'It is empty.']]],
    'another type, at a leaf and above': [
      { settings: 'fast', scaling: { replicas: { min: 1 } }, fieldMappings: { a: 'b' }, destination: {} },
      [
        ['spec.fieldMappings', 'It must be a list, and is a mapping.'],
        ['spec.settings', 'It must be a mapping, and is text.'],
        ['spec.scaling.replicas', 'It must be a number, and is a mapping.'],
      ],
    ],
    'a number that is out of range, or no whole one': [
      { scaling: { replicas: -1, concurrency: 1.5, replicaCpuMillicores: 250 } },
      [
        ['spec.scaling.replicas', 'It must be at least 0.'],
        ['spec.scaling.concurrency', 'It must be a whole number, and is a number.'],
      ],
    ],
    'a URL that is none': [
      { source: { objectStorage: { url: 'not a url', path: 'a/*.csv' } } },
      [['spec.source.objectStorage.url', 'It must be a URL, such as "https://registry.example:8081".']],
    ],
    'a text with a password or a signature in it': [
      {
        source: {
          objectStorage: {
            url: 'https://a:planted@b.example/',
            queueUrl: 'https://q.example/?sig=planted',
            path: 'a',
          },
        },
      },
      [
        [
          'spec.source.objectStorage.url',
          'The value contains a password or a signature, which must not be in a manifest.',
        ],
        [
          'spec.source.objectStorage.queueUrl',
          'The value contains a password or a signature, which must not be in a manifest.',
        ],
      ],
    ],
    'a sensitive field that is no text': [
      kafka({ caCertificate: { secretRef: { name: 'analytics-api', key: 'keySecret' } } }),
      [['spec.source.kafka.caCertificate', 'It must be text, and is a mapping.']],
    ],
    'a list of which one item is wrong, as a whole: a part of it would be another list': [
      { fieldMappings: [], destination: { columns: [{ name: 'id', type: 'UInt64' }, { name: 'at' }] } },
      [['spec.destination.columns', '"type" of item 2 is missing.']],
    ],
    'an unknown field of items, once': [
      { fieldMappings: [{ ...ORDERS.fieldMappings[0], note: 1 }], destination: { table: 'orders' } },
      [['spec.fieldMappings[].note', 'A manifest has no such field.']],
    ],
    'columns that no mapping covers': [
      { fieldMappings: null },
      [
        ['spec.fieldMappings', 'It is null.'],
        ['spec.destination.columns', 'The field mappings do not cover the column "id".'],
      ],
    ],
    'columns that mappings go beyond: the mappings stay': [
      { fieldMappings: [...ORDERS.fieldMappings, { sourceField: 'at', destinationField: 'at' }] },
      [['spec.destination.columns', 'The destination has no column "at".']],
    ],
    'what is only ever sent': [
      { destination: { ...ORDERS.destination, roles: ['writer'] } },
      [['spec.destination.roles', 'Write-only: the value in use might differ from the returned value.']],
    ],
  }
  test.each(Object.entries(rows))('%s', (_why, [reply, out]) => {
    const { manifest, leftOut } = imported({ ...ORDERS, ...reply })
    expect(leftOut.map(({ path, why }) => [path, why])).toEqual(out)
    expect(PipeManifest.safeParse(manifest).error).toBeUndefined()
    expect(errorsIn(manifest ?? {})).toEqual([])
    expect(JSON.stringify(manifest)).not.toContain('planted')
  })
})

test('what the platform writes in another way is written as a manifest has it', () => {
  const { source, scaling } = specOf({
    ...ORDERS,
    ...kafka({ brokers: ['a:1', 'b:2'], offset: { timestamp: '2026-01-31T09:30:00+01:30' } }),
    scaling: { replicas: '2' },
  }) as { source: JsonObject; scaling: JsonObject }
  expect(source['kafka']).toMatchObject({ brokers: 'a:1,b:2', offset: { timestamp: '2026-01-31T08:00:00' } })
  expect(scaling).toEqual({ replicas: 2 })
  expect(specOf({ source: { managedStream: { timestamp: '2026-01-31T08:00:00Z' } } })).toMatchObject({
    source: { managedStream: { timestamp: Date.UTC(2026, 0, 31, 8) / 1_000 } },
  })
})

test('an empty role takes no place of a key', () => {
  expect(specOf({ ...ORDERS, ...kafka({ iamRole: '' }) })).toMatchObject({
    source: { kafka: { credentials: { password: { secretRef: { name: 'orders', key: 'password' } } } } },
  })
})

test.each(
  Object.entries<{ source: Json }>({
    'no source': { source: null },
    'a source kind of which we know nothing': { source: { carrierPigeon: { loft: 'north' } } },
  }),
)('without %s there is no manifest', (_why, { source }) => {
  const { manifest, leftOut } = imported({ ...ORDERS, source })
  expect(manifest).toBeUndefined()
  expect(leftOut.at(-1)).toEqual({ path: 'spec.source', why: 'It is missing.' })
})

/** Something else in a place of a reply. */
const ODD: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, [], {}, -1, 0.5, 1e300, true, ' x', 'x\n', '- a', '{{ x }}'),
  fc.constantFrom(
    ...' 2 https://x null # <EU> CHANGEME ((x)) __proto__ ENC[A,b] op://a/b <path:a#b> \ud83d'.split(' '),
  ),
  anyText(8),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>, // JSON
)

test.each(['not-a-uuid', '1', ' '])(
  'a pipe with the id "%s" gets no manifest, which could not adopt it',
  (id) => {
    const { manifest, leftOut } = imported({ ...ORDERS, id })
    expect([manifest, leftOut.at(-1)?.path]).toEqual([undefined, 'policy.adopt'])
  },
)

test('whatever a platform returns, the manifest validates', () => {
  const replies = fc.constantFrom(...SOURCE_KINDS.map((kind) => fullPipe(kind).spec as unknown as JsonObject)) // JSON
  fc.assert(
    fc.property(replies, fc.infiniteStream(fc.nat(9)), fc.infiniteStream(ODD), (reply, dice, odd) => {
      const disturbed = (value: Json): Json => {
        if (dice.next().value === 0) return odd.next().value ?? null
        if (Array.isArray(value)) return value.map((item: Json) => disturbed(item))
        if (!isObject(value)) return value
        const more = dice.next().value === 1 ? { extra: odd.next().value } : {}
        return Object.fromEntries(
          Object.entries({ ...value, ...more }).map(([name, member]) => [name, disturbed(member ?? null)]),
        )
      }
      const { service: _, ...body } = reply
      const { manifest, leftOut } = imported(disturbed(body) as JsonObject)
      const wrong = manifest === undefined ? [leftOut.at(-1)?.path] : errorsIn(manifest)
      expect(wrong).toEqual(manifest === undefined ? ['spec.source'] : [])
    }),
    { numRuns: 40 },
  )
})

test.each([
  ['orders <EU>', 'orders <EU>'],
  ['__DELETED__', '__DELETED__'],
  ['<EU>', undefined],
  ['((x))', undefined],
  ['__proto__', undefined],
  ['ENC[A,b]', undefined],
  [' orders', undefined],
])('a pipe that is named %j', (name, kept) => {
  expect(specOf({ ...ORDERS, name })['name']).toBe(kept)
  expect(errorsIn(imported({ ...ORDERS, name }).manifest ?? {})).toEqual([])
})

test('what would turn a text around, or move on a screen, is left out', () => {
  const source = { kafka: { brokers: 'b-1.example:9092', topics: 'orders', consumerGroup: 'a\u202eb' } }
  const { manifest, leftOut } = imported({ ...ORDERS, source })
  expect(JSON.stringify(manifest)).not.toContain('\u202e')
  expect(leftOut).toContainEqual({
    path: 'spec.source.kafka.consumerGroup',
    why: 'The value has a blank at its start or end, an invisible character, or the form of a placeholder.',
  })
})

test('what repeats a secret that was sent is left out, also where it is a name', () => {
  const { manifest, leftOut } = imported({
    ...ORDERS,
    source: { kafka: { brokers: 'b-1.example:9092', topics: 'orders', consumerGroup: 'of Hq7kV2xe9Lm4' } },
    Hq7kV2xe9Lm4: 1,
  })
  expect(JSON.stringify({ manifest, leftOut })).not.toContain('Hq7kV2xe')
  expect(leftOut).toContainEqual({
    path: 'spec.[secret]',
    why: 'A manifest has no such field.',
    isUnknown: true,
  })
  expect(leftOut).toContainEqual({
    path: 'spec.source.kafka.consumerGroup',
    why: 'The value contains a secret that Pipewright uses, which must not be in a manifest.',
  })
})

test('of an unknown field, only the name is shown', () => {
  const { leftOut } = imported({
    ...ORDERS,
    scaling: { replicas: 1, mode: 'a' },
    sshTunnel: { auth: '-----BEGIN', hops: ['b'] },
  })
  expect(leftOut.map(({ path }) => path)).toEqual(['spec.scaling.mode', 'spec.sshTunnel'])
  expect(JSON.stringify(leftOut)).not.toContain('BEGIN')
})
