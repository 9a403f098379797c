import { describe, expect, test } from 'vitest'
import type { Client } from './client.ts'
import { DELETE, goesOn, GRACE, OTHER_TOPIC, REPLACE, replaced, started, unwanted } from './deleted-pipes.ts'
import { byHand, having, HOUR, KAFKA, MINUTE, POSTGRES, sent, withTable } from './edited-pipes.ts'
import { GIVEN, wireBody } from './given.ts'
import { kindOf } from './patch.ts'

/* Pipes are deleted, and replaced, only where their manifest says so, and only as they were left (design §2, law 4; §14). */

/** One of each kind of source. */
const PIPES = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe').filter(
  ({ manifest }, at, all) =>
    at === all.findIndex((other) => kindOf(wireBody(other.manifest)) === kindOf(wireBody(manifest))),
)

const { settings: SETTINGS, ...BARE } = { settings: {}, ...KAFKA }

describe('policy.ensure absent', () => {
  test('deletes after ten minutes, once; then the manifest can go, and nothing is left', async () => {
    await using client = await unwanted()
    const id = client.id()
    expect(client.message()).toMatch(
      /^policy\.ensure is "absent"\. The pipe is deleted at [^ ]+, unless it is changed elsewhere before\. Its destination tables and their data stay\. Remove the manifest then\. Take policy\.ensure out of the manifest to keep it\.$/,
    )
    await goesOn(client, 9 * MINUTE)
    expect(sent(client)).toEqual([])
    client.skip(MINUTE + 1_000)
    const { action, next } = await client.reconcile()
    expect(action).toMatchObject({ type: 'delete', reason: 'Deleting' })
    expect(next?.afterMs).toBe(2_000)
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.record()?.removal).toMatchObject({ isSent: true })
    expect(client.message()).toContain('The request to delete the pipe was sent at ')
    const count = await goesOn(client, 5 * MINUTE)
    expect(count).toBeLessThan(20)
    expect(client.server.pipes().has(id)).toBe(false)
    expect([client.status(), client.reason()]).toEqual(['Absent', 'Absent'])
    expect(client.message()).toBe(
      'policy.ensure is "absent", and the ledger holds no pipe of this manifest. One that it does not hold is not deleted. If the service has it nevertheless, adopt it first: set policy.adopt and remove policy.ensure. Otherwise remove the manifest.',
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

  test('creates nothing if nothing is recorded, also not what policy.adopt names', async () => {
    await using client = await started(KAFKA, {})
    const id = client.id()
    const record = client.record()
    if (record === undefined) throw new Error('there is none')
    await client.drop(record.key)
    await client.want(KAFKA, { ...DELETE, adopt: id })
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(client.reason()).toBe('Absent')
    expect(sent(client)).toEqual([])
    expect(client.server.pipes().has(id)).toBe(true)
  })

  test('taken out after the deletion, the pipe is created again', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    await goesOn(client, 5 * MINUTE)
    await client.want(KAFKA, {})
    await client.settle()
    expect(sent(client)).toEqual(['DELETE', 'POST'])
    expect(client.reason()).toBe('InSync')
  })

  test.each(PIPES)('$title is deleted in whatever words the service says it', async ({ manifest }) => {
    await using client = await unwanted(wireBody(manifest))
    for (let reading = 0; reading < 5; reading += 1) {
      client.skip(5 * MINUTE)
      await client.reconcile('in passing')
    }
    await goesOn(client, 3 * HOUR)
    expect(sent(client), client.message()).toEqual(['DELETE'])
    expect(client.reason()).toBe('Absent')
  })

  test.each([
    ['a removed manifest deletes nothing', (client: Client) => client.remove(), 'Orphaned'],
    ['nor does one that says it no more', (client: Client) => client.want(KAFKA, {}), 'InSync'],
    ['nor one that says present', (client: Client) => client.want(KAFKA, { ensure: 'present' }), 'InSync'],
    ['nor one with errors', (client: Client) => client.spoil(), 'InvalidManifest'],
    ['nor a suspended one', suspended, 'Suspended'],
    ['nor a checkout that may be older', (client: Client) => client.older('r9'), 'Deleting'],
    ['nor a reading that is not accepted', async (client: Client) => client.doubt('there'), undefined],
    [
      'nor one whose service has no valid manifest',
      (client: Client) => client.service('broken'),
      'DependencyNotReady',
    ],
    [
      'nor one whose pipe a Lock gives to another key',
      (client: Client) =>
        client.put('lock.json', {
          apiVersion: 'pipewright/v1',
          kind: 'Lock',
          metadata: { name: 'all' },
          spec: { pipes: { 'Pipe/other': client.id() } },
        }),
      'Deleting',
    ],
  ] as const)('%s, in the grace, after it, and right before the request', async (_, change, reason) => {
    for (const ms of [MINUTE, GRACE]) {
      await using client = await unwanted()
      client.skip(ms)
      await change(client)
      await goesOn(client, 12 * MINUTE)
      expect(sent(client)).toEqual([])
      expect(client.reason()).toBe(reason ?? client.reason())
    }
    await using client = await unwanted()
    client.skip(GRACE)
    client.meanwhile(() => change(client))
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.record()?.removal?.isSent).toBeUndefined()
  })

  test.each([
    ['is taken out', async (client: Client) => client.want(KAFKA, {})],
    ['is suspended', suspended],
    ['has errors', (client: Client) => client.spoil()],
    ['is of a checkout that may be older', (client: Client) => client.older('r9')],
    ['is of a reading that is not accepted', async (client: Client) => client.doubt('there')],
  ] as const)('a wish that %s meanwhile has ten minutes again', async (_, change) => {
    await using client = await unwanted()
    client.skip(9 * MINUTE)
    await change(client)
    await client.reconcile()
    client.skip(MINUTE)
    client.doubt('over')
    await client.older(undefined)
    await client.want(KAFKA, DELETE)
    await client.reconcile()
    client.skip(9 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    client.skip(MINUTE + 1_000)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
  })

  test('a manifest that is removed after the request: its end is followed, and the record goes', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    await client.reconcile()
    await client.remove()
    await client.reconcile()
    expect(client.message()).toContain('The manifest was removed after the request to delete.')
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.record()).toBeUndefined()
  })

  test('somebody changed it in the grace: it is kept, and the field is named', async () => {
    await using client = await unwanted()
    byHand(client, { name: 'mine' })
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('Drifted')
    expect(client.message()).toContain(
      'changed since it was last in sync (name). Therefore it is not deleted.',
    )
  })

  test.each([
    ['a field that its manifest never named', KAFKA, { ...SETTINGS, clickhouse_max_threads: 2 }],
    ['a field of an object that was shown empty', BARE, {}],
  ])('also %s', async (_what, body, settings) => {
    await using client = await started(body, {})
    const show = (changed: typeof settings) =>
      client.server.setBody(client.id(), { ...client.body(), settings: changed })
    show(settings)
    await client.want(body, DELETE)
    await client.reconcile()
    show({ ...settings, clickhouse_max_threads: 3 })
    client.skip(MINUTE)
    await client.reconcile()
    client.skip(GRACE)
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain('(settings.clickhouse_max_threads)')
  })

  test('an adopted one is deleted, too: its manifest is there and says so', async () => {
    await using client = await started(KAFKA, {})
    const record = client.record()
    if (record?.remote === undefined) throw new Error('there is none')
    await client.write({ ...record, remote: { ...record.remote, origin: 'adopted' } })
    await client.want(KAFKA, { ...DELETE, adopt: record.remote.id })
    await client.reconcile()
    client.skip(GRACE)
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.reason()).toBe('Absent')
  })

  test('one that is gone already is let go of, once that is sure', async () => {
    await using client = await unwanted()
    client.server.setStates(client.id(), 'gone')
    client.skip(GRACE)
    await client.reconcile()
    expect(client.message()).toContain('The pipe is not found. It is checked again until that is sure.')
    await goesOn(client, 5 * MINUTE)
    expect(client.record()?.remote).toBeDefined()
    await goesOn(client, 15 * MINUTE)
    expect(client.reason()).toBe('Absent')
    expect(sent(client)).toEqual([])
  })
})

