import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'

test.each([
  [
    'unknown flags, bad values and a missing platform',
    ['run', '--intervall', '5m', '--listen', '99', '--concurrency', 'zero', '--bogus=planted-secret'],
    [
      '--intervall',
      'did you mean --interval?',
      '--bogus',
      '--listen "99"',
      '--concurrency "zero"',
      '--base-url',
    ],
  ],
  [
    'an unknown format and a flag without its value',
    ['plan', '--sandbox', '-o', 'foo', '--interval'],
    ['--output "foo"', 'give text, json, markdown', '--interval: it has no value'],
  ],
  ['arguments too many', ['status', 'a', 'b', 'c', '-o', 'pdf'], ['"b"', '"c"', '--output "pdf"']],
  [
    'a bad number beside others',
    ['history', '--limit', '0', '--interval', '5'],
    ['--limit "0"', '--interval "5"'],
  ],
  [
    'a flag that takes the next flag for its value',
    ['status', '--ledger', '--sandbox'],
    ['--ledger: it has no value'],
  ],
  ['an argument that is missing', ['adopt'], ['key: it is missing; give pipewright adopt <key> <id>']],
  [
    'an argument that is missing, of another command',
    ['resolve', '--retry'],
    ['key: it is missing; give pipewright resolve <key>'],
  ],
  ['a flag of another command', ['resolve', 'Pipe/a', '--created'], ['"resolve" has no such flag']],
  [
    'a reason that there is not',
    ['status', '--reason', 'Zzzzzzzz'],
    ['give one that "pipewright status" shows'],
  ],
  ['a time that is none', ['status', '--since', 'noon'], ['--since "noon": it is not a time']],
  ['a field that is elsewhere', ['explain', 'replicas'], ['There is Pipe.spec.scaling.replicas.']],
  [
    'a field that is elsewhere in its kind',
    ['explain', 'pipe.brokers'],
    ['There is Pipe.spec.source.kafka.brokers'],
  ],
  ['a field that is in many places', ['explain', 'name'], [/There is \S+, \S+, \S+ and \d+ more\./]],
  ['a command without settings', ['schema', '--bogus', '-o', 'text'], ['--bogus', '--output "text"']],
])('%s are told at once, with exit 64', async (_why, args, words) => {
  const { code, stdout, stderr } = await runHere(args)
  expect(code).toBe(64)
  expect(stdout).toBe('')
  for (const word of words) expect(stderr).toMatch(word)
  expect(stderr).not.toContain('planted-secret')
})

test('a daemon that is named wrongly is what is wrong, and no platform is asked for', async () => {
  const { code, stderr } = await runHere(['plan', '--server', 'zzz'])
  expect([code, stderr]).toEqual([64, expect.stringMatching(/^pipewright: 1 problem:\n {2}--server "zzz"/)])
})

test('right calls pass', async () => {
  expect((await runHere(['schema', 'Pipe', '-o', 'json'])).code).toBe(0)
  expect((await runHere(['validate', 'manifests', '-o', 'json'])).stdout).toContain('"findings": []')
  expect((await runHere(['run', '--help'])).stdout).toContain('--interval <D>')
})
