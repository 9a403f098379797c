import { expect, test } from 'vitest'
import { commandLine, placeOf, proseOf } from '../../src/plan/step.ts'

test.each([
  ['with the defaults', {}, 'pipewright resolve Pipe/a --retry'],
  ['in the sandbox', { sandbox: true }, 'npx pipewright resolve Pipe/a --retry --sandbox'],
  [
    'with a settings file, as one word',
    { sandbox: false, config: 'my settings.yaml' },
    "pipewright resolve Pipe/a --retry --config 'my settings.yaml'",
  ],
  [
    'to a daemon',
    { server: 'http://127.0.0.1:8080' },
    'pipewright resolve Pipe/a --retry --server http://127.0.0.1:8080',
  ],
])('a suggested command, %s', (_where, context, line) => {
  expect(commandLine('resolve Pipe/a --retry', context)).toBe(line)
})

test('steps are sentences in a message', () => {
  const steps = [
    { text: 'Find out why it fails. Resource id:', copy: 'p-1' },
    { text: 'Or edit the manifest:', copy: undefined },
    { text: 'If it is gone,', edit: { path: ['policy', 'recreate'], value: 'p-1' } },
    { text: 'Then run:', shell: 'status' },
  ]
  expect(proseOf(steps, { sandbox: true })).toBe(
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
