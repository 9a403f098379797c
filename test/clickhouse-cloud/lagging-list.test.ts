import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { having } from './client.ts'
import { KAFKA, POSTGRES, REPLICAS, sent, startOld, withTable } from './edited-pipes.ts'
import { story, want, type Step } from './story.ts'

/* A list can show pipes as they were. What it shows is confirmed by a GET by id before it is told or corrected. */

/** From now on every list shows this moment. */
function freeze(change = (item: JsonObject) => item): Step {
  return (client) => {
    const items = client.ask('GET', '/clickpipes').result as readonly JsonObject[] // a list of pipes
    const answered = items.map(change)
    client.interfere(({ method, below }) => (method === 'GET' && below === '…' ? { answered } : undefined))
    client.changes()
  }
}

/** Drift checks, each with a list of its own. */
const checks = (count: number) => Array.from({ length: count }, () => '5 min; turn in passing').join('; ')

describe('a list that lags behind', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['a host', POSTGRES, having(POSTGRES, { 'source.postgres.host': 'other.example' })],
    ['a size', KAFKA, REPLICAS],
    ['a table, for which the pipe is stopped', POSTGRES, withTable('more')],
  ])('does not send an edit of %s a second time', (_, body, edited) =>
    story(
      startOld(body),
      'want it onDrift=correct; settle',
      freeze(),
      want(edited, { onDrift: 'correct' }),
      'settle',
      (client) => expect(sent(client).length).toBeGreaterThan(0),
      `${checks(8)}; sends nothing; is InSync`,
    ),
  )

  test.each(['correct', 'report'])('tells no drift, with onDrift: %s', (onDrift) =>
    story(
      startOld(KAFKA),
      `want it onDrift=${onDrift}; settle`,
      freeze((item) => ({ ...item, source: { kafka: { topics: 'listed' } } })),
      `${checks(3)}; sends nothing; is InSync`,
      ({ events }) =>
        expect(events.filter((one) => one.type === 'Observed' && one.differences.length > 0)).toEqual([]),
    ),
  )

  test.each([
    [true, 'Running'],
    [false, 'Stopped'],
  ])('starts and stops nothing, with paused: %s', (paused, state) =>
    story(
      startOld(KAFKA),
      `want it paused=${paused}; settle; 2 min; settle`,
      freeze((item) => ({ ...item, state })),
      `${checks(3)}; sends nothing`,
    ),
  )
})

test.each([
  { listed: undefined, shown: 'Failed', status: 'NotReady' },
  { listed: undefined, shown: 'Running', status: 'Ready' },
  { listed: 'Failed', shown: 'Running', status: 'Ready' },
  { listed: 'Deleting', shown: 'Deleting', status: 'NotReady' },
])('a pipe that is listed as $listed and read as $shown is $status', ({ listed, shown, status }) =>
  story(
    startOld(KAFKA),
    want(KAFKA, { healthyStates: ['Running', 'Deleting'] }),
    'settle',
    (client) => {
      const [item] = client.ask('GET', '/clickpipes').result as readonly JsonObject[] // a list of pipes
      const { state: _, ...rest } = item ?? {}
      client.interfere(({ method, below }) => {
        if (method !== 'GET') return undefined
        if (below !== '…') return { answered: { ...rest, state: shown } }
        return { answered: [listed === undefined ? rest : { ...rest, state: listed }] }
      })
    },
    `${checks(1)}; shows ${status}`,
  ),
)
