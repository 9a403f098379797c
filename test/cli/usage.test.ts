import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { runHere } from '../support/command.ts'
import { given } from '../ways-out/given.ts'

const IMPORT = ['import', '--base-url', 'http://127.0.0.1:9', '--service', 'analytics']
const ID = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11'

test.each<{ why: string; args: readonly string[]; says: string | RegExp }>([
  { why: 'an unknown command', args: ['statsu'], says: 'Did you mean status?' },
  { why: 'help of an unknown command', args: ['help', 'statsu'], says: 'Did you mean status?' },
  { why: 'an unknown flag', args: ['run', '--intervall', '5m'], says: 'Did you mean --interval?' },
  { why: 'an unknown flag, without its value', args: ['run', '--bogus=planted'], says: /'--bogus'\n/ },
  { why: 'an unknown flag with quotes', args: ['run', "--bogus=a'\n'planted"], says: /'--bogus'\n/ },
  { why: 'a flag of another command', args: ['resolve', 'Pipe/a', '--created'], says: "'--created'" },
  {
    why: 'an unknown flag of a command without settings',
    args: ['version', '--sandbox'],
    says: "'--sandbox'",
  },
  {
    why: 'an unknown format',
    args: ['plan', '-o', 'foo'],
    says: 'Allowed choices are text, json, markdown.',
  },
  { why: 'a format without a value', args: ['schema', '-o'], says: 'argument missing' },
  { why: 'too many arguments', args: ['status', 'a', 'b'], says: 'Expected 1 argument but got 2' },
  { why: 'a missing argument', args: ['adopt'], says: "missing required argument 'key'" },
  { why: 'another missing argument', args: ['adopt', 'Pipe/a'], says: "missing required argument 'id'" },
  { why: 'a number below the range', args: ['history', '--limit', '0'], says: 'It is less than 1; give' },
  { why: 'a number above the range', args: ['history', '--limit', '100001'], says: 'more than 100000' },
  { why: 'an unknown status', args: ['status', '--status', 'Readdy'], says: 'Did you mean Ready?' },
  {
    why: 'an unknown reason',
    args: ['status', '--reason', 'Zzzzzzz'],
    says: 'Give a reason that "pipewright status" shows',
  },
  { why: 'an unknown kind', args: ['history', '--kind', 'Pipe,Zzzzz'], says: 'Give Service, Pipe' },
  { why: 'a time that is none', args: ['status', '--since', 'noon'], says: 'Give a duration such as 2h' },
  { why: 'a time before all times', args: ['history', '--since', '99999999999999h'], says: 'longer than' },
  {
    why: 'a duration without an end',
    args: ['status', '--since', `${'9'.repeat(400)}h`],
    says: 'longer than',
  },
  {
    why: 'a time without --wait',
    args: ['reconcile', '--timeout', '5m'],
    says: '--timeout works only with --wait',
  },
  { why: 'a time without a unit', args: ['reconcile', '--wait', '--timeout', '5'], says: 'It has no unit' },
  {
    why: '--accept for one resource',
    args: ['reconcile', 'Pipe/orders', '--accept'],
    says: 'Leave out the key.',
  },
  { why: 'an empty service', args: ['allow', '--service', ''], says: 'allow: --service is empty. Give it' },
  { why: 'an empty name', args: ['lock', '--name='], says: 'lock: --name is empty' },
  { why: 'an empty path', args: ['validate', ''], says: 'validate: an argument is empty. Give it a value' },
  { why: 'an empty path among others', args: ['validate', 'manifests', ''], says: 'an argument is empty' },
  { why: 'an empty key', args: ['status', ''], says: 'status: an argument is empty' },
  { why: 'an empty file', args: ['ledger', 'export', ''], says: 'ledger: an argument is empty' },
  { why: 'a label without a name', args: ['status', '--label', '=a'], says: 'Give a NAME or NAME=VALUE.' },
  {
    why: 'a key with a line break',
    args: ['resume', 'or\nders'],
    says: String.raw`"or\nders" is not`,
  },
  { why: 'help of no command', args: ['help', 'nope'], says: "pipewright: unknown command 'nope'" },
  {
    why: 'a filter with a key',
    args: ['status', 'Pipe/a', '--kind', 'Pipe'],
    says: 'Give either --kind Pipe or Pipe/a.',
  },
  { why: 'an unknown shape of a ledger command', args: ['ledger', 'burn'], says: 'Allowed choices are' },
  { why: 'an export without a file', args: ['ledger', 'export'], says: 'need a file' },
  { why: 'an accept with a file', args: ['ledger', 'accept', 'file'], says: 'need a file' },
  { why: 'neither a key nor a platform', args: ['forget'], says: 'or --platform' },
  { why: 'a key and a platform', args: ['forget', 'Pipe/a', '--platform'], says: 'or --platform' },
  { why: '--force without --retry', args: ['resolve', 'Pipe/a', '--adopt', 'x', '--force'], says: '--retry' },
  { why: 'an empty reason', args: ['suspend', 'Pipe/a', '--reason', ''], says: 'give 1 to 500' },
  {
    why: 'a reason that no manifest can have',
    args: ['suspend', 'Pipe/a', '--reason', 'x'.repeat(501)],
    says: /It has 501/,
  },
  { why: 'a field that is elsewhere', args: ['explain', 'replicas'], says: 'Pipe.spec.scaling.replicas' },
  {
    why: 'a field that many have',
    args: ['explain', 'name'],
    says: /Did you mean (?:\w+(?:\.\w+)+(?:, | or )){3}\d+ more\?/,
  },
  { why: 'a field like no other', args: ['explain', 'zzzz'], says: 'The kinds are Service, Pipe,' },
  { why: 'a ledger in memory', args: ['resume', 'Pipe/a', '--ledger', 'memory:'], says: 'Name the daemon' },
  { why: 'a Lock of a ledger in memory', args: ['lock', '--ledger', 'memory:'], says: 'Name the daemon' },
  { why: 'a name that is none', args: ['lock', '--name', 'A_b'], says: '--name A_b: it must be' },
  { why: 'an id that is none', args: [...IMPORT, 'Pipe/a', 'x'], says: '"x" is not the id of a pipe' },
  {
    why: 'a key that no manifest has',
    args: [...IMPORT, 'Pipe/-a', ID],
    says: 'import: Pipe/-a: the name must',
  },
  { why: 'an import without an id', args: [...IMPORT, 'Pipe/a'], says: 'give KEY, PIPE_ID and' },
  {
    why: 'all of two services',
    args: [...IMPORT, 'b', '--all'],
    says: 'Give the name of one Service at most',
  },
  { why: 'all of a key', args: [...IMPORT.slice(0, 3), 'a/b', '--all'], says: '--all takes no key' },
  { why: 'all that is not listed', args: [...IMPORT, '--all'], says: 'does not list its pipes' },
])('$why is a usage error: exit 64', async ({ args, says }) => {
  const { code, stdout, stderr } = await runHere(args)
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  expect(stderr).toMatch(says)
  expect(stderr).not.toContain('planted')
})

