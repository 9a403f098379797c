import * as fc from 'fast-check'
import { canonicalLeaf, sameLeaf } from '../../src/kinds/leaf-forms.ts'
import { cpuMsOf } from '../support/cpu.ts'
import { describe, expect, test } from 'vitest'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { compareBody } from '../../src/kinds/compare-body.ts'
import { type Fields, TEXT } from '../../src/kinds/field-table.ts'
import type { Difference } from '../../src/kinds/difference.ts'
import { canonicalLeaves, changedFields, fingerprintBody } from '../../src/kinds/fingerprint.ts'
import { ALERT as CLOUD_ALERT } from '../../src/kinds/profiles/clickhouse-cloud/alert/kind.ts'
import { PIPE as CLOUD_PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { sha256 } from '../../src/lib/digest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { bodies } from './bodies.ts'

type Compare = (body: JsonObject, observed: JsonObject & { readonly id: string }) => readonly Difference[]

const COMPARED: readonly (readonly [what: string, fields: Fields, compare: Compare])[] = [
  ['a pipe', PIPE.fields, (body, reply) => compareBody(PIPE.fields, body, reply)],
  [
    'a pipe of ClickHouse Cloud',
    CLOUD_PIPE.fields,
    (body, reply) => compareBody(CLOUD_PIPE.fields, body, reply),
  ],
  [
    'an alert of ClickHouse Cloud',
    { ...CLOUD_ALERT.fields, id: { ...TEXT, returned: 'never' } },
    (body, reply) => compareBody(CLOUD_ALERT.fields, body, reply),
  ],
  [
    'an alert',
    { ...ALERT.fields, id: { ...TEXT, returned: 'never' } },
    (body, reply) => compareBody(ALERT.fields, body, reply),
  ],
  [
    'a query endpoint',
    QUERY_ENDPOINT.fields,
    (body, reply) => compareBody(QUERY_ENDPOINT.fields, body, reply),
  ],
]

const RUNS = { numRuns: 10 }

describe.each(COMPARED)('%s', (_, fields, compare) => {
  const arbitrary = bodies(fields)

  test('is equal to itself, however it is written', () => {
    fc.assert(
      fc.property(arbitrary, ({ body, same }) => {
        const id = typeof body['id'] === 'string' ? body['id'] : '1'
        expect(compare(body, { ...same, id })).toEqual([])
      }),
      RUNS,
    )
  })

  test('differs by every returned field that is changed, which is named, and by no other', () => {
    fc.assert(
      fc.property(arbitrary, ({ body, changes }) => {
        const id = typeof body['id'] === 'string' ? body['id'] : '1'
        for (const change of changes) {
          const found = compare(body, { ...change.body, id })
          const expected = change.returned ? 1 : 0
          expect(found.map(({ field }) => field.startsWith(change.field))).toEqual(
            Array.from({ length: expected }, () => true),
          )
        }
      }),
      RUNS,
    )
  })

  test('shows every difference in short, printable texts that differ', () => {
    fc.assert(
      fc.property(arbitrary, ({ body, changes }) => {
        for (const change of changes) {
          for (const { field, desired, observed } of compare(body, { ...change.body, id: '1' })) {
            expect(Math.max(desired.length, observed.length)).toBeLessThanOrEqual(200)
            expect(`${field}${desired}${observed}`).not.toMatch(/\p{Cc}/u)
            expect(desired === observed && desired !== '[sensitive]', `${field}: ${desired}`).toBe(false)
          }
        }
      }),
      RUNS,
    )
  })
})

describe.each([PIPE, CLOUD_PIPE])('a fingerprint', ({ fields }) => {
  const arbitrary = bodies(fields)
  const print = (body: JsonObject) => fingerprintBody(body, { fields, hash: sha256, digest: undefined })

  test('is the same exactly when the canonical forms are', () => {
    fc.assert(
      fc.property(arbitrary, ({ body, changes }) => {
        const before = print(body)
        const canonical = JSON.stringify(canonicalLeaves(fields, body))
        for (const change of changes) {
          const after = print(change.alone)
          const isSame = canonical === JSON.stringify(canonicalLeaves(fields, change.alone))
          expect(after.digest === before.digest).toBe(isSame)
          expect(changedFields(before.fields, after.fields).length === 0).toBe(isSame)
        }
      }),
      { numRuns: 4 },
    )
  })

  test('does not change when sets are shuffled, numbers and times are written in another way, or empties are left out', () => {
    fc.assert(
      fc.property(arbitrary, ({ body, rewritten }) => {
        expect(print(rewritten)).toEqual(print(body))
      }),
      RUNS,
    )
  })
})

test('two sets are equal if their canonical texts are, also where there are a million members', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', ' a', 'c ', ''), { maxLength: 4 })
  fc.assert(
    fc.property(texts, texts, (want, have) => {
      for (const form of ['set', 'comma-list'] as const)
        for (const [one, other] of [
          [want, have],
          [want.join(','), have.join(',')],
          [want, have[0] ?? 7],
        ] as const)
          expect(sameLeaf(form, one, other)).toBe(canonicalLeaf(form, one) === canonicalLeaf(form, other))
    }),
  )
  const many = Array.from({ length: 1_000_000 }, (_, index) => index.toString(36)).join(',')
  expect(cpuMsOf(() => sameLeaf('comma-list', 'orders', many))).toBeLessThan(1_000)
})
