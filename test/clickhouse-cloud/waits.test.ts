import { describe, expect, test } from 'vitest'
import type { Client } from './client.ts'
import {
  during,
  having,
  HOUR,
  KAFKA,
  MINUTE,
  POSTGRES,
  REPLICAS,
  sent,
  startOld,
  stateOf,
  tableNames,
  THREE_TABLES,
  withTable,
} from './edited-pipes.ts'

/* What of a change waits, and for what: and that nothing else does. */

const PASSWORD = 'source.kafka.credentials.password'
const REGISTRY = 'edited/source-kafka-schemaRegistry-credentials-password'

describe('a secret that cannot be read', () => {
  test.each([
    { what: 'a size', secret: 'edited/source-kafka-credentials-password', before: KAFKA, after: REPLICAS },
    {
      what: 'tables',
      secret: 'edited/source-postgres-credentials-password',
      before: POSTGRES,
      after: withTable('invoices'),
    },
    {
      what: 'other credentials, of which it is no part',
      secret: REGISTRY,
      before: KAFKA,
      after: having(KAFKA, { [PASSWORD]: 'another-one' }),
    },
  ])('does not keep $what from being changed', async ({ secret, before, after }) => {
    await using client = await startOld(before)
    await client.want(after)
    client.mounted.delete(secret)
    await during(client, 5 * MINUTE)
    expect([sent(client).some((one) => one.startsWith('PATCH')), client.reason()]).toEqual([true, 'InSync'])
  })

  test('keeps credentials of which it is a part, and names it alone', async () => {
    await using client = await startOld(KAFKA)
    const endpoints = ['0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11']
    await client.want(having(KAFKA, { 'source.kafka.reversePrivateEndpointIds': endpoints }))
    client.mounted.delete(REGISTRY)
    client.mounted.delete('edited/source-kafka-credentials-password')
    await during(client, 5 * MINUTE)
    expect([sent(client), client.reason()]).toEqual([[], 'SecretUnavailable'])
    expect(client.message()).toContain('edited/source-kafka-credentials-password')
    expect(client.message()).not.toContain(REGISTRY)
  })
})

/** It goes on loading until it is said to run. */
async function startLoading(options: Parameters<typeof startOld>[1] = {}): Promise<Client> {
  const client = await startOld(POSTGRES, options)
  client.server.setStates(client.id(), 'Snapshot')
  await client.reconcile()
  return client
}

describe('a pipe that loads its tables for the first time', () => {
  const edits = [
    { what: 'its tables', mustPause: 'mappings', after: withTable('invoices') },
    {
      what: 'something for which the service asks it to be paused',
      mustPause: 'source',
      after: having(POSTGRES, { 'source.postgres.settings.pullBatchSize': 5 }),
    },
  ] as const

  test.each(edits)(
    'is not stopped for a change of $what: that waits until it runs',
    async ({ mustPause, after }) => {
      await using client = await startLoading({ mustPause })
      await client.want(after)
      await during(client, 2 * HOUR)
      const asked = sent(client)
      expect(asked).not.toContain('stop')
      // It is not asked over and over again.
      expect(asked.length).toBeLessThanOrEqual(1)
      expect([client.state(), client.status(), client.reason()]).toEqual([
        'Snapshot',
        'Progressing',
        'Changing',
      ])
      expect(client.message()).toContain('state is Snapshot')
      expect(client.message()).toContain('pipewright reconcile Pipe/edited')
      await client.restart()
      await during(client, 20 * MINUTE)
      expect(sent(client)).toEqual([])
      client.server.setStates(client.id(), 'Running')
      await during(client, 20 * MINUTE)
      expect(sent(client)).toContain('stop')
      expect([client.body(), stateOf(client), client.reason()]).toEqual([after, 'Running', 'InSync'])
    },
  )

  test.each(edits)('is changed within minutes of when it runs: $what', async ({ mustPause, after }) => {
    await using client = await startLoading({ mustPause })
    await client.want(after)
    await during(client, 10 * MINUTE)
    client.server.setStates(client.id(), 'Running')
    await during(client, 10 * MINUTE)
    expect([client.body(), stateOf(client), client.reason()]).toEqual([after, 'Running', 'InSync'])
  })

  test.each(edits)('is stopped for a change of $what when a person asks', async ({ mustPause, after }) => {
    await using client = await startLoading({ mustPause })
    await client.want(after)
    await during(client, 20 * MINUTE)
    await client.reconcile('asked')
    await during(client, 20 * MINUTE)
    expect(sent(client)).toContain('stop')
    expect([client.body(), client.reason()]).toEqual([after, 'InSync'])
  })

  test('is a person’s to stop while its change waits', async () => {
    await using client = await startLoading()
    await client.want(withTable('invoices'))
    await during(client, 20 * MINUTE)
    client.server.setStates(client.id(), 'Paused')
    await during(client, 20 * MINUTE)
    expect([sent(client), stateOf(client), client.reason()]).toEqual([[], 'Paused', 'NotUpdatable'])
  })

  test('is changed without a wait where nothing has to rest', async () => {
    await using client = await startLoading()
    await client.want(having(POSTGRES, { name: 'Another name' }))
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
  })

  test('is stopped where policy.paused says so', async () => {
    await using client = await startLoading()
    await client.want(withTable('invoices'), { paused: true })
    await during(client, 20 * MINUTE)
    expect([tableNames(client), stateOf(client)]).toEqual([THREE_TABLES, 'Paused'])
  })
})

