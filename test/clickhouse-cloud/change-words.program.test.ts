import { describe, expect, test } from 'vitest'
import { isObject } from '../../src/lib/json.ts'
import { KAFKA_PASSWORD } from '../support/manifests.ts'
import type { Given } from '../ways-out/given.ts'
import { type Step, story } from '../ways-out/story.ts'
import { given } from './listed-world.ts'
import { itemsAt, textOf } from './look.ts'

/* What commands say and do of changes, against the sandbox. */

/** Of a database, in the place of any other: what has to rest while its tables are changed. */
function database(tables: readonly string[], head = 'metadata: {name: shop}\nspec:'): Step {
  const mappings = tables.map(
    (name) => `{sourceSchemaName: public, sourceTable: ${name}, targetTable: ${name}}`,
  )
  return ({ workspace }) =>
    workspace.write(
      'manifests/shop.yaml',
      `apiVersion: pipewright/v1
kind: Pipe
${head}
  service: analytics
  source:
    postgres:
      host: db.example
      port: 5432
      database: shop
      credentials:
        username: reader
        password: {secretRef: {name: kafka, key: password}}
      settings: {replicationMode: cdc}
      tableMappings: [${mappings.join(', ')}]
  destination: {database: shop}
`,
    )
}

function started(): Promise<Given> {
  return given([], { fixture: { times: { movingMs: 20, scalingLagMs: 0 } } })
}

/** The tables of the database on the platform, and that it runs. */
function runsWith(...tables: readonly string[]): Step {
  return ({ platform }) => {
    const [there] = platform.pipes()
    const items = isObject(there) ? itemsAt(there, 'source.postgres.tableMappings') : []
    expect(items.map(({ sourceTable }) => textOf(sourceTable)).toSorted()).toEqual(tables)
    expect(['Running', 'Snapshot', 'Modifying']).toContain(there?.state)
  }
}

/** An apply that is stopped while the pipe rests for its change. */
const STOPPED: Step = async ({ platform, commandUntil }) => {
  platform.faults.add({ operation: 'updatePipe', fault: { type: 'hang', done: false }, times: 'always' })
  const stop = new AbortController()
  const ended = commandUntil(stop.signal, 'apply', '--request-timeout', '1s', '--shutdown-grace', '6s')
  await expect.poll(() => platform.pipes()[0]?.state).toBe('Paused')
  stop.abort('SIGTERM')
  const { code, stderr } = await ended
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('Pipewright stopped Pipe/shop to change it and has not started it again'),
  ])
  platform.faults.clear()
}

describe('an edit', () => {
  test('for which a pipe rests as apply is stopped is named, and another one goes to the same pipe under its new name', () =>
    story(
      started(),
      database(['a', 'b']),
      'apply --wait',
      database(['a', 'b', 'c']),
      STOPPED,
      database(['a', 'c'], 'metadata: {name: store}\npolicy: {renamedFrom: Pipe/shop}\nspec:\n  name: shop'),
      'apply --wait\napply --wait\nreasons store=InSync\npipes 1',
      runsWith('a', 'c'),
    ))

  test('that comes while nobody knows whether its pipe was made is applied to the one that was', () =>
    story(
      started(),
      `create: cut-after
      write clicks replicas=1
      apply => 1
      reasons clicks=OutcomeUnknown
      write clicks replicas=3
      apply --wait => 1
      apply --wait
      reasons clicks=InSync
      changes createPipe, scalePipe`,
    ))

  test('is started again after it by apply without --wait', () =>
    story(
      started(),
      database(['orders']),
      'apply --wait',
      database(['orders', 'refunds']),
      'apply | not: pipewright: ',
      runsWith('orders', 'refunds'),
    ))
})

test('plan says before and after and by which request, sends nothing, and apply does that', () =>
  story(
    started(),
    database(['a', 'b']),
    `write clicks replicas=1
    apply --wait
    changes createPipe, createPipe
    write clicks replicas=3`,
    database(['a', 'b', 'c']),
    `plan => 2 | - replicas: 1…+ replicas: 3 | tableMappings | not: ${KAFKA_PASSWORD}
    | Pipe/clicks update Changing…scalePipe | Pipe/shop update Changing…Pipewright stops, changes and starts it
    changes none
    apply --wait`,
    ({ platform }) => {
      const changes = platform.requests().filter(({ method }) => method !== 'GET')
      const expected = new Set(['createPipe', 'scalePipe', 'setPipeState', 'updatePipe'])
      expect(new Set(changes.map(({ operation }) => operation))).toEqual(expected)
    },
    'write clicks replicas=5 stream=other',
    async ({ platform, command, status }) => {
      const before = platform.requests().filter(({ method }) => method !== 'GET').length
      const { items } = JSON.parse((await command('plan', '-o', 'json')).stdout) as {
        readonly items: readonly { readonly key: string; readonly reason: string; readonly message: string }[]
      }
      const planned = items.find(({ key }) => key === 'Pipe/clicks')
      expect(planned?.reason).toBe('NotUpdatable')
      expect(planned?.message).toContain('source.kinesis.streamName')
      expect(planned?.message).not.toContain('scaling')
      expect((await command('apply')).code).toBe(1)
      expect(await status('Pipe/clicks')).toMatchObject({ reason: 'NotUpdatable', message: planned?.message })
      expect(platform.requests().filter(({ method }) => method !== 'GET')).toHaveLength(before)
    },
  ))

describe('apply --wait waits out a create that', () => {
  test.each([
    ['is answered 409 although the work is done', { type: 'error-after', status: 409 }],
    ['is answered 424', { type: 'status', status: 424 }],
  ] as const)('%s', (_what, fault) =>
    story(
      started(),
      ({ platform }) => platform.faults.add({ operation: 'createPipe', fault }),
      'write clicks\napply --wait | waiting for Pipe/clicks, at most 15m. | None of 2 needs attention.\npipes 1',
    ),
  )

  test('is refused for good, once', () =>
    story(
      started(),
      'create: 400\ncreate: 400\ncreate: 400\nwrite clicks\napply --wait => 1\nchanges createPipe, createPipe',
    ))
})
