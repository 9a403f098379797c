import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { mountSecrets, platformArgs, SERVICE } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { runProgram } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

/* Deletion and replacement by the real program, as a job runs it: one process after another. */

const CLOCKS = new URL('../slow/clock-shift.ts', import.meta.url).href
const MINUTE = 60_000

function pipe(name: string, { stream = name, policy = '', table = name } = {}): string {
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${name}}
policy: {${policy}}
spec:
  service: analytics
  source:
    kinesis: {format: JSONEachRow, streamName: ${stream}, region: eu-north-1, iteratorType: LATEST, authentication: IAM_ROLE, iamRole: "arn:aws:iam::210987654321:role/a"}
  destination:
    table: ${table.replaceAll('-', '_')}
    managedTable: true
    tableDefinition: {engine: {type: MergeTree}, sortingKey: [at]}
    columns: [{name: at, type: DateTime}]
`
}

async function world(options: Partial<SandboxOptions> = {}) {
  const workspace = createWorkspace()
  const platform: Sandbox = await startPlatform({
    profile: CLICKHOUSE_CLOUD,
    ...options,
    fixture: { alerts: [] },
  })
  mountSecrets(workspace)
  workspace.write('manifests/service.yaml', SERVICE)
  let skipped = 0
  let seen = 0
  workspace.write('clock', '0')
  return {
    workspace,
    platform,
    write: (name: string, how: Parameters<typeof pipe>[1] = {}) =>
      workspace.write(`manifests/${name}.yaml`, pipe(name, how)),
    gone: (name: string) => rmSync(workspace.path(`manifests/${name}.yaml`)),
    async run(command: string, ...more: string[]) {
      const done = await runProgram(
        [
          command,
          ...more,
          ...platformArgs(workspace, platform.url),
          '--profile',
          'clickhouse-cloud',
          '--api-budget',
          '1000/1s',
        ],
        {
          cwd: workspace.dir,
          env: { NODE_OPTIONS: `--import=${CLOCKS}`, CLOCK_SHIFT_FILE: workspace.path('clock') },
        },
      )
      return done
    },
    writes() {
      const all = platform.requests().filter(({ method }) => method !== 'GET')
      const now = all.slice(seen)
      seen = all.length
      return now.map(({ method }) => method)
    },
    skip(ms: number) {
      skipped += ms
      workspace.write('clock', String(skipped))
    },
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      workspace[Symbol.dispose]()
    },
  }
}

test('A: a job replaces a pipe', { timeout: 300_000 }, async () => {
  await using w = await world()
  for (const name of ['a', 'b', 'c']) w.write(name, { policy: 'onImmutable: replace, onRemove: delete' })
  await w.run('apply')
  w.skip(60 * MINUTE)
  await w.run('apply')
  w.writes()
  w.write('a', { stream: 'other', policy: 'onImmutable: replace, onRemove: delete' })
  await w.run('plan')
  await w.run('apply')
  w.skip(11 * MINUTE)
  await w.run('plan')
  await w.run('apply')
  for (let i = 0; i < 4; i += 1) {
    w.skip(MINUTE)
    await w.run('apply')
  }
  expect(w.writes()).toEqual(['DELETE', 'POST'])
})

test('B: a job removes a pipe', { timeout: 300_000 }, async () => {
  await using w = await world()
  for (const name of ['a', 'b', 'c']) w.write(name, { policy: 'onRemove: delete' })
  await w.run('apply')
  w.skip(60 * MINUTE)
  await w.run('apply')
  w.writes()
  w.gone('a')
  await w.run('plan')
  await w.run('apply')
  w.skip(11 * MINUTE)
  await w.run('plan')
  await w.run('apply')
  for (let i = 0; i < 4; i += 1) {
    w.skip(MINUTE)
    await w.run('apply')
  }
  expect(w.writes()).toEqual(['DELETE'])
  expect((await w.run('status')).stdout).not.toContain('Pipe/a')
})
