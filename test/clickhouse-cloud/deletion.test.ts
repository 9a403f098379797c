import { describe, expect, test } from 'vitest'
import { Killed } from './client.ts'
import {
  DELETE,
  goesOn,
  GRACE,
  OTHER_TOPIC,
  removed,
  REPLACE,
  replaced,
  started,
  withTopics,
} from './deleted-pipes.ts'
import { byHand, having, HOUR, KAFKA, MINUTE, POSTGRES, sent, withTable } from './edited-pipes.ts'
import { GIVEN, wireBody } from './given.ts'

/* Pipes are deleted, and replaced, only where their manifest says so, and only as they were left (design §2, law 4; §14). */

const PIPES = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe')

describe('policy.onRemove delete', () => {
  test('deletes ten minutes after the manifest is gone, once, and forgets it when it is gone', async () => {
    await using client = await removed()
    const id = client.id()
    expect(client.message()).toMatch(
      /^The manifest was removed \(it was in pipe\.json\), and said policy\.onRemove "delete" last\. The pipe is deleted ten minutes after that is known, at [^ ]+, unless somebody changed it\. Its destination tables and their data stay\. Bring the manifest back to keep it\.$/,
    )
    await goesOn(client, 9 * MINUTE)
    expect(sent(client)).toEqual([])
    client.skip(MINUTE + 1_000)
    const { action, next } = await client.reconcile()
    expect(action).toMatchObject({ type: 'delete', reason: 'Orphaned' })
    expect(next?.afterMs).toBe(2_000)
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.record()?.removal).toMatchObject({ isSent: true })
    expect(client.message()).toContain('The request to delete the pipe was sent at ')
    const count = await goesOn(client, 5 * MINUTE)
    expect(count).toBeLessThan(20)
    expect(client.server.pipes().has(id)).toBe(false)
    expect(client.record()).toBeUndefined()
    expect(sent(client)).toEqual([])
    const lines = (await client.history()).flatMap((entry) =>
      entry.type === 'action' && entry.action === 'delete' ? [entry.message] : [],
    )
    expect(lines).toHaveLength(2)
    expect(lines.join('\n')).toMatch(/The pipe was deleted\./)
    expect(lines.join('\n')).toContain('The request to delete the pipe was sent at ')
  })

  test.each(PIPES)(
    '$title is as it was left, in whatever words the service says it',
    async ({ manifest }) => {
      await using client = await started(wireBody(manifest), DELETE)
      for (let reading = 0; reading < 5; reading += 1) {
        client.skip(5 * MINUTE)
        await client.reconcile('in passing')
      }
      await client.remove()
      await client.reconcile()
      client.skip(GRACE)
      // A default that it shows for the first time looks like an edit: it has ten minutes again once it is not shown.
      await goesOn(client, 3 * HOUR)
      expect(sent(client), client.message()).toEqual(['DELETE'])
      expect(client.record()).toBeUndefined()
    },
  )

  test('not without the policy', async () => {
    await using client = await removed(KAFKA, {})
    await goesOn(client, 60 * MINUTE)
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain('Nothing is deleted')
  })

  test.each([
    ['the last valid manifest counts', { onRemove: 'delete' }, ['DELETE']],
    ['one that was taken back does not', { onRemove: 'orphan' }, []],
    [
      'nor does one that was suspended',
      { onRemove: 'delete', suspend: { reason: 'move', until: '2999-01-01T00:00:00Z' } },
      [],
    ],
  ] as const)('%s', async (_, policy, requests) => {
    await using client = await started(KAFKA, DELETE)
    await client.want(KAFKA, policy)
    await client.reconcile()
    await client.spoil()
    await client.reconcile()
    await client.remove()
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(requests)
  })

  test('a manifest that comes back during the grace keeps it, and the next time it has ten minutes again', async () => {
    await using client = await removed()
    client.skip(9 * MINUTE)
    await client.want(KAFKA, DELETE)
    await client.reconcile()
    expect(client.record()?.removal).toBeUndefined()
    client.skip(5 * MINUTE)
    await client.remove()
    await client.reconcile()
    client.skip(9 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })

  test('a manifest that comes back after the request has a new one, once the old one is gone for sure', async () => {
    await using client = await removed()
    const id = client.id()
    client.skip(GRACE)
    await client.reconcile()
    await client.want(KAFKA, { ...DELETE, onMissing: 'report' })
    await client.reconcile()
    expect(client.reason()).toBe('Replacing')
    expect(client.message()).toContain('The pipe is being deleted, and its manifest asks for it.')
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
    expect(client.id()).not.toBe(id)
    expect(client.server.pipes().size).toBe(1)
    expect(client.record()?.removal).toBeUndefined()
    expect(client.reason()).toBe('InSync')
  })

  test('somebody changed it: it is kept, and the field is named', async () => {
    await using client = await removed()
    byHand(client, { name: 'mine' })
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain(
      'The pipe is not as it was when it was last in sync (name), and so it is not deleted.',
    )
  })

  test('also a field that its manifest never named', async () => {
    await using client = await removed()
    const body = { ...client.body(), settings: { streaming_max_insert_wait_ms: 7_000 } }
    client.server.setBody(client.id(), body)
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain('(settings.streaming_max_insert_wait_ms)')
  })

  test('changed between the look and the request', async () => {
    await using client = await removed()
    client.skip(GRACE)
    let reads = 0
    client.interfere(({ method }) => {
      if (method === 'GET' && (reads += 1) === 2) byHand(client, { name: 'mine' })
      return undefined
    })
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.record()?.removal).not.toHaveProperty('isSent', true)
    expect(client.message()).toContain('not as it was when it was last in sync')
  })

  test('an edit that never took effect: it is not as it was asked for, and is kept', async () => {
    await using client = await started(KAFKA, DELETE)
    byHand(client, { name: 'mine' })
    await client.reconcile()
    expect(client.reason()).toBe('Drifted')
    await client.remove()
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })

  test('one that was not in sync since it may be deleted is kept', async () => {
    await using client = await started(KAFKA, {})
    byHand(client, { name: 'mine' })
    await client.want(KAFKA, DELETE)
    await client.reconcile()
    await client.remove()
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain('not seen in sync since its manifest last changed')
  })

  test('an adopted one is kept', async () => {
    await using client = await started(KAFKA, DELETE)
    const record = client.record()
    if (record?.remote === undefined) throw new Error('there is none')
    await client.write({ ...record, remote: { ...record.remote, origin: 'adopted' } })
    await client.remove()
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain('The pipe was adopted. So it is not deleted')
  })

  test('one that is gone already is forgotten, once that is sure', async () => {
    await using client = await removed()
    client.server.setStates(client.id(), 'gone')
    client.skip(GRACE)
    await client.reconcile()
    expect(client.message()).toContain('The pipe is not found. It is checked again until that is sure.')
    await goesOn(client, 5 * MINUTE)
    expect(client.record()).toBeDefined()
    await goesOn(client, 15 * MINUTE)
    expect(client.record()).toBeUndefined()
    expect(sent(client)).toEqual([])
  })

  test('without a valid Service manifest nothing is deleted; once it is valid again there are ten minutes', async () => {
    await using client = await removed()
    await client.service('broken')
    await client.remove()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain('no valid Service manifest leads to the pipe')
    await client.service('there')
    await client.remove()
    await client.reconcile()
    expect(sent(client)).toEqual([])
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
  })

  describe.each(['before', 'after'] as const)('the process ends %s the request', (when) => {
    test('the next one asks for it until it is gone', async () => {
      await using client = await removed()
      const id = client.id()
      client.skip(GRACE)
      client.killAt({ way: 'delete', when })
      await expect(client.reconcile()).rejects.toThrow(Killed)
      expect(sent(client)).toEqual(when === 'after' ? ['DELETE'] : [])
      await client.restart()
      await goesOn(client, when === 'after' ? 3 * MINUTE : 20 * MINUTE)
      expect(sent(client)).toEqual(['DELETE'])
      expect(client.server.pipes().has(id)).toBe(false)
      expect(client.record()).toBeUndefined()
    })

    test('a manifest that came back meanwhile has a pipe in the end, and never two', async () => {
      await using client = await removed()
      client.skip(GRACE)
      client.killAt({ way: 'delete', when })
      await expect(client.reconcile()).rejects.toThrow(Killed)
      await client.want(KAFKA, DELETE)
      await client.restart()
      await goesOn(client, 30 * MINUTE)
      expect(sent(client)).toEqual(when === 'after' ? ['DELETE', 'POST'] : [])
      expect([...client.server.pipes().keys()]).toEqual([client.id()])
      expect(client.reason()).toBe('InSync')
      expect(client.record()?.removal).toBeUndefined()
    })
  })

  test('a reply that is lost: it is asked for again after ten minutes, if it is still there', async () => {
    await using client = await removed()
    client.skip(GRACE)
    client.interfere(({ method }) => (method === 'DELETE' ? 'cut before' : undefined))
    await client.reconcile()
    client.interfere(undefined)
    expect(client.record()?.removal).toMatchObject({ isSent: true })
    await goesOn(client, 9 * MINUTE)
    expect(sent(client)).toEqual([])
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.record()).toBeUndefined()
  })

  test('a refused request is tried again, ever later, and counts as not sent', async () => {
    await using client = await removed()
    client.skip(GRACE)
    client.interfere(({ method }) =>
      method === 'DELETE' ? { status: 400, error: 'BAD_REQUEST: not now' } : undefined,
    )
    await client.reconcile()
    expect(client.record()?.removal).not.toHaveProperty('isSent')
    expect(client.message()).toContain('not now')
    client.interfere(undefined)
    await goesOn(client, 5 * MINUTE)
    expect(client.record()).toBeUndefined()
  })
})

