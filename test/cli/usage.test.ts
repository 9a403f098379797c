import { expect, test } from 'vitest'
import { runCommand } from '../../src/cli/program.ts'

/** Runs one command in this process. */
async function run(...args: readonly string[]) {
  const text = { stdout: '', stderr: '' }
  const into = (name: keyof typeof text) => ({ write: (part: string) => (text[name] += part) })
  const code = await runCommand(
    {
      stdout: into('stdout') as unknown as NodeJS.WritableStream, // commands only write
      stderr: into('stderr') as unknown as NodeJS.WritableStream, // likewise
      env: {},
      stop: {
        stopping: new AbortController().signal,
        forced: new AbortController().signal,
        onHangup: () => {},
      },
    },
    args,
  )
  return { code, ...text }
}

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
  ['arguments too many', ['validate', 'a', 'b', 'c', '-o', 'pdf'], ['"b"', '"c"', '--output "pdf"']],
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
  const { code, stdout, stderr } = await run(...args)
  expect(code).toBe(64)
  expect(stdout).toBe('')
  for (const word of words) expect(stderr).toContain(word)
  expect(stderr).not.toContain('planted-secret')
})

test('right calls pass', async () => {
  expect((await run('schema', 'Pipe', '-o', 'json')).code).toBe(0)
  expect((await run('validate', 'manifests', '-o', 'json')).stdout).toContain('"findings": []')
  expect((await run('run', '--help')).stdout).toContain('--interval <D>')
})
