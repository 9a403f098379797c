import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { mountSecrets, platformArgs, SERVICE } from '../support/manifests.ts'
import { startPlatform } from '../support/platform.ts'
import { runProgram } from '../support/process.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/*
 * What the list of all pipes settles (design §14): a lost reply, a lost ledger, pipes that somebody else made. With the real program, and
 * a platform that lists.
 */

function pipe(name: string, more = '', policy = ''): string {
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${name}}
${policy}
spec:
  service: analytics
  source:
    kinesis: {format: JSONEachRow, streamName: ${name}, region: eu-north-1, iteratorType: LATEST, authentication: IAM_ROLE, iamRole: "arn:aws:iam::210987654321:role/a"}
  destination:
    table: ${name.replaceAll('-', '_')}
    managedTable: true
    tableDefinition: {engine: {type: MergeTree}, sortingKey: [at]}
    columns: [{name: at, type: DateTime}]
${more}`
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
  /** One pass. @returns the reason of each pipe */
  apply(...more: readonly string[]): Promise<Readonly<Record<string, string>>>
  messageOf(key: string): string
  requests(operation: string): number
  loseLedger(): void
  /** Another command of the program. */
  run(...args: readonly string[]): ReturnType<typeof runProgram>
}

async function given(names: readonly string[], options: Partial<SandboxOptions> = {}): Promise<World> {
  const workspace = createWorkspace()
  const platform = await startPlatform({
    profile: CLICKHOUSE_CLOUD,
    ...options,
    fixture: { alerts: [], ...options.fixture },
  })
  mountSecrets(workspace)
  workspace.write('manifests/service.yaml', SERVICE)
  for (const name of names) workspace.write(`manifests/${name}.yaml`, pipe(name))
  let last: readonly Shown[] = []
  return {
    workspace,
    platform,
    async apply(...more) {
      const args = ['apply', ...platformArgs(workspace, platform.url), '--profile', 'clickhouse-cloud']
      const { stdout, stderr } = await runProgram([...args, '--api-budget', '1000/1s', '-o', 'json', ...more])
      if (stdout === '') throw new Error(stderr)
      last = (JSON.parse(stdout) as { readonly resources: readonly Shown[] }).resources
      return Object.fromEntries(
        last.filter(({ key }) => key.startsWith('Pipe/')).map(({ key, reason }) => [key.slice(5), reason]),
      )
    },
    messageOf: (key) => last.find((one) => one.key === key)?.message ?? '',
    requests: (operation) => platform.requests().filter((one) => one.operation === operation).length,
    run: (command = '', ...args) =>
      runProgram([
        command,
        ...args,
        ...platformArgs(workspace, platform.url),
        '--profile',
        'clickhouse-cloud',
        '--api-budget',
        '1000/1s',
      ]),
    loseLedger() {
      for (const end of ['', '.lock', '.reserve', '-wal', '-shm'])
        rmSync(workspace.path(`ledger.db${end}`), { force: true })
    },
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      workspace[Symbol.dispose]()
    },
  }
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

describe('a list', () => {
  test('settles a create whose reply was lost: one POST in all', async () => {
    await using world = await given(['orders'])
    world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
    expect(await world.apply()).toEqual({ orders: 'InSync' })
    expect(world.requests('createPipe')).toBe(1)
    expect(world.platform.pipes()).toHaveLength(1)
  })

  test('rebuilds a ledger that is lost: nothing is created', async () => {
    await using world = await given(NAMES)
    await world.apply()
    const before = world.platform.pipes().map(({ id }) => id)
    world.loseLedger()
    await world.apply('--max-creates', '1')
    expect(await world.apply()).toEqual(Object.fromEntries(NAMES.map((name) => [name, 'InSync'])))
    expect(world.requests('createPipe')).toBe(NAMES.length)
    expect(world.platform.pipes().map(({ id }) => id)).toEqual(before)
  })

  test('that lags behind leaves an outcome unknown until it has the pipe', async () => {
    await using world = await given(['orders'], { listLagMs: 3_600_000 })
    world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
    expect(world.requests('createPipe')).toBe(1)
  })

  test('with two that look alike asks which it is, and names them', async () => {
    await using world = await given(['orders'])
    await world.apply()
    const [first] = world.platform.pipes()
    world.loseLedger()
    // a second one that somebody made by hand
    world.workspace.write('manifests/twin.yaml', pipe('twin'))
    await world.apply()
    const twin = world.platform.pipes().find(({ name }) => name === 'twin')
    world.platform.change(twin?.id ?? '', {
      name: 'orders',
      source: { kinesis: { streamName: 'orders' } },
      destination: { table: 'orders' },
    })
    rmSync(world.workspace.path('manifests/twin.yaml'))
    world.loseLedger()
    expect(await world.apply()).toEqual({ orders: 'Ambiguous' })
    expect(world.messageOf('Pipe/orders')).toContain(first?.id)
    expect(world.messageOf('Pipe/orders')).toContain(twin?.id)
    expect(world.requests('createPipe')).toBe(2)
  })

  test('with one that differs asks, and names what differs', async () => {
    await using world = await given(['orders'])
    await world.apply()
    const [made] = world.platform.pipes()
    world.platform.change(made?.id ?? '', { source: { kinesis: { region: 'us-east-1' } } })
    world.loseLedger()
    expect(await world.apply()).toEqual({ orders: 'Ambiguous' })
    expect(world.messageOf('Pipe/orders')).toContain('source.kinesis.region')
    expect(world.requests('createPipe')).toBe(1)
  })

  test('is asked about, and not acted on, where a manifest says so', async () => {
    await using world = await given(['orders'])
    await world.apply()
    world.loseLedger()
    world.workspace.write('manifests/orders.yaml', pipe('orders', '', 'policy: {onUnknown: ask}'))
    expect(await world.apply()).toEqual({ orders: 'Ambiguous' })
    expect(world.messageOf('Pipe/orders')).toContain('policy.onUnknown is "ask"')
    expect(world.requests('createPipe')).toBe(1)
  })

  test('that does not have what is recorded is not believed: nothing is created beside it', async () => {
    await using world = await given(NAMES, { listLagMs: 3_600_000 })
    await world.apply()
    world.workspace.write('manifests/new.yaml', pipe('new'))
    const reasons = await world.apply()
    expect(reasons['new']).toBe('MassMissing')
    expect(NAMES.map((name) => reasons[name])).toEqual(NAMES.map(() => 'InSync'))
    expect(world.requests('createPipe')).toBe(NAMES.length)
  })

  test('is one request for the drift of all pipes', async () => {
    await using world = await given(NAMES)
    await world.apply()
    const [made] = world.platform.pipes()
    world.platform.change(made?.id ?? '', { source: { kinesis: { region: 'us-east-1' } } })
    const before = { lists: world.requests('listPipes'), gets: world.requests('getPipe') }
    const reasons = Object.values(await world.apply())
    expect(reasons.filter((reason) => reason === 'Drifted')).toHaveLength(1)
    expect(reasons.filter((reason) => reason === 'InSync')).toHaveLength(NAMES.length - 1)
    expect(world.requests('listPipes') - before.lists).toBe(1)
    expect(world.requests('getPipe') - before.gets).toBe(0)
  })

  test('that is answered 404 says nothing of a pipe: it is asked for by its id', async () => {
    await using world = await given(['orders'])
    await world.apply()
    const fault = { type: 'status', status: 404 } as const
    world.platform.faults.add({ operation: 'listPipes', times: 'always', fault })
    expect(await world.apply()).toEqual({ orders: 'InSync' })
    expect(world.requests('getPipe')).toBe(1)
  })

  test('that fails leaves an unknown outcome as it is', async () => {
    await using world = await given(['orders'])
    world.platform.faults.add({ operation: 'createPipe', subject: 'orders', fault: { type: 'cut-after' } })
    await world.apply()
    const fault = { type: 'status', status: 500 } as const
    world.platform.faults.add({ operation: 'listPipes', times: 'always', fault })
    expect(await world.apply()).toEqual({ orders: 'OutcomeUnknown' })
  })
})

describe('import --all', () => {
  test('writes a manifest for each pipe that has none, and they are taken over as they are', async () => {
    await using world = await given(NAMES)
    await world.apply()
    world.platform.change(world.platform.pipes()[0]?.id ?? '', { name: 'A  Größe!' })
    world.loseLedger()
    for (const name of NAMES) if (name !== 'f') rmSync(world.workspace.path(`manifests/${name}.yaml`))
    expect(await world.apply()).toEqual({ f: 'InSync' })
    const file = world.workspace.path('manifests/imported.yaml')
    const imported = await world.run('import', '--all', '--file', file)
    expect(imported).toMatchObject({ code: 0, stdout: '' })
    expect(imported.stderr).toMatch(/^pipewright: 5 of 5 pipes without a manifest were written to /)
    expect(imported.stderr.trim().split('\n')).toHaveLength(1)
    expect(Object.values(await world.apply())).toEqual(NAMES.map(() => 'InSync'))
    expect(world.requests('createPipe')).toBe(NAMES.length)
    const again = await world.run('import', '--all')
    expect(again).toEqual({
      code: 0,
      stdout: '\n',
      stderr: 'pipewright: 0 of 0 pipes without a manifest were written.\n',
    })
  })

  test('is wrong use where the platform does not list, and beside a key', async () => {
    await using world = await given(['orders'])
    const elsewhere = await runProgram([
      'import',
      '--all',
      ...platformArgs(world.workspace, world.platform.url),
    ])
    expect(elsewhere).toMatchObject({ code: 64, stdout: '' })
    expect(elsewhere.stderr).toContain('does not list its pipes')
    const both = await world.run('import', '--all', 'Pipe/orders')
    expect(both).toMatchObject({ code: 64, stdout: '' })
    expect((await world.run('import')).stderr).toContain('or --all')
  })
})
