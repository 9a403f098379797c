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
  ['a command without settings', ['schema', '--bogus', '-o', 'text'], ['--bogus', '--output "text"']],
])('%s are told at once, with exit 64', async (_why, args, words) => {
  const { code, stdout, stderr } = await runHere(args)
  expect(code).toBe(64)
  expect(stdout).toBe('')
  for (const word of words) expect(stderr).toContain(word)
  expect(stderr).not.toContain('planted-secret')
})

test('right calls pass', async () => {
  expect((await runHere(['schema', 'Pipe', '-o', 'json'])).code).toBe(0)
  expect((await runHere(['validate', 'manifests', '-o', 'json'])).stdout).toContain('"findings": []')
  expect((await runHere(['run', '--help'])).stdout).toContain('--interval <D>')
})
