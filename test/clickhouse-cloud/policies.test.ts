import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Client } from './client.ts'
import {
  byHand,
  during,
  faulty,
  FILES,
  having,
  HOUR,
  KAFKA,
  MAPPINGS,
  MINUTE,
  passes,
  POSTGRES,
  REPLICAS,
  sent,
  startOld,
  stateOf,
  tableNames,
  tablesIn,
  THREE_TABLES,
  withTable,
} from './edited-pipes.ts'
import type { Mishap, OnItsWay } from './strict-wire.ts'
import { at } from './look.ts'

/*
 * What a person wants of changes (design §14, `policy`), and every trap of the facts' section 8 that they meet on the way: each row is a
 * sentence. The client is in this process; time passes by being told so.
 */

/** A request that the service does not take. */
function refusing(below: string, error = 'BAD_REQUEST: it is not taken', status = 400) {
  return (asked: OnItsWay): Mishap =>
    asked.method !== 'GET' && asked.below === below ? { status, error } : undefined
}

/** It runs with these tables, as its manifest asks for. */
function expectInSync(client: Client, tables: readonly string[]): void {
  expect([tableNames(client), stateOf(client), client.reason()]).toEqual([tables, 'Running', 'InSync'])
}

describe('policy.onEdit', () => {
  test('report: nothing is sent, and it says which field, and why', async () => {
    await using client = await startOld(KAFKA)
    await client.want(REPLICAS, { onEdit: 'report' })
    await client.settle()
    await passes(client, 3)
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('NotUpdatable')
    expect(client.message()).toContain('scaling.replicas')
    expect(client.message()).toContain('policy.onEdit')
  })

  test('report: a rotated secret is told, and not sent; apply sends it', async () => {
    await using client = await startOld(KAFKA)
    const rotated = having(KAFKA, { 'source.kafka.credentials.password': 'another-one' })
    await client.want(rotated, { onEdit: 'report' })
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([[], 'SecretRotated'])
    await client.want(rotated, { onEdit: 'apply' })
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
  })

  test('report, set while it is stopped for a change: it is started again, unchanged', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    await client.reconcile()
    expect(sent(client)).toEqual(['stop'])
    await client.want(withTable('invoices'), { onEdit: 'report' })
    await during(client, 10 * MINUTE)
    expect(sent(client)).toEqual(['start'])
    expect([stateOf(client), client.reason()]).toEqual(['Running', 'NotUpdatable'])
  })
})

describe('policy.onDrift', () => {
  test('correct: one field that cannot change keeps the rest, and is the only one named', async () => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift: 'correct' })
    byHand(client, { 'scaling.replicas': 5, 'source.kafka.topics': 'other' })
    await passes(client, 3)
    expect([sent(client), client.reason()]).toEqual([[], 'Drifted'])
    expect(client.message()).toContain('source.kafka.topics')
    expect(client.message()).not.toContain('scaling')
  })

  test('correct: table mappings that somebody took away come back, and it runs', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(POSTGRES, { onDrift: 'correct' })
    byHand(client, { [MAPPINGS]: [tablesIn(POSTGRES)[0] ?? {}] })
    client.skip(MINUTE)
    await client.settle()
    expect(sent(client)).toEqual(['stop', 'PATCH'])
    expect([tableNames(client), stateOf(client)]).toEqual([['addresses', 'customers'], 'Running'])
    expect(faulty(client)).toEqual([])
  })
})

describe('an edit', () => {
  test.each([
    { what: 'a setting', body: KAFKA, field: 'settings.streaming_max_insert_wait_ms' },
    { what: 'a part of the size', body: KAFKA, field: 'scaling.replicas' },
    { what: 'an optional field of the source', body: POSTGRES, field: 'source.postgres.tlsHost' },
  ])('$what that was taken out is told, and nothing is sent', async ({ body, field }) => {
    await using client = await startOld(body)
    await client.want(having(body, { [field]: null }))
    await client.settle()
    await passes(client, 3)
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain(field)
  })

  test('of a pipe that is done is not sent', async () => {
    const once = having(FILES, {
      'source.objectStorage.isContinuous': null,
      'source.objectStorage.queueUrl': null,
      'source.objectStorage.skipInitialLoad': null,
    })
    await using client = await startOld(once)
    expect(stateOf(client)).toBe('Completed')
    await client.want(having(once, { 'settings.object_storage_concurrency': 8 }))
    await client.settle()
    await passes(client, 3)
    expect([sent(client), client.reason()]).toEqual([[], 'NotUpdatable'])
    await client.want(once, { paused: true })
    await passes(client, 3)
    await client.want(once, { paused: false })
    await passes(client, 3)
    expect(sent(client)).toEqual([])
  })
})

