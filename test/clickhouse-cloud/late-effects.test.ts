import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { having, type Client } from './client.ts'
import { byHand, play, story, want, type Step } from './story.ts'
import { KAFKA, MAPPINGS, POSTGRES, sent, startOld, tableNames, tablesIn, withTable } from './edited-pipes.ts'

/* Requests of a change that are refused for a moment, or that take effect minutes later. */

/** The first table leaves out a column, or all of them do. */
const narrower = (of: 'all' | 'the first') =>
  having(POSTGRES, {
    [MAPPINGS]: tablesIn(POSTGRES).map((table, at) => {
      const isOther = of === 'all' || at === 0
      return { ...(table as object), ...(isOther && { excludedColumns: ['note'] }) }
    }),
  })

/**
 * The second half of a changed table is refused once.
 * @param state replies show it until then, because they are older
 */
function refusedOnce(status: number, error: string, state?: string): Step {
  let isRefused = false
  return (client) =>
    client.interfere(({ method, below, body }) => {
      const isStale = method === 'GET' && below === '' && client.record()?.command !== undefined
      if (isRefused) return undefined
      if (isStale && state !== undefined) return { answered: { ...client.body(), id: client.id(), state } }
      isRefused = method === 'PATCH' && JSON.stringify(body ?? {}).includes('tableMappingsToAdd')
      return isRefused ? { status, error } : undefined
    })
}

test.each([
  ['another operation is running', refusedOnce(409, 'CONFLICT: an operation is running')],
  ['the service has started it', refusedOnce(400, 'BAD_REQUEST: must be paused to edit', 'Paused')],
])('a table that changes is added again soon after a refusal: %s', (_, refused) =>
  story(startOld(POSTGRES), refused, want(narrower('all')), 'for 10 min', (client) =>
    expect([tableNames(client), client.reason()]).toEqual([['addresses', 'customers'], 'InSync']),
  ),
)

/** The service accepts these requests, and does what they ask for later, or not. */
function accepted(below: string): Step {
  return (client: Client) =>
    client.interfere((asked) =>
      asked.method !== 'GET' && asked.below === below
        ? { answered: { ...client.body(), id: client.id() } }
        : undefined,
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

  test('the first half of a changed table: it is not sent again, and the pipe runs meanwhile', () => {
    const halves: JsonObject[] = []
    return story(
      startOld(POSTGRES),
      (client) =>
        client.interfere(({ method, below, body }) => {
          if (method !== 'PATCH' || below !== '') return undefined
          halves.push(body ?? {})
          return { answered: { ...client.body(), id: client.id() } }
        }),
      want(narrower('the first')),
      'for 9 min; is Changing; runs; for 40 min; is Stalled',
      () => expect(halves).toHaveLength(1),
      'calm; for 30 min; is InSync',
      (client) => expect(tableNames(client)).toEqual(['addresses', 'customers']),
    )
  })
})

const untilHalf: Step = async (client) => {
  for (let left = 60; left > 0 && client.record()?.change?.isHalfSent !== true; left -= 1)
    await play(client, 'turn; 2 s')
}

test('an edit that is half sent is told of beside a later one that cannot be sent, and completed once that is undone', () => {
  const later = having(narrower('the first'), { 'source.postgres.settings.replicationMode': 'snapshot' })
  return story(
    startOld(POSTGRES),
    want(narrower('the first')),
    untilHalf,
    want(later),
    'for 2 h; is NotUpdatable; says might be sent in part (source.postgres.tableMappings)',
    want(narrower('the first')),
    'for 30 min; is InSync',
    (client) => expect(tableNames(client)).toEqual(['addresses', 'customers']),
  )
})
