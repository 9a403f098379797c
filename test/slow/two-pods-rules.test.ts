import { expect, test } from 'vitest'
import { startApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform } from '../kubernetes/counting-platform.ts'
import { acts, passes, startPod, writeCommon } from '../kubernetes/pods.ts'
import { pipeManifest, SERVICE } from '../support/manifests.ts'
import { resourcesOf, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What a ledger does not close, with two processes: late requests of the one before, and checkouts of which one is older. */

const LEASE_MS = 1_000

async function startWorld(stack: AsyncDisposableStack) {
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const platform = stack.use(await startCountingPlatform(() => 'answered'))
  writeCommon(workspace)
  return { workspace, api, platform, options: { workspace, api, platform: platform.url, leaseMs: LEASE_MS } }
}

function endpointManifest(keys: readonly string[]): string {
  return `apiVersion: pipewright/v1
kind: QueryEndpoint
metadata: {name: analytics}
spec: {service: analytics, roles: [sql_console_read_only], openApiKeys: [${keys.join(', ')}]}
`
}

test('access that was taken away does not come back by a late request of the process before', async () => {
  await using stack = new AsyncDisposableStack()
  const { workspace, platform, options } = await startWorld(stack)
  workspace.write('manifests/endpoint.yaml', endpointManifest(['key-1']))
  const one = await startPod('one', options, stack)
  await until('the first upsert', () => platform.endpoints.length === 1)
  const two = await startPod('two', options, stack)
  await until('it to stand by', () => two.program.stdout().includes('standing by'))
  // Its second upsert is on its way, and stays there.
  one.toPlatform.set('silent')
  workspace.write('manifests/endpoint.yaml', endpointManifest(['key-1', 'key-2']))
  await until('it to be sent', () => one.toPlatform.held().includes('key-2'))
  one.program.signal('SIGSTOP')
  await acts(two)
  workspace.write('manifests/endpoint.yaml', endpointManifest(['key-1', 'key-3']))
  await until(
    'the endpoint as it is to be',
    () => platform.endpoints.at(-1)?.['openApiKeys']?.toString() === 'key-1,key-3',
  )
  one.toPlatform.set('open')
  await until('the late one', () => platform.endpoints.at(-1)?.['openApiKeys']?.toString() === 'key-1,key-2')
  const applied = await until(
    'it to be applied once more',
    () => platform.endpoints.at(-1)?.['openApiKeys']?.toString() === 'key-1,key-3',
  )
  expect(applied).toBe(true)
  one.program.signal('SIGKILL')
})

test('a process whose checkout is two commits behind creates nothing that was renamed, and gives no access back', async () => {
  await using stack = new AsyncDisposableStack()
  const { workspace, platform, options } = await startWorld(stack)
  // Two checkouts of one repository.
  const commit = (folder: string, files: Readonly<Record<string, string | undefined>>) => {
    for (const [file, text] of Object.entries(files)) workspace.write(`${folder}/${file}`, text ?? '---\n')
  }
  const first = {
    'service.yaml': SERVICE,
    'orders.yaml': pipeManifest('orders'),
    'endpoint.yaml': endpointManifest(['key-1', 'key-2']),
  }
  const last = {
    'orders.yaml': undefined,
    'renamed.yaml': pipeManifest('orders-eu', { replicas: 2, policy: { replaces: 'Pipe/orders' } }),
    'endpoint.yaml': endpointManifest(['key-1']),
  }
  commit('ahead', first)
  commit('behind', first)
  const settingsOf = (folder: string) => ({ settings: { manifests: workspace.path(folder) } })
  const one = await startPod('one', { ...options, ...settingsOf('ahead') }, stack)
  await until('the pipe and the endpoint', () => platform.creates() === 1 && platform.endpoints.length === 1)
  commit('ahead', last)
  await until('the second commit', () => platform.endpoints.length === 2)
  await until('the rename', async () => {
    const all = await resourcesOf(await urlOf(one.program))
    return all.some(({ key, pipeId }) => key === 'Pipe/orders-eu' && pipeId !== undefined)
  })
  const creates = platform.creates()
  one.program.signal('SIGKILL')
  const two = await startPod('two', { ...options, ...settingsOf('behind') }, stack)
  await acts(two)
  const shown = await until('it to say so', async () => {
    const all = await resourcesOf(await urlOf(two.program))
    return all.find(({ reason }) => reason === 'NotLeading')
  })
  expect(shown.message).toContain('the process before this one acted on')
  // Longer than a late request may take, after which endpoints are applied once more.
  await passes(3_000)
  expect(platform.creates()).toBe(creates)
  expect(platform.endpoints.at(-1)).toMatchObject({ openApiKeys: ['key-1'] })
  commit('behind', last)
  await until('it to act on the last commit', async () => {
    const all = await resourcesOf(await urlOf(two.program))
    return all.every(({ reason }) => reason !== 'NotLeading') && platform.endpoints.length >= 3
  })
  expect(platform.creates()).toBe(creates)
  expect(platform.endpoints.slice(2)).toSatisfy((all: readonly Readonly<Record<string, unknown>>[]) =>
    all.every(({ openApiKeys }) => String(openApiKeys) === 'key-1'),
  )
})
