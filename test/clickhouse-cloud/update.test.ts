import { describe, expect, test } from 'vitest'
import { stableJson, type Json, type JsonObject } from '../../src/lib/json.ts'
import { fieldOfPath } from '../../src/kinds/changes.ts'
import { startClient, told } from './client.ts'
import { clearingsOf, editsOf, type Edit } from './edits-of.ts'
import { at } from './look.ts'
import { withRefs } from './refs.ts'
import { clientFindings, GIVEN, wireBody } from './given.ts'

/* Every field of the facts is edited once (design §14): what can be changed is as the manifest asks for, and for the rest nothing is sent. */

const bodies = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe').map(({ title, manifest }) => ({
  title,
  body: wireBody(manifest),
}))

/** The tables of a database have no order. */
function inOrder(body: JsonObject | undefined): Json {
  return JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      name === 'tableMappings' && Array.isArray(value)
        ? value.toSorted((a, b) => (stableJson(a) < stableJson(b) ? -1 : 1))
        : value,
    ),
  ) as Json
}

const DATABASES = ['postgres', 'mysql', 'mongodb', 'bigquery']

function isOfDatabase(body: JsonObject): boolean {
  return DATABASES.some((kind) => at(body, `source.${kind}`) !== undefined)
}

/** Of these it may be that nothing is to be sent, or nothing can be known: those tests say so themselves. */
const UNTOLD = new Set([
  'source.validateSamples',
  'source.mysql.authentication',
  ...['postgres', 'mysql', 'mongodb'].map((kind) => `source.${kind}.tableMappings[].tableEngine`),
])

/** The client is stricter than the facts: what it takes for a mistake is never sent. */
function isRight(body: JsonObject): boolean {
  const manifest = {
    apiVersion: 'pipewright/v1',
    kind: 'Pipe',
    metadata: { name: 'edited' },
    spec: { service: 'analytics', ...withRefs(body).spec },
  }
  return clientFindings('Pipe', manifest).length === 0
}

function possibleEdits(body: JsonObject): readonly Edit[] {
  return editsOf(body).filter(({ after }) => isRight(after))
}

/** Whether a database must be paused for its tables alone, or for anything of its source: the facts can be read both ways. */
const SERVICES = bodies
  .flatMap(({ title, body }) =>
    isOfDatabase(body)
      ? (['source', 'mappings'] as const).map((mustPause) => ({
          title: `${title}, paused for its ${mustPause}`,
          body,
          mustPause,
        }))
      : [{ title, body, mustPause: 'mappings' as const }],
  )
  .map((service) => ({ ...service, edits: changesIn(service) }))
  .filter(({ edits }) => edits.length > 0)

function changesIn({ body, mustPause }: { readonly body: JsonObject; readonly mustPause: string }) {
  return possibleEdits(body).filter(
    ({ field, requests }) =>
      requests.length > 0 &&
      (mustPause === 'source' || !isOfDatabase(body) || field.includes('tableMappings')),
  )
}

describe.each(SERVICES)('$title', ({ body, mustPause, edits }) => {
  test.each(edits)('$field is changed', async ({ field, after }) => {
    await using client = await startClient(body, { mustPause })
    if (client.server.states().get(client.id()) === 'Completed')
      client.server.setStates(client.id(), 'Running')
    await client.want(after)
    await client.settle()
    const sent = client.changes()
    const refused = sent.flatMap((one) => one.refused).filter((said) => !said.includes('must be paused'))
    expect(refused).toEqual([])
    expect(sent.flatMap(({ dropped }) => dropped)).toEqual([])
    // It has the default already, or nobody can tell what it has.
    if (UNTOLD.has(field) && sent.every(({ path }) => path.endsWith('/state'))) return
    expect(inOrder(client.body())).toEqual(inOrder(after))
    expect(sent.filter(({ method }) => method === 'POST' || method === 'DELETE')).toEqual([])
    expect(client.reason()).toBe('InSync')
    expect(client.server.states().get(client.id())).toMatch(/^(?:Running|Snapshot)$/)
    // and that is all
    await client.settle()
    expect(client.changes()).toEqual([])
  })
})

describe.each(bodies)('nothing is sent for what cannot be changed: $title', ({ body }) => {
  test.each(possibleEdits(body).filter(({ requests }) => requests.length === 0))(
    '$field',
    async ({ field, after }) => {
      await using client = await startClient(body)
      if (client.server.states().get(client.id()) === 'Completed')
        client.server.setStates(client.id(), 'Running')
      await client.want(after)
      await client.settle()
      expect(client.changes()).toEqual([])
      // What is written out now may be what it is unless set.
      if (field === 'source.postgres.type' && client.reason() === 'InSync') return
      expect(client.reason()).toMatch(/^(?:NotUpdatable|SecretRotated)$/)
      // The message says which, and that nothing was sent.
      expect(client.message()).toContain(fieldOfPath(field))
      expect(client.message()).toMatch(/Nothing (?:of the edit )?was sent/)
    },
  )

  test.each(clearingsOf(body).filter(({ after }) => isRight(after)))(
    '$field taken out',
    async ({ after }) => {
      await using client = await startClient(body)
      if (client.server.states().get(client.id()) === 'Completed')
        client.server.setStates(client.id(), 'Running')
      await client.want(after)
      await client.settle()
      expect(client.changes()).toEqual([])
    },
  )
})

test('a list of before a change is no drift: after it, the pipe is asked for until there is a newer list', async () => {
  const { body } = bodies.find(({ title }) => title.includes('clicks')) ?? { body: {} }
  await using client = await startClient(body)
  const lists = () => client.server.seen().filter(({ path }) => path.endsWith('/clickpipes')).length
  client.skip(60_000)
  const before = lists()
  await client.reconcile('in passing')
  expect(lists()).toBe(before + 1)
  await client.want({ ...body, name: 'another name' })
  await client.reconcile()
  expect(client.changes().map(told)).toEqual(['PATCH'])
  expect(client.reason()).toBe('InSync')
  await client.reconcile('in passing')
  expect(client.reason()).toBe('InSync')
  expect(client.changes()).toEqual([])
})
