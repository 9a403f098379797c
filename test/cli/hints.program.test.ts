import { expect, test } from 'vitest'
import { runProgram } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

test('a command without a ledger names --sandbox where one of the sandbox is', async () => {
  using workspace = createWorkspace()
  const before = await runProgram(['status'], { cwd: workspace.dir })
  expect(before).toMatchObject({ code: 1, stdout: '' })
  expect(before.stderr).toContain('there is no ledger at')
  expect(before.stderr).not.toContain('--sandbox')

  workspace.write('.pipewright/clickhouse-cloud/sandbox-ledger.db', '')
  const other = await runProgram(['status', '--sandbox'], { cwd: workspace.dir })
  expect(other.stderr).toContain('add --sandbox --profile clickhouse-cloud.')

  workspace.write('.pipewright/sandbox-ledger.db', '')
  for (const command of ['status', 'history', 'lock']) {
    const after = await runProgram([command], { cwd: workspace.dir })
    expect(after.code).toBe(1)
    expect(after.stderr).toContain('add --sandbox.')
  }
})

test('validate of an empty directory says so, and nothing else', async () => {
  using workspace = createWorkspace()
  const { code, stdout, stderr } = await runProgram(['validate', 'manifests'], { cwd: workspace.dir })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('manifests: There are no manifests')
})
