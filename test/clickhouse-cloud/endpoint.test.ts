import { describe, expect, test } from 'vitest'
import { notSent } from '../../src/contract/remote-error.ts'
import type { Platform } from '../../src/contract/platform.ts'
import {
  KEY_A,
  KEY_B,
  saidBy,
  SPEC,
  startApplied,
  startEndpoint,
  type EndpointClient,
} from './endpoint-client.ts'

/* The query endpoint is read before anything is sent (facts 3.2, 8): what others set is seen, and what is as it should be is left alone. */

const MINUTE = 60_000
const OTHER = { roles: ['sql_console_admin'], openApiKeys: [KEY_A, KEY_B], allowedOrigins: 'app.example.com' }

function upsertOf({ context }: EndpointClient): Platform['upsert'] {
  return context.platform.upsert.bind(context.platform)
}

function isAway(): Promise<never> {
  return Promise.reject(notSent('Unavailable', 'away'))
}

describe('never applied', () => {
  test('and none is there: it is applied, and from then on one GET a look is all', async () => {
    await using client = await startEndpoint()
    await client.want({ analytics: {} })
    const first = await client.reconcile()
    expect(first.action).toMatchObject({ type: 'upsert', reason: 'New', takesAway: [] })
    expect(saidBy(first)).toBe(
      'Either the service has no query endpoint, or organizationId or serviceId in its Service manifest is wrong. Both give the same reply. Will be applied.',
    )
    expect(client.sent()).toEqual(['GET 404', 'GET 404', 'POST 200'])
    for (let look = 0; look < 5; look += 1) {
      client.skip(30 * MINUTE)
      const { action, next } = await client.reconcile()
      expect(action).toMatchObject({ type: 'observe', reason: 'InSync' })
      expect(next).toMatchObject({ why: 'drift', afterMs: 270_000 })
    }
    expect(client.sent()).toEqual(Array.from({ length: 5 }, () => 'GET 200'))
    expect(client.shown()).toMatchObject({
      status: 'Ready',
      because: { reason: 'InSync', facts: { as: 'read' } },
    })
  })

  test('and what is there is as the manifest asks for: it is taken over, and nothing is sent', async () => {
    await using client = await startEndpoint()
    client.set({ ...SPEC })
    await client.want({ analytics: {} })
    expect(await client.plan()).toMatchObject({ verdict: 'unchanged', reason: 'Adopted', takesAway: [] })
    const first = await client.reconcile()
    expect(first.action).toMatchObject({ type: 'observe', reason: 'Adopted' })
    expect(saidBy(first)).toContain('Pipewright adopts it unchanged.')
    expect((await client.reconcile()).action.reason).toBe('InSync')
    await client.want({ analytics: { spec: { ...SPEC, roles: [] } } })
    const edited = await client.reconcile()
    expect(edited.action).toMatchObject({ reason: 'Changing', takesAway: ['role sql_console_read_only'] })
    expect(client.sent()).toEqual(['GET 200', 'GET 200', 'GET 200', 'GET 200', 'GET 200', 'POST 200'])
  })

  test('and something else is there: what it takes away and gives is known before', async () => {
    await using client = await startEndpoint()
    client.set(OTHER)
    await client.want({ analytics: {} })
    expect(await client.plan()).toMatchObject({
      action: 'upsert',
      verdict: 'change',
      reason: 'New',
      message:
        `The service has a query endpoint already. Will be applied. It takes away role sql_console_admin, key ${KEY_B}. ` +
        'It gives role sql_console_read_only.',
      before: { roles: ['sql_console_admin'] },
      desired: { roles: ['sql_console_read_only'] },
      takesAway: ['role sql_console_admin', `key ${KEY_B}`],
      gives: ['role sql_console_read_only'],
    })
    expect(client.endpoint()).toEqual(OTHER)
    const { action } = await client.reconcile()
    expect(action).toMatchObject({ reason: 'New', takesAway: ['role sql_console_admin', `key ${KEY_B}`] })
    expect(client.endpoint()).toEqual(SPEC)
  })
})

