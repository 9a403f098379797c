import { expect, test } from 'vitest'
import { runProgram } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

test('a command without a ledger names --sandbox where one of the sandbox is', async () => {
  using workspace = createWorkspace()
  const before = await runProgram(['status'], { cwd: workspace.dir })
  expect(before).toMatchObject({ code: 1, stdout: '' })
  expect(before.stderr).toContain('there is no ledger at')
  expect(before.stderr).not.toContain('--sandbox')

  workspace.write('.pipewright/sandbox-ledger.db', '')
  for (const command of ['status', 'history', 'lock']) {
    const after = await runProgram([command], { cwd: workspace.dir })
    expect(after.code).toBe(1)
    expect(after.stderr).toContain('add --sandbox')
  }
})

test.each([
  ['a directory that is not there', 'nowhere', 'nowhere: The manifests directory is missing.'],
  ['an empty one', 'manifests', 'manifests: There are no manifests'],
])('validate of %s says so, and nothing else', async (_what, path, words) => {
  using workspace = createWorkspace()
  const { code, stdout, stderr } = await runProgram(['validate', path], { cwd: workspace.dir })
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toContain(words)
})
