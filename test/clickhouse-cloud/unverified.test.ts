import { planMessage } from '../../src/contract/plan.ts'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startClient, type Client } from './client.ts'
import { FILES, KAFKA, lockOf, POSTGRES, REPLICAS, startOld } from './edited-pipes.ts'
import { givenNamed, wireBody } from './given.ts'
import { at } from './look.ts'
import { play, story, type Step } from './story.ts'
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

interface Adoption {
  readonly without: readonly string[]
  readonly how?: How
  readonly policy?: object
}

type How = 'policy.adopt' | 'a Lock' | 'the list'

/** Its record is lost, and these secrets are not mounted when it is adopted. @returns their values */
async function adopt(
  client: Client,
  body: JsonObject,
  { without, how = 'policy.adopt', policy = {} }: Adoption,
): Promise<ReadonlyMap<string, string>> {
  const id = client.id()
  await client.drop(KEY)
  await client.want(body, { ...(how === 'policy.adopt' && { adopt: id }), ...policy })
  if (how === 'a Lock') await client.put('lock.json', lockOf({ [KEY]: id }))
  const values = new Map(without.map((name) => [name, client.mounted.get(name) ?? '']))
  for (const name of without) client.mounted.delete(name)
  client.changes()
  await client.reconcile()
  expect(client.id()).toBe(id)
  return values
}

/** Its secrets are mounted again at once. */
function adopted(body: JsonObject, how: Adoption): Step {
  return async (client) => {
    for (const [name, text] of await adopt(client, body, how)) client.mounted.set(name, text)
  }
}

describe('a pipe that was adopted before its secret was mounted', () => {
  test.each<How>(['policy.adopt', 'a Lock', 'the list'])(
    'by %s: sends the first value once, and is in sync after that',
    (how) =>
      story(startOld(POSTGRES), async (client) => {
        const values = await adopt(client, POSTGRES, { without: [ONLY_PASSWORD], how })
        await play(
          client,
          'is SecretUnavailable; says Credentials not verified',
          '2 passes; sends nothing; shows Refused; is SecretUnavailable',
          `says Credentials not verified; says ${ONLY_PASSWORD}; restart`,
        )
        for (const [name, text] of values) client.mounted.set(name, text)
        await client.settle()
        const [patch, ...more] = client.changes()
        expect(more).toEqual([])
        const sentOne = at(patch?.body as JsonObject, 'source.postgres.credentials.password')
        expect(sentOne).toBe(values.get(ONLY_PASSWORD))
        await play(client, 'is InSync; restart; 3 passes; sends nothing; is InSync')
      }),
  )

  test('has the request in a plan', () =>
    story(
      startOld(POSTGRES),
      adopted(POSTGRES, { without: [ONLY_PASSWORD] }),
      async (client) => {
        const context = client.context()
        const plan = await planOf({ context, ledger: context.ledger }, 'required')
        const item = plan.items.find(({ key }) => key === KEY)
        expect(item).toMatchObject({ action: 'update', verdict: 'change', reason: 'Changing' })
        const message = item && planMessage(item, {})
        expect(message).toContain('source.postgres.credentials.password')
        expect(message).toContain('Pipewright sends it once')
      },
      'sends nothing',
    ))

  test('sends a rotation after that', () =>
    story(
      startOld(POSTGRES),
      adopted(POSTGRES, { without: [ONLY_PASSWORD] }),
      'settle; sends PATCH',
      (client) => void client.mounted.set(ONLY_PASSWORD, 'another-one'),
      'settle; sends PATCH; is InSync',
    ))

  test('sends the value that is there when it is mounted, if it was rotated before', () =>
    story(
      startOld(POSTGRES),
      (client) => adopt(client, POSTGRES, { without: [ONLY_PASSWORD] }),
      (client) => void client.mounted.set(ONLY_PASSWORD, 'another-one'),
      'settle; sends PATCH; is InSync',
      (client) => expect(at(client.body() ?? {}, 'source.postgres.credentials.password')).toBe('another-one'),
    ))

  test('sends it again after a request that failed', () =>
    story(
      startOld(POSTGRES),
      adopted(POSTGRES, { without: [ONLY_PASSWORD] }),
      'on PATCH: 400; turn; is Rejected; calm; sends nothing; 3 passes; sends PATCH; is InSync',
    ))

  test('applies an edit that needs no secret meanwhile', () =>
    story(
      startOld(KAFKA),
      (client) => adopt(client, REPLICAS, { without: [PASSWORD, REGISTRY] }),
      (client) => client.want(REPLICAS, { adopt: client.id(), onDrift: 'correct' }),
      `unmount ${PASSWORD}; unmount ${REGISTRY}; settle; sends PATCH /scaling; is SecretUnavailable`,
    ))
})

describe('of several secrets', () => {
  test('one that is verified goes with the one that is not', () =>
    story(startOld(KAFKA), adopted(KAFKA, { without: [PASSWORD] }), 'settle; sends PATCH; is InSync'))

  test('the one that no request sends is not verified until an operator says so', () =>
    story(
      startOld(KAFKA),
      adopted(KAFKA, { without: [PASSWORD, REGISTRY] }),
      'settle; sends PATCH; shows Drifted; is SecretRotated',
      'says Credentials not verified; says schemaRegistry',
      'restart; 2 passes; sends nothing; is SecretRotated',
      'want REPLICAS; settle; sends PATCH /scaling; is SecretRotated',
      (client) => {
        const { signal } = new AbortController()
        return adoptAs(client.context(), { key: KEY, pipeId: client.id(), command: 'adopt' }, signal)
      },
      '2 passes; sends nothing; is InSync',
    ))
})

describe('credentials that are not sent', () => {
  test.each(
    Object.entries<{ body: JsonObject; name: string; policy?: object; says: string }>({
      'no request sends them': {
        body: ARCHIVE,
        name: 'edited/source-bigquery-credentials-serviceAccountFile',
        says: 'cannot change that',
      },
      'policy.onEdit is "report"': {
        body: POSTGRES,
        name: ONLY_PASSWORD,
        policy: { onEdit: 'report' },
        says: 'policy.onEdit',
      },
    }),
  )('because %s: the state says that they are not verified', (_why, { body, name, policy = {}, says }) =>
    story(
      startOld(body),
      adopted(body, { without: [name], policy }),
      '2 passes; sends nothing; shows Drifted; is SecretRotated',
      `says Credentials not verified; says ${says}`,
    ),
  )

  test('because a person stopped the pipe: they are sent once it runs', () =>
    story(
      startOld(POSTGRES),
      adopted(POSTGRES, { without: [ONLY_PASSWORD] }),
      'state Stopped; 2 passes; sends nothing; is SecretRotated; says is stopped',
      'state Running; settle; sends PATCH; is InSync',
    ))
})

test.each([
  ['that was adopted with its secrets mounted sends nothing', () => startOld(KAFKA), KAFKA],
  ['without secrets is in sync', () => startClient(FILES), FILES],
])('a pipe %s', (_, begin, body) =>
  story(begin(), adopted(body, { without: [] }), '2 passes; sends nothing; is InSync'),
)
