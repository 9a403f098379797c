import { describe, expect, test } from 'vitest'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { FaultRuleInput } from '../../src/sandbox/faults.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import type { RecordedRequest } from '../../src/sandbox/stored.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { isObject } from '../../src/lib/json.ts'
import { furnish, KAFKA_PASSWORD, platformArgs } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { type Ended, runHere } from '../support/command.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { at, textOf } from './look.ts'

/* What commands say and do of changes, each as a process of its own, against the sandbox. */

/** Of a database: what has to rest while its tables are changed. */
function database(
  tables: readonly string[],
  more: { readonly policy?: string; readonly host?: string } = {},
): string {
  const mappings = tables.map(
    (name) => `{sourceSchemaName: public, sourceTable: ${name}, targetTable: ${name}}`,
  )
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: shop}
${more.policy ?? ''}
spec:
  service: analytics
  source:
    postgres:
      host: ${more.host ?? 'db.example'}
      port: 5432
      database: shop
      credentials:
        username: reader
        password: {secretRef: {name: kafka, key: password}}
      settings: {replicationMode: cdc}
      tableMappings: [${mappings.join(', ')}]
  destination: {database: shop}
`
}

function stream(name: string, replicas: number, service = 'analytics'): string {
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${name}}
spec:
  service: ${service}
  source:
    kinesis: {format: JSONEachRow, streamName: ${name}, region: eu-north-1, iteratorType: LATEST, authentication: IAM_ROLE, iamRole: "arn:aws:iam::210987654321:role/a"}
  destination:
    table: ${name.replaceAll('-', '_')}
    managedTable: true
    tableDefinition: {engine: {type: MergeTree}, sortingKey: [at]}
    columns: [{name: at, type: DateTime}]
  scaling: {replicas: ${replicas}}
`
}

interface Shown {
  readonly key: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

interface World extends AsyncDisposable {
  readonly workspace: Workspace
  /** Of the commands: some wait for a minute. */
  readonly clock: Clock
  readonly platform: Sandbox
  write(name: string, manifest: string): void
  args(command: string, ...more: readonly string[]): readonly string[]
  /** One pass, or until all is at rest. */
  apply(...more: readonly string[]): Promise<readonly Shown[]>
  /** Requests that change something, since this was asked the last time. */
  changes(): readonly RecordedRequest[]
  /** Names of the tables of the database, and its state. */
  tables(): readonly [readonly string[], string]
}

/** With these manifests, and what they ask for. */
async function given(
  manifests: Readonly<Record<string, string>>,
  options: Partial<SandboxOptions> = {},
): Promise<World> {
  const workspace = createWorkspace()
  const platform = await startPlatform({
    profile: CLICKHOUSE_CLOUD,
    ...options,
    fixture: { alerts: [], times: { movingMs: 20, scalingLagMs: 0 }, ...options.fixture },
  })
  furnish(workspace)
  let seen = 0
  const world: World = {
    workspace,
    clock: createTurningClock(),
    platform,
    write: (name, manifest) => workspace.write(`manifests/${name}.yaml`, manifest),
    args: (command, ...more) => [
      command,
      ...platformArgs(workspace, platform.url),
      '--profile',
      'clickhouse-cloud',
      ...more,
    ],
    async apply(...more) {
      const args = world.args(
        'apply',
        '--api-budget',
        '1000/1s',
        '--max-creates',
        '500',
        '-o',
        'json',
        ...more,
      )
      const { stdout, stderr } = await runHere(args, {}, { clock: world.clock })
      if (stdout === '') throw new Error(stderr)
      const { resources } = JSON.parse(stdout) as { readonly resources: readonly Shown[] }
      return resources.filter(({ key }) => key.startsWith('Pipe/'))
    },
    changes() {
      const all = platform.requests()
      const since = all.slice(seen)
      seen = all.length
      return since.filter(({ method }) => method !== 'GET')
    },
    tables() {
      const [pipe] = platform.pipes()
      const mappings = at(
        { pipe: JSON.parse(JSON.stringify(pipe)) as never },
        'pipe.source.postgres.tableMappings',
      )
      const items = Array.isArray(mappings) ? mappings.filter((item) => isObject(item)) : []
      return [
        items.map(({ sourceTable }) => textOf(sourceTable)).toSorted((a, b) => (a < b ? -1 : 1)),
        String(pipe?.state),
      ]
    },
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      workspace[Symbol.dispose]()
    },
  }
  for (const [name, manifest] of Object.entries(manifests)) world.write(name, manifest)
  await world.apply('--wait')
  world.changes()
  return world
}

const GRACE = ['--request-timeout', '1s', '--shutdown-grace', '6s']

/** An apply that is stopped while the pipe rests for its change. */
async function stoppedAtRest(world: World): Promise<Ended> {
  world.platform.faults.add({
    operation: 'updatePipe',
    fault: { type: 'hang', done: false },
    times: 'always',
  })
  world.write('shop', database(['a', 'b', 'c']))
  const stop = new AbortController()
  const ended = runHere(
    world.args('apply', ...GRACE, '--api-budget', '1000/1s'),
    {},
    { stopping: stop.signal, clock: world.clock },
  )
  await until('the pipe to rest', () => world.tables()[1] === 'Paused')
  stop.abort('SIGTERM')
  return ended
}

