import { describe, expect, test } from 'vitest'
import type { Platform } from '../../src/contract/platform.ts'
import { notSent } from '../../src/contract/remote-error.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { created } from '../plan/inputs.ts'
import { createdOf } from '../../src/reconcile/state/recorded.ts'
import { LedgerError } from '../../src/contract/ledger.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import {
  around,
  KEY,
  KEY_B,
  saidBy,
  SPEC,
  startProcess,
  type Around,
  type EndpointClient,
} from './endpoint-client.ts'

/* What was applied is deleted only where its manifest asked for it while it was there, and only as it was left (design §2, law 4; §14). */

const MINUTE = 60_000
/** More than the clocks of two processes differ by. */
const GRACE = 10 * MINUTE + 1_000
const DELETE = { analytics: { policy: { onRemove: 'delete' } } } as const

/** A client that applied an endpoint of this policy; its manifest is gone since. */
async function removed(world: Around, policy: JsonObject = { onRemove: 'delete' }): Promise<EndpointClient> {
  const client = await startProcess(world)
  await client.want({ analytics: { policy } })
  await client.reconcile()
  await client.want({})
  client.sent()
  return client
}

async function recordOf(world: Around) {
  return world.ledger.get(KEY)
}

describe('policy.onRemove delete', () => {
  test('deletes ten minutes after the manifest is gone, once, and forgets it', async () => {
    await using world = await around()
    await using client = await removed(world)
    const first = await client.reconcile()
    expect(first.action).toMatchObject({ type: 'hold', reason: 'Orphaned' })
    expect(first.next).toMatchObject({ why: 'retry' })
    expect(first.next?.afterMs).toBeGreaterThan(9.9 * MINUTE)
    expect(first.next?.afterMs).toBeLessThanOrEqual(10 * MINUTE + 1)
    expect(client.shown()).toMatchObject({ status: 'Orphaned', reason: 'Orphaned' })
    expect(saidBy(first)).toContain('The query endpoint is deleted ten minutes after that is known')
    client.skip(9 * MINUTE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold' })
    expect(client.sent()).toEqual([])
    client.skip(MINUTE + 1_000)
    const last = await client.reconcile()
    expect(last.action).toMatchObject({ type: 'delete', reason: 'Orphaned' })
    expect(last.next).toBeUndefined()
    expect(client.sent()).toEqual(['GET 200', 'GET 200', 'DELETE 200'])
    expect(world.asker.server.endpoint()).toBeUndefined()
    expect(await recordOf(world)).toBeUndefined()
    expect(client.shown()).toBeUndefined()
    const told = (await world.ledger.history({ key: KEY, limit: 10 })).filter(
      (entry) => entry.type === 'action',
    )
    expect(told.filter(({ action }) => action === 'delete').map(({ message }) => message)).toEqual([
      'The manifest was removed (it was in analytics.json), and said policy.onRemove "delete" last. The query endpoint was deleted.',
    ])
  })

  test('is in a plan before, with the access that it takes away', async () => {
    await using world = await around()
    await using client = await removed(world)
    expect(await client.plan()).toMatchObject({
      action: 'delete',
      verdict: 'change',
      reason: 'Orphaned',
      takesAway: ['role sql_console_read_only', `key ${SPEC.openApiKeys[0]}`, 'origin app.example.com'],
    })
    await client.reconcile()
    client.skip(GRACE)
    expect(await client.plan()).toMatchObject({
      action: 'delete',
      verdict: 'change',
      message: expect.stringContaining('The query endpoint will be deleted.'),
    })
    expect(world.asker.server.endpoint()).toEqual(SPEC)
    expect(client.sent()).not.toContain('DELETE 200')
  })

  test.each([
    ['nothing', {}],
    ['orphan', { onRemove: 'orphan' }],
    [
      'delete, and suspend',
      { onRemove: 'delete', suspend: { reason: 'migration', until: '2100-01-01T00:00:00Z' } },
    ],
  ])('is not what the last valid manifest said: %s', async (_, policy) => {
    await using world = await around()
    await using client = await startProcess(world)
    await client.want(DELETE)
    await client.reconcile()
    await client.want({ analytics: { policy } })
    await client.reconcile()
    await client.want({})
    client.sent()
    for (let look = 0; look < 3; look += 1) {
      expect((await client.reconcile()).action).toMatchObject({ type: 'report', reason: 'Orphaned' })
      client.skip(20 * MINUTE)
    }
    expect(client.sent()).toEqual([])
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test('still counts where the manifest was broken before it went', async () => {
    await using world = await around()
    await using client = await startProcess(world)
    await client.want(DELETE)
    await client.reconcile()
    await client.want({ analytics: { spec: { ...SPEC, roles: ['nobody'] }, policy: { onRemove: 'orphan' } } })
    expect((await client.reconcile()).action.reason).toBe('InvalidManifest')
    await client.want({})
    await client.reconcile()
    client.skip(GRACE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'delete' })
  })

  test('ends when the manifest comes back, and begins anew when it goes again', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(9 * MINUTE)
    await client.want(DELETE)
    expect((await client.reconcile()).action.reason).toBe('InSync')
    expect((await recordOf(world))?.removal).toBeUndefined()
    client.skip(60 * MINUTE)
    await client.want({})
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold' })
    client.skip(9 * MINUTE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold' })
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test('ends even when it comes back right before the request', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(GRACE)
    const remove = removeOf(client)
    const late: Platform['remove'] = async (...asked) => {
      await client.want(DELETE)
      return remove(...asked)
    }
    Object.assign(client.context.platform, { remove: late })
    expect((await client.reconcile()).action).toMatchObject({ type: 'observe', reason: 'InSync' })
    expect(client.sent().filter((each) => each.startsWith('DELETE'))).toEqual([])
    expect((await recordOf(world))?.removal).toBeUndefined()
  })

  test.each([
    ['somebody changed it', { ...SPEC, openApiKeys: [KEY_B] }, 'was changed since it was applied from here'],
    ['somebody changed it right before the request', undefined, 'was changed since it was applied from here'],
  ])('leaves it where %s', async (_, body, words) => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    const changed = { ...SPEC, openApiKeys: [KEY_B] }
    if (body !== undefined) await client.set(body)
    client.skip(GRACE)
    const remove = removeOf(client)
    const late: Platform['remove'] = async (...asked) => {
      await client.set(changed)
      return remove(...asked)
    }
    Object.assign(client.context.platform, { remove: late })
    const result = await client.reconcile()
    expect(result.action).toMatchObject({ type: 'report', reason: 'Orphaned' })
    expect(saidBy(result)).toContain(words)
    expect(world.asker.server.endpoint()).toEqual(changed)
    expect(client.sent().filter((each) => each.startsWith('DELETE'))).toEqual([])
    expect(await recordOf(world)).toBeDefined()
  })

  test('leaves what was there before, and was not applied from here', async () => {
    await using world = await around()
    await using client = await startProcess(world)
    await client.set({ ...SPEC })
    await client.want(DELETE)
    await client.reconcile()
    await client.want({})
    await client.reconcile()
    client.skip(20 * MINUTE)
    const result = await client.reconcile()
    expect(result.action).toMatchObject({ type: 'report', reason: 'Orphaned' })
    expect(saidBy(result)).toContain('was not applied from here')
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test('leaves what another manifest applies now: a service has one', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.want({ renamed: { policy: { onRemove: 'delete' } } })
    await client.reconcile()
    client.skip(20 * MINUTE)
    const result = await client.reconcile()
    expect(result.action).toMatchObject({ type: 'report', reason: 'Orphaned' })
    expect(saidBy(result)).toContain('it may be the one of QueryEndpoint/renamed')
    expect(world.asker.server.endpoint()).toEqual(SPEC)
    // That one goes, too: from then on there is as much time to take it back as ever.
    await client.want({})
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold', reason: 'Orphaned' })
    client.skip(9 * MINUTE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold', reason: 'Orphaned' })
    expect(world.asker.server.endpoint()).toEqual(SPEC)
    client.skip(MINUTE + 1_000)
    expect((await client.reconcile()).action).toMatchObject({ type: 'delete' })
  })

  test('leaves it while no Service manifest leads there, and deletes it ten minutes after one does', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(20 * MINUTE)
    for (const without of [{ 'service.json': service('other') }, { 'service.json': broken('analytics') }]) {
      await client.want({}, without)
      const result = await client.reconcile()
      expect(result.action).toMatchObject({ type: 'report', reason: 'Orphaned' })
      expect(saidBy(result)).toContain('no valid Service manifest leads to the query endpoint')
    }
    await client.want({})
    const { catalog } = client.context.store
    if (catalog === undefined) throw new Error('there are no manifests')
    // What it said last leads there, and may be no longer so.
    const entries = new Map(
      [...catalog.entries].map(([key, entry]) => [key, { ...entry, state: 'invalid' as const }]),
    )
    client.context.store.setCatalog({ ...catalog, entries })
    expect((await client.reconcile()).action).toMatchObject({ type: 'report' })
    expect(client.sent().filter((each) => each.startsWith('DELETE'))).toEqual([])
    client.context.store.setCatalog(catalog)
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold', reason: 'Orphaned' })
    client.skip(GRACE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'delete' })
    expect(world.asker.server.endpoint()).toBeUndefined()
  })

  test('has nothing to do where it is gone already', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    await client.set(undefined)
    client.skip(GRACE)
    const result = await client.reconcile()
    expect(saidBy(result)).toContain('The query endpoint was gone already.')
    expect(client.sent()).toEqual(['GET 404'])
    expect(await recordOf(world)).toBeUndefined()
  })

  test('deletes nothing of an empty directory, nor of one that lost most of its manifests', async () => {
    await using world = await around()
    await using client = await startProcess(world)
    await client.want(DELETE)
    await client.reconcile()
    await client.want({}, { 'service.json': '' })
    for (let look = 0; look < 3; look += 1) {
      expect((await client.reconcile()).action.type).not.toBe('delete')
      client.skip(20 * MINUTE)
    }
    expect(client.context.store.catalog?.problem?.reason).toBe('SourceEmpty')
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test('deletes nothing where most of the manifests are lost with it', async () => {
    await using world = await around()
    await using client = await startProcess(world)
    await client.want(DELETE)
    await client.reconcile()
    const lost = ['a', 'b', 'c'].map((name) => created({ ...blankRecord(`Pipe/${name}`), version: 0 }))
    for (const record of lost) client.context.store.note(await world.ledger.swap(record, []))
    await client.want({})
    expect(client.context.store.catalog?.problem?.reason).toBe('SourceShrunk')
    for (let look = 0; look < 3; look += 1) {
      expect((await client.reconcile()).action.type).not.toBe('delete')
      client.skip(20 * MINUTE)
    }
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test('leaves another one that somebody made in its place, though it says the same', async () => {
    await using world = await around()
    await using client = await removed(world)
    const before = await recordOf(world)
    await client.reconcile()
    const { upsert } = (await recordOf(world)) ?? {}
    if (before === undefined || upsert === undefined) throw new Error('it was not applied')
    const current = (await recordOf(world)) ?? before
    const reply = { ...upsert.reply, id: 'another' }
    client.context.store.note(await world.ledger.swap({ ...current, upsert: { ...upsert, reply } }, []))
    client.skip(GRACE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'report', reason: 'Orphaned' })
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test('waits while the directory is in doubt, also when it was gone before', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(20 * MINUTE)
    const { catalog } = client.context.store
    const problem = { reason: 'SourceUnreadable', message: 'It cannot be read.', unfound: 'all' } as const
    if (catalog !== undefined) client.context.store.setCatalog({ ...catalog, problem })
    const result = await client.reconcile()
    expect(result.action).toMatchObject({ type: 'hold', reason: 'Orphaned' })
    expect(saidBy(result)).toContain('Nothing is deleted until a reading of the manifests is accepted')
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test('is tried again where it fails, and nobody expects its manifest back meanwhile', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(GRACE)
    const remove = removeOf(client)
    Object.assign(client.context.platform, {
      remove: () => Promise.reject(notSent('Unavailable', 'the platform is away')),
    })
    const failed = await client.reconcile()
    expect(failed.outcome).toMatchObject({ result: 'failed', reason: 'Unavailable' })
    expect(client.shown()).toMatchObject({ status: 'Failed' })
    expect([...createdOf(client.context.store.records())]).toEqual([])
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold', reason: 'BackingOff' })
    Object.assign(client.context.platform, { remove })
    client.skip(failed.next?.afterMs ?? 0)
    expect((await client.reconcile()).action).toMatchObject({ type: 'delete' })
    expect(world.asker.server.endpoint()).toBeUndefined()
  })
})

describe('a process that is killed', () => {
  test('before the mark is on disk has asked for nothing', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(GRACE)
    await using other = await startProcess(world, { ledger: { ...world.ledger, swap: isFull } })
    await other.want({})
    await other.reconcile()
    expect(other.sent()).toEqual(['GET 200'])
    expect(world.asker.server.endpoint()).toEqual(SPEC)
  })

  test.each([
    ['before it is sent', 'before', ['GET 200', 'GET 200', 'GET 200', 'DELETE 200']],
    ['after it is sent', 'after', ['GET 200', 'GET 200', 'DELETE 200', 'GET 404']],
  ] as const)('%s: the next one ends it, and it is deleted once', async (_, when, requests) => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(GRACE)
    const remove = removeOf(client)
    const { promise: isThere, resolve } = Promise.withResolvers<void>()
    const dies: Platform['remove'] = async (...asked) => {
      if (when === 'after') await remove(...asked)
      resolve()
      return new Promise(() => undefined)
    }
    Object.assign(client.context.platform, { remove: dies })
    void client.reconcile()
    await isThere
    await using next = await startProcess(world)
    await next.want({})
    await next.reconcile()
    const all = client.sent()
    expect(all).toEqual(requests)
    expect(await recordOf(world)).toBeUndefined()
    expect(world.asker.server.endpoint()).toBeUndefined()
  })

  test('while it waits: the next one waits for the rest, and no longer', async () => {
    await using world = await around()
    await using client = await removed(world)
    await client.reconcile()
    client.skip(6 * MINUTE)
    await using next = await startProcess(world)
    await next.want({})
    expect((await next.reconcile()).action).toMatchObject({ type: 'hold' })
    next.skip(4 * MINUTE + 1_000)
    expect((await next.reconcile()).action).toMatchObject({ type: 'delete' })
    expect(world.asker.server.endpoint()).toBeUndefined()
  })
})

const NOWHERE = '00000000-0000-4000-8000-000000000000'

/** Of ids that lead to another place. */
function service(name: string): string {
  const spec = {
    organizationId: NOWHERE,
    serviceId: NOWHERE,
    credentials: { secretRef: { name: 'api' } },
  }
  return JSON.stringify({ apiVersion: 'pipewright/v1', kind: 'Service', metadata: { name }, spec })
}

function broken(name: string): string {
  return JSON.stringify({ apiVersion: 'pipewright/v1', kind: 'Service', metadata: { name }, spec: {} })
}

function isFull(): Promise<never> {
  return Promise.reject(new LedgerError('io', 'the disk is full'))
}

function removeOf({ context }: EndpointClient): Platform['remove'] {
  return context.platform.remove.bind(context.platform)
}
