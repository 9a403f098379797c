import { describe, expect, test } from 'vitest'
import { having, type Client } from './client.ts'
import { byHand, on, story, want, type Step } from './story.ts'
import { KAFKA, MAPPINGS, POSTGRES, sent, startOld, tableNames, tablesIn, withTable } from './edited-pipes.ts'

/* Requests of a change that are refused for a moment, or that take effect minutes later. */

const NARROWER = having(POSTGRES, {
  [MAPPINGS]: tablesIn(POSTGRES).map((table) => ({ ...(table as object), excludedColumns: ['note'] })),
})

/** The second half of a changed table is refused once. */
function refusedOnce(status: number, error: string): Step {
  let isRefused = false
  return on(({ method, body }) => {
    const isAdding = method === 'PATCH' && JSON.stringify(body ?? {}).includes('tableMappingsToAdd')
    if (!isAdding || isRefused) return undefined
    isRefused = true
    return { status, error }
  })
}

test.each([
  [409, 'CONFLICT: an operation is running'],
  [400, 'BAD_REQUEST: the pipe must be paused to edit (is Setup)'],
])('a table that changes is added again soon after a %i', (status, error) =>
  story(startOld(POSTGRES), refusedOnce(status, error), want(NARROWER), 'for 10 min', (client) =>
    expect([tableNames(client), client.reason()]).toEqual([['customers', 'addresses'].toSorted(), 'InSync']),
  ),
)

/** The service accepts these requests, and does what they ask for later, or not. */
function accepted(below: string): Step {
  return (client: Client) =>
    client.interfere((asked) =>
      asked.below === below ? { answered: { ...client.body(), id: client.id() } } : undefined,
    )
}

describe('a request that takes effect minutes later', () => {
  test('a stop for an edit that is undone meanwhile: the pipe is started again', () =>
    story(
      startOld(POSTGRES),
      accepted('/state'),
      want(withTable('invoices')),
      'turn',
      want(POSTGRES),
      'for 2 min; is InSync; calm; state Paused; for 5 min; runs; is InSync',
    ))

  test('an edit that is undone meanwhile is sent back', () =>
    story(
      startOld(KAFKA),
      accepted('/settings'),
      want(having(KAFKA, { 'settings.streaming_max_insert_wait_ms': 1500 })),
      'turn',
      want(KAFKA),
      'for 2 min; is InSync; calm',
      byHand({ 'settings.streaming_max_insert_wait_ms': 1500 }),
      (client) => void sent(client),
      'for 5 min; sends PUT /settings; is InSync',
    ))
})
