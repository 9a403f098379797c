import { expect, test } from 'vitest'
import { startApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform } from '../kubernetes/counting-platform.ts'
import { acts, passes, startPod, writeCommon } from '../kubernetes/pods.ts'
import { pipeManifest } from '../support/manifests.ts'
import { resourcesOf, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* How often the Kubernetes API is written to. */

test('a creation takes five writes at most, and a quiet pass none but those of the Lease', async () => {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const platform = stack.use(await startCountingPlatform(() => 'answered'))
  writeCommon(workspace)
  const names = Array.from({ length: 20 }, (_, at) => `p${at}`)
  const settings = { interval: '1s' }
  const options = { workspace, api, platform: platform.url, leaseMs: 15_000, settings }
  const pod = await startPod('one', options, stack)
  await acts(pod)
  await until('the Service', async () => (await resourcesOf(await urlOf(pod.program))).length === 1)
  const ofRecords = () => api.writes.filter((write) => write.includes('pipewrightrecords')).length
  const ofAll = () => api.writes.length
  const before = ofAll()
  for (const name of names) workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
  await until('all to be there', async () => {
    const all = await resourcesOf(await urlOf(pod.program))
    return all.length === names.length + 1 && all.every(({ status }) => status === 'Ready')
  })
  const perCreation = (ofAll() - before) / names.length
  expect(perCreation).toBeLessThanOrEqual(5)
  // What was found in sync is checked again and again.
  await passes(1_500)
  const quiet = ofRecords()
  const log = pod.program.log().length
  await passes(3_000)
  expect(ofRecords() - quiet).toBe(0)
  expect(pod.program.log().length).toBe(log)
})