function suspended(client: Client): Promise<void> {
  return client.want(KAFKA, { ...DELETE, suspend: { reason: 'move', until: '2999-01-01T00:00:00Z' } })
}

describe('policy.onImmutable replace', () => {
  test('deletes it after ten minutes and creates it anew, once the old one is gone', async () => {
    await using client = await started(KAFKA, REPLACE)
    const id = client.id()
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    expect(client.reason()).toBe('Deleting')
    expect(client.message()).toMatch(
      /^source\.kafka\.topics changed in the manifest, no request changes that in a pipe that exists, and policy\.onImmutable is "replace"\. The pipe is deleted at [^ ]+, unless it is changed elsewhere before\. Its destination tables and their data stay\. Then it is created again\. Undo the edit to keep it\.$/,
    )
    await goesOn(client, 9 * MINUTE)
    expect(sent(client)).toEqual([])
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
    expect([...client.server.pipes().keys()]).toEqual([client.id()])
    expect(client.id()).not.toBe(id)
    expect(client.reason()).toBe('InSync')
    await goesOn(client, 30 * MINUTE)
    expect(sent(client)).toEqual([])
  })

  test('somebody changed it: it is reported, and kept', async () => {
    await using client = await started(KAFKA, REPLACE)
    byHand(client, { name: 'mine' })
    await client.reconcile()
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('NotUpdatable')
    expect(client.message()).toContain('policy.onImmutable is "replace". The pipe is not as it was')
  })

  test('what can be changed in place is not replaced', async () => {
    await using client = await started(KAFKA, REPLACE)
    await client.want(having(KAFKA, { 'scaling.replicas': 3 }), REPLACE)
    await client.settle()
    expect(sent(client)).toEqual(['PATCH /scaling'])
  })

  test('drift is no edit', async () => {
    await using client = await started(KAFKA, { ...REPLACE, onDrift: 'correct' })
    byHand(client, { 'source.kafka.topics': 'others' })
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('Drifted')
  })

  test('a secret that has another value is no edit', async () => {
    await using client = await started(POSTGRES, REPLACE)
    client.server.setStates(client.id(), 'Completed')
    for (const [name, text] of client.mounted)
      if (!name.startsWith('api/')) client.mounted.set(name, `${text}-2`)
    await client.reconcile()
    expect(client.reason()).toBe('SecretRotated')
    await goesOn(client, 60 * MINUTE)
    expect(sent(client)).toEqual([])
    await client.want(withTable('invoices'), REPLACE)
    await client.reconcile()
    expect(client.message()).toMatch(/^source\.postgres\.tableMappings changed in the manifest, no request/)
    await goesOn(client, 20 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
  })

  test('one that somebody stopped is held, until policy.paused says what is wanted', async () => {
    await using client = await started(KAFKA, REPLACE)
    client.server.setStates(client.id(), 'Stopped')
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    expect(client.reason()).toBe('NotUpdatable')
    expect(client.message()).toContain('the pipe is stopped: the service would start it. Set policy.paused')
    await goesOn(client, 60 * MINUTE)
    expect(sent(client)).toEqual([])
    await client.want(OTHER_TOPIC, { ...REPLACE, paused: true })
    await goesOn(client, 20 * MINUTE)
    expect(sent(client).slice(0, 2)).toEqual(['DELETE', 'POST'])
  })

  test('nor one that is being stopped', async () => {
    await using client = await replaced()
    client.skip(GRACE)
    client.server.setStates(client.id(), 'Stopping')
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })

  test('not without what the new one needs', async () => {
    await using client = await started(KAFKA, REPLACE)
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    for (const name of client.mounted.keys()) if (!name.startsWith('api/')) client.mounted.delete(name)
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('SecretUnavailable')
  })
})
