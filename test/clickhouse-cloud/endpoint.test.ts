import { describe, expect, test } from 'vitest'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import type { Client } from './client.ts'
import { applied, empty, KEY_A, KEY_B, set, SPEC, there } from './endpoints.ts'
import { MINUTE } from './edited-pipes.ts'
import { acts, lostReply, meanwhile, on, plans, play, type Step, story, want } from './story.ts'

/* The query endpoint is read before anything is sent (facts 3.2, 8): what others set is seen, and what is as it should be is left alone. */

const OTHER = { roles: ['sql_console_admin'], openApiKeys: [KEY_A, KEY_B], allowedOrigins: 'app.example.com' }
const TAKEN = ['role sql_console_admin', `key ${KEY_B}`]
const IN_SYNC = acts({ type: 'observe', reason: 'InSync' })

describe('never applied', () => {
  test('and none is there: it is applied, and from then on one GET a look is all', () =>
    story(
      empty(),
      want(SPEC),
      acts(
        { type: 'upsert', reason: 'New', takesAway: [] },
        'The service has no query endpoint, or the Service manifest has a wrong organizationId or serviceId. Both cases give the same reply. Will be applied.',
      ),
      'asks GET 404, GET 404, POST; 30 min',
      async (client) => {
        const { action, next } = await client.reconcile()
        expect(action).toMatchObject({ type: 'observe', reason: 'InSync' })
        expect(next).toMatchObject({ why: 'drift', afterMs: 270_000 })
      },
      'asks GET',
      ...Array.from({ length: 4 }, () => ['30 min', IN_SYNC, 'asks GET'] as const).flat(),
      'shows Ready',
      (client) => expect(client.shown()?.because).toMatchObject({ reason: 'InSync', facts: { as: 'read' } }),
    ))

  test('and what is there is as the manifest asks for: it is taken over, and nothing is sent', () =>
    story(
      empty(),
      set(SPEC),
      want(SPEC),
      plans({ verdict: 'unchanged', reason: 'Adopted', takesAway: [] }),
      acts({ type: 'observe', reason: 'Adopted' }, 'Pipewright adopts it unchanged.'),
      acts({ reason: 'InSync' }),
      want({ ...SPEC, roles: [] }),
      acts({ reason: 'Changing', takesAway: ['role sql_console_read_only'] }),
      'asks GET, GET, GET, GET, GET, POST',
    ))

  test('and something else is there: what it takes away and gives is known before', () =>
    story(
      empty(),
      set(OTHER),
      want(SPEC),
      plans({
        action: 'upsert',
        verdict: 'change',
        reason: 'New',
        message:
          `The service has a query endpoint already. Will be applied. It takes away role sql_console_admin, key ${KEY_B}. ` +
          'It gives role sql_console_read_only.',
        before: { roles: ['sql_console_admin'] },
        desired: { roles: ['sql_console_read_only'] },
        takesAway: TAKEN,
        gives: ['role sql_console_read_only'],
      }),
      there(OTHER),
      acts({ reason: 'New', takesAway: TAKEN }),
      there(SPEC),
    ))
})

