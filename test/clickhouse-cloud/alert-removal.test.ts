import { viewMessage } from '../support/messages.ts'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { KEY, SPEC, startAlerts, type AlertClient } from './alert-client.ts'

/* An alert that was created is deleted as a pipe is: only where its manifest says so, and only as it was left (design §14). */

const MINUTE = 60_000
const GRACE = 10 * MINUTE + 1_000

/** One that was created and seen in sync; its manifest has this policy since. */
async function unwanted(policy: JsonObject): Promise<AlertClient & { readonly id: string }> {
  const client = await startAlerts()
  await client.apply()
  client.skip(5 * MINUTE)
  await client.reconcile()
  const id = client.record()?.remote?.id ?? ''
  await client.want({ lag: { policy } })
  await client.reconcile()
  client.sent()
  return Object.assign(client, { id })
}

function writes(client: AlertClient): readonly string[] {
  return client.sent().filter((each) => !each.startsWith('GET'))
}

test('it is deleted after ten minutes, once, and the manifest can go', async () => {
  await using client = await unwanted({ ensure: 'absent' })
  expect(viewMessage(client.shown())).toContain('The alert will be deleted at ')
  client.skip(9 * MINUTE)
  await client.reconcile()
  expect(writes(client)).toEqual([])
  client.skip(GRACE)
  expect((await client.reconcile()).action).toMatchObject({ type: 'delete', reason: 'Deleting' })
  expect(writes(client)).toEqual([`DELETE …`])
  expect(client.alerts()).toEqual([])
  client.skip(2_000)
  await client.reconcile()
  expect(client.shown()?.reason).toBe('Absent')
  for (let count = 0; count < 3; count += 1) await client.want({})
  await client.reconcile()
  expect(client.record()).toBeUndefined()
  expect(writes(client)).toEqual([])
})

test('not if somebody changed it', async () => {
  await using client = await unwanted({ ensure: 'absent' })
  client.change(client.id, { threshold: SPEC['threshold'] + 1 })
  client.skip(GRACE)
  await client.reconcile()
  expect(writes(client)).toEqual([])
  expect(viewMessage(client.shown())).toContain('(threshold)')
})

test('not without the policy', async () => {
  await using client = await unwanted({ ensure: 'present' })
  client.skip(GRACE)
  await client.reconcile()
  expect(writes(client)).toEqual([])
  expect(client.record(KEY)?.remote?.id).toBe(client.id)
})

test('not while another manifest adopts it', async () => {
  await using client = await unwanted({ ensure: 'absent' })
  const absent = { policy: { ensure: 'absent' } }
  await client.want({ lag: absent, other: { policy: { adopt: client.id } } })
  client.skip(GRACE)
  await client.reconcile()
  expect(writes(client)).toEqual([])
  expect(viewMessage(client.shown())).toContain('Alert/other')
})