describe('an edit', () => {
  test('for which a pipe rests as apply is stopped is named, and another one goes to the same pipe under its new name', async () => {
    await using world = await given({ shop: database(['a', 'b']) })
    const { code, stderr } = await stoppedAtRest(world)
    expect(code).toBe(1)
    expect(stderr).toContain('Pipe/shop was stopped for a change and was not started again')
    world.platform.faults.clear()
    const renamed = database(['a', 'c'], { policy: 'policy: {renamedFrom: Pipe/shop}' })
    world.write(
      'shop',
      renamed.replace('name: shop}', 'name: store}').replace('  service:', '  name: shop\n  service:'),
    )
    await world.apply('--wait')
    expect(await world.apply('--wait')).toMatchObject([{ key: 'Pipe/store', reason: 'InSync' }])
    expect(world.platform.pipes()).toHaveLength(1)
    expect(world.tables()).toEqual([['a', 'c'], expect.stringMatching(/^(?:Running|Snapshot)$/)])
  })

  test('that comes while nobody knows whether its pipe was made is applied to the one that was', async () => {
    await using world = await given({})
    world.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
    world.write('clicks', stream('clicks', 1))
    expect(await world.apply()).toMatchObject([{ reason: 'OutcomeUnknown' }])
    world.write('clicks', stream('clicks', 3))
    await world.apply('--wait')
    expect(await world.apply('--wait')).toMatchObject([{ reason: 'InSync' }])
    expect(world.changes().map(({ operation }) => operation)).toEqual(['createPipe', 'scalePipe'])
  })
})

interface Planned {
  readonly key: string
  readonly reason: string
  readonly message: string
}

async function plan(
  world: World,
): Promise<{ readonly text: string; readonly of: (key: string) => Planned | undefined }> {
  const [{ stdout: text }, { stdout: json }] = await Promise.all([
    runHere(world.args('plan')),
    runHere(world.args('plan', '-o', 'json')),
  ])
  const { items } = JSON.parse(json) as { readonly items: readonly Planned[] }
  return { text, of: (key) => items.find((item) => item.key === key) }
}

describe('plan', () => {
  test('says before and after and by which request, sends nothing, and apply does that', async () => {
    await using world = await given({ clicks: stream('clicks', 1), shop: database(['a', 'b']) })
    world.write('clicks', stream('clicks', 3))
    world.write('shop', database(['a', 'b', 'c']))
    const { text, of } = await plan(world)
    expect(world.changes()).toEqual([])
    expect(of('Pipe/clicks')).toMatchObject({
      reason: 'Changing',
      message: expect.stringContaining('scalePipe') as string,
    })
    expect(text).toMatch(/- +replicas: 1\n.*\+ +replicas: 3/)
    expect(of('Pipe/shop')?.message).toContain('stopped, changed and started again')
    expect(text).toContain('tableMappings')
    expect(text).not.toContain(KAFKA_PASSWORD)
    await world.apply('--wait')
    expect(new Set(world.changes().map(({ operation }) => operation))).toEqual(
      new Set(['scalePipe', 'setPipeState', 'updatePipe']),
    )

    world.write('clicks', stream('clicks', 5).replace('streamName: clicks', 'streamName: other'))
    const planned = (await plan(world)).of('Pipe/clicks')
    expect(planned?.reason).toBe('NotUpdatable')
    expect(planned?.message).toContain('source.kinesis.streamName')
    expect(planned?.message).not.toContain('scaling')
    const shown = await world.apply()
    expect(shown.find(({ key }) => key === 'Pipe/clicks')).toMatchObject({
      reason: 'NotUpdatable',
      message: planned?.message,
    })
    expect(world.changes()).toEqual([])
  })
})

describe('apply without --wait', () => {
  const edit = database(['orders', 'refunds'])

  test('starts again whatever it stopped for a change', async () => {
    await using world = await given({ shop: database(['orders']) })
    world.write('shop', edit)
    const { code, stderr } = await runHere(world.args('apply', '--api-budget', '1000/1s'))
    expect([code, stderr.includes('pipewright: ')]).toEqual([0, false])
    expect(world.tables()[0]).toEqual(['orders', 'refunds'])
    expect(['Running', 'Snapshot', 'Modifying']).toContain(world.tables()[1])
  })
})

describe('apply --wait waits out a create that', () => {
  test.each<readonly [what: string, fault: FaultRuleInput['fault']]>([
    ['is answered 409 although the work is done', { type: 'error-after', status: 409 }],
    ['is answered 424', { type: 'status', status: 424 }],
  ])('%s', async (_what, fault) => {
    await using world = await given({})
    world.platform.faults.add({ operation: 'createPipe', fault, times: 1 })
    world.write('clicks', stream('clicks', 1))
    const { code, stdout } = await runHere(world.args('apply', '--wait', '--api-budget', '1000/1s'))
    expect(stdout).toContain('None of 2 needs attention.')
    expect([code, world.platform.pipes().length]).toEqual([0, 1])
  })

  test('is refused for good, once', async () => {
    await using world = await given({})
    const fault = { type: 'status', status: 400, error: 'it is not taken' } as const
    world.platform.faults.add({ operation: 'createPipe', fault, times: 100 })
    world.write('clicks', stream('clicks', 1))
    const { code } = await runHere(world.args('apply', '--wait', '--api-budget', '1000/1s'))
    expect([code, world.changes().length]).toEqual([1, 2])
  })
})
