import { describe, expect, test } from 'vitest'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { FaultRuleInput } from '../../src/sandbox/fault-schema.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import type { RecordedRequest } from '../../src/sandbox/stored.ts'
import { isObject } from '../../src/lib/json.ts'
import {
  CREDENTIAL,
  KAFKA_PASSWORD,
  mountCredential,
  mountSecrets,
  ORGANIZATION,
  OTHER_SERVICE_ID,
  platformArgs,
  runArgs,
  SERVICE,
  SERVICE_ID,
  serviceManifest,
} from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { resourcesOf, runProgram, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { at, textOf } from './look.ts'

/* Changes of what exists, by the real program against the sandbox: killed in the middle, many at once, and as `plan` says beforehand. */

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
    movingMs: 20,
    scalingLagMs: 0,
    ...options,
    fixture: { alerts: [], ...options.fixture },
  })
  mountSecrets(workspace)
  mountCredential(workspace, 'other-api', CREDENTIAL)
  workspace.write('manifests/service.yaml', SERVICE)
  let seen = 0
  const world: World = {
    workspace,
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
      const { stdout, stderr } = await runProgram(args)
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

const hang = (done: boolean) => ({ type: 'hang', done }) as const

describe('a process that is killed', () => {
  const refused: FaultRuleInput = {
    operation: 'updatePipe',
    fault: { type: 'status', status: 400, error: 'it is not taken' },
  }
  const rows: readonly {
    readonly when: string
    readonly faults: readonly FaultRuleInput[]
    readonly operation: string
    readonly nth: number
  }[] = [
    {
      when: 'when it was stopped',
      faults: [{ operation: 'setPipeState', fault: hang(true) }],
      operation: 'setPipeState',
      nth: 1,
    },
    {
      when: 'before its change',
      faults: [{ operation: 'updatePipe', fault: hang(false) }],
      operation: 'updatePipe',
      nth: 1,
    },
    {
      when: 'after its change',
      faults: [{ operation: 'updatePipe', fault: hang(true) }],
      operation: 'updatePipe',
      nth: 1,
    },
    {
      when: 'before it was looked at',
      faults: [{ operation: 'getPipe', fault: hang(true) }],
      operation: 'getPipe',
      nth: 1,
    },
    {
      when: 'before its start',
      faults: [refused, { operation: 'setPipeState', nth: 2, fault: hang(false) }],
      operation: 'setPipeState',
      nth: 2,
    },
  ]
  test.concurrent.each(rows)(
    '$when leaves a pipe that runs, changed once',
    async ({ faults, operation, nth }) => {
      await using world = await given({ shop: database(['a', 'b']) })
      world.platform.faults.add(...faults)
      world.write('shop', database(['a', 'b', 'c']))
      {
        await using program = startProgram(world.args('apply', '--api-budget', '1000/1s', '--wait'))
        await until('the request', () => {
          const asked = world.platform.requests().filter((request) => request.operation === operation)
          return asked.length >= nth
        })
        program.signal('SIGKILL')
        await program.ended
      }
      world.platform.faults.clear()
      const shown = await world.apply('--wait')
      expect(shown).toMatchObject([{ key: 'Pipe/shop', reason: 'InSync' }])
      expect(world.tables()).toEqual([['a', 'b', 'c'], expect.stringMatching(/^(?:Running|Snapshot)$/)])
    },
  )
})

describe('an edit', () => {
  test.concurrent(
    'of a pipe that is renamed while it is stopped for another is applied, to the same pipe',
    async () => {
      await using world = await given({ shop: database(['a', 'b']) })
      world.platform.faults.add({ operation: 'updatePipe', fault: hang(false) })
      world.write('shop', database(['a', 'b', 'c']))
      {
        await using program = startProgram(world.args('apply', '--api-budget', '1000/1s', '--wait'))
        await until('the change', () =>
          world.platform.requests().some(({ operation }) => operation === 'updatePipe'),
        )
        program.signal('SIGKILL')
        await program.ended
      }
      world.platform.faults.clear()
      expect(world.platform.pipes()).toMatchObject([{ state: 'Paused' }])
      const renamed = database(['a', 'c'], { policy: 'policy: {renamedFrom: Pipe/shop}' })
      world.write(
        'shop',
        renamed.replace('name: shop}', 'name: store}').replace('  service:', '  name: shop\n  service:'),
      )
      await world.apply('--wait')
      const shown = await world.apply('--wait')
      expect(shown).toMatchObject([{ key: 'Pipe/store', reason: 'InSync' }])
      expect(world.platform.pipes()).toHaveLength(1)
      expect(world.tables()).toEqual([['a', 'c'], expect.stringMatching(/^(?:Running|Snapshot)$/)])
    },
  )

  test.concurrent(
    'that comes while nobody knows whether its pipe was made is applied to the one that was',
    async () => {
      await using world = await given({})
      world.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
      world.write('clicks', stream('clicks', 1))
      expect(await world.apply()).toMatchObject([{ reason: 'OutcomeUnknown' }])
      world.write('clicks', stream('clicks', 3))
      await world.apply('--wait')
      expect(await world.apply('--wait')).toMatchObject([{ reason: 'InSync' }])
      expect(world.changes().map(({ operation }) => operation)).toEqual(['createPipe', 'scalePipe'])
    },
  )
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
    runProgram(world.args('plan')),
    runProgram(world.args('plan', '-o', 'json')),
  ])
  const { items } = JSON.parse(json) as { readonly items: readonly Planned[] }
  return { text, of: (key) => items.find((item) => item.key === key) }
}