describe('applied', () => {
  test('and changed elsewhere: it is reported, and left as it is', async () => {
    await using client = await startApplied()
    client.set(OTHER)
    const { action } = await client.reconcile()
    expect(action).toMatchObject({ type: 'report', reason: 'Drifted' })
    expect(client.shown()).toMatchObject({ status: 'Drifted', reason: 'Drifted' })
    expect(await client.plan()).toMatchObject({
      verdict: 'attention',
      differences: [{ field: 'openApiKeys' }, { field: 'roles' }],
    })
    client.skip(2 * 60 * MINUTE)
    await client.reconcile()
    expect(client.sent().filter((each) => each.startsWith('POST'))).toEqual([])
    expect(client.endpoint()).toEqual(OTHER)
  })

  test('and changed elsewhere again and again: the third correction within an hour waits', async () => {
    await using client = await startApplied({ onDrift: 'correct' })
    const posts: string[][] = []
    for (let look = 0; look < 12; look += 1) {
      client.set(look % 2 === 0 ? OTHER : { ...OTHER, roles: [] })
      await client.reconcile()
      posts.push(client.sent().filter((each) => each.startsWith('POST')))
      client.skip(4 * MINUTE)
    }
    expect(posts.flat()).toHaveLength(2)
    expect(client.shown()).toMatchObject({ status: 'Drifted', reason: 'Drifted' })
    client.skip(20 * MINUTE)
    expect((await client.reconcile()).action.type).toBe('upsert')
  })

  test('and the manifest edited to what is there: nothing is sent', async () => {
    await using client = await startApplied()
    client.set(OTHER)
    await client.want({ analytics: { spec: OTHER } })
    const { action } = await client.reconcile()
    expect(action).toMatchObject({
      type: 'observe',
      reason: 'InSync',
      facts: { accepted: ['openApiKeys', 'roles'] },
    })
    expect((await client.reconcile()).action.reason).toBe('InSync')
    expect(client.sent()).toEqual(['GET 200', 'GET 200'])
  })

  test('and changed elsewhere, with policy.onDrift correct: it is applied again, with what that takes away', async () => {
    await using client = await startApplied({ onDrift: 'correct' })
    client.set(OTHER)
    const { action } = await client.reconcile()
    expect(action).toMatchObject({
      type: 'upsert',
      reason: 'Changing',
      takesAway: ['role sql_console_admin', `key ${KEY_B}`],
    })
    expect(saidBy({ action })).toBe(
      'openApiKeys, roles differ from the manifest, and policy.onDrift is "correct". Requests: upsertQueryEndpoint. ' +
        `It takes away role sql_console_admin, key ${KEY_B}. It gives role sql_console_read_only.`,
    )
    expect(client.endpoint()).toEqual(SPEC)
    expect(client.shown()).toMatchObject({ status: 'Ready' })
  })

  test.each([
    { policy: {}, is: { type: 'report', reason: 'Missing' }, there: undefined, status: 'Missing' },
    {
      policy: { onDrift: 'correct' },
      is: { type: 'upsert', reason: 'Missing' },
      there: SPEC,
      status: 'Ready',
    },
  ])('and gone, with $policy: $is', async ({ policy, is, there, status }) => {
    await using client = await startApplied(policy)
    client.set(undefined)
    const result = await client.reconcile()
    expect(result.action).toMatchObject(is)
    expect(saidBy(result)).toContain('or organizationId or serviceId in its Service manifest is wrong')
    expect(client.shown()).toMatchObject({ status })
    expect(client.endpoint()).toEqual(there)
  })

  test('and edited, while somebody else changed it: the difference is that to what is there', async () => {
    await using client = await startApplied()
    client.set(OTHER)
    await client.want({ analytics: { spec: { ...SPEC, openApiKeys: [KEY_B] } } })
    const result = await client.reconcile()
    expect(result.action).toMatchObject({
      reason: 'Changing',
      takesAway: ['role sql_console_admin', `key ${KEY_A}`],
    })
    expect(saidBy(result)).toBe(
      `The manifest changed. Will be applied. It takes away role sql_console_admin, key ${KEY_A}. ` +
        'It gives role sql_console_read_only.',
    )
  })
})

describe('what is there when it is sent', () => {
  test('is read again, and access that somebody just gave is not taken away unseen: it is decided anew', async () => {
    await using client = await startApplied()
    await client.want({ analytics: { spec: { ...SPEC, allowedOrigins: '' } } })
    const upsert = upsertOf(client)
    let isFirst = true
    const slow: typeof upsert = async (...asked) => {
      // somebody gives another key access after it was decided, and before it is sent
      if (isFirst) client.set({ ...SPEC, openApiKeys: [KEY_A, KEY_B] })
      isFirst = false
      return upsert(...asked)
    }
    Object.assign(client.context.platform, { upsert: slow })
    const { action } = await client.reconcile()
    expect(action).toMatchObject({
      reason: 'Changing',
      takesAway: [`key ${KEY_B}`, 'origin app.example.com'],
    })
    // once more than it would be without, and sent once
    expect(client.sent()).toEqual(['GET 200', 'GET 200', 'GET 200', 'POST 200'])
  })

  test('is read in a place of its own, also where the budget has only one', async () => {
    await using client = await startEndpoint({ budget: { requests: 1, windowMs: 50 } })
    await client.want({ analytics: {} })
    await client.reconcile()
    expect(client.sent()).toEqual(['GET 404', 'GET 404', 'POST 200'])
    expect(client.shown()).toMatchObject({ status: 'Ready' })
  })

  test('cannot be read: nothing is sent', async () => {
    await using client = await startEndpoint()
    await client.want({ analytics: {} })
    const upsert = upsertOf(client)
    const unreadable: typeof upsert = (kind, service, body, options) =>
      upsert(kind, service, () => body({ read: isAway, list: isAway, lookCostsMs: 0 }), options)
    Object.assign(client.context.platform, { upsert: unreadable })
    const { outcome } = await client.reconcile()
    expect(outcome).toMatchObject({ result: 'failed', reason: 'Unavailable' })
    expect(client.sent()).toEqual(['GET 404'])
    expect(client.endpoint()).toBeUndefined()
  })
})
