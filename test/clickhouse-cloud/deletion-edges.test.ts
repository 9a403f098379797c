import { describe, expect, test } from 'vitest'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import { startClient, told, type Client } from './client.ts'
import { withAt } from './edits.ts'
import { givenNamed, wireBody } from './given.ts'

/* Attacks on deletion and replacement of pipes (design §14): what happens before, after, late, twice and in between. */

const KAFKA = wireBody(givenNamed('orders'))
const MINUTE = 60_000
const GRACE = 10 * MINUTE + 1_000
const DELETE: Policy = { onRemove: 'delete' }
const REPLACE: Policy = { onImmutable: 'replace' }

function having(body: JsonObject, path: string, value: Json): JsonObject {
  return withAt(body, path.split('.'), value) as JsonObject // the root of a body is one
}

const topic = (name: string) => having(KAFKA, 'source.kafka.topics', name)
const OTHER_TOPIC = topic('orders.v2')

async function started(body: JsonObject, policy: Policy): Promise<Client> {
  const client = await startClient(body)
  await client.want(body, policy)
  await client.reconcile()
  client.skip(20 * MINUTE)
  await client.reconcile('in passing')
  client.changes()
  return client
}

async function removed(body: JsonObject = KAFKA, policy = DELETE): Promise<Client> {
  const client = await started(body, policy)
  await client.remove()
  await client.reconcile()
  return client
}

async function edited(body: JsonObject = OTHER_TOPIC, policy = REPLACE): Promise<Client> {
  const client = await started(KAFKA, policy)
  await client.want(body, policy)
  await client.reconcile()
  expect(client.reason()).toBe('Replacing')
  return client
}

function sent(client: Client): readonly string[] {
  return client.changes().map(told)
}

async function during(client: Client, ms: number): Promise<number> {
  let left = ms
  let count = 0
  for (; left > 0 && client.record() !== undefined; count += 1) {
    const { next } = await client.reconcile()
    const wait = Math.min(left, Math.max(250, next?.afterMs ?? left))
    client.skip(wait)
    left -= wait
  }
  if (client.record() !== undefined) await client.reconcile()
  return count
}

/** Other pipes of the service that are there, or that are to be deleted. */
async function others(client: Client, count: number, more: object = {}): Promise<void> {
  const record = client.record()
  if (record?.remote === undefined) throw new Error('none')
  for (let i = 0; i < count; i += 1)
    await client.write({
      ...record,
      key: `Pipe/other-${i}`,
      version: 0,
      platformName: `other-${i}`,
      applied: undefined,
      remote: { ...record.remote, id: `0ther000-0000-4000-8000-${String(i).padStart(12, '0')}` },
      onRemove: undefined,
      removal: undefined,
      left: undefined,
      ...more,
    } as never)
}

describe('1. the mark', () => {
  test('1a the request arrives, its reply is lost, and the next look says 404: the mark stays', async () => {
    const policy: Policy = { ...REPLACE, onMissing: 'report' }
    await using client = await edited(OTHER_TOPIC, policy)
    client.skip(GRACE)
    let cut = 0
    client.interfere(({ method }) => {
      if (method === 'GET' && cut > 0) client.server.setStates(client.id(), 'gone')
      return method === 'DELETE' && (cut += 1) === 1 ? 'cut after' : undefined
    })
    await client.reconcile()
    client.interfere(undefined)
    expect.soft(client.record()?.removal).toMatchObject({ isSent: true })
    await during(client, 60 * MINUTE)
    expect(sent(client), client.message()).toEqual(['DELETE', 'POST'])
  })
  test('1b the request arrives, its reply is lost, and its next attempt is refused: the mark stays', async () => {
    const policy: Policy = { ...REPLACE, onMissing: 'report' }
    await using client = await edited(OTHER_TOPIC, policy)
    client.skip(GRACE)
    let cut = 0
    client.interfere(({ method }) => {
      if (method !== 'DELETE') return undefined
      return (cut += 1) === 1 ? 'cut after' : { status: 400, error: 'BAD_REQUEST: it is being deleted' }
    })
    await client.reconcile()
    client.interfere(undefined)
    expect.soft(client.record()?.removal).toMatchObject({ isSent: true })
    await during(client, 60 * MINUTE)
    expect(sent(client), client.message()).toEqual(['DELETE', 'POST'])
  })
  test('1c the manifest vanishes (no onRemove) after the DELETE of a replacement', async () => {
    await using client = await edited()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
    await client.remove()
    await client.reconcile()
    expect.soft(client.record()?.removal).toMatchObject({ isSent: true })
    await during(client, 30 * MINUTE)
    expect.soft(client.message()).not.toContain('Nothing is deleted')
  })
  test('1d a restart after the DELETE of a replacement, with the directory not there yet', async () => {
    await using client = await edited(OTHER_TOPIC, { ...REPLACE, onMissing: 'report' })
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
    await client.restartWithout()
    await client.reconcile()
    expect.soft(client.record()?.removal).toMatchObject({ isSent: true })
    await client.want(OTHER_TOPIC, { ...REPLACE, onMissing: 'report' })
    await during(client, 60 * MINUTE)
    expect.soft(sent(client)).toEqual(['POST'])
  })
  test('1e a restart after the DELETE of a removal, and the manifest is back but has errors', async () => {
    await using client = await removed()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
    await client.want(KAFKA, { ...DELETE, onMissing: 'report' })
    await client.spoil()
    await client.restart()
    await client.reconcile()
    expect.soft(client.record()?.removal).toMatchObject({ isSent: true })
    await client.want(KAFKA, { ...DELETE, onMissing: 'report' })
    await during(client, 60 * MINUTE)
    expect.soft(sent(client)).toEqual(['POST'])
  })
  test('1f the manifest comes back between two attempts of one DELETE of which the first may have arrived', async () => {
    await using client = await removed()
    client.skip(GRACE)
    let back: Promise<void> | undefined
    client.interfere(({ method }) => {
      if (method !== 'DELETE' || back) return undefined
      back = client.want(KAFKA, { ...DELETE, onMissing: 'report' })
      return 'cut after'
    })
    await client.reconcile()
    client.interfere(undefined)
    await during(client, 60 * MINUTE)
    expect.soft(sent(client)).toEqual(['DELETE', 'POST'])
  })
})