test('all problems of settings are told at once, with exit 64', async () => {
  const { code, stdout, stderr } = await runHere(
    ['run', '--listen', '99', '--concurrency', 'zero', '--ledger', '--log-level'],
    { PIPEWRIGHT_INTERVAL: '5' },
  )
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  const problems = ['--listen "99"', '--concurrency "zero"', 'PIPEWRIGHT_INTERVAL "5"', '--base-url']
  for (const problem of [...problems, '--ledger: it has no value', '--log-level: it has no value'])
    expect(stderr).toContain(problem)
})

test('a flag of a setting never takes the next flag for its value', async () => {
  const { code, stderr } = await runHere(['apply', '--manifests', '--sandbox'])
  expect(code).toBe(64)
  expect(stderr).toContain('--manifests: it has no value; give DIR')
})

test('one pass ends with 1 for an error in a manifest, and with 0 for a warning', async () => {
  await using world = await given('orders')
  world.workspace.write('manifests/wrong.yaml', 'kind: Pipe\n')
  const wrong = await world.apply()
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringMatching(/^error missing-field: /)])
  const json = await world.apply('--wait', '-o', 'json')
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { findings: [{}, {}, {}], unsettled: [] }])
  const lock = { apiVersion: 'pipewright/v1', kind: 'Lock', metadata: { name: 'a' }, spec: { pipes: {} } }
  world.workspace.write('manifests/wrong.yaml', JSON.stringify(lock))
  expect((await world.apply()).code).toBe(0)
})

