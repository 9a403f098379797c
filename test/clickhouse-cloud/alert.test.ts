import { describe, expect, test } from 'vitest'
import { KEY, SPEC, startAlerts } from './alert-client.ts'

describe('an alert that its manifest asks for', () => {
  test('is listed for first, created once, and in sync from then on', async () => {
    await using client = await startAlerts()
    expect(await client.want({ lag: {} })).toEqual([])
    await client.settle()
    expect(client.sent()).toEqual(['GET', 'GET', 'POST', 'GET …'])
    expect(client.bodies()).toEqual([SPEC])
    expect(client.shown()).toMatchObject({ status: 'Ready', reason: 'InSync' })
    await client.restart()
    client.skip(300_000)
    await client.reconcile(KEY, 'in passing')
    expect(client.sent()).toEqual(['GET'])
    expect(client.alerts()).toHaveLength(1)
  })
})