describe('right before a request goes out', () => {
  const rows: readonly {
    readonly what: string
    readonly reason: string
    readonly begin: (client: Client) => void
    readonly end: (client: Client) => void
  }[] = [
    {
      what: 'a reading of the manifests that is not believed',
      // What was said of it stays.
      reason: 'InSync',
      begin: (client) => client.doubt('there'),
      end: (client) => client.doubt('over'),
    },
    {
      what: 'what it depends on',
      reason: 'DependencyNotReady',
      begin: (client) => client.dependency('not ready'),
      end: (client) => client.dependency('ready'),
    },
  ]

  test.each(rows)('$what counts', async ({ reason, begin, end }) => {
    await using client = await startOld(KAFKA)
    client.dependency('ready')
    await client.want(REPLICAS, { dependsOn: ['Service/analytics'] })
    client.meanwhile(() => begin(client))
    await client.reconcile()
    expect([sent(client), client.reason()]).toEqual([[], reason])
    end(client)
    await during(client, 5 * MINUTE)
    expect([sent(client), client.reason()]).toEqual([['PATCH /scaling'], 'InSync'])
  })

  test.each(rows)('$what counts: a pipe is not stopped then', async ({ reason, begin, end }) => {
    await using client = await startOld(POSTGRES)
    client.dependency('ready')
    await client.want(withTable('invoices'), { dependsOn: ['Service/analytics'] })
    client.meanwhile(() => begin(client))
    await client.reconcile()
    expect([sent(client), client.reason()]).toEqual([[], reason])
    end(client)
    await during(client, 5 * MINUTE)
    expect([tableNames(client), client.reason()]).toEqual([THREE_TABLES, 'InSync'])
  })

  test('a secret that is gone counts', async () => {
    await using client = await startOld(KAFKA)
    await client.want(having(KAFKA, { [PASSWORD]: 'another-one' }))
    client.meanwhile(() => void client.mounted.delete('edited/source-kafka-credentials-password'))
    await client.reconcile()
    // Nobody knows its value, and so nothing is known to have changed.
    expect([sent(client), client.reason()]).toEqual([[], 'InSync'])
  })

  test('what it depends on does not keep a pipe stopped that we stopped', async () => {
    await using client = await startOld(POSTGRES)
    client.dependency('ready')
    await client.want(withTable('invoices'), { dependsOn: ['Service/analytics'] })
    await client.reconcile()
    client.server.setStates(client.id(), 'Paused')
    client.meanwhile(() => client.dependency('not ready'))
    await during(client, 5 * MINUTE)
    expect([sent(client), stateOf(client)]).toEqual([['stop', 'start'], 'Running'])
  })
})
