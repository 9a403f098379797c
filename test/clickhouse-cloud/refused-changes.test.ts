import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { having, startEmpty } from './client.ts'
import { DELETE, KAFKA, POSTGRES, REPLACE, sent, started, startOld } from './edited-pipes.ts'
import { byHand, has, lostReply, meanwhile, story, want, type Step } from './story.ts'

/* What the record believes after a request of a change that had no effect, or that nobody knows the effect of. */

const USER = 'source.kafka.credentials.username'
const PASSWORD = 'source.kafka.credentials.password'
const PRIVATE = 'source.kafka.reversePrivateEndpointIds'
const REGISTRY = 'source.kafka.schemaRegistry.credentials.password'
const WAIT = 'settings.streaming_max_insert_wait_ms'
const MORE = { [WAIT]: 1500 }

describe('an edit that is undone, of a field that no reply shows', () => {
  test.each([
    ['a user name, whose reply was late, before an outage', lostReply('PATCH', 'late'), { [USER]: 'other' }],
    ['a user name, before settings that are refused', 'on PUT /settings: 400', { [USER]: 'other', ...MORE }],
    ['a password, before settings that are refused', 'on PUT /settings: 400', { [PASSWORD]: 'p2', ...MORE }],
  ])('is sent back: %s', (_, refusal, edit) =>
    story(
      startOld(KAFKA),
      refusal,
      want(having(KAFKA, edit)),
      'turn; calm',
      want(KAFKA),
      'for 10 min; is InSync',
      has({ source: KAFKA['source'] }),
    ),
  )
})

test('a part of an edit that was sent, and undone, is drift until it is gone', () =>
  story(
    startOld(KAFKA),
    'on PUT /settings: 400',
    want(having(KAFKA, { [PRIVATE]: [randomUUID()], 'settings.clickhouse_max_threads': 7 })),
    'turn; calm',
    want(KAFKA),
    'for 20 min; is Drifted; says EndpointIds; hides threads',
    byHand({ [PRIVATE]: null }),
    'for 20 min; is InSync',
  ))

test('a stop whose reply is late, before an outage, is followed by a start', () =>
  story(startOld(POSTGRES), lostReply('PATCH', 'late'), 'want INVOICES; turn; calm; for 20 min; runs'))

const INTO_LOADING: Step = (client) => expect(sent(client)).not.toContain('stop')

describe.each([400, 403, 424])('a stop for a change that the service refuses with %i', (status) => {
  const refused = `on PATCH /state: ${status}; want INVOICES; turn`

  test('is not said to be accepted, and is sent again within minutes of when it would be', () =>
    story(
      startOld(POSTGRES),
      refused,
      'for 30 min; hides accepted; calm; for 16 min; tables addresses, customers, invoices; is InSync',
    ))

  test('does not make a person’s stop ours', () =>
    story(startOld(POSTGRES), refused, 'state Paused; calm; for 20 min; sends nothing; rests Paused'))

  test('does not make a person’s stop ours, also where the edit is undone', () =>
    story(
      startOld(POSTGRES),
      refused,
      want(POSTGRES),
      'turn; calm; state Paused; for 20 min; sends nothing; rests Paused',
    ))

  test('does not let a pipe that loads be stopped', () =>
    story(startOld(POSTGRES), refused, 'state Snapshot; calm; for 20 min', INTO_LOADING))
})

test('a stop or start that is refused because somebody else came first is no failure', () =>
  story(
    startOld(KAFKA),
    meanwhile('state Paused'),
    'on PATCH /state: 400; want it paused=true; turn; shows Progressing; rests Paused; calm; settle',
    meanwhile('state Running'),
    'want it paused=false; turn; shows Progressing; runs',
  ))

test('a refused edit that is undone leaves the field to a person, beside other drift', () =>
  story(
    startOld(KAFKA),
    byHand({ 'scaling.replicas': 4 }),
    'turn; on PUT /settings: 400',
    want(having(KAFKA, MORE)),
    'turn; calm',
    want(KAFKA),
    'for 10 min',
    byHand({ [WAIT]: 9000 }),
    'for 10 min; sends nothing; is Drifted',
  ))

