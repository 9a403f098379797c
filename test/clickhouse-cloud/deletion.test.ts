import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import {
  DELETE,
  KAFKA,
  lockOf,
  MINUTE,
  OTHER_TOPIC,
  POSTGRES,
  REPLACE,
  replaced,
  sent,
  started,
  untilGone,
  unwanted,
} from './edited-pipes.ts'
import { GIVEN, wireBody } from './given.ts'
import { kindOf } from './patch.ts'
import { byHand, meanwhile, play, story, want, type Step } from './story.ts'

/* Pipes are deleted, and replaced, only where their manifest says so, and only as they were left (design §2, law 4; §14). */

const PIPES = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe').filter(
  ({ manifest }, at, all) =>
    at === all.findIndex((other) => kindOf(wireBody(other.manifest)) === kindOf(wireBody(manifest))),
)

/** Until long after this. */
const SUSPENDED = want(KAFKA, { ...DELETE, suspend: { reason: 'move', until: '2999-01-01T00:00:00Z' } })

const { settings: SETTINGS, ...BARE } = { settings: {}, ...KAFKA }

/** Somebody sets them, and no others. */
function withSettings(settings: JsonObject): Step {
  return ({ server, id, body }) => server.setBody(id(), { ...body(), settings })
}

describe('policy.ensure absent', () => {
  test('deletes after ten minutes, once; then the manifest can go, and nothing is left', async () => {
    await using client = await unwanted()
    const id = client.id()
    expect(client.message()).toMatch(
      /^policy\.ensure is "absent"\. The pipe will be deleted at [^ ]+, if it is still unchanged\. Its destination tables and their data stay\. Then remove the manifest\. To keep the resource, remove policy\.ensure from the manifest\.$/,
    )
    await untilGone(client, 9 * MINUTE)
    expect(sent(client)).toEqual([])
    client.skip(MINUTE + 1_000)
    const { action, next } = await client.reconcile()
    expect(action).toMatchObject({ type: 'delete', reason: 'Deleting' })
    expect(next?.afterMs).toBe(2_000)
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.record()?.removal).toMatchObject({ isSent: true })
    expect(client.message()).toContain('The request to delete the pipe was sent at ')
    const count = await untilGone(client, 5 * MINUTE)
    expect(count).toBeLessThan(20)
    expect(client.server.pipes().has(id)).toBe(false)
    expect([client.status(), client.reason()]).toEqual(['Absent', 'Absent'])
    expect(client.message()).toBe(
      'The ledger has no pipe for this manifest: it was deleted, or never recorded. Remove the manifest. If the service still has the pipe, adopt it first: replace policy.ensure by policy.adopt.',
    )
    const { version } = client.record() ?? {}
    await client.restart()
    await client.reconcile()
    expect([client.reason(), client.record()?.version]).toEqual(['Absent', version])
    expect(sent(client)).toEqual([])
    const lines = (await client.history()).flatMap((entry) =>
      entry.type === 'action' && entry.action === 'delete' ? [entry.message] : [],
    )
    expect(lines).toHaveLength(2)
    expect(lines.join('\n')).toMatch(/The pipe was deleted\./)
    expect(lines.join('\n')).toContain('The request to delete the pipe was sent at ')
    await client.remove()
    await client.reconcile()
    expect(client.record()).toBeUndefined()
  })

  test('creates nothing if nothing is recorded, also not what policy.adopt names', () =>
    story(started(KAFKA, {}), async (client) => {
      const id = client.id()
      await client.drop('Pipe/edited')
      await play(client, want(KAFKA, { ...DELETE, adopt: id }), 'turn; grace; turn; is Absent; sends nothing')
      expect(client.server.pipes().has(id)).toBe(true)
    }))

  test('taken out after the deletion, the pipe is created again', () =>
    story(unwanted(), 'grace; until gone 5 min; want KAFKA; settle; sends DELETE, POST; is InSync'))

  test.each(PIPES)('$title is deleted in whatever words the service says it', ({ manifest }) => {
    const readings = Array.from({ length: 5 }, () => '5 min; turn in passing').join(';')
    return story(unwanted(wireBody(manifest)), `${readings}; until gone 3 h; sends DELETE; is Absent`)
  })

  test.each<readonly [string, Step, string | undefined]>([
    ['a removed manifest deletes nothing', 'remove', 'Orphaned'],
    ['nor does one that says it no more', 'want KAFKA', 'InSync'],
    ['nor one that says present', 'want KAFKA ensure=present', 'InSync'],
    ['nor one with errors', 'spoil', 'InvalidManifest'],
    ['nor a suspended one', SUSPENDED, 'Suspended'],
    ['nor a checkout that may be older', 'older r9', 'Deleting'],
    ['nor a reading that is not accepted', 'doubt there', undefined],
    ['nor one whose service has no valid manifest', 'service broken', 'DependencyNotReady'],
    [
      'nor one whose pipe a Lock gives to another key',
      (client) => client.put('lock.json', lockOf({ 'Pipe/other': client.id() })),
      'Deleting',
    ],
  ])('%s, in the grace, after it, and right before the request', async (_, change, reason) => {
    for (const wait of ['1 min', 'grace'])
      await story(unwanted(), wait, change, 'until gone 12 min; sends nothing', (client) =>
        expect(client.reason()).toBe(reason ?? client.reason()),
      )
    await story(unwanted(), 'grace', meanwhile(change), 'turn; sends nothing', (client) =>
      expect(client.record()?.removal?.isSent).toBeUndefined(),
    )
  })

  test.each<readonly [string, Step]>([
    ['is taken out', 'want KAFKA'],
    ['is suspended', SUSPENDED],
    ['has errors', 'spoil'],
    ['is of a checkout that may be older', 'older r9'],
    ['is of a reading that is not accepted', 'doubt there'],
  ])('a wish that %s meanwhile has ten minutes again', (_, change) =>
    story(
      unwanted(),
      '9 min',
      change,
      'turn; 1 min; doubt over; not older; want KAFKA absent; turn; 9 min; turn; sends nothing',
      '61 s; turn; sends DELETE',
    ),
  )

  test('a manifest that is removed after the request: its end is followed, and the record goes', () =>
    story(
      unwanted(),
      'grace; turn; remove; turn; says The manifest was removed after the request to delete.',
      'until gone 5 min; sends DELETE',
      (client) => expect(client.record()).toBeUndefined(),
    ))

  test('somebody changed it in the grace: it is kept, and the field is named', () =>
    story(
      unwanted(),
      byHand({ name: 'mine' }),
      'grace; turn; sends nothing; is Drifted',
      'says but the resource is not deleted: it changed since it was last in sync (name).',
    ))

  test.each([
    ['a field that its manifest never named', KAFKA, { ...SETTINGS, clickhouse_max_threads: 2 }],
    ['a field of an object that was shown empty', BARE, {}],
  ])('also %s', (_what, body, settings) => {
    return story(
      started(body, {}),
      withSettings(settings),
      want(body, DELETE),
      'turn',
      withSettings({ ...settings, clickhouse_max_threads: 3 }),
      '1 min; turn; grace; until gone 5 min; sends nothing; says (settings.clickhouse_max_threads)',
    )
  })

  test('a default that some replies show, and that others show empty, is no change', () => {
    const ttl = 'destination.tableDefinition.ttl'
    const steps = [byHand({ [ttl]: '' }), 'want KAFKA absent; turn', byHand({ [ttl]: 'ts' })]
    return story(started(KAFKA, {}), ...steps, 'turn; grace; turn; sends DELETE')
  })

  test('an adopted one is deleted, too: its manifest is there and says so', () =>
    story(
      started(KAFKA, {}),
      async (client) => {
        const record = client.record()
        if (record?.remote === undefined) throw new Error('there is none')
        await client.write({ ...record, remote: { ...record.remote, origin: 'adopted' } })
        await client.want(KAFKA, { ...DELETE, adopt: record.remote.id })
      },
      'turn; grace; until gone 5 min; sends DELETE; is Absent',
    ))

  test('one that is gone already is let go of, once that is sure', () =>
    story(
      unwanted(),
      'state gone; grace; turn; says The pipe was not found. Pipewright checks again to be sure.',
      'until gone 5 min; holds a pipe; until gone 15 min; is Absent; sends nothing',
    ))
})

