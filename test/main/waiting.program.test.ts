import { expect, test } from 'vitest'
import { furnish, pipeManifest, platformArgs } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'
import { startPlatform } from '../support/platform.ts'

test('a command that waits for the request budget waits, and does not end in the middle', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform()
  furnish(workspace)
  for (let i = 0; i < 5; i += 1) workspace.write(`manifests/p${i}.yaml`, pipeManifest(`p${i}`))
  const args = [...platformArgs(workspace, platform.url), '--api-budget', '2/1s']

  const applied = await runHere(['apply', ...args])
  expect(applied.stderr).not.toContain('unsettled')
  expect(applied.code).toBe(0)
  expect(platform.pipes()).toHaveLength(5)

  const planned = await runHere(['plan', ...args])
  expect(planned.stderr).toBe('')
  expect(planned.code).toBe(0)
})
