import { describe, expect, test } from 'vitest'
import { keyOf } from '../../src/kinds/key.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { deletionDigest } from '../../src/plan/delete-limit.ts'
import { expectsManifest } from '../../src/plan/gates.ts'
import { blankRecord } from '../../src/plan/record.ts'
import type { Client } from './client.ts'
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
import { HOUR, KAFKA, MINUTE, sent } from './edited-pipes.ts'
import { withRefs } from './refs.ts'

/* What stands in the way of a deletion, for a while: the ten minutes begin once nothing does, whoever had a turn meanwhile. */

const OTHER = keyOf('Pipe', 'b')

function manifest(body: JsonObject, policy: JsonObject = {}): JsonObject {
  const spec = { service: 'analytics', ...withRefs(body).spec }
  return { apiVersion: 'pipewright/v1', kind: 'Pipe', metadata: { name: 'b' }, policy, spec }
}

/** A pipe of another key, recorded with this body. */
async function alsoCreated(client: Client, more: object = {}): Promise<void> {
  const record = client.record()
  if (record?.remote === undefined) throw new Error('there is none')
  await client.write({
    ...record,
    key: OTHER,
    version: 0,
    platformName: 'b',
    applied: { digest: 'b', fields: {}, secrets: {} },
    remote: { ...record.remote, id: '5a000000-0000-4000-8000-000000000000' },
    onRemove: undefined,
    removal: undefined,
    left: undefined,
    ...more,
  })
}

/** What is sent within nine minutes from now on, and what within the two after them. */
async function sentBy(client: Client): Promise<readonly (readonly string[])[]> {
  await client.reconcile()
  client.skip(9 * MINUTE)
  await client.reconcile()
  const within = sent(client)
  client.skip(2 * MINUTE)
  await client.reconcile()
  return [within, sent(client)]
}

const TEN_MINUTES_LATER = [[], ['DELETE']]

const lockOf = (client: Client): JsonObject => ({
  apiVersion: 'pipewright/v1',
  kind: 'Lock',
  metadata: { name: 'l' },
  spec: { pipes: { [OTHER]: client.id() } },
})

describe.each([
  { what: 'a manifest that is like it', document: () => manifest(KAFKA) },
  { what: 'a manifest with errors', document: () => manifest(KAFKA, { nonsense: 1 }) },
  { what: 'a Lock that gives it to another key', document: lockOf },
  {
    what: 'a Lock that cannot be read',
    document: () => ({ apiVersion: 'pipewright/v1', kind: 'Lock', spec: 5 }),
  },
] as const)('$what', ({ document }) => {
  test('comes and goes between two turns', async () => {
    await using client = await removed()
    client.skip(9 * MINUTE)
    await client.put('b.json', document(client))
    await client.put('b.json', undefined)
    client.skip(2 * MINUTE)
    expect(await sentBy(client), client.message()).toEqual(TEN_MINUTES_LATER)
  })
  test('is read by a process that ends before the key has its turn', async () => {
    await using client = await removed()
    client.skip(9 * MINUTE)
    await client.put('b.json', document(client))
    await client.restart()
    await client.put('b.json', undefined)
    client.skip(2 * MINUTE)
    expect(await sentBy(client), client.message()).toEqual(TEN_MINUTES_LATER)
  })
  test('is there while the service does not answer', async () => {
    await using client = await removed()
    client.skip(GRACE)
    client.interfere(() => ({ status: 503, error: 'SERVICE_UNAVAILABLE' }))
    await client.reconcile()
    await client.put('b.json', document(client))
    for (let turn = 0; turn < 6; turn += 1) {
      client.skip(5 * MINUTE)
      await client.reconcile()
    }
    await client.put('b.json', undefined)
    await client.reconcile()
    client.interfere(undefined)
    await goesOn(client, 8 * MINUTE)
    expect(sent(client), client.message()).toEqual([])
  })
})

test.each([
  {
    what: 'the Service manifest has errors',
    begin: (client: Client) => client.service('broken'),
    end: (client: Client) => client.service('there'),
  },
  {
    what: 'the last reading is not believed',
    begin: async (client: Client) => client.doubt('there'),
    end: async (client: Client) => client.doubt('over'),
  },
])('for hours $what: then there are ten minutes', async ({ begin, end }) => {
  await using client = await removed()
  await begin(client)
  for (let turn = 0; turn < 6; turn += 1) {
    client.skip(HOUR / 2)
    await client.reconcile()
  }
  expect(client.message()).toContain('Nothing is deleted')
  await end(client)
  expect(await sentBy(client), client.message()).toEqual(TEN_MINUTES_LATER)
})