describe('a secret', () => {
  test('that was rotated is sent with all credentials', async () => {
    await using client = await startOld(KAFKA)
    await client.want(having(KAFKA, { 'source.kafka.credentials.password': 'another-one' }))
    await client.settle()
    const [patch, ...more] = client.changes()
    expect(more).toEqual([])
    expect(at(patch?.body as JsonObject, 'source.kafka.credentials')).toEqual({
      username: 'planted-text',
      password: 'another-one',
    })
    expect(client.reason()).toBe('InSync')
  })

  test('of the schema registry is told, and keeps the rest', async () => {
    await using client = await startOld(KAFKA)
    const field = 'source.kafka.schemaRegistry.credentials.password'
    await client.want(having(KAFKA, { [field]: 'another-one' }))
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([[], 'SecretRotated'])
    expect(client.message()).toContain(field)
    await client.want(having(REPLICAS, { [field]: 'another-one' }))
    await client.settle()
    expect(sent(client)).toEqual([])
    expect(client.message()).toContain(field)
    expect(client.message()).not.toContain('scaling')
  })

  test('that cannot be read keeps what needs it, and nothing else', async () => {
    await using client = await startOld(KAFKA)
    const secret = 'edited/source-kafka-credentials-password'
    const edited = having(KAFKA, {
      'source.kafka.reversePrivateEndpointIds': ['0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11'],
    })
    const password = client.mounted.get(secret) ?? ''
    await client.want(edited)
    client.mounted.delete(secret)
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([[], 'SecretUnavailable'])
    await client.want(REPLICAS)
    client.mounted.delete(secret)
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH /scaling'], 'InSync'])
    // and it is not taken for rotated when it is back
    client.mounted.set(secret, password)
    await passes(client, 2)
    expect([sent(client), client.reason()]).toEqual([[], 'InSync'])
  })

  test('that is gone while the pipe is stopped for a change: it is started again, and stopped once it is back', async () => {
    await using client = await startOld(POSTGRES, { mustPause: 'source' })
    const secret = 'edited/source-postgres-credentials-password'
    const password = client.mounted.get(secret) ?? ''
    const edited = having(withTable('invoices'), { 'source.postgres.host': 'other.example' })
    await client.want(edited)
    await client.reconcile()
    expect(sent(client)).toEqual(['stop'])
    client.mounted.delete(secret)
    await during(client, 10 * MINUTE)
    expect([sent(client), stateOf(client)]).toEqual([['start'], 'Running'])
    client.mounted.set(secret, password)
    await during(client, 70 * MINUTE)
    expect([tableNames(client), stateOf(client)]).toEqual([THREE_TABLES, 'Running'])
    expect(client.reason()).toBe('InSync')
  })

  test('is in no message, no event, no record and no history, also when the service repeats it', async () => {
    await using client = await startOld(KAFKA)
    const secret = 'planted-rotated-secret'
    client.interfere(refusing('', `BAD_REQUEST: password ${secret} is wrong`))
    await client.want(having(KAFKA, { 'source.kafka.credentials.password': secret }))
    await client.settle()
    const said = [client.events, client.record(), await client.history(), client.message()]
    expect(client.message()).toContain('BAD_REQUEST')
    expect(JSON.stringify(said)).not.toContain(secret)
  })

  test('is in no record that says why a stopped pipe was not changed', async () => {
    await using client = await startOld(POSTGRES)
    const secret = 'planted-rotated-secret'
    client.interfere(refusing('', `BAD_REQUEST: password ${secret} is wrong`))
    const edited = having(withTable('invoices'), { 'source.postgres.credentials.password': secret })
    await client.want(edited)
    await during(client, 5 * MINUTE)
    const said = [client.events, client.record(), await client.history(), client.message()]
    expect(JSON.stringify(client.record()?.change?.refused)).toContain('BAD_REQUEST')
    expect(JSON.stringify(said)).not.toContain(secret)
  })
})