describe('2. the grace', () => {
  test('2a another edit after a first one was refused for long', async () => {
    await using client = await edited()
    await others(client, 3, { removal: { digest: 'x', since: 0 } })
    await client.reconcile()
    expect(client.reason()).toBe('DeleteLimit')
    client.skip(60 * MINUTE)
    await client.reconcile()
    expect(client.reason()).toBe('DeleteLimit')
    for (const i of [0, 1, 2]) await client.drop(`Pipe/other-${i}`)
    await client.want(topic('orders.v3'), REPLACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('2b the manifest is removed after an edit was refused for long', async () => {
    const policy: Policy = { ...REPLACE, ...DELETE }
    await using client = await edited(OTHER_TOPIC, policy)
    await others(client, 3, { removal: { digest: 'x', since: 0 } })
    client.skip(60 * MINUTE)
    await client.reconcile()
    expect(client.reason()).toBe('DeleteLimit')
    for (const i of [0, 1, 2]) await client.drop(`Pipe/other-${i}`)
    await client.remove()
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('2c an orphan that was kept for long, and its manifest comes back with an edit', async () => {
    const policy: Policy = { ...REPLACE, ...DELETE }
    await using client = await removed(KAFKA, policy)
    await client.service('broken')
    await client.remove()
    client.skip(60 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    await client.service('there')
    await client.want(OTHER_TOPIC, policy)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('2d edited, then edited again while nobody ran, as between two jobs', async () => {
    await using client = await edited()
    client.skip(60 * MINUTE)
    await client.want(topic('orders.v3'), REPLACE)
    await client.restart()
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('2e edited, then removed while nobody ran', async () => {
    await using client = await edited(OTHER_TOPIC, { ...REPLACE, ...DELETE })
    client.skip(60 * MINUTE)
    await client.restartWithout()
    await client.reconcile()
    await client.remove()
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('2f removed, then back with an edit while nobody ran', async () => {
    const policy: Policy = { ...REPLACE, ...DELETE }
    await using client = await removed(KAFKA, policy)
    client.skip(60 * MINUTE)
    await client.want(OTHER_TOPIC, policy)
    await client.restart()
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('2g a restart neither begins it anew nor ends it', async () => {
    await using client = await removed()
    client.skip(5 * MINUTE)
    await client.restartWithout()
    await client.remove()
    await client.reconcile()
    client.skip(4 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    client.skip(2 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
  })
})

describe('3. the last look', () => {
  test('3a by the queue: a list of before hides an edit of somebody', async () => {
    await using client = await edited()
    client.skip(GRACE)
    const before = client.body() ?? {}
    const after = having(before, 'name', 'mine')
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

describe('4. the limit', () => {
  test('4a a word that was given for one removal counts for no later one', async () => {
    await using client = await removed()
    await others(client, 5, { onRemove: 'delete' })
    await client.remove()
    await client.reconcile()
    expect(client.reason()).toBe('DeleteLimit')
    const record = client.record()
    if (record === undefined) throw new Error('none')
    const now = Date.now() + 21 * MINUTE
    await client.write({ ...record, allowed: { digest: 'removed', at: now, until: now + 15 * MINUTE } })
    client.skip(MINUTE)
    await client.want(KAFKA, DELETE)
    await client.reconcile()
    await client.remove()
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('DeleteLimit')
  })
  test('4b one that is kept for good does not count', async () => {
    await using client = await removed()
    await others(client, 1, { onRemove: 'delete', removal: { since: 0 }, left: undefined })
    await client.remove()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
  })
  test('4c what is refused asks for nothing', async () => {
    await using client = await removed()
    await others(client, 5, { onRemove: 'delete' })
    await client.remove()
    client.skip(GRACE)
    let gets = 0
    client.interfere(() => ((gets += 1), undefined))
    await during(client, 10 * MINUTE)
    expect(gets).toBeLessThan(12)
  })
})

describe('5. between DELETE and POST', () => {
  test('5a policy.adopt names another pipe: that one is taken, and nothing is created', async () => {
    await using client = await edited()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual(['DELETE'])
    const id = '5a000000-0000-4000-8000-000000000000'
    await client.want(OTHER_TOPIC, { ...REPLACE, adopt: id })
    await during(client, 30 * MINUTE)
    expect(sent(client)).toEqual([])
  })
  test('5b the create is refused once: it is told, and tried again', async () => {
    await using client = await edited(OTHER_TOPIC, { ...REPLACE, onMissing: 'report' })
    client.skip(GRACE)
    await client.reconcile()
    let refused = 0
    client.interfere(({ method }) =>
      method === 'POST' && (refused += 1) <= 2 ? { status: 400, error: 'BAD_REQUEST: not now' } : undefined,
    )
    await during(client, 30 * MINUTE)
    expect(client.reason()).toBe('InSync')
    expect(client.server.pipes().size).toBe(1)
  })
  test('5c policy.adopt names the pipe that it has: the edit replaces that, and is done then', async () => {
    await using client = await started(KAFKA, REPLACE)
    const policy: Policy = { ...REPLACE, adopt: client.id() }
    await client.want(OTHER_TOPIC, policy)
    await client.reconcile()
    client.skip(GRACE)
    await during(client, 30 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
    expect(client.reason(), client.message()).toBe('InSync')
  })
  test('5e the manifest is suspended between', async () => {
    await using client = await edited()
    client.skip(GRACE)
    await client.reconcile()
    await client.want(OTHER_TOPIC, { ...REPLACE, suspend: { reason: 'x', until: '2999-01-01T00:00:00Z' } })
    await during(client, 30 * MINUTE)
    await client.want(OTHER_TOPIC, REPLACE)
    await during(client, 10 * MINUTE)
    expect(client.reason()).toBe('InSync')
  })
})

describe('6. clocks', () => {
  test('6a a clock that was ahead when the request was sent', async () => {
    await using client = await removed()
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
    await during(client, 30 * MINUTE)
    expect(sent(client)).toEqual(['DELETE'])
  })
})

describe('7. 404s', () => {
  test('7a a request that never arrived, and a minute of 404s: nothing is forgotten', async () => {
    await using client = await removed()
    const id = client.id()
    client.skip(GRACE)
    client.interfere(({ method }) => (method === 'DELETE' ? 'cut before' : undefined))
    await client.reconcile()
    client.interfere(({ method, below }) =>
      method === 'GET' && below !== '…' ? { status: 404, error: 'NOT_FOUND: no such pipe' } : undefined,
    )
    await during(client, 3 * MINUTE)
    client.interfere(undefined)
    await during(client, 60 * MINUTE)
    expect(client.record() === undefined).toBe(!client.server.pipes().has(id))
  })
  test('7b the same for a replacement, where the list is of no help', async () => {
    await using client = await edited()
    client.skip(GRACE)
    client.interfere(({ method }) => (method === 'DELETE' ? 'cut before' : undefined))
    await client.reconcile()
    client.interfere(({ method, below }) =>
      method === 'GET' && below !== '…' ? { status: 404, error: 'NOT_FOUND: no such pipe' } : undefined,
    )
    await during(client, 30 * MINUTE)
    client.interfere(undefined)
    expect(client.server.pipes().size).toBe(1)
  })
})

describe('8. held on the way', () => {
  test('8a a reading that fails does not begin the grace anew', async () => {
    await using client = await edited()
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
  test('8b a refused DELETE of a replacement does not begin the grace anew', async () => {
    await using client = await edited()
    client.skip(GRACE)
    client.interfere(({ method }) =>
      method === 'DELETE' ? { status: 400, error: 'BAD_REQUEST: not now' } : undefined,
    )
    await client.reconcile()
    await client.reconcile('in passing')
    client.interfere(undefined)
    sent(client)
    await during(client, 5 * MINUTE)
    expect(sent(client)).toEqual(['DELETE', 'POST'])
  })
  test('8c a secret that is not there yet', async () => {
    await using client = await edited()
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

describe('10. as it was left', () => {
  test('10a somebody added what its manifest never named, long before it was removed: nobody asked for that to go', async () => {
    await using client = await started(KAFKA, DELETE)
    const before = client.body() ?? {}
    const settings = { ...(before['settings'] as JsonObject), kafka_shuffle: 1 }
    client.server.setBody(client.id(), { ...before, settings })
    await client.reconcile()
    await client.remove()
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client), client.message()).toEqual([])
  })
})

describe('9. claims', () => {
  test('9a a Lock that cannot be read may name it for another one', async () => {
    await using client = await removed()
    await client.put('lock.json', { apiVersion: 'pipewright/v1', kind: 'Lock', spec: 5 })
    await client.remove()
    client.skip(GRACE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
})
