import { expect, test } from 'vitest'
import { pipeManifest, SERVICE } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { startHere } from '../support/program-here.ts'
import { until } from '../support/until.ts'
import { resourcesOf, urlOf } from '../support/process.ts'
import { modelForEach } from './model-for-each.ts'
import { commandFlagsOf, writeCommon } from './pods.ts'

const model = modelForEach()

test('a record that cannot be read keeps no other pipe from being created and shown, and nobody takes over', async () => {
  await using stack = new AsyncDisposableStack()
  const { api, workspace, clock } = model
  const platform = stack.use(await startPlatform())
  writeCommon(workspace)
  workspace.write('m/service.yaml', SERVICE)
  workspace.write('m/a.yaml', pipeManifest('a'))
  const creates = () => platform.requests().filter(({ operation }) => operation === 'createPipe').length
  const start = () =>
    stack.use(
      startHere(
        [
          'run',
          ...commandFlagsOf(
            { workspace, platform: platform.url },
            { manifests: workspace.path('m'), listen: '127.0.0.1:0', 'lease-duration': '6s' },
          ),
        ],
        clock,
      ),
    )
  const one = start()
  await until('the pipe', () => creates() === 1)
  await until('synced', () => JSON.stringify([...api.objects()]).split('"reason":"InSync"').length > 2)
  const two = start()
  await until('standby', () => two.stdout().includes('standing by'))
  const path = '/apis/pipewright.dev/v1/namespaces/default/pipewrightrecords/pods.pipe.a'
  const before = api.objects().get(path) as { readonly version: number }
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
  await fetch(`${api.url}${path}`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ ...before, version: before.version + 1, record: '{}' }),
  })
  workspace.write('m/b.yaml', pipeManifest('b'))
  await until('the second pipe', () => creates() === 2)
  const reasonOf = async (program: typeof one, key: string) =>
    (await resourcesOf(await urlOf(program))).find((each) => each.key === key)?.reason
  await until('the standby to hear of it', async () => (await reasonOf(two, 'Pipe/b')) === 'InSync')
  await until('the leader to say it', async () => (await reasonOf(one, 'Pipe/a')) === 'LedgerFailed')
  one.signal('SIGTERM')
  expect(await two.ended).toBe(1)
  expect(two.stderr()).toContain('the record of Pipe/a in the ledger cannot be read')
}, 200_000)