describe('plan', () => {
  test.concurrent(
    'says before and after and by which request, sends nothing, and apply does that',
    async () => {
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
    },
  )
})

describe('many', () => {
  test.concurrent('edits of one pipe in a row are all applied', async () => {
    await using world = await given({ clicks: stream('clicks', 1), shop: database(['a', 'b']) })
    await using daemon = startProgram([
      ...runArgs(world.workspace, world.platform.url),
      '--profile',
      'clickhouse-cloud',
    ])
    const url = await urlOf(daemon)
    const inSync = () =>
      until('all in sync', async () => {
        const pipes = (await resourcesOf(url)).filter(({ key }) => key.startsWith('Pipe/'))
        return (
          pipes.length === 2 &&
          pipes.every(({ status, reason }) => status === 'Ready' && reason !== 'Changing')
        )
      })
    await inSync()
    for (let edit = 0; edit < 10; edit += 1) {
      world.write('clicks', stream('clicks', edit + 2))
      await until(
        `edit ${edit}`,
        () =>
          at({ pipes: JSON.parse(JSON.stringify(world.platform.pipes())) as never }, 'pipes') !== undefined &&
          world.platform.pipes().some((pipe) => JSON.stringify(pipe).includes(`"replicas":${edit + 2}`)),
      )
    }
    await inSync()
    expect(world.changes().map(({ operation }) => operation)).toEqual(
      Array.from({ length: 10 }, () => 'scalePipe'),
    )
  })

  test.concurrent('pipes are changed at once within the budget', async () => {
    const count = 200
    const names = Array.from({ length: count }, (_, index) => `p${String(index).padStart(3, '0')}`)
    await using world = await given(Object.fromEntries(names.map((name) => [name, stream(name, 1)])))
    for (const name of names) world.write(name, stream(name, 2))
    const windowMs = 250
    const requests = 50
    const args = world.args('apply', '--api-budget', `${requests}/${windowMs}ms`, '--wait', '-o', 'json')
    const before = world.platform.requests().length
    const { stdout, stderr } = await runProgram(args)
    expect(stderr).not.toContain('Rate limited')
    const { resources } = JSON.parse(stdout) as { readonly resources: readonly Shown[] }
    expect(
      new Set(resources.filter(({ key }) => key.startsWith('Pipe/')).map(({ reason }) => reason)),
    ).toEqual(new Set(['InSync']))
    expect(world.changes().filter(({ operation }) => operation === 'scalePipe')).toHaveLength(count)
    const times = world.platform
      .requests()
      .slice(before)
      .map((request) => request.at)
    // What was asked for within the budget may arrive a little closer together.
    const crowds = times.filter((time, index) => (times[index + 2 * requests] ?? Infinity) - time < windowMs)
    expect(crowds).toEqual([])
  })

  test.concurrent(
    'services: one that sleeps keeps its own pipes alone from being changed, for as long as it does',
    async () => {
      await using world = await given(
        {
          other: serviceManifest({ name: 'other', serviceId: OTHER_SERVICE_ID, secret: 'other-api' }),
          clicks: stream('clicks', 1),
          views: stream('views', 1, 'other'),
        },
        {
          fixture: {
            alerts: [],
            services: [
              { organizationId: ORGANIZATION, serviceId: SERVICE_ID },
              { organizationId: ORGANIZATION, serviceId: OTHER_SERVICE_ID },
            ],
          },
        },
      )
      world.platform.setService({ organizationId: ORGANIZATION, serviceId: OTHER_SERVICE_ID, state: 'idle' })
      world.write('clicks', stream('clicks', 3))
      world.write('views', stream('views', 3, 'other'))
      const shown = await world.apply()
      expect(shown.map(({ key, reason }) => [key, reason])).toEqual([
        ['Pipe/clicks', 'InSync'],
        ['Pipe/views', 'ServiceIdle'],
      ])
      world.platform.setService({
        organizationId: ORGANIZATION,
        serviceId: OTHER_SERVICE_ID,
        state: 'running',
      })
      await world.apply('--wait')
      expect(
        world.platform
          .pipes()
          .map((pipe) => at(JSON.parse(JSON.stringify(pipe)) as never, 'scaling.replicas')),
      ).toEqual([3, 3])
    },
  )
})

