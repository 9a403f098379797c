import { describe, expect, test } from 'vitest'
import { startEmpty } from './client.ts'
import { FILES, KAFKA, POSTGRES } from './edited-pipes.ts'
import { acts, story, want, type Step } from './story.ts'

/* A pipe that is created with policy.paused. */

const LOOKS = Array.from({ length: 6 }, () => '5 s; turn').join('; ')
const asksToRest: Step = (client) => expect(client.bodies()[0]).toMatchObject({ startPaused: true })
const asksForNoRest: Step = (client) => expect(client.bodies()[0]).not.toHaveProperty('startPaused')

describe('a pipe that is created with policy.paused', () => {
  test.each([
    ['a stream', KAFKA],
    ['files', FILES],
  ])('true, %s: begins at rest, and nothing more is sent', (_what, body) =>
    story(
      startEmpty('Pipe'),
      want(body, { paused: true }),
      acts({ type: 'create', facts: { paused: 'from the start' } }),
      `${LOOKS}; rests Stopped; sends POST; is InSync; shows Ready`,
      asksToRest,
    ),
  )

  test('true, a database, which the service starts: it is stopped right after', () =>
    story(
      startEmpty('Pipe'),
      want(POSTGRES, { paused: true }),
      acts({ type: 'create', facts: { paused: 'after the start' } }),
      `${LOOKS}; rests Paused; sends POST, stop`,
      asksForNoRest,
    ))

  test.each([{}, { paused: false }])('%j: runs', (policy) =>
    story(
      startEmpty('Pipe'),
      want(KAFKA, policy),
      acts({ type: 'create', facts: { is: 'created' } }),
      `${LOOKS}; runs; sends POST`,
      asksForNoRest,
    ),
  )
})