describe('policy.paused', () => {
  test.each([
    { what: 'a stream', body: KAFKA, rest: 'Stopped' },
    { what: 'a database', body: POSTGRES, rest: 'Paused' },
  ])('true stops $what, which is well then, and quiet, also after a restart', async ({ body, rest }) => {
    await using client = await startOld(body)
    await client.want(body, { paused: true })
    await client.settle()
    expect(sent(client)).toEqual(['stop'])
    expect([stateOf(client), client.reason(), client.status()]).toEqual([rest, 'InSync', 'Ready'])
    await passes(client, 5)
    await client.restart()
    await passes(client, 5)
    expect([sent(client), client.status()]).toEqual([[], 'Ready'])
    // a flag that is removed again leaves it
    await client.want(body)
    await passes(client, 3)
    expect([sent(client), stateOf(client)]).toEqual([[], rest])
    await client.want(body, { paused: false })
    await client.settle()
    expect(sent(client)).toEqual(['start'])
    await passes(client, 3)
    expect([sent(client), stateOf(client), client.status()]).toEqual([[], 'Running', 'Ready'])
  })

  test('absent: a size is changed while it rests, and it is not woken', async () => {
    await using client = await startOld(KAFKA)
    client.server.setStates(client.id(), 'Stopped')
    await client.want(REPLICAS)
    await during(client, 5 * MINUTE)
    expect([sent(client), stateOf(client)]).toEqual([['PATCH /scaling'], 'Stopped'])
  })
})

describe('a pipe that has to rest for its change', () => {
  test('is stopped, changed once, and runs again', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    await client.settle()
    expect(sent(client)).toEqual(['stop', 'PATCH'])
    expectInSync(client, THREE_TABLES)
    expect(client.record()).toMatchObject({ change: undefined, command: undefined })
  })

  test('by the words of the service alone is stopped once within the hour, where the change is refused then', async () => {
    await using client = await startOld(POSTGRES, { mustPause: 'source' })
    client.interfere((asked) =>
      client.state() === 'Paused' ? refusing('', 'BAD_REQUEST: no such host')(asked) : undefined,
    )
    await client.want(having(POSTGRES, { 'source.postgres.host': 'other.example' }))
    await during(client, 55 * MINUTE)
    expect(sent(client).filter((what) => what !== 'PATCH')).toEqual(['stop', 'start'])
    expect(stateOf(client)).toBe('Running')
    expect(client.message()).toContain('no such host')
  })

  test('is stopped ever more rarely, where its change is refused each time', async () => {
    await using client = await startOld(POSTGRES)
    client.interfere(refusing(''))
    await client.want(withTable('invoices'))
    await during(client, 6.5 * HOUR)
    // After an hour, two more, and four more, which are not over yet.
    expect(sent(client)).toEqual(['stop', 'start', 'stop', 'start', 'stop', 'start'])
    expect(stateOf(client)).toBe('Running')
  })

  test('is changed at once when a person asks, although it was refused', async () => {
    await using client = await startOld(POSTGRES)
    client.interfere(refusing(''))
    await client.want(withTable('invoices'))
    await during(client, 10 * MINUTE)
    client.interfere(undefined)
    expect(sent(client)).toEqual(['stop', 'start'])
    await client.reconcile('asked')
    await client.settle()
    expect(sent(client)).toEqual(['stop', 'PATCH'])
    expect(stateOf(client)).toBe('Running')
  })

  test.each([
    { what: 'fails', status: 500, error: 'oops' },
    { what: 'is forbidden', status: 403, error: 'FORBIDDEN: this key may not' },
  ])('does not stay stopped where its change $what for long', async ({ status, error }) => {
    await using client = await startOld(POSTGRES)
    client.interfere(refusing('', error, status))
    await client.want(withTable('invoices'))
    await during(client, 30 * MINUTE)
    expect(stateOf(client)).toBe('Running')
    client.interfere(undefined)
    await during(client, 2 * HOUR)
    expectInSync(client, THREE_TABLES)
  })

  test.each([
    {
      how: 'made invalid, and another process begins',
      act: async (client: Client) => {
        await client.spoil()
        await client.restart()
      },
    },
    {
      how: 'not to be applied any more',
      act: (client: Client) => client.want(withTable('invoices'), { onEdit: 'report' }),
    },
    {
      how: 'one that cannot be sent',
      act: (client: Client) =>
        client.want(having(withTable('invoices'), { 'destination.database': 'other' })),
    },
  ])('is started again when its manifest is $how', async ({ act }) => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    await client.reconcile()
    await client.reconcile()
    expect([sent(client), stateOf(client)]).toEqual([['stop'], 'Pausing'])
    await act(client)
    await during(client, 10 * MINUTE)
    expect([sent(client), stateOf(client), tableNames(client)]).toEqual([
      ['start'],
      'Running',
      ['addresses', 'customers'],
    ])
  })

  test('is not found ill while it rests for its change', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    const seen = new Set<string | undefined>()
    for (let count = 0; count < 8; count += 1) {
      await client.reconcile()
      seen.add(client.status())
      client.skip(2_000)
    }
    expect(seen).toEqual(new Set(['Progressing', 'Ready']))
  })
})

