import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { createOnceKindOf } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { importedManifest } from '../../src/kinds/imported.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import type { Key } from '../../src/kinds/key.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import { BODIES } from '../sandbox/cloud.ts'
import { empty, made, SPEC, started, WEBHOOK } from './alerts.ts'
import { SERVICE } from './reach.ts'
import { byHand, has, on, plans, play, put, story, want, type Step } from './story.ts'

const NOWHERE = '0'.repeat(24)
const watch = (id: string, more: JsonObject = {}): Step => want({ id, ...more })
const holds =
  (remote: object): Step =>
  (client) =>
    expect(client.record()?.remote).toMatchObject(remote)
const isUnseen: Step = (client) => expect(client.record()?.remote?.seenAt).toBeUndefined()

describe('an alert that its manifest asks for', () => {
  test('is listed for first, created once, and in sync from then on', () =>
    story(
      empty(),
      want(SPEC),
      'settle; asks list, POST, GET; shows Ready; is InSync',
      (client) => {
        expect(client.bodies()).toEqual([SPEC])
        expect(client.record()).toMatchObject({ platformName: 'Lag', intent: { state: 'succeeded' } })
      },
      'restart; 5 min; turn in passing; asks list; counts 1',
    ))

  test('says what the one says that is watched: that it fires', () =>
    story(
      started(),
      byHand({ state: 'ALERT' }),
      'turn; shows NotReady; is UnhealthyState',
      'says Its state is ALERT, which is not a healthy one. Find out why the alert fires.',
      byHand({ state: 'PENDING' }),
      async (client) => expect((await client.reconcile()).next).toMatchObject({ why: 'drift' }),
      'shows Progressing',
    ))

  test('is one of the states that its policy calls healthy', () =>
    story(
      started(),
      want(SPEC, { healthyStates: ['OK', 'DISABLED'] }),
      byHand({ state: 'DISABLED' }),
      'turn; shows Ready',
    ))

  test('with several channels is in sync, in whatever order and with what the service fills in', () => {
    const email = { type: 'email', emailRecipients: ['a@example.com', 'b@example.com'] }
    const { channel: _one, ...spec } = SPEC
    const filled = { ...WEBHOOK, webhookService: 'slack_api', severity: null }
    return story(
      started({ ...spec, channels: [WEBHOOK, email] }),
      byHand({ channel: filled, channels: [email, filled] }),
      'turn; shows Ready; is InSync',
      byHand({ channels: [{ ...email, emailRecipients: ['a@example.com'] }, filled] }),
      'turn',
      (client) =>
        expect(client.shown()?.differences.map(({ field }) => field)).toEqual([
          'channels[email].emailRecipients',
        ]),
    )
  })

  test('is planned as it is then sent', () =>
    story(
      empty(),
      want(SPEC),
      plans({ action: 'create', platformName: 'Lag', desired: SPEC }),
      'counts 0; settle',
      want({ ...SPEC, threshold: 11 }),
      plans({ action: 'update' }),
      has({ threshold: 10 }),
    ))
})

test.each([
  ['the same one', {}, 'InSync'],
  ['one that differs', { threshold: 11 }, 'Ambiguous'],
])('a lost ledger finds %s', (_, body, reason) =>
  story(started(), byHand(body), `lost; turn; turn; turn; is ${reason}; sends nothing; counts 1`),
)

/** The alert of this id, as it is imported. */
function wantImported(id: string): Step {
  return (client) => {
    const { result } = client.ask('GET', `/clickstack/alerts/${id}`)
    const { manifest } = importedManifest({
      kind: createOnceKindOf(CLICKHOUSE_CLOUD, 'Alert/lag'),
      name: 'lag',
      service: 'analytics',
      secret: 'lag',
      resource: result as unknown as RemoteResource,
      mask: createSecretMask(),
    })
    const { spec, policy } = (manifest ?? {}) as Readonly<Record<string, JsonObject>>
    expect(policy).toEqual({ adopt: id })
    return client.want(spec, policy)
  }
}