describe('apply without --wait', () => {
  const edit = database(['orders', 'refunds'])

  test('starts again whatever it stopped for a change', async () => {
    await using world = await given({ shop: database(['orders']) })
    world.write('shop', edit)
    const { code, stderr } = await runProgram(world.args('apply', '--api-budget', '1000/1s'))
    expect([code, stderr.includes('pipewright: ')]).toEqual([0, false])
    expect(world.tables()[0]).toEqual(['orders', 'refunds'])
    expect(['Running', 'Snapshot', 'Modifying']).toContain(world.tables()[1])
  })

  test('that is stopped meanwhile says which pipe rests, and fails', async () => {
    await using world = await given({ shop: database(['orders']) })
    world.platform.faults.add({ operation: 'updatePipe', fault: { type: 'status', status: 503 }, times: 100 })
    world.write('shop', edit)
    await using program = startProgram(world.args('apply', '--api-budget', '1000/1s'))
    await until('the pipe to rest', () => world.tables()[1] === 'Paused')
    program.signal('SIGTERM')
    expect(await program.ended).toBe(1)
    expect(program.stderr()).toContain('Pipe/shop was stopped for a change and was not started again')
  })
})

describe('apply --wait waits out a create that', () => {
  const faults: readonly (readonly [what: string, fault: FaultRuleInput['fault']])[] = [
    ['is answered 504 although the work is done', { type: 'error-after', status: 504 }],
    ['is answered 409 although the work is done', { type: 'error-after', status: 409 }],
    ['is answered 409', { type: 'status', status: 409 }],
    ['is answered 424', { type: 'status', status: 424 }],
  ]

  test.each(faults)('%s', async (_what, fault) => {
    await using world = await given({})
    world.platform.faults.add({ operation: 'createPipe', fault, times: 1 })
    world.write('clicks', stream('clicks', 1))
    const { code, stdout } = await runProgram(
      world.args('apply', '--wait', '--timeout', '60s', '--api-budget', '1000/1s'),
    )
    expect(stdout).toContain('None of 2 needs attention.')
    expect([code, world.platform.pipes().length]).toEqual([0, 1])
  })

  test('is refused for good, once', async () => {
    await using world = await given({})
    const fault = { type: 'status', status: 400, error: 'it is not taken' } as const
    world.platform.faults.add({ operation: 'createPipe', fault, times: 100 })
    world.write('clicks', stream('clicks', 1))
    const { code } = await runProgram(world.args('apply', '--wait', '--api-budget', '1000/1s'))
    expect([code, world.changes().length]).toEqual([1, 2])
  })
})