/** The request is answered well, and does nothing. */
function notApplied({ method, below }: OnItsWay): Mishap {
  return method === 'PATCH' && below === '' ? { status: 200, error: '' } : undefined
}

describe('what was taken and has no effect', () => {
  const edited = having(KAFKA, { name: 'Another name' })

  test('is told, sent again after an hour and not before, and forgotten once it is there', async () => {
    await using client = await startOld(KAFKA)
    client.interfere(notApplied)
    await client.want(edited)
    await client.settle()
    expect(client.reason()).toBe('Stalled')
    expect(client.message()).toContain('name')
    client.interfere(undefined)
    await during(client, 55 * MINUTE)
    expect([sent(client), client.reason()]).toEqual([[], 'Stalled'])
    await during(client, 10 * MINUTE)
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
    // From then on it is as any other.
    byHand(client, { name: 'By hand' })
    await passes(client, 20)
    expect([sent(client), client.reason()]).toEqual([[], 'Drifted'])
  })

  test('is sent at once when a person asks', async () => {
    await using client = await startOld(KAFKA)
    client.interfere(notApplied)
    await client.want(edited)
    await client.settle()
    client.interfere(undefined)
    await client.reconcile('asked')
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
  })
})

describe('a size', () => {
  test('that shows late is waited for, and called stalled after ten minutes', async () => {
    await using client = await startOld(KAFKA)
    await client.want(REPLICAS)
    client.interfere(({ below }) => (below === '/scaling' ? { status: 200, error: '' } : undefined))
    await client.reconcile()
    await during(client, 8 * MINUTE)
    expect([client.status(), client.reason()]).toEqual(['Progressing', 'Changing'])
    await during(client, 10 * MINUTE)
    expect(client.reason()).toBe('Stalled')
    expect(sent(client)).toEqual([])
  })

  test('that shows as none, then as it was, and then as asked, is never drift, and is called changed when it is', async () => {
    await using client = await startOld(KAFKA)
    await client.want(REPLICAS)
    await client.reconcile()
    expect([client.status(), client.reason()]).toEqual(['Progressing', 'Changing'])
    byHand(client, { 'scaling.replicas': 2 })
    await during(client, 5 * MINUTE)
    expect([client.status(), client.reason()]).toEqual(['Progressing', 'Changing'])
    byHand(client, { 'scaling.replicas': 3 })
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH /scaling'], 'InSync'])
    expect(JSON.stringify(client.events)).not.toContain('"reason":"Drifted"')
  })
})

describe('other things that happen', () => {
  test('to one service: idle, it is left alone, and the edit is applied later', async () => {
    await using client = await startOld(KAFKA)
    client.interfere(({ method }) =>
      method === 'GET' ? undefined : { status: 424, error: 'FAILED_DEPENDENCY: the service is idle' },
    )
    await client.want(REPLICAS)
    await during(client, 30 * MINUTE)
    expect(client.reason()).toBe('ServiceIdle')
    client.interfere(undefined)
    await during(client, 30 * MINUTE)
    expect([sent(client), client.reason()]).toEqual([['PATCH /scaling'], 'InSync'])
  })

  test('to the pipe: it is deleted while an edit waits, and made anew as the manifest has it', async () => {
    await using client = await startOld(POSTGRES)
    await client.want(withTable('invoices'))
    await client.reconcile()
    const before = client.id()
    client.server.setStates(before, 'gone')
    await during(client, 40 * MINUTE)
    expect(client.id()).not.toBe(before)
    expectInSync(client, THREE_TABLES)
    expect(client.record()).toMatchObject({ change: undefined, command: undefined })
  })

  test('to a pipe that is adopted: what differs is told, and corrected where the manifest says so', async () => {
    await using client = await startOld(KAFKA)
    const there = client.ask('POST', '/clickpipes', having(KAFKA, { 'scaling.replicas': 7 }))
    const adopt = (there.result as { readonly id: string }).id
    client.server.setStates(client.id(), 'gone')
    client.server.setStates(adopt, 'Running')
    await client.want(KAFKA, { adopt, onDrift: 'correct' })
    await during(client, HOUR)
    expect([client.id(), client.reason()]).toEqual([adopt, 'InSync'])
    expect(at(client.body() ?? {}, 'scaling.replicas')).toBe(2)
  })

  test('to the manifest of its service: it is gone, and nothing is said against the edit', async () => {
    await using client = await startOld(KAFKA)
    await client.service('gone')
    await client.want(REPLICAS).catch(() => undefined)
    await client.reconcile()
    expect(client.reason()).not.toBe('NotUpdatable')
    await client.service('there')
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH /scaling'], 'InSync'])
  })
})
