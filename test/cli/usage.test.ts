import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { runHere } from '../support/command.ts'
import { given } from '../ways-out/given.ts'

const IMPORT = 'import --base-url http://127.0.0.1:9 --service analytics'
const ID = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11'

test.each<[why: string, command: string, says: string | RegExp]>([
  ['an unknown command', 'statsu', 'Did you mean status?'],
  ['help of an unknown command', 'help statsu', 'Did you mean status?'],
  ['an unknown flag', 'run --intervall 5m', 'Did you mean --interval?'],
  ['an unknown flag, without its value', 'run --bogus=planted', /'--bogus'\n/],
  ['an unknown flag with quotes', "run --bogus=a'\n'planted", /'--bogus'\n/],
  ['a value for a flag that takes none', 'run --sandbox=planted', 'pipewright: --sandbox takes no value\n'],
  ['a flag of another command', 'resolve Pipe/a --created', "'--created'"],
  ['an unknown flag of a command without settings', 'version --sandbox', "'--sandbox'"],
  ['an unknown format', 'plan -o foo', 'Allowed choices are text, json, markdown.'],
  ['a format without a value', 'schema -o', 'argument missing'],
  ['too many arguments', 'status a b', 'Expected 1 argument but got 2'],
  ['a missing argument', 'adopt', "missing required argument 'key'"],
  ['another missing argument', 'adopt Pipe/a', "missing required argument 'id'"],
  ['a number below the range', 'history --limit 0', 'It is less than 1; give'],
  ['a number above the range', 'history --limit 100001', 'more than 100000'],
  ['an unknown status', 'status --status Readdy', 'Did you mean Ready?'],
  ['an unknown reason', 'status --reason Zzzzzzz', 'Give a reason that "pipewright status" shows'],
  ['an unknown kind', 'history --kind Pipe,Zzzzz', 'Give Service, Pipe'],
  ['a time that is none', 'status --since noon', 'Give a duration such as 2h'],
  ['a time before all times', 'history --since 99999999999999h', 'longer than'],
  ['a duration without an end', `status --since ${'9'.repeat(400)}h`, 'longer than'],
  ['a time without --wait', 'reconcile --timeout 5m', '--timeout works only with --wait'],
  ['a time without a unit', 'reconcile --wait --timeout 5', 'It has no unit'],
  ['--accept for one resource', 'reconcile Pipe/orders --accept', 'Leave out the key.'],
  ['an empty service', 'allow --service ', 'allow: --service is empty. Give it'],
  ['an empty name', 'lock --name=', 'lock: --name is empty'],
  ['an empty path', 'validate ', 'validate: an argument is empty. Give it a value'],
  ['an empty path among others', 'validate manifests ', 'an argument is empty'],
  ['an empty key', 'status ', 'status: an argument is empty'],
  ['an empty file', 'ledger export ', 'ledger: an argument is empty'],
  ['a label without a name', 'status --label =a', 'Give a NAME or NAME=VALUE.'],
  ['a key with a line break', 'resume or\nders', String.raw`"or\nders" is not`],
  ['help of no command', 'help nope', "pipewright: unknown command 'nope'"],
  ['a filter with a key', 'status Pipe/a --kind Pipe', 'Give either --kind Pipe or Pipe/a.'],
  ['an unknown shape of a ledger command', 'ledger burn', 'Allowed choices are'],
  ['an export without a file', 'ledger export', 'need a file'],
  ['an accept with a file', 'ledger accept file', 'need a file'],
  ['neither a key nor a platform', 'forget', 'or --platform'],
  ['a key and a platform', 'forget Pipe/a --platform', 'or --platform'],
  ['--force without --retry', 'resolve Pipe/a --adopt x --force', '--retry'],
  ['an empty reason', 'suspend Pipe/a --reason ', 'give 1 to 500'],
  ['a reason that no manifest can have', `suspend Pipe/a --reason ${'x'.repeat(501)}`, /It has 501/],
  ['a field that is elsewhere', 'explain replicas', 'Pipe.spec.scaling.replicas'],
  ['a field that many have', 'explain name', /Did you mean (?:\w+(?:\.\w+)+(?:, | or )){3}\d+ more\?/],
  ['a field like no other', 'explain zzzz', 'The kinds are Service, Pipe,'],
  ['a ledger in memory', 'resume Pipe/a --ledger memory:', 'Name the daemon'],
  ['a Lock of a ledger in memory', 'lock --ledger memory:', 'Name the daemon'],
  ['a name that is none', 'lock --name A_b', '--name A_b: it must be'],
  ['an id that is none', `${IMPORT} Pipe/a x`, '"x" is not the id of a pipe'],
  ['a key that no manifest has', `${IMPORT} Pipe/-a ${ID}`, 'import: Pipe/-a: the name must'],
  ['an import without an id', `${IMPORT} Pipe/a`, 'give KEY, PIPE_ID and'],
  ['all of two services', `${IMPORT} b --all`, 'Give the name of one Service at most'],
  ['all of a key', 'import --base-url http://127.0.0.1:9 a/b --all', '--all takes no key'],
  ['all that is not listed', `${IMPORT} --all`, 'does not list its pipes'],
])('%s is a usage error: exit 64', async (_, command, says) => {
  const { code, stdout, stderr } = await runHere(command.split(' '))
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
  await using world = await given(['orders'])
  world.workspace.write('manifests/wrong.yaml', 'kind: Pipe\n')
  const wrong = await world.command('apply')
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringMatching(/^error missing-field: /)])
  const json = await world.command('apply', '--wait', '-o', 'json')
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { findings: [{}, {}, {}], unsettled: [] }])
  const lock = { apiVersion: 'pipewright/v1', kind: 'Lock', metadata: { name: 'a' }, spec: { pipes: {} } }
  world.workspace.write('manifests/wrong.yaml', JSON.stringify(lock))
  expect((await world.command('apply')).code).toBe(0)
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
    / {2}sensitive {2}yes: .*\n\nExample: .*\n\nFields:\n {2}secretRef {2}mapping, required {2}Ref/,
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