test.each<[string, RegExp]>([
  ['', /^ {2}Service .*\n {2}Pipe [^]*\n\nTo see the fields of a kind, run/],
  ['-o json', /^\[\n {2}\{\n {4}"path": "Service"/],
  [
    'pipe.policy.onMissing',
    / {2}type {6}text\n {2}one of {4}recreate, report\n {2}required {2}no\n.*\n\nExample: onMissing: recreate\n$/,
  ],
  [
    'pipe.spec.source.kafka.credentials.password',
    / {2}sensitive {2}yes: .*\n\nExample: .*\n\nFields:\n {2}secretRef {2}mapping, required {2}Key/,
  ],
  [
    'pipe.spec.scaling.replicas --profile clickhouse-cloud',
    /number\n {2}required .*\n {2}compared .*\n {2}changed .*\n$/,
  ],
  ['pipe.spec.service', / {2}required {2}yes\n/],
  ['pipe.spec.service -o json', /^\{\n {2}"path": "Pipe.spec.service"/],
])('explain %s', async (words, says) => {
  const { code, stdout } = await runHere(['explain', ...words.split(' ').filter(Boolean)])
  expect([code, stdout]).toEqual([0, expect.stringMatching(says)])
})

test('a daemon with a wrong address is the problem, and no platform is needed', async () => {
  const { code, stderr } = await runHere(['plan', '--server', 'zzz'])
  expect([code, stderr]).toEqual([64, expect.stringMatching(/^pipewright: 1 problem:\n {2}--server "zzz"/)])
})

test.each([
  { args: ['schema', 'Pipe', '-o', 'json'], says: '"$schema"' },
  { args: ['schema', '--interval', '5m'], says: '"$schema"' },
  { args: ['validate', 'manifests', '-o', 'json'], says: '"findings": []' },
])('$args is a right call', async ({ args, says }) => {
  const { code, stdout } = await runHere(args)
  expect(code).toBe(0)
  expect(stdout).toContain(says)
})

const MANY = Array<Buffer>(99).fill(Buffer.alloc(2 ** 16))

test.each([
  { is: 'nothing', reads: 1, chunks: [], says: /^stdin: Standard input has no manifest/ },
  { is: 'too much', reads: 18, chunks: MANY, says: /larger than 1 MiB.\nstdin.yaml:1/ },
  { is: 'a stop', reads: 1, chunks: undefined, says: /^pipewright: stopped by SIGTERM\n$/ },
])('standard input that is $is ends validate with 1', async ({ chunks, reads, says }) => {
  const stop = new AbortController()
  let count = 0
  const read = (input: Readable) => {
    count += 1
    if (chunks === undefined) stop.abort('SIGTERM')
    else input.push(chunks[count - 1] ?? null)
  }
  const input = new Readable({ highWaterMark: 1, read: () => read(input) })
  using _ = vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as typeof process.stdin)
  const { code, stdout, stderr } = await runHere(['validate', '-'], {}, { stopping: stop.signal })
  expect(code).toBe(1)
  expect(stdout + stderr).toMatch(says)
  expect(count).toBeLessThanOrEqual(reads)
})
