import { describe, expect, test } from 'vitest'
import type { Client } from './client.ts'
import { DELETE, GRACE, OTHER_TOPIC, REPLACE, removed, started } from './deleted-pipes.ts'
import { KAFKA, MINUTE, sent } from './edited-pipes.ts'

/* The manifests here may be older than what another process acted on: nothing counts as removed, however long that lasts. */

async function passes(client: Client, ms: number): Promise<readonly string[]> {
  await client.reconcile()
  client.skip(ms)
  await client.reconcile()
  return sent(client)
}

describe('what is not there', () => {
  test('is not removed, and has its ten minutes once the manifests are trusted', async () => {
    await using client = await started(KAFKA, DELETE)
    await client.older('r2')
    await client.remove()
    expect(await passes(client, 60 * MINUTE)).toEqual([])
    expect(client.record()).toMatchObject({ onRemove: 'delete', remote: { id: client.id() } })
    expect(client.record()?.removal).toBeUndefined()
    expect(client.reason()).not.toBe('Orphaned')
    expect(client.record()?.conditions?.Valid).toMatchObject({
      status: 'Unknown',
      reason: 'ManifestVanishing',
    })
    await client.older(undefined)
    expect(await passes(client, 9 * MINUTE)).toEqual([])
    expect(await passes(client, 2 * MINUTE)).toEqual(['DELETE'])
  })

  test('has its ten minutes anew where they had begun', async () => {
    await using client = await removed()
    client.skip(9 * MINUTE)
    await client.older('r2')
    expect(await passes(client, GRACE)).toEqual([])
    await client.older(undefined)
    expect(await passes(client, 9 * MINUTE)).toEqual([])
    expect(await passes(client, 2 * MINUTE)).toEqual(['DELETE'])
  })
})

test('what they say of a removal is not written down', async () => {
  await using client = await started(KAFKA, { onRemove: 'orphan' })
  await client.older('r2')
  await client.want(KAFKA, DELETE)
  await client.reconcile()
  expect(client.record()?.onRemove).toBeUndefined()
  await client.older(undefined)
  await client.remove()
  expect(await passes(client, 60 * MINUTE)).toEqual([])
  expect(client.reason()).toBe('Orphaned')
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
