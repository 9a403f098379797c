import { expect, test } from 'vitest'
import type { Client } from './client.ts'
import { DELETE, OTHER_TOPIC, REPLACE, started } from './deleted-pipes.ts'
import { KAFKA, MINUTE, sent } from './edited-pipes.ts'

/* The manifests here may be older than what another process acted on: nothing is deleted, however long that lasts. */

async function passes(client: Client, ms: number): Promise<readonly string[]> {
  await client.reconcile()
  client.skip(ms)
  await client.reconcile()
  return sent(client)
}

test('a wish that is there says nothing', async () => {
  await using client = await started(KAFKA, {})
  await client.older('r2')
  await client.want(KAFKA, DELETE)
  expect(await passes(client, 60 * MINUTE)).toEqual([])
  expect(client.record()?.removal).toBeUndefined()
  await client.older(undefined)
  expect(await passes(client, 9 * MINUTE)).toEqual([])
  expect(await passes(client, 2 * MINUTE)).toEqual(['DELETE'])
})

test('what only another pipe can be is not replaced', async () => {
  await using client = await started(KAFKA, REPLACE)
  await client.older('r2')
  await client.want(OTHER_TOPIC, REPLACE)
  expect(await passes(client, 60 * MINUTE)).toEqual([])
  expect(client.message()).toContain('another process has acted on another revision of the manifests')
  await client.older(undefined)
  expect(await passes(client, 9 * MINUTE)).toEqual([])
  expect(await passes(client, 2 * MINUTE)).toContain('DELETE')
})
