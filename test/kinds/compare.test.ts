import { canonicalLeaf } from '../../src/kinds/leaf-forms.ts'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { compareBody } from '../../src/kinds/compare-body.ts'
import { PIPE as CLOUD_PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { PipeManifest } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { DESTINATION, FULL_ALERT, FULL_ENDPOINT, fullPipe, SOURCE_KINDS } from './manifests.ts'

/** As the platform keeps it: what is request only is left out (2.3, 2.4). */
function reply(kind: (typeof SOURCE_KINDS)[number]): JsonObject & { readonly id: string } {
  const { source, ...rest } = PIPE.body(PipeManifest.parse(fullPipe(kind)))
  const { validateSamples: _, ...kinds } = structuredClone(source) as Record<string, Record<string, unknown>>
  for (const part of Object.values(kinds)) {
    delete part['credentials']
    delete part['accessKey']
    delete (part['schemaRegistry'] as Record<string, unknown> | undefined)?.['credentials']
  }
  const { roles: __, ...destination } = DESTINATION
  return { id: 'p-1', state: 'Running', ...rest, source: kinds as JsonObject, destination }
}

describe('a full pipe', () => {
  test.each(SOURCE_KINDS)('equals the reply to it: %s', (kind) => {
    const body = PIPE.body(PipeManifest.parse(fullPipe(kind)))
    expect(compareBody(PIPE.fields, body, reply(kind))).toEqual([])
  })

  test('differs in everything that is returned when the reply has nothing but an id', () => {
    const body = PIPE.body(PipeManifest.parse(fullPipe('objectStorage')))
    const found = compareBody(PIPE.fields, body, { id: 'p-1', source: null, settings: {} })
    expect(found.map(({ field }) => field)).toEqual([
      'destination.columns[day]',
      'destination.columns[id]',
      'destination.database',
      'destination.managedTable',
      'destination.table',
      'destination.tableDefinition.engine.columnIds',
      'destination.tableDefinition.engine.versionColumnId',
      'destination.tableDefinition.partitionBy',
      'destination.tableDefinition.primaryKey',
      'destination.tableDefinition.sortingKey',
      'fieldMappings[day]',
      'fieldMappings[id]',
      'name',
      'scaling.concurrency',
      'scaling.replicaCpuMillicores',
      'scaling.replicaMemoryGb',
      'scaling.replicas',
      ...Object.keys(fullPipe('kafka').spec.settings)
        .map((name) => `settings.${name}`)
        .toSorted(),
      'source.objectStorage.blobContainerName',
      'source.objectStorage.compression',
      'source.objectStorage.connectionString',
      'source.objectStorage.delimiter',
      'source.objectStorage.iamRole',
      'source.objectStorage.isContinuous',
      'source.objectStorage.path',
      'source.objectStorage.queueUrl',
      'source.objectStorage.url',
    ])
    expect(new Set(found.map(({ observed }) => observed))).toEqual(new Set(['(not set)']))
    expect(JSON.stringify(found)).not.toContain('hunter2')
  })
})

const kafka = (part: JsonObject) => ({ source: { kafka: part } })

/** The body, the reply, and how they differ. */
type Row = readonly [body: JsonObject, observed: JsonObject, ...differences: readonly string[]]

const ROWS = parse(String.raw`
what is not set is not compared: [{}, {name: x, scaling: {replicas: 3}}]
an empty object sets nothing: [{source: {kafka: {}}}, {source: {kafka: {topics: a}}}]
an empty list asks for nothing to be there:
  [{destination: {columns: []}}, {destination: {columns: [{name: id, type: Int8}]}},
   'destination.columns[id]: (not set) | Int8']
a number as text: [{scaling: {replicas: 2}}, {scaling: {replicas: '2.0'}}]
another number as text: [{scaling: {replicas: 2}}, {scaling: {replicas: '3'}}, 'scaling.replicas: 2 | 3']
a number that is no number: [{scaling: {replicas: 0}}, {scaling: {replicas: ''}}, 'scaling.replicas: 0 | ']
a text that comes as a number is another value:
  [{destination: {tableDefinition: {primaryKey: '5'}}}, {destination: {tableDefinition: {primaryKey: 5}}},
   'destination.tableDefinition.primaryKey: "5" | 5']
a boolean that comes as a text is another value:
  [{destination: {managedTable: true}}, {destination: {managedTable: 'true'}}, 'destination.managedTable: true | "true"']
a false that comes as null:
  [{settings: {db_parallel_view_processing: false}}, {settings: null},
   'settings.db_parallel_view_processing: false | (not set)']
brokers in another order: [{source: {kafka: {brokers: 'a:1, b:2'}}}, {source: {kafka: {brokers: 'b:2,a:1'}}}]
topics as a list: [{source: {kafka: {topics: 'a,b'}}}, {source: {kafka: {topics: [b, a]}}}]
endpoint ids in another order, and one more:
  [{source: {kafka: {reversePrivateEndpointIds: [a, b]}}}, {source: {kafka: {reversePrivateEndpointIds: [c, b, a]}}},
   'source.kafka.reversePrivateEndpointIds: a, b | a, b, c']
the order of a sorting key means something:
  [{destination: {tableDefinition: {sortingKey: [a, b]}}}, {destination: {tableDefinition: {sortingKey: [b, a]}}},
   'destination.tableDefinition.sortingKey: a, b | b, a']
an offset with a zone is the same instant:
  [{source: {kafka: {offset: {timestamp: '2026-01-31T08:00:00'}}}},
   {source: {kafka: {offset: {timestamp: '2026-01-31T09:00:00.000+01:00'}}}}]
an offset an hour later:
  [{source: {kafka: {offset: {timestamp: '2026-01-31T08:00'}}}}, {source: {kafka: {offset: {timestamp: '2026-01-31T09:00Z'}}}},
   'source.kafka.offset.timestamp: 2026-01-31T08:00 | 2026-01-31T09:00Z']
a stream timestamp as ISO text:
  [{source: {managedStream: {timestamp: 1769846400}}}, {source: {managedStream: {timestamp: '2026-01-31T08:00:00Z'}}}]
a certificate with other line endings:
  [{source: {kafka: {caCertificate: "A\nB\n"}}}, {source: {kafka: {caCertificate: "A\r\nB"}}}]
another certificate is not shown:
  [{source: {kafka: {caCertificate: "A\nB"}}}, {source: {kafka: {caCertificate: "A\nC"}}},
   'source.kafka.caCertificate: [sensitive] | [sensitive]']
a certificate by reference cannot be compared:
  [{source: {kafka: {caCertificate: {secretRef: {name: kafka, key: ca.crt}}}}}, {source: {kafka: {caCertificate: A}}}]
what is request only is not compared, even when it comes back:
  [{source: {validateSamples: true, kafka: {credentials: {username: a}}}, destination: {roles: [a]}},
   {source: {validateSamples: false, kafka: {credentials: {username: b}}}, destination: {roles: [b]}}]
'columns by name: a type, one missing, one more':
  [{destination: {columns: [{name: a, type: Int8}, {name: b, type: Date}]}},
   {destination: {columns: [{name: c, type: Text}, {name: a, type: Int16}]}}, 'destination.columns[a].type: Int8 | Int16',
   'destination.columns[b]: Date | (not set)', 'destination.columns[c]: (not set) | Text']
columns that come as something else:
  [{destination: {columns: [{name: a, type: Int8}]}}, {destination: {columns: a Int8}},
   'destination.columns: [{"name":"a","type":"Int8"}] | a Int8']
a column that comes as something else:
  [{destination: {columns: [{name: a, type: Int8}]}}, {destination: {columns: [a, null]}},
   'destination.columns[?]: (not set) | a', 'destination.columns[a]: Int8 | (not set)']
table mappings by schema and table, excluded columns as a set:
  [{source: {postgres: {tableMappings: [{sourceSchemaName: public, sourceTable: a, excludedColumns: [x, y]}, {sourceSchemaName: public, sourceTable: b, sortingKeys: [x, y], targetTable: b}]}}},
   {source: {postgres: {tableMappings: [{sourceSchemaName: public, sourceTable: b, sortingKeys: [y, x], targetTable: b}, {sourceSchemaName: public, sourceTable: a, excludedColumns: [y, x], targetTable: a}]}}},
   'source.postgres.tableMappings[public.b].sortingKeys: x, y | y, x']
a table of another schema is another table:
  [{source: {postgres: {tableMappings: [{sourceSchemaName: public, sourceTable: a, targetTable: a}]}}},
   {source: {postgres: {tableMappings: [{sourceSchemaName: shop, sourceTable: a, targetTable: a}]}}},
   'source.postgres.tableMappings[public.a]: a | (not set)', 'source.postgres.tableMappings[shop.a]: (not set) | a']
a schema that is not set may be any:
  [{source: {postgres: {tableMappings: [{sourceTable: a, targetTable: x}, {sourceTable: b}]}}},
   {source: {postgres: {tableMappings: [{sourceSchemaName: public, sourceTable: b}, {sourceSchemaName: public, sourceTable: a, targetTable: y}]}}},
   'source.postgres.tableMappings[a].targetTable: x | y']
two mappings of one table find their equals first, whatever the order:
  [{source: {postgres: {tableMappings: [{sourceSchemaName: s, sourceTable: a, targetTable: x}, {sourceSchemaName: s, sourceTable: a, targetTable: y}]}}},
   {source: {postgres: {tableMappings: [{sourceSchemaName: s, sourceTable: a, targetTable: y}, {sourceSchemaName: s, sourceTable: a, targetTable: z}]}}},
   'source.postgres.tableMappings[s.a#2].targetTable: x | z']
a field that comes as an object is shown without what it might give away:
  [{source: {kafka: {topics: a}}}, {source: {kafka: {topics: {password: hunter2}}}},
   'source.kafka.topics: a | {"password":"[sensitive]"}']
a signature in a URL is not shown:
  [{source: {objectStorage: {url: 'https://x.example/a?sig=hunter2'}}},
   {source: {objectStorage: {url: 'https://me:hunter2@x.example/b'}}},
   'source.objectStorage.url: https://x.example/a?sig=[sensitive] | https://[sensitive]@x.example/b']
characters that a terminal obeys are escaped: [{name: a}, {name: "\u001b[31mb\n\u202e"}, 'name: a | \u{1b}[31mb\n\u{202e}']
`) as Readonly<Record<string, Row>>

test.each(Object.entries(ROWS))('%s', (_, [body, observed, ...differences]) => {
  const found = compareBody(PIPE.fields, body, { ...observed, id: 'p-1' })
  expect(found.map((one) => `${one.field}: ${one.desired} | ${one.observed}`)).toEqual(differences)
})

test('what a reply inherits is not in it', () => {
  const observed = Object.assign(Object.create({ name: 'a' }) as object, { id: 'p-1' })
  expect(compareBody(PIPE.fields, { name: 'a' }, observed).map(({ field }) => field)).toEqual(['name'])
})

test.each([
  ['1073741824', 1],
  ['1024', 1_024],
  ['1048576Ki', 1],
  ['512Mi', 0.5],
  ['1.5Gi', 1.5],
  ['1Ti', 1_024],
  ['1073741824k', 1e3],
  ['1073741824M', 1e6],
  ['1073741824G', 1e9],
  ['1073741824T', 1e12],
  ['1Pi', '1Pi'],
])('%s of memory is %j GiB', (text, gibibytes) => {
  expect(canonicalLeaf('gibibytes', text)).toBe(canonicalLeaf('gibibytes', gibibytes))
})

test('a field that is null in a manifest has no difference', () => {
  expect(compareBody(PIPE.fields, { name: null }, { id: '1', name: 'a' })).toEqual([])
})

describe('long texts', () => {
  test('are shown from where they begin to differ', () => {
    const shared = 'x'.repeat(1_000)
    const [found] = compareBody(PIPE.fields, { name: `${shared}left` }, { id: '1', name: `${shared}right` })
    expect(found?.desired).toBe(`…${'x'.repeat(40)}left`)
    expect(found?.observed).toBe(`…${'x'.repeat(40)}right`)
  })

  test('are cut at 200 characters', () => {
    const [found] = compareBody(
      PIPE.fields,
      { name: 'a'.repeat(5_000) },
      { id: '1', name: '\n'.repeat(5_000) },
    )
    expect(found?.desired).toHaveLength(200)
    expect(found?.observed).toHaveLength(200)
  })

  test('of sets show only what the other one lacks', () => {
    const many = Array.from({ length: 100 }, (_, index) => `topic-${index}`)
    const [found] = compareBody(PIPE.fields, kafka({ topics: [...many, 'new'].join(',') }), {
      id: '1',
      ...kafka({ topics: many.join(',') }),
    })
    expect(found?.desired).toBe('101 entries, only here: new')
    expect(found?.observed).toBe('100 entries')
  })

  test('of a very large reply are few and only counted, which takes little time', () => {
    const columns = Array.from({ length: 100_000 }, (_, at) => ({ name: `c${at}`, type: 'T' }))
    const asked = { destination: { columns: [{ name: 'a', type: 'T' }] } }
    expect(compareBody(PIPE.fields, asked, { destination: { columns } })).toHaveLength(2_001)
    const [found] = compareBody(
      PIPE.fields,
      kafka({ topics: 't' }),
      kafka({ topics: '://a:,'.repeat(50_000) }),
    )
    expect(found?.observed).toBe('(300000 characters)')
  })

  test('a reply that is nested deeper than the stack is a difference, not a crash', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as JsonObject
    const body = kafka({ topics: 'a', reversePrivateEndpointIds: ['a'] })
    const found = compareBody(PIPE.fields, body, {
      id: '1',
      ...kafka({ topics: deep, reversePrivateEndpointIds: [deep] }),
    })
    expect(found.map(({ field }) => field)).toEqual([
      'source.kafka.reversePrivateEndpointIds',
      'source.kafka.topics',
    ])
  })
})

