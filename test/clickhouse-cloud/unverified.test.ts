import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startClient, type Client } from './client.ts'
import { FILES, KAFKA, passes, POSTGRES, REPLICAS, sent, startOld } from './edited-pipes.ts'
import { givenNamed, wireBody } from './given.ts'
import { at } from './look.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import { planOf } from '../reconcile/plan-of.ts'

/*
 * Secrets of an adopted pipe, where the service takes new ones. The first value that is seen after the adoption is sent once.
 */

const KEY = 'Pipe/edited'
const PASSWORD = 'edited/source-kafka-credentials-password'
const REGISTRY = 'edited/source-kafka-schemaRegistry-credentials-password'
const ONLY_PASSWORD = 'edited/source-postgres-credentials-password'
const ARCHIVE = wireBody(givenNamed('stock-archive'))

type How = 'policy.adopt' | 'a Lock' | 'the list'

/** Its record is lost, and these secrets are not mounted when it is adopted. @returns their values */
async function adopt(
  client: Client,
  body: JsonObject,
  { without, how = 'policy.adopt', policy = {} }: { without: readonly string[]; how?: How; policy?: object },
): Promise<ReadonlyMap<string, string>> {
  const id = client.id()
  await client.drop(KEY)
  await client.want(body, { ...(how === 'policy.adopt' && { adopt: id }), ...policy })
  if (how === 'a Lock')
    await client.put('lock.json', {
      apiVersion: 'pipewright/v1',
      kind: 'Lock',
      metadata: { name: 'lock' },
      spec: { pipes: { [KEY]: id } },
    })
  const values = new Map(without.map((name) => [name, client.mounted.get(name) ?? '']))
  for (const name of without) client.mounted.delete(name)
  client.changes()
  await client.reconcile()
  expect(client.id()).toBe(id)
  return values
}

function mount(client: Client, values: ReadonlyMap<string, string>): void {
  for (const [name, text] of values) client.mounted.set(name, text)
}

describe('a pipe that was adopted before its secret was mounted', () => {
  test.each<How>(['policy.adopt', 'a Lock', 'the list'])(
    'by %s: sends the first value once, and is in sync after that',
    async (how) => {
      await using client = await startOld(POSTGRES)
      const values = await adopt(client, POSTGRES, { without: [ONLY_PASSWORD], how })
      expect(client.reason()).toBe('SecretUnavailable')
      expect(client.message()).toContain('Credentials not verified')
      await passes(client, 2)
      expect([sent(client), client.status(), client.reason()]).toEqual([[], 'Refused', 'SecretUnavailable'])
      expect(client.message()).toContain('Credentials not verified')
      expect(client.message()).toContain(ONLY_PASSWORD)
      await client.restart()
      mount(client, values)
      await client.settle()
      const [patch, ...more] = client.changes()
      expect(more).toEqual([])
      expect(at(patch?.body as JsonObject, 'source.postgres.credentials.password')).toBe(
        values.get(ONLY_PASSWORD),
      )
      expect(client.reason()).toBe('InSync')
      await client.restart()
      await passes(client, 3)
      expect([sent(client), client.reason()]).toEqual([[], 'InSync'])
    },
  )

  test('has the request in a plan', async () => {
    await using client = await startOld(POSTGRES)
    mount(client, await adopt(client, POSTGRES, { without: [ONLY_PASSWORD] }))
    const context = client.context()
    const plan = await planOf({ context, ledger: context.ledger }, 'required')
    const item = plan.items.find(({ key }) => key === KEY)
    expect(item).toMatchObject({ action: 'update', verdict: 'change', reason: 'Changing' })
    expect(item?.message).toContain('source.postgres.credentials.password')
    expect(item?.message).toContain('It is sent once')
    expect(sent(client)).toEqual([])
  })

  test('sends a rotation after that', async () => {
    await using client = await startOld(POSTGRES)
    mount(client, await adopt(client, POSTGRES, { without: [ONLY_PASSWORD] }))
    await client.settle()
    expect(sent(client)).toEqual(['PATCH'])
    client.mounted.set(ONLY_PASSWORD, 'another-one')
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
  })

  test('sends the value that is there when it is mounted, if it was rotated before', async () => {
    await using client = await startOld(POSTGRES)
    await adopt(client, POSTGRES, { without: [ONLY_PASSWORD] })
    client.mounted.set(ONLY_PASSWORD, 'another-one')
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
    expect(at(client.body() ?? {}, 'source.postgres.credentials.password')).not.toBeNull()
  })

  test('sends it again after a request that failed', async () => {
    await using client = await startOld(POSTGRES)
    const values = await adopt(client, POSTGRES, { without: [ONLY_PASSWORD] })
    mount(client, values)
    client.interfere(({ method }) =>
      method === 'PATCH' ? { status: 400, error: 'BAD_REQUEST: not now' } : undefined,
    )
    await client.reconcile()
    expect(client.reason()).toBe('Rejected')
    client.interfere(undefined)
    client.changes()
    await passes(client, 3)
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
  })

  test('applies an edit that needs no secret meanwhile', async () => {
    await using client = await startOld(KAFKA)
    await adopt(client, REPLICAS, { without: [PASSWORD, REGISTRY] })
    await client.want(REPLICAS, { adopt: client.id(), onDrift: 'correct' })
    client.mounted.delete(PASSWORD)
    client.mounted.delete(REGISTRY)
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH /scaling'], 'SecretUnavailable'])
  })
})

