import { describe, expect, test } from 'vitest'
import { fingerprintBody } from '../../src/kinds/fingerprint.ts'
import { identityCheck, identityPaths, isSameIdentity } from '../../src/kinds/identity.ts'
import { createOnceKindOf, type Profile } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { SOURCE_KINDS } from '../../src/kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { SOURCE_KINDS as DEFAULT_SOURCE_KINDS } from '../../src/kinds/profiles/default/pipe/source-schema.ts'
import type { JsonObject } from '../../src/lib/json.ts'

interface Row {
  readonly profile: Profile
  readonly kind: string
  readonly source: JsonObject
  /** Edits after which it is the same pipe. */
  readonly same: readonly JsonObject[]
  /** Edits after which it is another one. */
  readonly other: readonly JsonObject[]
}

function table(changes: JsonObject = {}): JsonObject {
  return { sourceSchemaName: 's', sourceTable: 't', targetTable: 'x', ...changes }
}

/** The edits of tables that a database has. */
const TABLES = {
  same: { tableMappings: [table({ excludedColumns: ['c'] })] },
  other: [
    { tableMappings: [table({ sourceTable: 'u' })] },
    { tableMappings: [table({ targetTable: 'y' })] },
    { tableMappings: [table(), table({ sourceTable: 'u', targetTable: 'y' })] },
  ],
}

const KAFKA = {
  kind: 'kafka',
  source: { brokers: 'b-1:9092,b-2:9092', topics: 't, u' },
  same: [{ brokers: 'b-2:9092, b-1:9092', topics: 'u,t' }, { consumerGroup: 'g' }],
  other: [{ brokers: 'b-1:9092' }, { topics: 't' }],
}

const POSTGRES = {
  kind: 'postgres',
  source: { host: 'h', port: 5432, database: 'd', tableMappings: [table()] },
  same: [{ port: 5433 }, TABLES.same],
  other: [{ host: 'i' }, { database: 'e' }, ...TABLES.other],
}

const STREAM = {
  source: { streamName: 's', region: 'r' },
  same: [{ iamRole: 'role' }],
  other: [{ streamName: 't' }, { region: 'q' }],
}

const ROWS: readonly Row[] = [
  { profile: DEFAULT, ...KAFKA },
  { profile: DEFAULT, ...POSTGRES },
  { profile: DEFAULT, kind: 'managedStream', ...STREAM },
  {
    profile: DEFAULT,
    kind: 'objectStorage',
    source: { url: 'https://b/p', path: 'p', blobContainerName: 'c' },
    same: [{ delimiter: ';' }],
    other: [{ url: 'https://b/q' }, { path: 'q' }, { blobContainerName: 'd' }],
  },
  { profile: CLICKHOUSE_CLOUD, ...KAFKA },
  { profile: CLICKHOUSE_CLOUD, ...POSTGRES },
  { profile: CLICKHOUSE_CLOUD, kind: 'kinesis', ...STREAM },
  {
    profile: CLICKHOUSE_CLOUD,
    kind: 'objectStorage',
    source: { url: 'https://b/p', path: 'p', azureContainerName: 'c' },
    same: [{ format: 'CSV' }],
    other: [{ url: 'https://b/q' }, { path: 'q' }, { azureContainerName: 'd' }],
  },
  {
    profile: CLICKHOUSE_CLOUD,
    kind: 'pubsub',
    source: { projectId: 'p', topic: 't' },
    same: [{ ackDeadline: 20 }],
    other: [{ projectId: 'q' }, { topic: 'u' }],
  },
  {
    profile: CLICKHOUSE_CLOUD,
    kind: 'mysql',
    source: { host: 'h', tableMappings: [table()] },
    same: [{ port: 3307 }, TABLES.same],
    other: [{ host: 'i' }, ...TABLES.other],
  },
  {
    profile: CLICKHOUSE_CLOUD,
    kind: 'mongodb',
    source: {
      uri: 'mongodb://h',
      tableMappings: [{ sourceDatabaseName: 'd', sourceCollection: 'c', targetTable: 'x' }],
    },
    same: [{ readPreference: 'nearest' }],
    other: [
      { uri: 'mongodb://i' },
      { tableMappings: [{ sourceDatabaseName: 'd', sourceCollection: 'e', targetTable: 'x' }] },
    ],
  },
  {
    profile: CLICKHOUSE_CLOUD,
    kind: 'bigquery',
    source: { tableMappings: [{ sourceDatasetName: 'd', sourceTable: 't', targetTable: 'x' }] },
    same: [{ snapshotStagingPath: 'gs://b/' }],
    other: [{ tableMappings: [{ sourceDatasetName: 'e', sourceTable: 't', targetTable: 'x' }] }],
  },
]

