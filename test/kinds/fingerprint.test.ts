import { describe, expect, test } from 'vitest'
import { changedFields, fingerprintBody } from '../../src/kinds/fingerprint.ts'
import { isReturnedField } from '../../src/kinds/field-table.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { PipeManifest } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { keyedHash, sha256 } from '../../src/lib/digest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { fullPipe, ref, SOURCE_KINDS } from './manifests.ts'

function print(body: JsonObject) {
  return fingerprintBody(body, { fields: PIPE.fields, hash: sha256, digest: undefined })
}

function hash(text: string): string {
  return keyedHash(new Uint8Array(32), text)
}

describe('a fingerprint', () => {
  test.each(SOURCE_KINDS)('of a full pipe fits a record, and shows nothing of it: %s', (kind) => {
    const text = JSON.stringify(
      fingerprintBody(PIPE.body(PipeManifest.parse(fullPipe(kind))), {
        fields: PIPE.fields,
        hash,
        digest: undefined,
      }),
    )
    expect(text.length).toBeLessThan(4_096)
    expect(text).not.toContain('hunter2')
    expect(text).not.toContain('orders')
  })

  // Ledgers hold them: another one for the same body would make every pipe look edited.
  test.each([
    ['kafka', '8d7108c0a9a7e8c3', '19ae41f85afee8fa'],
    ['objectStorage', '14b5537dbd73322b', 'b32d8fa6bbd6a3f8'],
    ['managedStream', 'c40176375bc69305', 'afe133a50fc73f53'],
    ['postgres', '5cadd985102cbb47', '63abdbd9198e3411'],
  ] as const)('of a full pipe is what it was in earlier versions: %s', (kind, digest, fields) => {
    const fingerprint = print(PIPE.body(PipeManifest.parse(fullPipe(kind))))
    expect(fingerprint.digest.slice(0, 16)).toBe(digest)
    expect(sha256(JSON.stringify(fingerprint.fields)).slice(0, 16)).toBe(fields)
  })

  test('of texts that do not stand in JSON as they are is what it was, too, and of fields that nobody knows', () => {
    const columns = [
      { type: 'String', name: 'q"\\\u0001é', comment: 'x' },
      { name: 'plain', type: '' },
      'odd',
    ]
    expect(print({ destination: { columns } }).digest.slice(0, 16)).toBe('a99b715f71e2de15')
    const [one, other] = [{ name: 'a', type: 'b' }, { name: String.raw`a\"","type":"\"b` }]
    expect(print({ destination: { columns: [one] } }).digest).not.toBe(
      print({ destination: { columns: [other] } }).digest,
    )
  })

  test('of a thousand columns is one field', () => {
    const columns = Array.from({ length: 1_000 }, (_, index) => ({ name: `c${index}`, type: 'Int8' }))
    expect(Object.keys(print({ destination: { columns } }).fields)).toEqual(['destination.columns'])
  })

  test('takes a reference for itself: another one is an edit, a rotated secret is not', () => {
    const before = print({ source: { kafka: { caCertificate: ref('a') } } })
    expect(print({ source: { kafka: { caCertificate: ref('a') } } })).toEqual(before)
    const after = print({ source: { kafka: { caCertificate: ref('b') } } })
    expect(after.digest).not.toBe(before.digest)
    expect(changedFields(before.fields, after.fields)).toEqual(['source.kafka.caCertificate'])
  })

  test('tells a reference from a text that looks like one', () => {
    const literal = print({ source: { kafka: { caCertificate: 'secret kafka/a' } } })
    expect(literal.digest).not.toBe(print({ source: { kafka: { caCertificate: ref('a') } } }).digest)
  })

  test('gives equal values of two fields different hashes', () => {
    const { fields } = print({ scaling: { replicas: 2, concurrency: 2 } })
    expect(fields['scaling.replicas']).not.toBe(fields['scaling.concurrency'])
  })

  test('of a query endpoint knows sets and comma lists', () => {
    const options = { fields: QUERY_ENDPOINT.fields, hash: sha256, digest: undefined } as const
    const one = fingerprintBody({ roles: ['a', 'b'], allowedOrigins: 'x, y' }, options)
    const two = fingerprintBody({ allowedOrigins: 'y,x', roles: ['b', 'a'] }, options)
    expect(one).toEqual(two)
  })
})

test('changed fields are those added, removed and changed, in order', () => {
  const before = { c: '1', a: '1', same: '1' }
  expect(changedFields(before, { c: '2', b: '1', same: '1' })).toEqual(['a', 'b', 'c'])
})

test.each([
  ['source.validateSamples', false],
  ['source.kafka.credentials', false],
  ['source.kafka.credentials.password', false],
  ['source.kafka.schemaRegistry.credentials.username', false],
  ['source.objectStorage.accessKey.secretKey', false],
  ['source.managedStream.accessKey', false],
  ['source.postgres.credentials.password', false],
  ['destination.roles', false],
  ['destination.columns', true],
  ['destination.columns[roles].type', true],
  ['source.postgres.tableMappings[public.orders].excludedColumns', true],
  ['source.kafka.schemaRegistry.caCertificate', true],
  ['source.objectStorage.connectionString', true],
  ['name', true],
  ['constructor', true],
] as const)('%s is returned: %s', (field, returned) => {
  expect(isReturnedField(PIPE.fields, field)).toBe(returned)
})