describe('an alert', () => {
  const { expect: full } = FULL_ALERT.spec

  test('equals its own definition, with times in another zone and a threshold as text', () => {
    const observed = { ...full, threshold: '10.5', updatedAt: '2026-01-02T01:00:00+01:00', more: 1 }
    expect(compareBody(ALERT.fields, full, observed)).toEqual([])
    for (const none of [null, undefined, ''])
      expect(compareBody(ALERT.fields, { message: '' }, { message: none })).toEqual([])
  })

  test('differs in fields of the channel by their own names', () => {
    expect(compareBody(ALERT.fields, full, { ...full, channel: { type: 'email' }, threshold: 11 })).toEqual([
      { field: 'channel.type', desired: 'webhook', observed: 'email' },
      { field: 'channel.webhookId', desired: 'hook-1', observed: '(not set)' },
      { field: 'threshold', desired: '10.5', observed: '11' },
    ])
  })

  test('of which nothing is expected never differs', () => {
    expect(compareBody(ALERT.fields, {}, { id: '1', state: 'ALERT' })).toEqual([])
  })
})

describe('a query endpoint', () => {
  const { service: _, ...body } = FULL_ENDPOINT.spec

  test('equals a reply in another order', () => {
    const observed = {
      id: 'e-1',
      roles: body.roles.toReversed(),
      openApiKeys: body.openApiKeys.toReversed(),
      allowedOrigins: 'app.example.org:8443,https://app.example.com',
    }
    expect(compareBody(QUERY_ENDPOINT.fields, body, observed)).toEqual([])
  })

  test('differs from a reply that lacks a role and has no origins', () => {
    const observed = { id: 'e-1', roles: ['sql_console_admin'], openApiKeys: body.openApiKeys }
    expect(compareBody(QUERY_ENDPOINT.fields, body, observed).map(({ field }) => field)).toEqual([
      'allowedOrigins',
      'roles',
    ])
  })
})