describe('applied', () => {
  test('and changed elsewhere: it is reported, and left as it is', () =>
    story(
      applied(),
      set(OTHER),
      acts({ type: 'report', reason: 'Drifted' }),
      'shows Drifted; is Drifted',
      plans({ verdict: 'attention', differences: [{ field: 'openApiKeys' }, { field: 'roles' }] }),
      '2 h; turn; sends nothing',
      there(OTHER),
    ))

  test('and changed elsewhere again and again: the third correction within an hour waits', async () => {
    await using client = await applied({ onDrift: 'correct' })
    let posts = 0
    for (let look = 0; look < 12; look += 1) {
      await play(client, set(look % 2 === 0 ? OTHER : { ...OTHER, roles: [] }), 'turn')
      posts += client.changes().length
      client.skip(4 * MINUTE)
    }
    expect(posts).toBe(2)
    await play(client, 'shows Drifted; is Drifted; 20 min', acts({ type: 'upsert' }))
  })

  test('and the manifest edited to what is there: nothing is sent', () =>
    story(
      applied(),
      set(OTHER),
      want(OTHER),
      acts({ type: 'observe', reason: 'InSync', facts: { accepted: ['openApiKeys', 'roles'] } }),
      IN_SYNC,
      'asks GET, GET',
    ))

  test('and changed elsewhere, with policy.onDrift correct: it is applied again, with what that takes away', () =>
    story(
      applied({ onDrift: 'correct' }),
      set(OTHER),
      acts(
        { type: 'upsert', reason: 'Changing', takesAway: TAKEN },
        `Differs from the manifest: openApiKeys, roles. Pipewright sends the manifest's values, because policy.onDrift is "correct". Requests: upsertQueryEndpoint. ` +
          `It takes away role sql_console_admin, key ${KEY_B}. It gives role sql_console_read_only.`,
      ),
      there(SPEC),
      'shows Ready',
    ))

  test.each([
    [{}, 'report', undefined, 'Missing'],
    [{ onDrift: 'correct' }, 'upsert', SPEC, 'Ready'],
  ] as const)('and gone, with %j: %s', (policy, type, body, status) =>
    story(
      applied(policy),
      set(undefined),
      acts({ type, reason: 'Missing' }, 'or the Service manifest has a wrong organizationId or serviceId'),
      `shows ${status}`,
      there(body),
    ),
  )

  test('and edited, while somebody else changed it: the difference is that to what is there', () =>
    story(
      applied(),
      set(OTHER),
      want({ ...SPEC, openApiKeys: [KEY_B] }),
      acts(
        { reason: 'Changing', takesAway: ['role sql_console_admin', `key ${KEY_A}`] },
        `The manifest changed. Will be applied. It takes away role sql_console_admin, key ${KEY_A}. ` +
          'It gives role sql_console_read_only.',
      ),
    ))
})

describe('what is there when it is sent', () => {
  test('is read again, and access that somebody just gave is not taken away unseen: it is decided anew', () =>
    story(
      applied(),
      want({ ...SPEC, allowedOrigins: '' }),
      // somebody gives another key access after it was decided, and before it is sent
      meanwhile(set({ ...SPEC, openApiKeys: [KEY_A, KEY_B] })),
      acts({ reason: 'Changing', takesAway: [`key ${KEY_B}`, 'origin app.example.com'] }),
      // once more than it would be without, and sent once
      'asks GET, GET, GET, POST',
    ))

  test('a lost reply stays unknown if the read before the next attempt fails: an undone edit is applied over', () =>
    story(
      empty({ idempotentRetries: 1 }),
      want(SPEC),
      'turn',
      want({ ...SPEC, allowedOrigins: '' }),
      lostReply('POST'),
      'turn; calm',
      want(SPEC),
      '1 min; turn; shows Ready',
      there(SPEC),
    ))

  test('is read in a place of its own, also where the budget has only one', () =>
    story(
      empty({ budget: { requests: 1, windowMs: 50 } }),
      want(SPEC),
      'turn; asks GET 404, GET 404, POST; shows Ready',
    ))

  test('cannot be read: nothing is sent', () => {
    let reads = 0
    return story(
      empty(),
      want(SPEC),
      on(({ method }) =>
        method === 'GET' && (reads += 1) > 1 ? { status: 503, error: 'SERVICE_UNAVAILABLE' } : undefined,
      ),
      async (client) =>
        expect((await client.reconcile()).outcome).toMatchObject({ result: 'failed', reason: 'Unavailable' }),
      'asks GET 404',
      there(undefined),
    )
  })
})

/** As the leader's loop does it, for a record that the former leader left. */
function overtaken(left: (client: Client) => LedgerRecord): Step {
  return (client) => void client.context().store.overtaken.set(client.key, left(client))
}

describe('after a takeover', () => {
  test('what a person set is no late request of the former leader: it stays', () =>
    story(
      applied(),
      overtaken((client) => client.record() ?? blankRecord(client.key)),
      set(OTHER),
      'turn; is Drifted; sends nothing',
      there(OTHER),
    ))

  test.each([
    ['what the former leader sent before', (record: LedgerRecord) => record],
    ['what it sent without an answer', (record: LedgerRecord) => ({ ...record, applied: undefined })],
  ])('%s, and arrives late, is applied over', (_, leftOf) => {
    let left: LedgerRecord | undefined
    return story(
      applied(),
      (client) => void (left = client.record()),
      want({ ...SPEC, roles: [] }),
      'turn; sends POST',
      overtaken(({ key }) => leftOf(left ?? blankRecord(key))),
      set(SPEC),
      'turn; sends POST',
      there({ ...SPEC, roles: [] }),
    )
  })
})