test('an edit of unknown outcome that is undone, and takes effect minutes later, is sent back', () =>
  story(
    startOld(KAFKA),
    'on PUT /settings: cut before',
    want(having(KAFKA, MORE)),
    'turn; calm',
    want(KAFKA),
    'for 2 min; is InSync',
    byHand(MORE),
    'for 10 min; sends PUT /settings; is InSync',
  ))

function shownWith(more: () => JsonObject): Step {
  return (client) =>
    client.interfere(({ method, below }) => {
      const there = { ...client.body(), id: client.id(), state: 'Running', ...more() }
      if (method !== 'GET' || client.body() === undefined) return undefined
      return { answered: below === '…' ? [there] : there }
    })
}

const OFF = having(POSTGRES, { 'source.postgres.settings.deleteOnMerge': false })
const UNSET = having(POSTGRES, { 'source.postgres.type': null, 'source.postgres.authentication': null })
const DEFAULTS = having(UNSET, {
  'source.postgres.type': 'postgres',
  'source.postgres.authentication': 'basic',
})

test.each([
  ['a flag that is off leaves the manifest, and replies show it', OFF, POSTGRES, {}],
  ['a flag that is off leaves the manifest, and replies omit it', OFF, POSTGRES, { source: POSTGRES.source }],
  ['a flag that is off comes, and replies omit it', POSTGRES, OFF, {}],
  ['defaults leave the manifest, and replies show them', DEFAULTS, UNSET, {}],
  ['defaults leave the manifest, and replies omit them', DEFAULTS, UNSET, { source: UNSET.source }],
  ['defaults come, and replies omit them', UNSET, DEFAULTS, {}],
])('no edit that needs a new pipe: %s', (_, before, after, shown) =>
  story(
    started(before, REPLACE),
    shownWith(() => shown),
    want(after, REPLACE),
    'turn; is InSync; for 20 min; is InSync; sends nothing',
  ),
)

test('another reference to the secret that was sent is no edit that needs a new pipe', () =>
  story(
    started(KAFKA, REPLACE),
    (client) => client.mounted.set('moved/password', 'planted-text'),
    want(having(KAFKA, { [REGISTRY]: { secretRef: { name: 'moved', key: 'password' } } }), REPLACE),
    'turn; sends nothing; is InSync',
  ))

test('a size that replies show empty at first, and during the wait before a deletion, does not prevent it', () => {
  const bare = having(KAFKA, { scaling: null })
  let scaling = {}
  return story(
    startOld(bare),
    shownWith(() => ({ scaling })),
    want(bare, { onImmutable: 'replace' }),
    'turn; 20 min; turn',
    want(bare, DELETE),
    'turn; is Deleting',
    () => void (scaling = { replicas: 1 }),
    '5 min; turn; is Deleting; 6 min; turn; sends DELETE',
  )
})

test('a pipe whose create took no size, and was not answered, is found by the list', () =>
  story(
    startEmpty('Pipe', { seed: 'small' }),
    'on POST: cut after',
    want(KAFKA),
    'turn',
    (client) =>
      client.interfere(({ method, below }) => {
        const createdAt = new Date(client.context().clock.now()).toISOString()
        const its = { createdAt, state: 'Running', scaling: { replicas: 1 } }
        const there = [...client.server.pipes()].map(([id, body]) => ({ ...body, ...its, id }))
        if (method !== 'GET') return undefined
        return { answered: below === '…' ? there : (there[0] ?? {}) }
      }),
    'for 20 min; holds a pipe',
  ))

test('a pipe that has another type of source than its manifest is not stopped for an edit', () =>
  story(
    startOld(POSTGRES),
    (client) => client.server.setBody(client.id(), { ...client.body(), source: KAFKA['source'] }),
    'want INVOICES; for 2 h; sends nothing; is NotUpdatable',
  ))
