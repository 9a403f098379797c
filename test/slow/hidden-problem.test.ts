import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createScenario } from './scenario.ts'
import type { Live } from '../support/live.ts'

/* What the metrics say of a resource that has one problem behind another. */

/** Status and reason of each series about a pipe. */
async function said(live: Live, name: string): Promise<readonly string[]> {
  const text = await (await fetch(`${live.url}/metrics`)).text()
  const shown = text.matchAll(
    new RegExp(`^pipewright_resource_info\\{.*name="${name}",.*status="(\\w+)",reason="(\\w+)"`, 'gm'),
  )
  return [...shown].map(([, status, reason]) => `${status} ${reason}`).toSorted()
}

test('drift that was there before the platform went away is not over because nobody can look', async () => {
  await using scenario = await createScenario()
  const { platform } = scenario
  scenario.writePipe('orders')
  const live = await scenario.start(['--interval', '1s'])
  const { pipeId = '' } = await live.says('Pipe/orders', 'Ready')
  platform.change(pipeId, { scaling: { replicas: 9 } })
  await live.says('Pipe/orders', 'Drifted')
  expect(await said(live, 'orders')).toEqual(['Drifted Drifted'])
  platform.faults.add({ times: 'always', fault: { type: 'status', status: 503 } })
  await live.says('Pipe/orders', 'Unavailable')
  expect(await said(live, 'orders')).toEqual(['Drifted Drifted', 'Failed Unavailable'])
  platform.change(pipeId, { scaling: { replicas: 1 } })
  platform.faults.clear()
  await live.says('Pipe/orders', 'Ready')
  expect(await said(live, 'orders')).toEqual(['Ready InSync'])
})

test('an orphan whose creation nobody knows the outcome of is both', async () => {
  await using scenario = await createScenario()
  scenario.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
  scenario.writePipe('orders')
  scenario.writePipe('other', { more: 'policy: {suspend: {reason: moving, until: 2099-01-01T00:00:00Z}}' })
  const live = await scenario.start(['--interval', '1s'])
  await live.says('Pipe/orders', 'OutcomeUnknown')
  expect(await said(live, 'orders')).toEqual(['OutcomeUnknown OutcomeUnknown'])
  rmSync(scenario.workspace.path('manifests/orders.yaml'))
  await live.says('Pipe/orders', 'Orphaned')
  expect(await said(live, 'orders')).toEqual(['Orphaned Orphaned', 'OutcomeUnknown OutcomeUnknown'])
})
