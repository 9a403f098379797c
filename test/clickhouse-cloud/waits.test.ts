import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { having, type Client } from './client.ts'
import {
  KAFKA,
  lockOf,
  MAPPINGS,
  POSTGRES,
  REPLICAS,
  sent,
  startOld,
  tablesIn,
  withTable,
} from './edited-pipes.ts'
import { meanwhile, on, play, story, want, type Step } from './story.ts'

/* What of a change waits, and for what: and that nothing else does. */

const FIELD = 'source.kafka.credentials.password'
const PASSWORD = 'edited/source-kafka-credentials-password'
const REGISTRY = 'edited/source-kafka-schemaRegistry-credentials-password'
const ENDPOINTS = { 'source.kafka.reversePrivateEndpointIds': ['0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11'] }
const CHANGED = 'tables addresses, customers, invoices; is InSync'

describe('a secret that cannot be read', () => {
  test.each(
    Object.entries({
      'a size': { secret: PASSWORD, before: KAFKA, after: REPLICAS },
      tables: {
        secret: 'edited/source-postgres-credentials-password',
        before: POSTGRES,
        after: withTable('invoices'),
      },
      'other credentials, of which it is no part': {
        secret: REGISTRY,
        before: KAFKA,
        after: having(KAFKA, { [FIELD]: 'another-one' }),
      },
    }),
  )('does not keep %s from being changed', (_what, { secret, before, after }) =>
    story(startOld(before), want(after), `unmount ${secret}; for 5 min; is InSync`, (client) =>
      expect(sent(client).some((one) => one.startsWith('PATCH'))).toBe(true),
    ),
  )

  test('keeps credentials of which it is a part, and names it alone', () =>
    story(
      startOld(KAFKA),
      want(having(KAFKA, ENDPOINTS)),
      `unmount ${REGISTRY}; unmount ${PASSWORD}; for 5 min; sends nothing; is SecretUnavailable`,
      `says ${PASSWORD}; hides ${REGISTRY}`,
    ))
})

/** It goes on loading until it is said to run. */
async function startLoading(options: Parameters<typeof startOld>[1] = {}): Promise<Client> {
  const client = await startOld(POSTGRES, options)
  await play(client, 'state Snapshot; turn')
  return client
}

const stopped: Step = (client) => expect(sent(client)).toContain('stop')

describe('a pipe that loads its tables for the first time', () => {
  const edits = [
    { what: 'its tables', mustPause: 'mappings', after: withTable('invoices') },
    {
      what: 'something for which the service asks it to be paused',
      mustPause: 'source',
      after: having(POSTGRES, { 'source.postgres.settings.pullBatchSize': 5 }),
    },
  ] as const
  test.each(edits)('is not stopped for a change of $what: that waits until it runs', ({ mustPause, after }) =>
    story(
      startLoading({ mustPause }),
      want(after),
      'for 2 h',
      (client) => {
        const asked = sent(client)
        expect(asked).not.toContain('stop')
        // It is not asked over and over again.
        expect(asked.length).toBeLessThanOrEqual(1)
        expect(client.state()).toBe('Snapshot')
      },
      'shows Progressing; is Changing; says state is Snapshot; says pipewright reconcile Pipe/edited',
      'restart; for 20 min; sends nothing; state Running; for 20 min',
      stopped,
      (client) => expect(client.body()).toEqual(after),
      'runs; is InSync',
    ),
  )

  test.each(edits)('is changed within minutes of when it runs: $what', ({ mustPause, after }) =>
    story(
      startLoading({ mustPause }),
      want(after),
      'for 10 min; state Running; for 10 min; runs; is InSync',
      (client) => expect(client.body()).toEqual(after),
    ),
  )

  test.each(edits)('is stopped for a change of $what when a person asks', ({ mustPause, after }) =>
    story(
      startLoading({ mustPause }),
      want(after),
      'for 20 min; turn asked; for 20 min; is InSync',
      stopped,
      (client) => expect(client.body()).toEqual(after),
    ),
  )

  test('is a person’s to stop while its change waits', () =>
    story(
      startLoading(),
      'want INVOICES; for 20 min; state Paused; for 20 min; sends nothing; rests Paused; is NotUpdatable',
    ))

  test('is changed without a wait where nothing has to rest', () =>
    story(startLoading(), want(having(POSTGRES, { name: 'Another name' })), 'settle; sends PATCH; is InSync'))

  test('is stopped where policy.paused says so', () =>
    story(
      startLoading(),
      'want INVOICES paused=true; for 20 min; tables addresses, customers, invoices; rests Paused',
    ))
})

