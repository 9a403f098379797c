import { describe, expect, test } from 'vitest'
import type { Platform } from '../../src/contract/platform.ts'
import { notSent } from '../../src/contract/remote-error.ts'
import { LedgerError } from '../../src/contract/ledger.ts'
import {
  KEY,
  KEY_B,
  saidBy,
  SPEC,
  startApplied,
  startEndpoint,
  startProcess,
  type EndpointClient,
} from './endpoint-client.ts'

/* What was applied is deleted only while its manifest asks for that, and only as it was left (design, promise 4). */

const MINUTE = 60_000
/** More than the clocks of two processes differ by. */
const GRACE = 10 * MINUTE + 1_000
const DELETE = { analytics: { policy: { ensure: 'absent' } } } as const

/** A client that applied an endpoint; its manifest asks to delete it since. */
async function unwanted(): Promise<EndpointClient> {
  const client = await startApplied()
  await client.want(DELETE)
  client.sent()
  return client
}

/** The same, and the grace is over. */
async function due(): Promise<EndpointClient> {
  const client = await unwanted()
  await client.reconcile()
  client.skip(GRACE)
  client.sent()
  return client
}

async function recordOf({ around }: EndpointClient) {
  return around.ledger.get(KEY)
}

describe('policy.ensure absent', () => {
  test('deletes after ten minutes, once; then the manifest can go, and nothing is left', async () => {
    await using client = await unwanted()
    const first = await client.reconcile()
    expect(first.action).toMatchObject({ type: 'hold', reason: 'Deleting' })
    expect(first.next).toMatchObject({ why: 'retry' })
    expect(first.next?.afterMs).toBeGreaterThan(9.9 * MINUTE)
    expect(first.next?.afterMs).toBeLessThanOrEqual(10 * MINUTE + 1)
    expect(saidBy(first)).toContain('policy.ensure is "absent". The query endpoint will be deleted at ')
    client.skip(9 * MINUTE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold' })
    client.sent()
    client.skip(MINUTE + 1_000)
    expect((await client.reconcile()).action).toMatchObject({ type: 'delete', reason: 'Deleting' })
    expect(client.sent()).toEqual(['GET 200', 'GET 200', 'DELETE 200'])
    expect(client.endpoint()).toBeUndefined()
    expect(client.shown()).toMatchObject({ status: 'Absent', reason: 'Absent' })
    await client.reconcile()
    expect(client.shown()).toMatchObject({ status: 'Absent', reason: 'Absent' })
    const told = (await client.around.ledger.history({ key: KEY, limit: 10 })).filter(
      (entry) => entry.type === 'action',
    )
    expect(told.filter(({ action }) => action === 'delete').map(({ message }) => message)).toEqual([
      'policy.ensure is "absent". The query endpoint was deleted.',
    ])
    await client.want({})
    await client.reconcile()
    expect(await recordOf(client)).toBeUndefined()
    expect(client.sent().filter((each) => !each.startsWith('GET'))).toEqual([])
  })

  test('is in a plan before, with the access that it takes away', async () => {
    await using client = await unwanted()
    expect(await client.plan()).toMatchObject({
      action: 'delete',
      verdict: 'change',
      reason: 'Deleting',
      takesAway: ['role sql_console_read_only', `key ${SPEC.openApiKeys[0]}`, 'origin app.example.com'],
    })
    await client.reconcile()
    client.skip(GRACE)
    expect(await client.plan()).toMatchObject({
      action: 'delete',
      verdict: 'change',
      message: expect.stringContaining('The query endpoint will be deleted.'),
    })
    expect(client.endpoint()).toEqual(SPEC)
    expect(client.sent()).not.toContain('DELETE 200')
  })

  test('applies nothing, and leaves what was never applied from here', async () => {
    await using client = await startEndpoint()
    await client.want(DELETE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'observe', reason: 'Absent' })
    client.set({ ...SPEC })
    for (let look = 0; look < 3; look += 1) {
      client.skip(20 * MINUTE)
      expect((await client.reconcile()).action).toMatchObject({ type: 'observe', reason: 'Absent' })
    }
    expect(client.endpoint()).toEqual(SPEC)
  })

  test('deletes what was there before, once its manifest has taken it over', async () => {
    await using client = await startEndpoint()
    client.set({ ...SPEC })
    await client.want({ analytics: {} })
    await client.reconcile()
    await client.want(DELETE)
    await client.reconcile()
    client.skip(GRACE)
    await client.reconcile()
    expect(client.endpoint()).toBeUndefined()
  })

  test.each([
    ['is removed', (client: EndpointClient) => client.want({}), 'Orphaned'],
    ['says it no more', (client: EndpointClient) => client.want({ analytics: {} }), 'InSync'],
    [
      'has errors',
      (client: EndpointClient) =>
        client.want({ analytics: { spec: { ...SPEC, roles: ['nobody'] }, policy: { ensure: 'absent' } } }),
      'InvalidManifest',
    ],
    [
      'is suspended',
      (client: EndpointClient) =>
        client.want({
          analytics: {
            policy: { ensure: 'absent', suspend: { reason: 'migration', until: '2100-01-01T00:00:00Z' } },
          },
        }),
      'Suspended',
    ],
    [
      'names a service that leads elsewhere',
      (client: EndpointClient) => client.want(DELETE, { 'service.json': service('analytics') }),
      'Drifted',
    ],
    [
      'names a service without a valid manifest',
      (client: EndpointClient) => client.want(DELETE, { 'service.json': broken('analytics') }),
      'DependencyNotReady',
    ],
    [
      'is in a directory that is empty by now',
      (client: EndpointClient) => client.want({}, { 'service.json': '' }),
      'ManifestVanishing',
    ],
    [
      'is in a reading that is not accepted',
      async ({ context: { store } }: EndpointClient) => {
        const problem = {
          reason: 'SourceUnreadable',
          message: 'It cannot be read.',
          unfound: new Set(),
        } as const
        if (store.catalog !== undefined) store.setCatalog({ ...store.catalog, problem: problem as never })
      },
      'Deleting',
    ],
  ] as const)(
    'deletes nothing where the manifest %s, also right before the request',
    async (_, change, reason) => {
      for (const isLate of [false, true]) {
        await using client = await due()
        const remove = removeOf(client)
        const late: Platform['remove'] = async (...asked) => {
          await change(client)
          return remove(...asked)
        }
        if (isLate) Object.assign(client.context.platform, { remove: late })
        else await change(client)
        expect((await client.reconcile()).action.reason).toBe(reason)
        expect(client.sent().filter((each) => each.startsWith('DELETE'))).toEqual([])
        expect(client.endpoint()).toEqual(SPEC)
        expect((await recordOf(client))?.removal?.isSent).toBeUndefined()
      }
    },
  )

  test.each([
    ['somebody changed it', { ...SPEC, openApiKeys: [KEY_B] }],
    ['somebody changed it right before the request', undefined],
  ])('leaves it where %s', async (_, body) => {
    await using client = await unwanted()
    await client.reconcile()
    const changed = { ...SPEC, openApiKeys: [KEY_B] }
    if (body !== undefined) client.set(body)
    client.skip(GRACE)
    const remove = removeOf(client)
    const late: Platform['remove'] = async (...asked) => {
      client.set(changed)
      return remove(...asked)
    }
    Object.assign(client.context.platform, { remove: late })
    const result = await client.reconcile()
    expect(result.action).toMatchObject({ type: 'report', reason: 'Drifted' })
    expect(saidBy(result)).toContain('It is not deleted: it changed since it was last in sync (openApiKeys)')
    expect(client.endpoint()).toEqual(changed)
    expect(client.sent().filter((each) => each.startsWith('DELETE'))).toEqual([])
  })

  test('has nothing to do where it is gone already', async () => {
    await using client = await unwanted()
    await client.reconcile()
    client.set(undefined)
    client.sent()
    client.skip(GRACE)
    await client.reconcile()
    expect(client.shown()).toMatchObject({ reason: 'Absent' })
    expect(client.sent()).toEqual(['GET 404'])
  })

  test('leaves another one that somebody made in its place, though it says the same', async () => {
    await using client = await unwanted()
    await client.reconcile()
    const current = await recordOf(client)
    if (current?.upsert === undefined) throw new Error('it was not applied')
    const { upsert } = current
    const reply = { ...upsert.reply, id: 'another' }
    client.context.store.note(
      await client.around.ledger.swap({ ...current, upsert: { ...upsert, reply } }, []),
    )
    client.skip(GRACE)
    expect((await client.reconcile()).action).toMatchObject({ type: 'report', reason: 'Drifted' })
    expect(client.endpoint()).toEqual(SPEC)
  })

  test('is tried again where it fails', async () => {
    await using client = await due()
    const remove = removeOf(client)
    Object.assign(client.context.platform, {
      remove: () => Promise.reject(notSent('Unavailable', 'the platform is away')),
    })
    const failed = await client.reconcile()
    expect(failed.outcome).toMatchObject({ result: 'failed', reason: 'Unavailable' })
    expect(client.shown()).toMatchObject({ status: 'Failed' })
    expect((await client.reconcile()).action).toMatchObject({ type: 'hold', reason: 'BackingOff' })
    Object.assign(client.context.platform, { remove })
    client.skip((failed.next?.afterMs ?? 0) + 1)
    expect((await client.reconcile()).action).toMatchObject({ type: 'delete' })
    expect(client.endpoint()).toBeUndefined()
  })
})