describe('policy.onImmutable replace', () => {
  test('deletes it after ten minutes and creates it anew, once the old one is gone', async () => {
    await using client = await started(KAFKA, REPLACE)
    const id = client.id()
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    expect(client.reason()).toBe('Deleting')
    expect(client.message()).toMatch(
      /^source\.kafka\.topics changed in the manifest, but an existing pipe cannot be changed like this\. policy\.onImmutable is "replace"\. The pipe will be deleted at [^ ]+, if it is still unchanged\. Its destination tables and their data stay\. Then the new one is created\. To keep it, undo the edit\.$/,
    )
    await untilGone(client, 9 * MINUTE)
    expect(sent(client)).toEqual([])
    await untilGone(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
    expect([...client.server.pipes().keys()]).toEqual([client.id()])
    expect(client.id()).not.toBe(id)
    expect(client.reason()).toBe('InSync')
    await untilGone(client, 30 * MINUTE)
    expect(sent(client)).toEqual([])
  })

  test('the new one is refused: the old one, which was deleted, is not called kept', () =>
    story(
      replaced(),
      'grace; turn; on POST: 400; for 5 min; is Rejected; hides is kept; calm; for 30 min; is InSync',
    ))

  test('somebody changed it: it is reported, and kept', () =>
    story(
      started(KAFKA, REPLACE),
      byHand({ name: 'mine' }),
      'turn; want OTHER replace; turn; grace; turn; sends nothing; is NotUpdatable',
      'says policy.onImmutable is "replace". The pipe is not deleted: it changed since',
    ))

  test('what can be changed in place is not replaced', () =>
    story(started(KAFKA, REPLACE), 'want REPLICAS replace; settle; sends PATCH /scaling'))

  test('drift is no edit', () =>
    story(
      started(KAFKA, { ...REPLACE, onDrift: 'correct' }),
      byHand({ 'source.kafka.topics': 'others' }),
      'turn; grace; turn; sends nothing; is Drifted',
    ))

  test('a secret that has another value is no edit', () =>
    story(
      started(POSTGRES, REPLACE),
      'state Completed',
      ({ mounted }) => {
        for (const [name, text] of mounted) if (!name.startsWith('api/')) mounted.set(name, `${text}-2`)
      },
      'turn; is SecretRotated; until gone 1 h; sends nothing; want INVOICES replace; turn',
      'says source.postgres.tableMappings changed in the manifest, but an existing pipe cannot be changed like this',
      'until gone 20 min; sends DELETE, POST',
    ))

  test('one that somebody stopped is held, until policy.paused says what is wanted', () =>
    story(
      started(KAFKA, REPLACE),
      'state Stopped; want OTHER replace; turn; is NotUpdatable',
      'says the pipe is stopped, and the service would start it. No part of the edit was sent.',
      'until gone 1 h; sends nothing; want OTHER replace paused=true; until gone 20 min',
      (client) => expect(sent(client).slice(0, 2)).toEqual(['DELETE', 'POST']),
    ))

  test('nor one that is being stopped', () => story(replaced(), 'grace; state Stopping; turn; sends nothing'))

  test('not without what the new one needs', () =>
    story(
      replaced(),
      ({ mounted }) => {
        for (const name of mounted.keys()) if (!name.startsWith('api/')) mounted.delete(name)
      },
      'grace; turn; sends nothing; is SecretUnavailable',
    ))
})