describe('of several secrets', () => {
  test('one that is verified goes with the one that is not', async () => {
    await using client = await startOld(KAFKA)
    mount(client, await adopt(client, KAFKA, { without: [PASSWORD] }))
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
  })

  test('the one that no request sends is not verified until an operator says so', async () => {
    await using client = await startOld(KAFKA)
    mount(client, await adopt(client, KAFKA, { without: [PASSWORD, REGISTRY] }))
    await client.settle()
    expect([sent(client), client.status(), client.reason()]).toEqual([['PATCH'], 'Drifted', 'SecretRotated'])
    expect(client.message()).toContain('Credentials not verified')
    expect(client.message()).toContain('schemaRegistry')
    await client.restart()
    await passes(client, 2)
    expect([sent(client), client.reason()]).toEqual([[], 'SecretRotated'])
    await client.want(REPLICAS)
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH /scaling'], 'SecretRotated'])
    const signal = new AbortController().signal
    await adoptAs(client.context(), { key: KEY, pipeId: client.id(), word: 'adopt' }, signal)
    await passes(client, 2)
    expect([sent(client), client.reason()]).toEqual([[], 'InSync'])
  })
})

describe('credentials that are not sent', () => {
  test.each<{ why: string; body: JsonObject; name: string; policy?: object; says: string }>([
    {
      why: 'no request sends them',
      body: ARCHIVE,
      name: 'edited/source-bigquery-credentials-serviceAccountFile',
      says: 'no way to change that',
    },
    {
      why: 'policy.onEdit is "report"',
      body: POSTGRES,
      name: ONLY_PASSWORD,
      policy: { onEdit: 'report' },
      says: 'policy.onEdit',
    },
  ])('because $why: the state says that they are not verified', async ({ body, name, policy, says }) => {
    await using client = await startOld(body)
    mount(client, await adopt(client, body, { without: [name], policy: policy ?? {} }))
    await passes(client, 2)
    expect([sent(client), client.status(), client.reason()]).toEqual([[], 'Drifted', 'SecretRotated'])
    expect(client.message()).toContain('Credentials not verified')
    expect(client.message()).toContain(says)
  })

  test('because a person stopped the pipe: they are sent once it runs', async () => {
    await using client = await startOld(POSTGRES)
    const values = await adopt(client, POSTGRES, { without: [ONLY_PASSWORD] })
    client.server.setStates(client.id(), 'Stopped')
    mount(client, values)
    await passes(client, 2)
    expect([sent(client), client.reason()]).toEqual([[], 'SecretRotated'])
    expect(client.message()).toContain('is stopped')
    client.server.setStates(client.id(), 'Running')
    await client.settle()
    expect([sent(client), client.reason()]).toEqual([['PATCH'], 'InSync'])
  })
})

test('a pipe that was adopted with its secrets mounted sends nothing', async () => {
  await using client = await startOld(KAFKA)
  await adopt(client, KAFKA, { without: [] })
  await passes(client, 2)
  expect([sent(client), client.reason()]).toEqual([[], 'InSync'])
})

test('a pipe without secrets is in sync', async () => {
  await using client = await startClient(FILES)
  await adopt(client, FILES, { without: [] })
  await passes(client, 2)
  expect([sent(client), client.reason()]).toEqual([[], 'InSync'])
})