describe('an alert that exists', () => {
  test('is adopted by the manifest that is imported of it, and does not differ', () => {
    const channel = { ...WEBHOOK, severity: 'error' }
    const fields = { note: 'See the runbook', scheduleStartAt: '2026-11-01T00:00:00.000Z', channel }
    return story(
      empty(),
      made(fields, (id) => [wantImported(id), plans({ action: 'adopt', remoteId: id })]),
      'settle; shows Ready; is InSync; sends nothing',
    )
  })

  test('is given to a key by a person, and to none that only watches', () =>
    story(
      empty(),
      want(SPEC),
      made({ threshold: 99 }, (id) => [
        put('Alert/watched', { id }),
        async (client) => {
          const { signal } = new AbortController()
          const adopted = (key: Key) =>
            adoptAs(client.context(), { key, pipeId: id, command: 'adopt' }, signal)
          expect(await adopted('Alert/watched')).toMatchObject({
            result: 'refused',
            message: 'Alert/watched needs no adoption: its manifest only watches it, by spec.id.',
          })
          expect(await adopted('Alert/lag')).toMatchObject({
            result: 'done',
            message: `Linked Alert/lag to alert ${id}. The platform reports other values than the manifest for threshold.`,
          })
        },
      ]),
    ))

  test('of the same name, but in another manifest, is no reason for a second one', () =>
    story(started(), put('Alert/other', SPEC), 'turn Alert/other; counts 1', (client) =>
      expect(client.shown('Alert/other')?.reason).toBe('Ambiguous'),
    ))

  test('whose id is none that an alert can have is an unknown outcome', () =>
    story(
      empty(),
      want(SPEC),
      on(({ method }) =>
        method === 'POST' ? { answered: { id: crypto.randomUUID(), ...SPEC } } : undefined,
      ),
      'turn; shows OutcomeUnknown; says which is not 24 hexadecimal digits',
    ))
})

describe('what watches and what is created', () => {
  test('one that is watched and then asked for is taken over, not made a second time', () =>
    story(
      empty(),
      made({}, (id) => [
        watch(id),
        'settle; shows Ready; is InSync; holds nothing',
        want(SPEC),
        'settle; counts 1',
        holds({ id, origin: 'adopted' }),
      ]),
    ))

  test('one that differs from it is a question, and nothing is made', () =>
    story(
      empty(),
      made({ threshold: 99 }, (id) => [
        watch(id),
        'settle',
        want(SPEC),
        'turn; turn; turn; is Ambiguous; counts 1',
      ]),
    ))

  test('one that was created and is then watched is in sync, is kept in the record, and is found again', () =>
    story(started(), async (client) => {
      const id = client.id()
      await play(
        client,
        watch(id, { expect: { threshold: 10 } }),
        'settle; shows Ready; is InSync',
        holds({ id }),
        'restart',
        want({ ...SPEC, threshold: 12 }),
        'settle; sends PUT',
        has({ id, threshold: 12 }),
      )
    }))

  test('one that was created is not lost when another one is watched', () =>
    story(started(), async (client) => {
      const id = client.id()
      await play(
        client,
        made({ name: 'Other' }, (other) => [watch(other)]),
        `settle; shows Orphaned; is Orphaned; says alert ${id}, which it managed before, stays on the platform`,
        'restart; remove; turn; is Orphaned',
        want(SPEC),
        'settle; counts 2',
        holds({ id }),
      )
    }))

  test('to watch another one says nothing of what was created', () =>
    story(
      empty(),
      made({ name: 'Other', threshold: 99 }, (other) => [
        want(SPEC),
        'turn',
        isUnseen,
        watch(other),
        'turn; is Orphaned',
        isUnseen,
      ]),
    ))

  test('one that is watched and not there is no answer, also where another one was created', async () => {
    const gone = [watch(NOWHERE), 'turn; is Rejected'] as const
    await using never = await empty()
    await play(never, ...gone)
    await story(started(), ...gone, `shows ${never.status()}`)
  })

  test('what was not found while another one was watched is not taken for gone', () =>
    story(started(), async (client) => {
      const id = client.id()
      const looks = Array.from({ length: 5 }, () => 'turn; 10 min').join(';')
      await play(client, watch(NOWHERE), looks, want(SPEC), 'settle; counts 1', holds({ id }))
    }))

  test('nor is one of which nobody knows whether it was created', () =>
    story(
      empty(),
      made({ name: 'Other', threshold: 99 }, (other) => [
        want(SPEC),
        'on POST: cut after; turn; calm',
        watch(other),
        'settle; is Orphaned; says An earlier create might have made another alert',
      ]),
      want(SPEC),
      '1 min; settle; counts 2; shows Ready',
    ))
})

