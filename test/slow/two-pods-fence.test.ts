import { describe, expect, test } from 'vitest'
import { startApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform } from '../kubernetes/counting-platform.ts'
import { acts, flagsOf, startPod, writeCommon } from '../kubernetes/pods.ts'
import { pipeManifest } from '../support/manifests.ts'
import { runProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/*
 * The worst that a sleeping process can do: it stands still on its way to a create, another one takes over, a person forces a second
 * attempt there, and then it wakes up.
 */

const LEASE_MS = 1_000

describe('a process that stands still', () => {
  test.each(['before-intent', 'after-intent', 'after-fence', 'after-connect'])(
    'at %s, while another one takes over and a person forces a second attempt, sends nothing when it wakes up',
    async (failpoint) => {
      await using stack = new AsyncDisposableStack()
      const workspace = stack.use(createWorkspace())
      const api = stack.use(await startApiModel())
      const platform = stack.use(await startCountingPlatform(() => 'answered'))
      writeCommon(workspace)
      workspace.write('manifests/orders.yaml', pipeManifest('orders'))
      const options = { workspace, api, platform: platform.url, leaseMs: LEASE_MS }
      const one = await startPod('one', options, stack, { PIPEWRIGHT_FAILPOINT: `${failpoint}=pause` })
      await until('it to stand still', () => one.program.stderr().includes(failpoint))
      const two = await startPod('two', options, stack)
      await acts(two)
      if (failpoint !== 'before-intent') {
        const KUBECONFIG = workspace.path('two.kubeconfig')
        const resolved = await runProgram(
          ['resolve', 'Pipe/orders', '--retry', '--force', ...commandFlags()],
          {
            env: { KUBECONFIG },
          },
        )
        expect(resolved).toMatchObject({ code: 0 })
      }
      await until('the second attempt', () => platform.creates() === 1)
      one.program.signal('SIGCONT')
      expect(await one.program.ended).toBe(1)
      expect(platform.creates()).toBe(1)
      expect(platform.pipes.get('orders')).toHaveLength(1)

      function commandFlags(): readonly string[] {
        const all = flagsOf(options)
        const isOf = (flag: string) =>
          ['--base-url', '--manifests', '--credentials-dir', '--secrets-dir', '--ledger'].includes(flag)
        return [
          ...all.flatMap((flag, at) => (isOf(flag) ? [flag, all[at + 1] ?? ''] : [])),
          '--allow-insecure-http',
        ]
      }
    },
  )
})