describe('taking away', () => {
  const before = { roles: ['sql_console_admin'], openApiKeys: ['2', '1'], allowedOrigins: 'https://b, a' }

  test.each<readonly [why: string, body: JsonObject, lost: readonly string[]]>([
    [
      'an empty body takes everything away',
      {},
      ['role sql_console_admin', 'key 1', 'key 2', 'origin a', 'origin https://b'],
    ],
    [
      'the same in another order takes nothing away',
      { roles: ['sql_console_admin'], openApiKeys: ['1', '2'], allowedOrigins: 'a,https://b' },
      [],
    ],
    [
      'more takes nothing away',
      {
        roles: ['sql_console_admin', 'sql_console_read_only'],
        openApiKeys: ['1', '2', '3'],
        allowedOrigins: 'a,https://b,c',
      },
      [],
    ],
    [
      'any origin takes no origin away',
      { roles: ['sql_console_admin'], openApiKeys: ['1'], allowedOrigins: '*' },
      ['key 2'],
    ],
  ])('%s', (_, body, lost) => {
    expect(QUERY_ENDPOINT.takenAway(before, body)).toEqual(lost)
  })

  test('a domain instead of any takes any away', () => {
    const any = { roles: [], openApiKeys: [], allowedOrigins: '*' }
    expect(QUERY_ENDPOINT.takenAway(any, { allowedOrigins: 'a.example' })).toEqual(['origin *'])
  })
})

test('a size is the same in every unit in which it comes back, whatever binary fractions make of it', () => {
  const sizes = Array.from({ length: 1_876 }, (_, at) => 125 + at)
  const unlike = sizes.flatMap((size) =>
    [size, String(size), `${size}m`, String(size / 1_000)].filter(
      (there) =>
        compareBody(
          CLOUD_PIPE.fields,
          { scaling: { replicaCpuMillicores: size } },
          { id: 'p-1', scaling: { replicaCpuMillicores: there } },
        ).length > 0,
    ),
  )
  expect(unlike).toEqual([])
})

test.each(['number', 'millicores', 'gibibytes'] as const)(
  'a long text where a %s is expected is compared at once',
  (form) => {
    for (const text of ['1'.repeat(1_000_000), ' '.repeat(1_000_000)])
      expect(canonicalLeaf(form, `${text}x`)).toBe(JSON.stringify(`${text}x`))
  },
)
