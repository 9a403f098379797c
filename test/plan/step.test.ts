import { expect, test } from 'vitest'
import { commandLine, placeOf, proseOf } from '../../src/plan/step.ts'

test.each([
  ['with the defaults', {}, 'pipewright resolve Pipe/a --retry'],
  ['in the sandbox', { sandbox: true }, 'npx pipewright resolve Pipe/a --retry --sandbox'],
  [
    'in another sandbox',
    { sandbox: true, profile: { name: 'p' } },
    'npx pipewright resolve Pipe/a --retry --sandbox --profile p',
  ],
  ['with a settings file', { config: 'a b.yaml' }, "pipewright resolve Pipe/a --retry --config 'a b.yaml'"],
  ['to a daemon', { server: 'http://a:80' }, 'pipewright resolve Pipe/a --retry --server http://a:80'],
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
