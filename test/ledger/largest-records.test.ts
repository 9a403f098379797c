import { describe, expect, test } from 'vitest'
import { flatLeaves } from '../../src/reconcile/gather/deletion-facts.ts'
import { compareBody } from '../../src/kinds/compare-body.ts'
import { fieldOfPath } from '../../src/kinds/changes.ts'
import type { Fields } from '../../src/kinds/field-table.ts'
import { fingerprintBody } from '../../src/kinds/fingerprint.ts'
import { ALERT as CLOUD_ALERT } from '../../src/kinds/profiles/clickhouse-cloud/alert/kind.ts'
import { PIPE as CLOUD_PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import {
  MAX_KEYS,
  MAX_ORIGINS_LENGTH,
  QUERY_ENDPOINT,
} from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import type { Key } from '../../src/kinds/key.ts'
import { keyedHash } from '../../src/lib/digest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { encodeRecord } from '../../src/ledger/codec.ts'
import type { Condition } from '../../src/plan/condition.ts'
import { shortFacts } from '../../src/plan/reason.ts'
import { DIFFERENCES_KEPT, type LedgerRecord } from '../../src/plan/record.ts'

/* The largest manifests and differences fit a record of 64 KiB. */

const HASH_KEY = new Uint8Array(32).fill(7)
const hash = (text: string) => keyedHash(HASH_KEY, text)
/** Three bytes a character. */
const LONG = '列'.repeat(300)

/** Every field, and lists of so many items. */
function widest(fields: Fields, items: number, text: string): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { form, keyedBy, fields: inner }]) => {
      if (form !== undefined) return [name, form === 'set' || form === 'ordered' ? [text] : text]
      if (keyedBy === undefined) return [name, widest(inner, items, text)]
      const item = (at: number) => widest(inner, items, `${at}${text}`)
      return [name, Array.from({ length: items }, (_, at) => item(at))]
    }),
  )
}

function pipeFields(fields: Fields, source: string): Fields {
  const { source: sources } = fields
  const one = sources?.fields[source]
  if (sources === undefined || one === undefined) throw new Error('a pipe has a source')
  return { ...fields, source: { ...sources, fields: { [source]: one } } }
}

function recordOf(key: Key, fields: Fields, items: number): LedgerRecord {
  const body = widest(fields, items, LONG)
  const differences = compareBody(fields, body, widest(fields, items, `b${LONG}`))
  const because = {
    reason: 'Drifted',
    facts: { fields: differences.map(({ field }) => field), from: 'manifest' },
  } as const
  const facts = shortFacts(because.facts)
  const condition: Condition = { status: 'False', reason: because.reason, since: 1, facts }
  const { digest, fields: hashes } = fingerprintBody(body, { fields, hash, digest: undefined })
  const applied = { digest, fields: hashes, secrets: hashes }
  const remote = { id: 'i'.repeat(36), origin: 'created', at: 1, revision: 'r'.repeat(64) } as const
  const changed = [...new Set(differences.map(({ field }) => fieldOfPath(field)))]
  return {
    key,
    version: 1,
    file: LONG,
    platformName: LONG,
    remote,
    former: { remote, applied },
    applied,
    left: {
      digest,
      since: 1,
      fields: fingerprintBody(flatLeaves(fields, body), { fields: {}, hash, digest }).fields,
    },
    differences: differences.slice(0, DIFFERENCES_KEPT),
    change: { digest, at: 1, fields: changed },
    corrections: Object.fromEntries(changed.map((field) => [field, { count: 3, at: 1_000_000_000_000 }])),
    conditions: { Valid: condition, Synced: condition, Ready: condition },
  }
}

const SOURCES = ({ source }: Fields) => Object.keys(source?.fields ?? {})

const KINDS = [
  ...SOURCES(PIPE.fields).map((name) => ({
    name: `default, ${name}`,
    fields: pipeFields(PIPE.fields, name),
  })),
  ...SOURCES(CLOUD_PIPE.fields).map((name) => ({
    name: `cloud, ${name}`,
    fields: pipeFields(CLOUD_PIPE.fields, name),
  })),
  { name: 'cloud, alert', fields: CLOUD_ALERT.fields },
]

describe.each(KINDS)('$name', ({ fields }) => {
  test.each([1, 10, 11, 20, 21, 200])('with lists of %i', (items) => {
    const record = recordOf('Pipe/orders', fields, items)
    expect(record.left?.fields).not.toEqual({})
    expect(Buffer.byteLength(encodeRecord(record).body)).toBeLessThan(64 * 1024)
  })
})

test('a query endpoint with all keys and origins that fit its manifest', () => {
  const reply = QUERY_ENDPOINT.configured({
    id: 'i',
    openApiKeys: Array.from({ length: MAX_KEYS }, (_, at) => String(at).padStart(64, 'k')),
    allowedOrigins: 'o'.repeat(MAX_ORIGINS_LENGTH),
  })
  const record = { ...recordOf('Pipe/orders', QUERY_ENDPOINT.fields, 1), left: undefined }
  const upsert = { at: 1, revision: 'r', reply }
  expect(encodeRecord({ ...record, upsert }).body.length).toBeLessThan(64 * 1024)
})