describe('right before a request goes out', () => {
  const DEPENDENT = { dependsOn: ['Service/analytics'] }

  const rows: readonly (readonly [what: string, begin: Step, reason: string, end: Step])[] = [
    // What was said of it stays.
    ['a reading of the manifests that is not believed', 'doubt there', 'InSync', 'doubt over'],
    ['what it depends on', 'dependency not ready', 'DependencyNotReady', 'dependency ready'],
  ]

  test.each(
    rows.flatMap((row) => [
      [...row, 'a size', KAFKA, REPLICAS, 'sends PATCH /scaling; is InSync'] as const,
      [...row, 'tables, for which it is stopped', POSTGRES, withTable('invoices'), CHANGED] as const,
    ]),
  )('%s counts (%4$s)', (_what, begin, reason, end, _of, before, after, changed) =>
    story(
      startOld(before),
      'dependency ready',
      want(after, DEPENDENT),
      meanwhile(begin),
      `turn; sends nothing; is ${reason}`,
      end,
      `for 5 min; ${changed}`,
    ),
  )

  test('the pipe counts: a person sets the value, or adds the table, while the change waits', async () => {
    await story(
      startOld(KAFKA),
      want(having(KAFKA, ENDPOINTS)),
      meanwhile('10 s', (client) => client.edit(ENDPOINTS)),
      'turn; sends nothing; is InSync',
    )
    await story(
      startOld(POSTGRES),
      want(withTable('invoices')),
      'turn; sends stop; 1 min',
      meanwhile('10 s', (client) => client.edit({ [MAPPINGS]: tablesIn(withTable('invoices')) })),
      'turn; turn; sends start; for 5 min; is InSync; runs',
    )
  })

  test.each([
    ['an edit waits that would start it', KAFKA, having(KAFKA, ENDPOINTS)],
    ['our own stop for an edit waits', POSTGRES, withTable('invoices')],
  ])('the pipe counts: a person stops it while %s', (_, before, after) =>
    story(
      startOld(before),
      want(after),
      meanwhile('10 s; state Paused'),
      'turn; sends nothing; is NotUpdatable; says paused; for 20 min; state Paused; sends nothing',
    ),
  )

  test('a secret that is gone counts', () =>
    story(
      startOld(KAFKA),
      want(having(KAFKA, { [FIELD]: 'another-one' })),
      meanwhile(`unmount ${PASSWORD}`),
      // Nobody knows its value, and so nothing is known to have changed.
      'turn; sends nothing; is InSync',
    ))

  test('what it depends on does not keep a pipe stopped that we stopped', () =>
    story(
      startOld(POSTGRES),
      'dependency ready',
      want(withTable('invoices'), DEPENDENT),
      'turn; state Paused',
      meanwhile('dependency not ready'),
      'for 5 min; sends stop, start; runs',
    ))
})

const REFUSED = on(({ method, below }) =>
  method === 'PATCH' && below === '' ? { status: 400, error: 'BAD_REQUEST: not now' } : undefined,
)

test.each<[string, JsonObject, Step, string]>([
  ['a change that was refused', POSTGRES, REFUSED, 'want INVOICES; for 10 min; runs'],
  [
    'a deletion that a Lock blocks',
    KAFKA,
    (client) =>
      client.put('all.lock.json', lockOf({ 'Pipe/edited': '11111111-1111-4111-8111-111111111111' })),
    'want KAFKA absent; for 10 min; is Deleting',
  ],
])('the state of a pipe is told while it waits for %s', (_, body, first, before) =>
  story(startOld(body), first, before, 'state Failed; turn in passing', (client) =>
    expect(client.record()?.conditions?.Ready.reason).toBe('UnhealthyState'),
  ),
)

test('a pipe that we stopped, and whose service changes, is said to be stopped, and is started once that is undone', () =>
  story(
    startOld(POSTGRES),
    want(withTable('invoices')),
    'turn; sends stop; service elsewhere; restart; for 5 min; sends nothing; is NotUpdatable',
    'says Pipewright stopped it; service there; for 10 min; is InSync; runs',
  ))

test('a pipe whose Service names another service says so, although its own manifest did not change', () =>
  story(
    startOld(POSTGRES),
    'service elsewhere; turn; is NotUpdatable; sends nothing',
    'says service changed in the manifest or in its Service, but a pipe cannot move to another service.',
    'service there; turn; is InSync',
  ))
