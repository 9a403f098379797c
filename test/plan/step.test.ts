import { expect, test } from 'vitest'
import { placeOf, proseOf, withCommands } from '../../src/plan/step.ts'

const TYPED = ['npx', '--sandbox', "--ledger 'a b'", '--server s']

test.each([
  ['pipewright status', "npx pipewright status --sandbox --ledger 'a b' --server s"],
  ['Run "pipewright lock" again.', `Run "npx pipewright lock --sandbox --ledger 'a b'" again.`],
  ['"pipewright ledger export F --ledger b"', '"npx pipewright ledger export F --ledger b --sandbox"'],
  ['pipewright: no', 'pipewright: no'],
])('commands in a text have the flags of its reader: %s', (text, complete) => {
  for (const given of [text, complete]) expect(withCommands(given, { typed: TYPED })).toBe(complete)
})

test('steps are sentences in a message', () => {
  const steps = [
    { text: 'Find out why it fails. Resource id:', copy: 'p-1' },
    { text: 'Or edit the manifest:', copy: undefined },
    { text: 'If it is gone,', edit: { path: ['policy', 'recreate'], value: 'p-1' } },
    { text: 'Then run:', shell: 'status' },
  ]
  expect(proseOf(steps, { typed: ['npx', '--sandbox'] })).toBe(
    'Find out why it fails. Resource id: p-1. Or edit the manifest. If it is gone, set policy.recreate: p-1. Then run: "npx pipewright status --sandbox".',
  )
  expect(proseOf([])).toBe('')
})

test.each([
  ['manifests', 'a/b.yaml', 3, 'manifests/a/b.yaml:3'],
  ['./m/', 'b.yaml', undefined, './m/b.yaml'],
  ['.', 'b.yaml', 1, 'b.yaml:1'],
  [undefined, 'b.yaml', 1, 'b.yaml:1'],
])('a place: %s, %s', (dir, file, line, place) => {
  expect(placeOf(dir, file, line)).toBe(place)
})
