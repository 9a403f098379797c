import { describe, expect, test } from 'vitest'
import { PIPE_CHANGES } from '../../src/kinds/profiles/clickhouse-cloud/pipe/changes.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { having, type Client } from './client.ts'
import { faulty, MAPPINGS, POSTGRES, sent, startOld, tablesIn } from './edited-pipes.ts'
import { story, want } from './story.ts'

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
  test.each(
    Object.entries({
      excludedColumns: { before: EXCLUDED },
      sortingKeys: { before: { useCustomSortingKey: true, sortingKeys: ['id'] } },
      partitionKey: { before: { partitionKey: 'id' } },
      partitionByExpr: { before: { partitionByExpr: 'toYYYYMM(at)' } },
    }),
  )('%s can be taken out: it is loaded again without, once', (_what, { before }) =>
    story(
      startOld(withVisits(before)),
      want(withVisits({})),
      'turn; says loads its data again; for 10 min; runs; is InSync; sends stop, PATCH, stop, PATCH',
      (client) => expect([visits(client), faulty(client)]).toEqual([PLAIN, []]),
      '3 passes; sends nothing',
    ),
  )

  test('also if a person stopped the pipe, which the service starts after the first request', () =>
    story(
      startOld(withVisits(EXCLUDED)),
      (client) => client.ask('PATCH', `/clickpipes/${client.id()}/state`, { command: 'stop' }),
      '2 min; sends stop',
      want(withVisits({}), { paused: false }),
      'for 10 min; runs; is InSync',
      (client) => {
        expect(visits(client)).toEqual(PLAIN)
        expect(sent(client).filter((request) => request === 'PATCH')).toHaveLength(2)
      },
    ))

  test('what the manifest never had is left alone, whatever else is edited', () => {
    const named = having(withVisits({}), { name: 'Another name' })
    const more = [...tablesIn(named), { ...PLAIN, sourceTable: 'invoices', targetTable: 'invoices' }]
    return story(
      startOld(withVisits({})),
      (client) => client.server.setBody(client.id(), withVisits(EXCLUDED)),
      want(named),
      'for 5 min',
      want(having(named, { [MAPPINGS]: more })),
      'for 5 min; tables customers, invoices, visits; is InSync',
      (client) => expect(visits(client)).toEqual({ ...PLAIN, ...EXCLUDED }),
    )
  })

  test.each(
    Object.entries({
      nothing: { desired: {}, observed: {}, way: undefined },
      'a part that was taken out': { desired: {}, observed: EXCLUDED, way: 'update' },
      'a flag that is off': { desired: {}, observed: { useCustomSortingKey: false }, way: undefined },
      'an engine that nobody asked for': { desired: {}, observed: { tableEngine: 'Null' }, way: undefined },
      'another engine': {
        desired: { tableEngine: 'Null' },
        observed: { tableEngine: 'MergeTree' },
        way: 'update',
      },
      'an engine that is not shown': { desired: { tableEngine: 'Null' }, observed: {}, way: undefined },

      // It may have been the engine that was edited: then that is no reason to load what was left out.
      'both of them': { desired: { tableEngine: 'Null' }, observed: EXCLUDED, way: undefined },
    }),
  )('%s: is it changed?', (_what, { desired, observed, way }) => {
    const compared = { desired: withVisits(desired), observed: withVisits(observed) }
    expect(PIPE_CHANGES.wayOf(MAPPINGS, new Set([MAPPINGS]), compared)).toBe(way)
  })
})