const PIPE = { name: 'Lag', ...BODIES.kafkaRole }

describe('alerts and pipes of one name and one service', () => {
  test('have nothing to do with each other', () =>
    story(
      empty(),
      put('Pipe/lag', PIPE),
      want(SPEC),
      plans({ action: 'create' }),
      'turn Pipe/lag; settle; shows Ready; is InSync; lost; settle; turn Pipe/lag; counts 1',
      (client) => {
        expect(client.id()).toBe(client.server.alerts()[0]?.['id'])
        expect([client.record('Pipe/lag')?.remote?.id]).toEqual([...client.server.pipes().keys()])
      },
    ))

  test('nor in a plan, in which nothing is there yet', () =>
    story(
      empty(),
      want(SPEC, { healthyStates: ['INSUFFICIENT_DATA'] }),
      put('Pipe/lag', PIPE, { dependsOn: ['Alert/lag'] }),
      plans({ action: 'create', reason: 'New' }, 'Pipe/lag'),
    ))

  test('a pipe that is found is no witness of an alert that is not', () =>
    story(
      started(),
      put('Pipe/lag', PIPE),
      'turn Pipe/lag',
      (client) => void client.ask('DELETE', `/clickstack/alerts/${client.id()}`),
      '70 s; turn; turn Pipe/lag; 70 s; turn; turn Pipe/lag; says The service has no other alert',
      '70 s; turn; is MissingUnconfirmed',
    ))
})

function without(body: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
}