describe('a process that is killed', () => {
  test('before the mark is on disk has asked for nothing', async () => {
    await using client = await due()
    await using other = await startProcess(client.around, {
      ledger: { ...client.around.ledger, swap: isFull },
    })
    await other.want(DELETE)
    await other.reconcile()
    expect(other.sent()).toEqual(['GET 200'])
    expect(client.endpoint()).toEqual(SPEC)
  })

  test.each([
    ['before it is sent', 'before', ['GET 200', 'GET 200', 'GET 200', 'DELETE 200']],
    ['after it is sent', 'after', ['GET 200', 'GET 200', 'DELETE 200', 'GET 404']],
  ] as const)('%s: the next one ends it, and it is deleted once', async (_, when, requests) => {
    await using client = await due()
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
    await using next = await startProcess(client.around)
    await next.want(DELETE)
    await next.reconcile()
    const all = client.sent()
    expect(all).toEqual(requests)
    expect((await recordOf(client))?.upsert).toBeUndefined()
    expect(client.endpoint()).toBeUndefined()
  })

  test('while it waits: the next one waits for the rest, and no longer', async () => {
    await using client = await unwanted()
    await client.reconcile()
    client.skip(6 * MINUTE)
    await using next = await startProcess(client.around)
    await next.want(DELETE)
    expect((await next.reconcile()).action).toMatchObject({ type: 'hold' })
    next.skip(4 * MINUTE + 1_000)
    expect((await next.reconcile()).action).toMatchObject({ type: 'delete' })
    expect(client.endpoint()).toBeUndefined()
  })
})

const NOWHERE = '00000000-0000-4000-8000-000000000000'

/** Of ids that lead to another place. */
function service(name: string): string {
  const spec = { organizationId: NOWHERE, serviceId: NOWHERE, credentials: { secretRef: { name: 'api' } } }
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
