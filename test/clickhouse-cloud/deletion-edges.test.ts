import { describe, expect, test } from 'vitest'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { deletionDigest } from '../../src/plan/delete-limit.ts'
import type { Client } from './client.ts'
import { Killed } from './reach.ts'
import {
  DELETE,
  goesOn,
  GRACE,
  OTHER_TOPIC,
  REPLACE,
  replaced,
  started,
  unwanted,
  withTopics,
} from './deleted-pipes.ts'
import type { Interfere } from './strict-wire.ts'
import { having, HOUR, KAFKA, MINUTE, POSTGRES, sent, withTable } from './edited-pipes.ts'
import { textOf } from './look.ts'
import { withRefs } from './refs.ts'

/* Deletion and replacement of pipes (design §14): what happens before, after, late, twice and in between. */

/** Other pipes of the service that are there, or that are to be deleted. */
async function others(client: Client, count: number, more: object = {}): Promise<void> {
  const record = client.record()
  if (record?.remote === undefined) throw new Error('there is none')
  for (let number = 0; number < count; number += 1)
    await client.write({
      ...record,
      key: `Pipe/other-${number}`,
      version: 0,
      platformName: `other-${number}`,
      applied: { digest: 'other', fields: {}, secrets: {} },
      remote: {
        ...record.remote,
        seenAs: undefined,
        id: `0ther000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      },
      removal: undefined,
      left: { digest: 'other', since: 0, fields: {} },
      ...more,
    })
}

/** Somebody creates a pipe of the same name. @returns its id */
async function madeByAnother(client: Client): Promise<string> {
  const { result } = client.ask('POST', '/clickpipes', withTopics('theirs'))
  sent(client)
  return textOf((result as JsonObject)['id']) // of a create
}

function manifestOf(name: string, body: JsonObject, policy: JsonObject = {}): JsonObject {
  const spec = { service: 'analytics', ...withRefs(body).spec }
  return { apiVersion: 'pipewright/v1', kind: 'Pipe', metadata: { name }, policy, spec }
}

/** It was sent, and its process ended. */
async function unanswered(client: Client): Promise<void> {
  client.skip(GRACE)
  client.killAt({ way: 'delete', when: 'after' })
  await expect(client.reconcile()).rejects.toThrow(Killed)
  expect(sent(client)).toEqual(['DELETE'])
  client.server.setStates(client.id(), 'gone')
  await client.restart()
}

describe('a request that nobody answered, of what is not found', () => {
  test('it is sent again after a minute, and not before', async () => {
    await using client = await unwanted()
    await unanswered(client)
    client.skip(50_000)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    client.skip(11_000)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.record()?.removal).toMatchObject({ isSent: true, isAnswered: true })
    client.skip(2_000)
    await client.reconcile()
    expect(client.record()?.remote).toBeUndefined()
  })
  test('it is not, if the pipe is found right before', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    client.killAt({ way: 'delete', when: 'before' })
    await expect(client.reconcile()).rejects.toThrow(Killed)
    await client.restart()
    client.skip(MINUTE)
    let looks = 0
    client.interfere(({ method }) =>
      method === 'GET' && (looks += 1) === 1 ? { status: 404, error: 'NOT_FOUND: no such pipe' } : undefined,
    )
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test.each([
    ['its manifest has errors', (client: Client) => client.spoil()],
    ['a reading is not accepted', async (client: Client) => client.doubt('there')],
    ['no service leads there', (client: Client) => client.service('broken')],
  ])('it is not, if %s', async (_, happens) => {
    await using client = await unwanted()
    await unanswered(client)
    await happens(client)
    client.skip(2 * MINUTE)
    await client.reconcile()
    expect(sent(client), client.message()).toEqual([])
    expect(client.record()?.removal).toMatchObject({ isSent: true })
  })
})

describe('no request was sent', () => {
  test('somebody else wrote its record between the mark and the last look: it is sent at once', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    client.meanwhile(async () => {
      const record = client.record()
      if (record === undefined) throw new Error('none')
      await client.write({ ...record, allowed: { digest: 'x', at: 0, until: 0 } })
    })
    await client.reconcile()
    expect(sent(client), client.message()).toEqual(['DELETE'])
  })
  test('its record moved to another key meanwhile: that one is not said to be deleted', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    client.meanwhile(async () => {
      await client.remove()
      await client.put('b.json', manifestOf('b', KAFKA, { renamedFrom: 'Pipe/edited' }))
      await client.reconcile(undefined, 'Pipe/b')
    })
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.record('Pipe/b')?.remote).toBeDefined()
    expect(client.record('Pipe/b')?.removal?.isSent).toBeUndefined()
  })
})

describe('the grace', () => {
  test('another edit after a first one was refused for long', async () => {
    await using client = await replaced()
    await others(client, 3, { removal: { digest: 'x', since: 0 } })
    await client.reconcile()
    expect(client.reason()).toBe('DeleteLimit')
    client.skip(60 * MINUTE)
    await client.reconcile()
    expect(client.reason()).toBe('DeleteLimit')
    for (const i of [0, 1, 2]) await client.drop(`Pipe/other-${i}`)
    await client.want(withTopics('orders.v3'), REPLACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('edited, then edited again while nobody ran, as between two jobs', async () => {
    await using client = await replaced()
    client.skip(60 * MINUTE)
    await client.want(withTopics('orders.v3'), REPLACE)
    await client.restart()
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
})

describe('the last look', () => {
  test('by the queue: a list of before hides an edit of somebody', async () => {
    await using client = await replaced()
    client.skip(GRACE)
    const before = client.body() ?? {}
    const after = having(before, { name: 'mine' })
    client.server.setBody(client.id(), after)
    // The list is of before.
    client.interfere(({ method, below }) => {
      client.server.setBody(client.id(), method === 'GET' && below === '…' ? before : after)
      return undefined
    })
    await client.reconcile('in passing')
    client.interfere(undefined)
    expect(sent(client)).toEqual([])
  })
})

describe('the limit', () => {
  test('a word that was given for one deletion counts for no later one', async () => {
    await using client = await unwanted()
    await others(client, 5, { removal: { digest: 'absent', since: 0 } })
    await client.reconcile()
    expect(client.reason()).toBe('DeleteLimit')
    const record = client.record()
    if (record?.manifest === undefined) throw new Error('none')
    const now = Date.now() + 21 * MINUTE
    await client.write({
      ...record,
      allowed: { digest: deletionDigest(record.manifest.digest, record), at: now, until: now + 15 * MINUTE },
    })
    client.skip(MINUTE)
    await client.want(KAFKA, {})
    await client.reconcile()
    await client.want(KAFKA, DELETE)
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('DeleteLimit')
  })
  test('one that is kept for good does not count', async () => {
    await using client = await unwanted()
    const { conditions } = client.record() ?? {}
    const Synced = { ...conditions?.Synced, status: 'False', reason: 'Drifted' }
    await others(client, 1, {
      removal: { digest: 'absent', since: 0 },
      conditions: { ...conditions, Synced },
    })
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
  })
})

describe('what would not be created again', () => {
  test('another record has the name that is asked for: it is kept, unless the manifest says that it is another one', async () => {
    await using client = await started(KAFKA, REPLACE)
    await others(client, 1, { platformName: client.record()?.platformName })
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    expect(client.reason()).toBe('NotUpdatable')
    expect(client.message()).toContain(
      'The pipe is not deleted, because no new one would be created: Pipe/other-0 looks like it.',
    )
    await goesOn(client, HOUR)
    expect(sent(client)).toEqual([])
    await client.want(OTHER_TOPIC, { ...REPLACE, replaces: 'Pipe/other-0' })
    await goesOn(client, 20 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
  })
  test('the service has a pipe of that name that no manifest holds', async () => {
    await using client = await started(KAFKA, REPLACE)
    const id = await madeByAnother(client)
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    expect(client.reason()).toBe('NotUpdatable')
    expect(client.message()).toContain(
      `The pipe is not deleted, because no new one would be created: the service has pipe ${id} of the name "Shop orders", which no manifest holds.`,
    )
    await goesOn(client, HOUR)
    expect(sent(client)).toEqual([])
    client.server.setStates(id, 'gone')
    await goesOn(client, 30 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
  })
  test('such a pipe that comes during the ten minutes', async () => {
    await using client = await replaced()
    client.skip(9 * MINUTE)
    await madeByAnother(client)
    client.skip(2 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('such a pipe that comes while the request waits for its turn', async () => {
    await using client = await replaced()
    client.skip(GRACE)
    let made: Promise<string> | undefined
    client.interfere(({ method, below }) => {
      if (method !== 'GET' || below === '…' || made !== undefined) return undefined
      client.skip(11_000)
      made = madeByAnother(client)
      return undefined
    })
    await client.reconcile()
    await made
    expect(sent(client)).toEqual([])
  })
  test('where the list cannot be had, nothing is deleted', async () => {
    await using client = await replaced()
    client.skip(GRACE)
    client.interfere(({ method, below }) =>
      method === 'GET' && below === '…' ? { status: 403, error: 'FORBIDDEN' } : undefined,
    )
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
})

describe('what can be changed in place', () => {
  test('needs no list', async () => {
    await using client = await started(KAFKA, REPLACE)
    client.interfere(({ method, below }) =>
      method === 'GET' && below === '…' ? { status: 403, error: 'FORBIDDEN' } : undefined,
    )
    await client.want(having(KAFKA, { 'scaling.replicas': 3 }), REPLACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['PATCH /scaling'])
  })
})

describe('paused for a change', () => {
  test('whose start keeps failing, and to be replaced: it is deleted all the same', async () => {
    await using client = await started(POSTGRES, REPLACE)
    await client.want(withTable('invoices'), REPLACE)
    client.interfere(({ method, body }) =>
      method === 'PATCH' && body['command'] !== 'stop'
        ? { status: 500, error: 'INTERNAL_ERROR: no' }
        : undefined,
    )
    await client.reconcile()
    expect(sent(client)).toEqual(['stop'])
    client.skip(5_000)
    const edited = having(withTable('invoices'), { 'source.postgres.settings.replicationMode': 'snapshot' })
    await client.want(edited, REPLACE)
    await goesOn(client, 3 * HOUR)
    expect(sent(client), client.message()).toContain('DELETE')
  })
})

describe('between DELETE and POST', () => {
  test('policy.adopt names another pipe: that one is taken, and no resource is created', async () => {
    await using client = await replaced()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
    const id = '5a000000-0000-4000-8000-000000000000'
    await client.want(OTHER_TOPIC, { ...REPLACE, adopt: id })
    await goesOn(client, 30 * MINUTE)
    expect(sent(client)).toEqual([])
  })
  test('the create is refused once: it is told, and tried again', async () => {
    await using client = await replaced(OTHER_TOPIC, { ...REPLACE, onMissing: 'report' })
    client.skip(GRACE)
    await client.reconcile()
    let refused = 0
    client.interfere(({ method }) =>
      method === 'POST' && (refused += 1) <= 2 ? { status: 400, error: 'BAD_REQUEST: not now' } : undefined,
    )
    await goesOn(client, 30 * MINUTE)
    expect(client.reason()).toBe('InSync')
    expect(client.server.pipes().size).toBe(1)
  })
  test('the manifest is suspended between', async () => {
    await using client = await replaced()
    client.skip(GRACE)
    await client.reconcile()
    await client.want(OTHER_TOPIC, { ...REPLACE, suspend: { reason: 'x', until: '2999-01-01T00:00:00Z' } })
    await goesOn(client, 30 * MINUTE)
    await client.want(OTHER_TOPIC, REPLACE)
    await goesOn(client, 10 * MINUTE)
    expect(client.reason()).toBe('InSync')
  })
})

describe('clocks', () => {
  test('a clock that was ahead when the request was sent', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    client.interfere(({ method }) => (method === 'DELETE' ? 'cut before' : undefined))
    await client.reconcile()
    client.interfere(undefined)
    const record = client.record()
    if (record?.removal === undefined) throw new Error('none')
    const year = 365 * 24 * 60 * MINUTE
    await client.write({
      ...record,
      removal: { ...record.removal, sentAt: (record.removal.sentAt ?? 0) + year },
    })
    await goesOn(client, 30 * MINUTE)
    expect(sent(client)).toEqual(['DELETE'])
  })
})

describe('404s', () => {
  test('a request that never arrived, and a minute of 404s: nothing is forgotten', async () => {
    await using client = await unwanted()
    const id = client.id()
    client.skip(GRACE)
    client.interfere(({ method }) => (method === 'DELETE' ? 'cut before' : undefined))
    await client.reconcile()
    client.interfere(({ method, below }) =>
      method === 'GET' && below !== '…' ? { status: 404, error: 'NOT_FOUND: no such pipe' } : undefined,
    )
    await goesOn(client, 3 * MINUTE)
    client.interfere(undefined)
    await goesOn(client, 60 * MINUTE)
    expect(client.record()?.remote === undefined).toBe(!client.server.pipes().has(id))
  })
})

const isNotFound: Interfere = ({ method, below }) =>
  method !== 'POST' && below !== '…' ? { status: 404, error: 'NOT_FOUND: no such pipe' } : undefined

describe('404 by its id, and the list has it', () => {
  test('no request was sent: it is not said to be gone, and not forgotten', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    client.interfere(isNotFound)
    await goesOn(client, 20 * MINUTE)
    expect(client.message()).toContain('The pipe is not found. It is checked again until that is sure.')
    client.interfere(undefined)
    await goesOn(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE'])
    expect(client.record()?.remote).toBeUndefined()
  })
  test('the request is answered 404, too: the same', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    client.interfere((asked) => (asked.method === 'DELETE' ? isNotFound(asked) : undefined))
    await client.reconcile()
    client.interfere(isNotFound)
    await goesOn(client, 20 * MINUTE)
    expect(client.message()).toContain('It is checked until the pipe is gone.')
    expect(client.server.pipes().has(client.id())).toBe(true)
  })
  test('there is no list at the moment: it is not forgotten until there is', async () => {
    await using client = await unwanted()
    client.skip(GRACE)
    await client.reconcile()
    client.server.setStates(client.id(), 'gone')
    client.interfere(({ below }) =>
      below === '…' ? { status: 503, error: 'SERVICE_UNAVAILABLE' } : undefined,
    )
    await goesOn(client, 5 * MINUTE)
    expect(client.record()?.removal).toMatchObject({ isSent: true })
    client.interfere(undefined)
    await goesOn(client, 20 * MINUTE)
    expect(client.record()?.remote).toBeUndefined()
  })
  test('the list has nothing, not even what else is there: it is not believed', async () => {
    await using client = await started(KAFKA, {})
    await client.put('b.json', manifestOf('b', { ...OTHER_TOPIC, name: 'another' }))
    await client.reconcile(undefined, 'Pipe/b')
    await client.want(KAFKA, DELETE)
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    client.server.setStates(client.id(), 'gone')
    client.interfere(
      ({ method, below }) => (method === 'GET' && below === '…' ? { answered: [] as never } : undefined), // it is sent as it is
    )
    await goesOn(client, 5 * MINUTE)
    expect(client.record()?.removal).toMatchObject({ isSent: true })
    client.interfere(undefined)
    await goesOn(client, 5 * MINUTE)
    expect(client.record()?.remote).toBeUndefined()
  })
})

describe('held on the way', () => {
  test('a reading that fails does not begin the grace anew', async () => {
    await using client = await replaced()
    client.skip(9 * MINUTE)
    client.interfere(({ method }) =>
      method === 'GET' ? { status: 503, error: 'SERVICE_UNAVAILABLE' } : undefined,
    )
    await client.reconcile()
    client.interfere(undefined)
    client.skip(2 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
  })
  test('a secret that is not there yet', async () => {
    await using client = await replaced()
    const before = new Map(client.mounted)
    for (const name of client.mounted.keys()) if (!name.startsWith('api/')) client.mounted.delete(name)
    client.skip(GRACE)
    await client.reconcile()
    for (const [name, text] of before) client.mounted.set(name, text)
    client.skip(MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
  })
})

describe('as it was left', () => {
  test('somebody added what its manifest never named, long before the edit: nobody asked for that to go', async () => {
    await using client = await started(KAFKA, REPLACE)
    client.skip(HOUR)
    await client.reconcile()
    const before = client.body() ?? {}
    const settings = { ...(before['settings'] as JsonObject), streaming_max_insert_wait_ms: 7_000 }
    client.server.setBody(client.id(), { ...before, settings })
    await client.reconcile()
    await client.want(OTHER_TOPIC, REPLACE)
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client), client.message()).toEqual([])
  })
})

/** A DELETE that the service answers with 503, and does not carry out. */
async function refusedOnce(): Promise<Client> {
  const client = await started(KAFKA, {})
  await client.want(KAFKA, { ensure: 'absent' })
  await client.reconcile()
  client.skip(GRACE + 1_000)
  client.interfere(({ method }) => (method === 'DELETE' ? { status: 503, error: 'x' } : undefined))
  await client.reconcile()
  client.interfere(undefined)
  sent(client)
  return client
}

async function minutes(client: Client, count: number): Promise<readonly string[]> {
  for (let minute = 0; minute < count; minute += 1) {
    client.skip(MINUTE)
    await client.reconcile()
  }
  return sent(client)
}

describe('a request without effect', () => {
  test('is not repeated for a manifest that was taken back with an error', async () => {
    await using client = await refusedOnce()
    await expect(client.want(KAFKA, { ensure: 'present', nonsense: true } as Policy)).rejects.toThrow(
      'nonsense',
    )
    expect(await minutes(client, 30)).toEqual([])
  })

  test('is repeated ten minutes after the manifest asks again, and not sooner', async () => {
    await using client = await refusedOnce()
    await client.want(KAFKA, {})
    expect(await minutes(client, 9)).toEqual([])
    await client.want(KAFKA, { ensure: 'absent' })
    await client.reconcile()
    expect(await minutes(client, 9)).toEqual([])
    expect(await minutes(client, 3)).toEqual(['DELETE'])
  })
})

test('nothing is deleted while a Lock names another pipe for its key', async () => {
  await using client = await started(KAFKA, {})
  const other = await madeByAnother(client)
  await client.put('all.lock.json', {
    apiVersion: 'pipewright/v1',
    kind: 'Lock',
    metadata: { name: 'all' },
    spec: { pipes: { [client.record()?.key ?? '']: other } },
  })
  await client.want(KAFKA, { ensure: 'absent' })
  for (let minute = 0; minute < 14; minute += 1) {
    await client.reconcile()
    client.skip(MINUTE)
  }
  expect(sent(client)).toEqual([])
  expect(client.message()).toContain('a Lock names another pipe for this manifest')
})

/** What is sent then, and after so long. */
async function sentWithin(client: Client, ms: number): Promise<readonly string[]> {
  await client.reconcile()
  client.skip(ms)
  await client.reconcile()
  return sent(client)
}

describe('manifests that may be older than what another process acted on, however long', () => {
  test('a wish that is there says nothing', async () => {
    await using client = await started(KAFKA, {})
    await client.older('r2')
    await client.want(KAFKA, DELETE)
    expect(await sentWithin(client, 60 * MINUTE)).toEqual([])
    expect(client.record()?.removal).toBeUndefined()
    await client.older(undefined)
    expect(await sentWithin(client, 9 * MINUTE)).toEqual([])
    expect(await sentWithin(client, 2 * MINUTE)).toEqual(['DELETE'])
  })
  test('what only another pipe can be is not replaced', async () => {
    await using client = await started(KAFKA, REPLACE)
    await client.older('r2')
    await client.want(OTHER_TOPIC, REPLACE)
    expect(await sentWithin(client, 60 * MINUTE)).toEqual([])
    expect(client.message()).toContain('another process has acted on another revision of the manifests')
    await client.older(undefined)
    expect(await sentWithin(client, 9 * MINUTE)).toEqual([])
    expect(await sentWithin(client, 2 * MINUTE)).toContain('DELETE')
  })
})