describe('a manifest that is edited', () => {
  const full = {
    ...SPEC,
    groupBy: 'ServiceName',
    message: 'It lags',
    note: 'See the runbook',
    numConsecutiveWindows: 2,
  }
  const START = { scheduleStartAt: '2026-11-01T00:00:00Z' }
  const RANGE = { thresholdType: 'between', thresholdMax: 20 }
  const TILE = { source: 'tile', dashboardId: 'a'.repeat(24), tileId: 't' }
  const EMAIL = { channel: { type: 'email', emailRecipients: ['a@example.com'] } }
  const OTHER = { channel: { type: 'webhook', webhookId: 'b'.repeat(24), severity: 'error' } }
  const OFFSET = { scheduleOffsetMinutes: 3 }

  test.each<readonly [what: string, before: JsonObject, after: JsonObject, gone: string, there: JsonObject]>([
    ['a number', {}, { threshold: 11 }, '', {}],
    ['a name', {}, { name: 'Lag of orders' }, '', {}],
    ['a range', {}, RANGE, '', {}],
    ['another source', {}, TILE, 'savedSearchId', {}],
    ['another webhook', {}, OTHER, '', {}],
    ['another channel', {}, EMAIL, '', {}],
    ['a start', {}, START, '', {}],
    ['no start any more', START, {}, 'scheduleStartAt', { scheduleStartAt: null }],
    ['no offset any more', OFFSET, {}, 'scheduleOffsetMinutes', { scheduleOffsetMinutes: 0 }],
    ['a start in place of an offset', OFFSET, START, 'scheduleOffsetMinutes', { scheduleOffsetMinutes: 0 }],
    ['no range any more', RANGE, { thresholdType: 'above' }, 'thresholdMax', {}],
  ])('changes the alert: %s', (_, before, after, gone, there) =>
    story(started({ ...SPEC, ...before }), async (client) => {
      const id = client.id()
      await play(
        client,
        want(without({ ...SPEC, ...before, ...after }, gone)),
        // Looked at, looked at once more right before the request, and looked at after it.
        'settle; shows Ready; is InSync; asks GET, GET, PUT, GET',
        has({ id, ...after, ...there }),
      )
      expect(client.bodies().at(-1)).not.toHaveProperty('id')
      expect(client.bodies().at(-1)).not.toHaveProperty('state')
    }),
  )

  test.each(['message', 'note', 'groupBy', 'numConsecutiveWindows'])(
    'clears what it takes out: %s',
    (field) =>
      story(started(full), want(without(full, field)), 'settle; shows Ready; is InSync', (client) =>
        expect(client.body()).not.toHaveProperty(field),
      ),
  )

  const KEPT = { keptByPut: ['groupBy'] }
  const edited = (more: JsonObject) => want({ ...without(full, 'groupBy'), ...more })

  test('says what the service keeps, and does not ask for it again and again', () =>
    story(
      started(full, KEPT),
      edited({ threshold: 11 }),
      'settle; shows Drifted; is Stalled; says The manifest no longer has groupBy. The service accepted the change, but kept groupBy',
      has({ threshold: 11, groupBy: 'ServiceName' }),
      'sends PUT',
      ...Array.from({ length: 3 }, () => '1 h; 2 min; restart; turn in passing; sends nothing; is Stalled'),
      // Written again, it is as it should be.
      want({ ...full, threshold: 11 }),
      'settle; shows Ready; is InSync',
      // Taken away elsewhere, too.
      edited({ threshold: 11 }),
      'settle',
      byHand({ groupBy: null }),
      'settle; shows Ready; is InSync',
    ))

  test('goes on with another edit while something is kept', () =>
    story(
      started(full, KEPT),
      edited({}),
      'settle',
      edited({ threshold: 12 }),
      'settle; is Stalled',
      has({ threshold: 12 }),
      want(full),
      'settle; is InSync',
      has({ threshold: 10 }),
    ))

  test('keeps what somebody else has set since, up to the moment of the request', () => {
    const theirs = { note: 'Set elsewhere', silenced: { at: 'x' } }
    return story(
      started(),
      'turn',
      (client) => {
        let readings = 0
        client.interfere(({ method }) => {
          if (method === 'GET') readings += 1
          // After the reading that was decided on.
          if (method === 'GET' && readings === 2) client.edit(theirs)
          return undefined
        })
      },
      want({ ...SPEC, threshold: 11 }),
      'settle',
      has({ threshold: 11, ...theirs }),
      (client) => expect(client.bodies().at(-1)).toMatchObject({ threshold: 11, note: 'Set elsewhere' }),
    )
  })

  test('keeps the other channels, and the fields of one that are not its own', () => {
    const channel = { ...WEBHOOK, webhookService: 'slack_api', severity: 'critical' }
    const channels = [channel, { type: 'email', emailRecipients: ['b@example.com'] }]
    return story(
      started(),
      byHand({ channel, channels }),
      want({ ...SPEC, threshold: 11 }),
      'turn',
      (client) => expect(client.bodies().at(-1)).toMatchObject({ channel, channels }),
    )
  })

  test('is sent again when its request was refused once', () =>
    story(
      started(),
      want({ ...SPEC, threshold: 11 }),
      'on PUT: 400 once; turn',
      (client) => expect(client.status()).not.toBe('Ready'),
      '15 min; settle',
      has({ threshold: 11 }),
    ))
})

/* What happens before, after, beside and by somebody else (design §14). */

