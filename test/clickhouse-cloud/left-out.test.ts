import { describe, expect, test } from 'vitest'
import { PIPE_CHANGES } from '../../src/kinds/profiles/clickhouse-cloud/pipe/changes.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Client } from './client.ts'
import {
  during,
  faulty,
  having,
  MAPPINGS,
  MINUTE,
  namesIn,
  passes,
  POSTGRES,
  sent,
  startOld,
  stateOf,
  tablesIn,
} from './edited-pipes.ts'

/* What an edit takes out of the mapping of a table (facts 8): the table is removed and added, as for another value. */

const PLAIN = { sourceSchemaName: 'public', sourceTable: 'visits', targetTable: 'visits' }

const CUSTOMERS = { sourceSchemaName: 'public', sourceTable: 'customers', targetTable: 'customers' }

/** Two tables, of which the second has this beside. */
function withVisits(parts: JsonObject): JsonObject {
  return having(POSTGRES, { [MAPPINGS]: [CUSTOMERS, { ...PLAIN, ...parts }] })
}

function visits(client: Client): JsonObject | undefined {
  return tablesIn(client.body()).find((table) => table['sourceTable'] === 'visits')
}

const EXCLUDED = { excludedColumns: ['note', 'email'] }

describe('of a table', () => {
  test.each([
    { what: 'excludedColumns', before: EXCLUDED },
    { what: 'sortingKeys', before: { useCustomSortingKey: true, sortingKeys: ['id'] } },
    { what: 'partitionKey', before: { partitionKey: 'id' } },
    { what: 'partitionByExpr', before: { partitionByExpr: 'toYYYYMM(at)' } },
  ])('$what can be taken out: it is loaded again without, once', async ({ before }) => {
    await using client = await startOld(withVisits(before))
    await client.want(withVisits({}))
    await client.reconcile()
    expect(client.message()).toContain('loaded again')
    await during(client, 10 * MINUTE)
    expect([visits(client), stateOf(client), client.reason()]).toEqual([PLAIN, 'Running', 'InSync'])
    expect(sent(client)).toEqual(['stop', 'PATCH', 'stop', 'PATCH'])
    expect(faulty(client)).toEqual([])
    await passes(client, 3)
    expect(sent(client)).toEqual([])
  })

  test('also if a person stopped the pipe, which the service starts after the first request', async () => {
    await using client = await startOld(withVisits(EXCLUDED))
    client.ask('PATCH', `/clickpipes/${client.record()?.remote?.id ?? ''}/state`, { command: 'stop' })
    client.skip(2 * MINUTE)
    sent(client)
    await client.want(withVisits({}), { paused: false })
    await during(client, 10 * MINUTE)
    expect([visits(client), stateOf(client), client.reason()]).toEqual([PLAIN, 'Running', 'InSync'])
    expect(sent(client).filter((request) => request === 'PATCH')).toHaveLength(2)
  })

  test('what the manifest never had is left alone, whatever else is edited', async () => {
    await using client = await startOld(withVisits({}))
    client.server.setBody(client.id(), withVisits(EXCLUDED))
    const named = having(withVisits({}), { name: 'Another name' })
    await client.want(named)
    await during(client, 5 * MINUTE)
    const more = [...tablesIn(named), { ...PLAIN, sourceTable: 'invoices', targetTable: 'invoices' }]
    await client.want(having(named, { [MAPPINGS]: more }))
    await during(client, 5 * MINUTE)
    expect(namesIn(client.body())).toContain('invoices')
    expect([visits(client), client.reason()]).toEqual([{ ...PLAIN, ...EXCLUDED }, 'InSync'])
  })

  test.each([
    { what: 'nothing', desired: {}, observed: {}, way: undefined },
    { what: 'a part that was taken out', desired: {}, observed: EXCLUDED, way: 'update' },
    { what: 'a flag that is off', desired: {}, observed: { useCustomSortingKey: false }, way: undefined },
    {
      what: 'an engine that nobody asked for',
      desired: {},
      observed: { tableEngine: 'Null' },
      way: undefined,
    },
    {
      what: 'another engine',
      desired: { tableEngine: 'Null' },
      observed: { tableEngine: 'MergeTree' },
      way: 'update',
    },
    { what: 'an engine that is not shown', desired: { tableEngine: 'Null' }, observed: {}, way: undefined },
    // It may have been the engine that was edited: then that is no reason to load what was left out.
    { what: 'both of them', desired: { tableEngine: 'Null' }, observed: EXCLUDED, way: undefined },
  ])('$what: is it changed?', ({ desired, observed, way }) => {
    const compared = { desired: withVisits(desired), observed: withVisits(observed) }
    expect(PIPE_CHANGES.wayOf(MAPPINGS, new Set([MAPPINGS]), compared)).toBe(way)
  })
})
