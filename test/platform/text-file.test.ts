import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readTextFile } from '../../src/platform/text-file.ts'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'

/* Files that a person names: settings, tokens, certificates, archives. */

test.each([
  ['', '/dev/null'],
  ['', 'empty'],
  ['ä\n', 'short'],
])('the text is %j', async (text, name) => {
  using workspace = createWorkspace()
  workspace.write('empty', '')
  workspace.write('short', 'ä\n')
  expect(await readTextFile(resolve(workspace.dir, name))).toBe(text)
})

test.each(['long', '/dev/zero'])('%s is too large', async (name) => {
  using workspace = createWorkspace()
  workspace.write('long', 'x'.repeat(1_001))
  const reading = readTextFile(resolve(workspace.dir, name), { maxBytes: 1_000 })
  await expect(reading).rejects.toThrow('larger than 1000 bytes')
})

test.each([
  ['validate', '--config', '/dev/zero'],
  ['plan', '--base-url', 'https://127.0.0.1:9', '--ca-file', '/dev/zero'],
  ['plan', '--server', 'http://127.0.0.1:9', '--admin-token-file', '/dev/zero'],
])('%s %s %s ends', async (...args) => {
  const { code, stderr } = await runHere(args)
  expect(code).not.toBe(0)
  expect(stderr).toContain('it is larger than 1048576 bytes')
})

test('a stop ends a command that reads one', async () => {
  const stopping = AbortSignal.abort('SIGTERM')
  const ended = await runHere(['validate', '--config', '/dev/zero'], {}, { stopping })
  expect(ended).toMatchObject({ code: 1, stderr: 'pipewright: stopped by SIGTERM\n' })
})