test('the limit holds it back for hours, and another manifest is back: then there are ten minutes', async () => {
  await using client = await removed()
  await alsoCreated(client, { onRemove: 'delete', left: { digest: 'b', since: 0, fields: {} } })
  await client.remove()
  for (let turn = 0; turn < 4; turn += 1) {
    client.skip(HOUR)
    await client.reconcile()
  }
  expect(client.message()).toContain('bring the manifests back')
  await client.put('b.json', manifest(withTopics('b'), DELETE))
  expect(await sentBy(client), client.message()).toEqual(TEN_MINUTES_LATER)
})

test('another manifest asked for it, and then the limit holds it back: a person who lets it pass has ten minutes, too', async () => {
  await using client = await removed()
  await client.put('lock.json', lockOf(client))
  client.skip(GRACE)
  await client.reconcile()
  await alsoCreated(client, { onRemove: 'delete', left: { digest: 'b', since: 0, fields: {} } })
  await client.put('lock.json', undefined)
  await client.reconcile()
  expect(client.reason()).toBe('DeleteLimit')
  const record = client.record()
  if (record === undefined) throw new Error('there is none')
  const digest = deletionDigest(undefined, record)
  await client.write({ ...record, allowed: { digest, at: 0, until: Number.MAX_SAFE_INTEGER } })
  expect(await sentBy(client), client.message()).toEqual(TEN_MINUTES_LATER)
})

test('a manifest with errors that has its own pipe may ask for this one', async () => {
  await using client = await removed()
  await alsoCreated(client)
  await client.put('b.json', manifest({ ...withTopics('b'), name: 'b' }))
  await client.put('b.json', manifest(KAFKA, { adopt: client.id(), nonsense: 1 }))
  await goesOn(client, HOUR)
  expect(sent(client), client.message()).toEqual([])
  expect(client.message()).toContain('Pipe/b may ask for this pipe')
})

test('a rename that was carried out, and is still written down, asks for nothing', async () => {
  await using client = await started(KAFKA, DELETE)
  await alsoCreated(client)
  await client.put('b.json', manifest({ ...withTopics('b'), name: 'b' }, { renamedFrom: 'Pipe/edited' }))
  await client.remove()
  await goesOn(client, HOUR)
  expect(sent(client), client.message()).toEqual(['DELETE'])
})

test('a record that moves to another key is deleted only as the manifest there says', async () => {
  await using client = await removed()
  client.skip(9 * MINUTE)
  await client.put('b.json', manifest(KAFKA, { renamedFrom: 'Pipe/edited' }))
  await client.reconcile(undefined, OTHER)
  expect(client.record(OTHER)).toMatchObject({ onRemove: undefined, removal: undefined })
})

test('a request that never arrived; its manifest is back, and goes again: ten minutes again', async () => {
  await using client = await removed()
  client.skip(GRACE)
  client.interfere(({ method }) => (method === 'DELETE' ? 'cut before' : undefined))
  await client.reconcile()
  client.interfere(undefined)
  sent(client)
  client.skip(MINUTE)
  await client.want(KAFKA, DELETE)
  await client.reconcile()
  client.skip(8 * MINUTE)
  await client.reconcile()
  await client.remove()
  await client.reconcile()
  client.skip(2 * MINUTE)
  await client.reconcile()
  expect(sent(client), client.message()).toEqual([])
  client.skip(GRACE)
  await client.reconcile()
  expect(sent(client), client.message()).toEqual(['DELETE'])
})

describe('what is to be replaced', () => {
  test('has a manifest, and is missed when that goes', async () => {
    await using client = await replaced()
    expect(expectsManifest(client.record() ?? blankRecord(OTHER))).toBe(true)
  })
  test('another manifest that may ask for it comes and goes between two turns', async () => {
    await using client = await replaced()
    client.skip(9 * MINUTE)
    await client.put('b.json', manifest(KAFKA))
    await client.put('b.json', undefined)
    client.skip(2 * MINUTE)
    await client.reconcile()
    expect(sent(client)).toEqual([])
  })
  test('its request never took effect, and then its manifest goes: it is deleted in the end', async () => {
    await using client = await replaced(OTHER_TOPIC, { ...REPLACE, ...DELETE })
    client.skip(GRACE)
    client.interfere(({ method }) => (method === 'DELETE' ? 'cut before' : undefined))
    await client.reconcile()
    client.interfere(undefined)
    expect(client.record()?.removal).toMatchObject({ isSent: true })
    sent(client)
    await client.remove()
    await goesOn(client, 3 * HOUR)
    expect(sent(client), client.message()).toEqual(['DELETE'])
  })
})