describe('policy.onImmutable replace', () => {
  test('deletes it after ten minutes and creates it anew, once the old one is gone', async () => {
    await using client = await started(KAFKA, REPLACE)
    const id = client.id()
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    expect(client.reason()).toBe('Replacing')
    expect(client.message()).toMatch(
      /^source\.kafka\.topics changed in the manifest, no request changes that in a pipe that exists, and policy\.onImmutable is "replace"\. The pipe is deleted ten minutes after that is known, at [^ ]+, unless somebody changed it\. Its destination tables and their data stay\. Then it is created again\. Undo the edit to keep it\.$/,
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

  test('an edit that is undone during the grace keeps it', async () => {
    await using client = await started(KAFKA, REPLACE)
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    client.skip(9 * MINUTE)
    await client.want(KAFKA, REPLACE)
    await client.reconcile()
    expect(client.reason()).toBe('InSync')
    expect(client.record()?.removal).toBeUndefined()
    await goesOn(client, 20 * MINUTE)
    expect(sent(client)).toEqual([])
  })

  test('another edit has ten minutes of its own', async () => {
    await using client = await started(KAFKA, REPLACE)
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    client.skip(9 * MINUTE)
    await client.want(withTopics('orders.v3'), REPLACE)
    await client.reconcile()
    client.skip(2 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })

  test('an edit that is undone after the request: it is created again as it was', async () => {
    await using client = await started(KAFKA, REPLACE)
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
    await client.want(KAFKA, {})
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['POST'])
    expect(client.reason()).toBe('InSync')
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
