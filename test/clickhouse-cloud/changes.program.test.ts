import { describe, expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/sandbox/faults.ts'
import { isObject } from '../../src/lib/json.ts'
import { KAFKA_PASSWORD } from '../support/manifests.ts'
import type { Ended } from '../support/command.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { until } from '../support/until.ts'
import { given, pipe, type World } from './listed-world.ts'
import { at, textOf } from './look.ts'

/* What commands say and do of changes, against the sandbox. */

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

function stream(replicas: number): string {
  return pipe('clicks', `  scaling: {replicas: ${replicas}}\n`)
}

/** With these manifests, and what they ask for. */
async function applied(manifests: Readonly<Record<string, string>>): Promise<World> {
  const fixture = { times: { movingMs: 20, scalingLagMs: 0 } }
  const world = await given([], { fixture }, createTurningClock())
  write(world, manifests)
  await world.apply('--wait')
  world.changes()
  return world
}

function write({ workspace }: World, manifests: Readonly<Record<string, string>>): void {
  for (const [name, manifest] of Object.entries(manifests))
    workspace.write(`manifests/${name}.yaml`, manifest)
}

/** Names of the tables of the database, and its state. */
function tablesOf({ platform }: World): readonly [readonly string[], string] {
  const [there] = platform.pipes()
  const mappings = at(
    { pipe: JSON.parse(JSON.stringify(there)) as never },
    'pipe.source.postgres.tableMappings',
  )
  const items = Array.isArray(mappings) ? mappings.filter((item) => isObject(item)) : []
  const names = items.map(({ sourceTable }) => textOf(sourceTable))
  return [names.toSorted((a, b) => (a < b ? -1 : 1)), String(there?.state)]
}

const GRACE = ['--request-timeout', '1s', '--shutdown-grace', '6s']

/** An apply that is stopped while the pipe rests for its change. */
async function stoppedAtRest(world: World): Promise<Ended> {
  const fault = { type: 'hang', done: false } as const
  world.platform.faults.add({ operation: 'updatePipe', fault, times: 'always' })
  write(world, { shop: database(['a', 'b', 'c']) })
  const stop = new AbortController()
  const ended = world.runUntil(stop.signal, 'apply', ...GRACE)
  await until('the pipe to rest', () => tablesOf(world)[1] === 'Paused')
  stop.abort('SIGTERM')
  return ended
}

describe('an edit', () => {
  test('for which a pipe rests as apply is stopped is named, and another one goes to the same pipe under its new name', async () => {
    await using world = await applied({ shop: database(['a', 'b']) })
    const { code, stderr } = await stoppedAtRest(world)
    expect(code).toBe(1)
    expect(stderr).toContain('Pipewright stopped Pipe/shop to change it and has not started it again')
    world.platform.faults.clear()
    const shop = database(['a', 'c'], { policy: 'policy: {renamedFrom: Pipe/shop}' })
      .replace('name: shop}', 'name: store}')
      .replace('  service:', '  name: shop\n  service:')
    write(world, { shop })
    await world.apply('--wait')
    expect(await world.apply('--wait')).toEqual({ store: 'InSync' })
    expect(world.platform.pipes()).toHaveLength(1)
    expect(tablesOf(world)).toEqual([['a', 'c'], expect.stringMatching(/^(?:Running|Snapshot)$/)])
  })

  test('that comes while nobody knows whether its pipe was made is applied to the one that was', async () => {
    await using world = await applied({})
    world.platform.faults.add({ operation: 'createPipe', fault: { type: 'cut-after' } })
    write(world, { clicks: stream(1) })
    expect(await world.apply()).toEqual({ clicks: 'OutcomeUnknown' })
    write(world, { clicks: stream(3) })
    await world.apply('--wait')
    expect(await world.apply('--wait')).toEqual({ clicks: 'InSync' })
    expect(world.changes()).toEqual(['createPipe', 'scalePipe'])
  })
})

interface Planned {
  readonly key: string
  readonly reason: string
  readonly message: string
}

async function plan(world: World) {
  const [{ stdout: text }, { stdout: json }] = [
    await world.run('plan'),
    await world.run('plan', '-o', 'json'),
  ]
  const { items } = JSON.parse(json) as { readonly items: readonly Planned[] }
  return { text, of: (key: string) => items.find((item) => item.key === key) }
}

test('plan says before and after and by which request, sends nothing, and apply does that', async () => {
  await using world = await applied({ clicks: stream(1), shop: database(['a', 'b']) })
  write(world, { clicks: stream(3), shop: database(['a', 'b', 'c']) })
  const { text, of } = await plan(world)
  expect(world.changes()).toEqual([])
  expect(of('Pipe/clicks')?.reason).toBe('Changing')
  expect(of('Pipe/clicks')?.message).toContain('scalePipe')
  expect(text).toMatch(/- +replicas: 1\n.*\+ +replicas: 3/)
  expect(of('Pipe/shop')?.message).toContain('Pipewright stops, changes and starts it')
  expect(text).toContain('tableMappings')
  expect(text).not.toContain(KAFKA_PASSWORD)
  await world.apply('--wait')
  expect(new Set(world.changes())).toEqual(new Set(['scalePipe', 'setPipeState', 'updatePipe']))

  write(world, { clicks: stream(5).replace('streamName: clicks', 'streamName: other') })
  const planned = (await plan(world)).of('Pipe/clicks')
  expect(planned?.reason).toBe('NotUpdatable')
  expect(planned?.message).toContain('source.kinesis.streamName')
  expect(planned?.message).not.toContain('scaling')
  expect(await world.apply()).toMatchObject({ clicks: 'NotUpdatable' })
  expect(world.messageOf('Pipe/clicks')).toBe(planned?.message)
  expect(world.changes()).toEqual([])
})

test('apply without --wait starts again whatever it stopped for a change', async () => {
  await using world = await applied({ shop: database(['orders']) })
  write(world, { shop: database(['orders', 'refunds']) })
  const { code, stderr } = await world.run('apply')
  expect([code, stderr.includes('pipewright: ')]).toEqual([0, false])
  expect(tablesOf(world)[0]).toEqual(['orders', 'refunds'])
  expect(['Running', 'Snapshot', 'Modifying']).toContain(tablesOf(world)[1])
})

describe('apply --wait waits out a create that', () => {
  test.each<readonly [what: string, fault: FaultRuleInput['fault']]>([
    ['is answered 409 although the work is done', { type: 'error-after', status: 409 }],
    ['is answered 424', { type: 'status', status: 424 }],
  ])('%s', async (_what, fault) => {
    await using world = await applied({})
    world.platform.faults.add({ operation: 'createPipe', fault, times: 1 })
    write(world, { clicks: stream(1) })
    const { code, stdout } = await world.run('apply', '--wait')
    expect(stdout).toContain('None of 2 needs attention.')
    expect([code, world.platform.pipes().length]).toEqual([0, 1])
  })

  test('is refused for good, once', async () => {
    await using world = await applied({})
    const fault = { type: 'status', status: 400, error: 'it is not taken' } as const
    world.platform.faults.add({ operation: 'createPipe', fault, times: 100 })
    write(world, { clicks: stream(1) })
    const { code } = await world.run('apply', '--wait')
    expect([code, world.changes().length]).toEqual([1, 2])
  })
})