test('what was left behind and is gone since blocks no other', () =>
  story(
    started(),
    (client) => play(client, watch(client.id()), 'settle'),
    (client) => void client.ask('DELETE', `/clickstack/alerts/${client.id()}`),
    put('Alert/lag2', { ...SPEC, name: 'Second', threshold: 77 }),
    ...Array.from({ length: 10 }, () => '10 min; turn; turn Alert/lag2'),
    'counts 1',
  ))

test('fields of a channel that are not returned are kept by the PUT', () => {
  const channel = { ...WEBHOOK, webhookService: 'slack_api', slackChannelId: 'C1', severity: 'critical' }
  return story(
    started({ ...SPEC, channel }),
    byHand({ channel: WEBHOOK }),
    'settle',
    want({ ...SPEC, channel, threshold: 11 }),
    'settle',
    (client) => expect(client.bodies().at(-1)).toMatchObject({ channel }),
  )
})

test('a saved search is exchanged for a tile, and somebody has set groupBy', () =>
  story(
    started(),
    byHand({ groupBy: 'ServiceName' }),
    want({ ...without(SPEC, 'savedSearchId'), source: 'tile', dashboardId: 'a'.repeat(24), tileId: 't' }),
    'settle; is InSync',
  ))

test('what is watched in another service is no witness', () => {
  const spec = { ...SERVICE.spec, serviceId: 'b1111111-1111-4111-8111-111111111111' }
  const [b, x] = ['Alert/b' as Key, 'c'.repeat(24)]
  let asking: Key | undefined
  return story(
    empty(),
    (client) => client.put('second.json', { ...SERVICE, metadata: { name: 'second' }, spec }),
    want(SPEC),
    put(b, { ...SPEC, name: 'B', threshold: 77 }),
    'settle; turn Alert/b; turn Alert/b; 5 min',
    put(b, { service: 'second', id: x }),
    on(({ method }) => {
      if (method !== 'GET') return undefined
      if (asking === b) return { answered: { ...SPEC, id: x, name: 'X', state: 'OK' } }
      return { status: 404, error: 'NOT_FOUND: alert' }
    }),
    async (client) => {
      for (let i = 0; i < 6; i += 1) {
        asking = undefined
        await play(client, 'turn; 10 s')
        asking = b
        await play(client, 'turn Alert/b; 20 s')
      }
      asking = undefined
    },
    'turn; is MissingUnconfirmed',
  )
})

/* It is deleted as a pipe is: only where its manifest says so, and only as it was left (design §14). */

/** It was seen in sync, and its manifest has this policy since. */
const unwanted = (ensure: string) => `5 min; turn; want it ensure=${ensure}; turn; sends nothing`

describe('policy.ensure absent', () => {
  test('it is deleted after ten minutes, once, and the manifest can go', () =>
    story(
      started(),
      unwanted('absent'),
      'says The alert will be deleted at ; 9 min; turn; sends nothing; grace',
      async (client) =>
        expect((await client.reconcile()).action).toMatchObject({ type: 'delete', reason: 'Deleting' }),
      'sends DELETE; counts 0; 2 s; turn; is Absent; remove; turn; sends nothing',
      (client) => expect(client.record()).toBeUndefined(),
    ))

  test.each<[string, Step]>([
    ['not if somebody changed it', byHand({ threshold: 11 })],
    [
      'not if somebody added a channel',
      byHand({ channels: [WEBHOOK, { type: 'email', emailRecipients: ['b@example.com'] }] }),
    ],
  ])('%s', (_, change) =>
    story(started(), unwanted('absent'), change, 'grace; turn; sends nothing; is Drifted'),
  )

  test('not without the policy', () =>
    story(started(), unwanted('present'), 'grace; turn; sends nothing; holds a pipe'))

  test('not while another manifest adopts it', () =>
    story(
      started(),
      unwanted('absent'),
      (client) => play(client, put('Alert/other', SPEC, { adopt: client.id() })),
      'grace; turn; sends nothing; says Alert/other',
    ))
})