const DESTINATION = { database: 'd', table: 't' }

function bodyOf(
  { kind, source }: Row,
  edit: JsonObject = {},
  destination: JsonObject = DESTINATION,
): JsonObject {
  return { name: 'any', source: { [kind]: { ...source, ...edit } }, destination }
}

function identityOf({ profile }: Row) {
  const { identity } = createOnceKindOf(profile, 'Pipe/any')
  if (identity === undefined) throw new Error(`a pipe of ${profile.name} has no identity`)
  return identity
}

function kindsOf(profile: Profile): readonly string[] {
  return ROWS.filter((row) => row.profile === profile).map(({ kind }) => kind)
}

/** Whether records of two bodies have one identity. */
function isSameRecorded(row: Row, one: JsonObject, other: JsonObject): boolean {
  const { fields } = createOnceKindOf(row.profile, 'Pipe/any')
  const valuesOf = (body: JsonObject) =>
    fingerprintBody(body, { fields, hash: (text) => text, digest: '' }).fields
  return isSameIdentity(identityPaths(identityOf(row)), valuesOf(one), valuesOf(other))
}

describe('what makes a pipe that pipe', () => {
  test.each(ROWS)('$profile.name, $kind: source and destination, in any spelling', (row) => {
    const identity = identityOf(row)
    const body = bodyOf(row)
    for (const edit of [{}, ...row.same]) expect(identityCheck(identity, body)(bodyOf(row, edit))).toBe(true)
    for (const edit of row.other) {
      expect(identityCheck(identity, body)(bodyOf(row, edit))).toBe(false)
      expect(isSameRecorded(row, bodyOf(row, edit), body)).toBe(false)
    }
    for (const part of ['database', 'table']) {
      const elsewhere = bodyOf(row, {}, { ...DESTINATION, [part]: 'other' })
      expect(identityCheck(identity, body)(elsewhere)).toBe(false)
      expect(isSameRecorded(row, elsewhere, body)).toBe(false)
    }
    // Details of a table are part of the one field that a record has of all tables.
    const edits = row.same.filter((edit) => !('tableMappings' in edit))
    for (const edit of edits) expect(isSameRecorded(row, bodyOf(row, edit), body)).toBe(true)
    const { database: _, ...destination } = DESTINATION
    expect(isSameRecorded(row, bodyOf(row, {}, destination), body)).toBe(true)
  })

  test('every source kind of every profile has one', () => {
    expect(kindsOf(DEFAULT).toSorted()).toEqual(DEFAULT_SOURCE_KINDS.toSorted())
    expect(kindsOf(CLICKHOUSE_CLOUD).toSorted()).toEqual(SOURCE_KINDS.toSorted())
  })

  test.each(
    Object.entries({
      'no source': { body: { destination: DESTINATION } },
      'a source without a field': { body: { source: { kafka: {} }, destination: DESTINATION } },
      nothing: { body: {} },
    }),
  )('with %s there is none', (_why, { body }) => {
    for (const row of ROWS.filter(({ kind }) => kind === 'kafka')) {
      expect(identityCheck(identityOf(row), body)(bodyOf(row))).toBe(false)
      expect(identityCheck(identityOf(row), body)(body)).toBe(false)
      expect(isSameRecorded(row, body, body)).toBe(false)
    }
  })

  test('what a manifest does not set is no difference to what the service shows', () => {
    for (const row of ROWS) {
      const asked = bodyOf(row, {}, { table: 't' })
      expect(identityCheck(identityOf(row), asked)(bodyOf(row))).toBe(true)
    }
  })
})
