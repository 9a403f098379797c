import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import type { Fields } from '../../src/kinds/field-table.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { canonicalLeaves } from '../../src/kinds/fingerprint.ts'
import { PipeManifest } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { SOURCE_KINDS as KINDS_OF_SOURCE } from '../../src/kinds/profiles/default/pipe/source-schema.ts'
import {
  QUERY_ENDPOINT,
  QueryEndpointManifest,
} from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { rulesOf } from '../../src/kinds/profile.ts'
import { FULL_ALERT, FULL_ENDPOINT, fullPipe, SOURCE_KINDS, SOURCES } from './manifests.ts'

function leavesOf(fields: Fields, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, { form, keyedBy, fields: inner }]) =>
    form !== undefined || keyedBy !== undefined ? [`${prefix}${name}`] : leavesOf(inner, `${prefix}${name}.`),
  )
}

describe('every field of the interface', () => {
  test.each(SOURCE_KINDS)('is accepted and reaches the request body unchanged: %s', (kind) => {
    const manifest = fullPipe(kind)
    const { service: _, ...body } = manifest.spec
    const parsed = PipeManifest.parse(manifest)
    expect(parsed).toEqual(manifest)
    expect(PIPE.body(parsed)).toEqual(body)
    expect(rulesOf(DEFAULT, parsed)).toEqual([])
  })

  test('is in the manifests of this test, and nothing else is', () => {
    const leaves = SOURCE_KINDS.flatMap((kind) =>
      canonicalLeaves(PIPE.fields, PIPE.body(PipeManifest.parse(fullPipe(kind)))).map(([path]) => path),
    )
    expect([...new Set(leaves)].toSorted()).toEqual([...leavesOf(PIPE.fields, '')].toSorted())
    expect(new Set(leaves).size).toBe(75) // counted in spec/api.md, a list of objects being one
    expect(KINDS_OF_SOURCE).toEqual(SOURCE_KINDS)
  })

  test('of a query endpoint is accepted and reaches the request body unchanged', () => {
    const { service: _, ...body } = FULL_ENDPOINT.spec
    expect(QUERY_ENDPOINT.body(QueryEndpointManifest.parse(FULL_ENDPOINT))).toEqual(body)
  })

  test('of an alert is accepted and reaches the expectation unchanged', () => {
    expect(ALERT.expected(ALERT.schema.parse(FULL_ALERT))).toEqual(FULL_ALERT.spec.expect)
  })
})

describe('a body', () => {
  test('has only the fields that are set, and the name of the manifest unless there is another', () => {
    const manifest = PipeManifest.parse({
      ...fullPipe('kafka'),
      spec: { service: 'analytics', source: { kafka: { topics: 'a', reversePrivateEndpointIds: [] } } },
    })
    expect(PIPE.body(manifest)).toStrictEqual({
      name: 'orders',
      source: { kafka: { topics: 'a', reversePrivateEndpointIds: [] } },
    })
  })

  test('of an alert that expects nothing is empty', () => {
    expect(ALERT.expected(ALERT.schema.parse({ ...FULL_ALERT, spec: { id: '1' } }))).toStrictEqual({})
  })
})

const { kafka } = SOURCES

const kafkaWith = (fields: object) => ({ source: { kafka: fields } })

/* The rest of what is refused is in test/corpus/wrong. */
const REFUSED: readonly (readonly [why: string, spec: object])[] = [
  [
    'a reference that leaves the directory',
    kafkaWith({ credentials: { password: { secretRef: { name: '..', key: 'x' } } } }),
  ],
  ['a source kind of null', { source: { kafka: null } }],
  ['an offset at an hour that is none', kafkaWith({ offset: { timestamp: '2026-02-01T25:00' } })],
]

test.each(REFUSED)('a pipe is refused for %s', (_, spec) => {
  const manifest = { ...fullPipe('kafka'), spec: { service: 'analytics', ...spec } }
  expect(PipeManifest.safeParse(manifest).success).toBe(false)
})

const ACCEPTED: readonly (readonly [why: string, spec: object])[] = [
  ['an offset without seconds', kafkaWith({ offset: { timestamp: '2024-02-29T08:00' } })],
  ['an offset with microseconds', kafkaWith({ offset: { timestamp: '2026-01-31T08:00:00.123456' } })],
  ['an IPv6 host', { source: { postgres: { host: '[::1]' } } }],
  ['user names and ids that are written out', kafkaWith({ credentials: { username: 'reader' } })],
  ['a fraction of a gigabyte', { source: { kafka }, scaling: { replicaMemoryGb: 0.5 } }],
]

test.each(ACCEPTED)('a pipe may have %s', (_, spec) => {
  const manifest = { ...fullPipe('kafka'), spec: { service: 'analytics', ...spec } }
  expect(PipeManifest.parse(manifest).spec).toEqual(manifest.spec)
})
