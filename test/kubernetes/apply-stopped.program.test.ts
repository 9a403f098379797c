import { expect, test } from 'vitest'
import { startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { startCountingPlatform } from './counting-platform.ts'
import { isOf, modelForEach } from './model-for-each.ts'
import { writeKubeconfig } from './open-at.ts'
import { commandFlagsOf, writeCommon } from './pods.ts'

const model = modelForEach()

test('an apply that is stopped while the API gives nobody the right to act says that nothing was applied', async () => {
  const { api, workspace } = model
  await using platform = await startCountingPlatform(() => 'answered')
  writeCommon(workspace)
  let asked = 0
  api.interfere((request) => (isOf(request, 'POST', 'leases') && ++asked ? { status: 503 } : undefined))
  const flags = commandFlagsOf({ workspace, platform: platform.url })
  const env = { KUBECONFIG: writeKubeconfig(api, workspace) }
  await using program = startProgram(['apply', '--yes', ...flags], { env })
  await until('it to ask again', () => asked > 1)
  program.signal('SIGTERM')
  expect(await program.ended).toBe(1)
  expect(program.stderr()).toContain('pipewright: stopped by SIGTERM before anything was written')
})
