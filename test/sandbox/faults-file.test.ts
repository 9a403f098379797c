import { expect, test } from 'vitest'
import { FaultsFile } from '../../src/sandbox/faults.ts'
import { readSandboxFile, SandboxFileError } from '../../src/sandbox/wire-schema.ts'
import { createWorkspace } from '../support/workspace.ts'

async function read(text: string) {
  using workspace = createWorkspace()
  workspace.write('faults.yaml', text)
  return await readSandboxFile(workspace.path('faults.yaml'), FaultsFile)
}

test('an empty file asks for no fault', async () => {
  expect(await read('# none yet\n')).toEqual({ rules: [] })
})

test('what is left out has its usual value', async () => {
  expect(await read('rules: [{fault: {type: html}}]\nmix: {seed: 7, faults: []}')).toEqual({
    rules: [{ nth: 1, times: 1, fault: { type: 'html', status: 502 } }],
    mix: { seed: 7, faults: [] },
  })
})

test.each([
  ['no YAML', 'rules: [', ':1:9: is not YAML: '],
  ['two documents', 'rules: []\n---\n', ':2:1: a second document begins here'],
  ['a field twice', 'rules: []\nrules: []\n', ':2:1: is not YAML: '],
  ['an alias of nothing', 'rules: *all\n', 'aliases'],
  ['an unknown fault', 'rules:\n  - fault:\n      type: cutafter\n', ':3:13: rules.0.fault.type: Invalid'],
  ['the words that are known', 'rules: [{fault: {type: cutafter}}]', "'cut-after'"],
  [
    'an unknown field',
    'rules:\n  - operatoin: createPipe\n    fault: {type: reset}\n',
    ':2:5: rules.0: unknown field operatoin',
  ],
  ['a rule without a fault', 'rules:\n  - operation: createPipe\n', ':2:5: rules.0.fault: '],
  [
    'more than all',
    'mix: {seed: 1, faults: [{probability: 0.6, fault: {type: reset}}, {probability: 0.6, fault: {type: reset}}]}',
    ':1:24: mix.faults: the probabilities must not add up to more than 1',
  ],
])('refused: %s', async (_why, text, message) => {
  const error = await read(text).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SandboxFileError)
  expect(String(error)).toContain(message)
})
