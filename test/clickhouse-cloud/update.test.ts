import { expect, test } from 'vitest'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { fieldOfPath } from '../../src/kinds/changes.ts'
import { fieldAt, howOftenReturned } from '../../src/kinds/field-table.ts'
import { PIPE_FIELDS } from '../../src/kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { startClient, told, type Client } from './client.ts'
import { clearingsOf, editableFields, editOf, type Edit } from './edits-of.ts'
import { at, inOrder } from './look.ts'
import { kindOf } from './patch.ts'
import { withRefs } from './refs.ts'
import { clientFindings, GIVEN, wireBody } from './given.ts'

/* Every field of the facts is edited once (design §14): what can be changed is as the manifest asks for, and for the rest nothing is sent. */

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

/** An edit of a field is tried with the first body of its kind that allows it. */
const tried = new Set<string>()

const bodies = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe').map(({ title, manifest }) => {
  const body = wireBody(manifest)
  const edits = editableFields(body).flatMap(({ fact, isNew }) => {
    const name = `${kindOf(body)} ${fact.field} ${isNew}`
    const edit = tried.has(name) ? undefined : editOf(body, fact)
    return edit !== undefined && isRight(edit.after) && tried.add(name) ? [edit] : []
  })
  return { title, body, edits }
})

/** Whether a database must be paused for its tables alone, or for anything of its source: the facts can be read both ways. */
const SERVICES = bodies
  .flatMap((pipe) =>
    (isOfDatabase(pipe.body) ? (['source', 'mappings'] as const) : (['mappings'] as const)).map(
      (mustPause) => ({
        ...pipe,
        title: `${pipe.title}, paused for its ${mustPause}`,
        mustPause,
        edits: pipe.edits.filter(
          ({ field, canBeSent }) =>
            canBeSent &&
            (!isOfDatabase(pipe.body) || field.includes('tableMappings') === (mustPause === 'mappings')),
        ),
      }),
    ),
  )
  .filter(({ edits }) => edits.length > 0)

test.each(SERVICES)(
  'each field that can be changed is changed: $title',
  async ({ body, mustPause, edits }) => {
    await using stack = new AsyncDisposableStack()
    const start = async () => stack.use(await startClient(body, { mustPause }))
    let [client, now, canGoOn] = [await start(), body, true]
    for (const alone of edits) {
      // The next edit of the same pipe, where it allows that.
      const next = editOf(now, alone.fact)
      canGoOn &&= next?.isNew === alone.isNew && next.canBeSent && isRight(next.after)
      if (!canGoOn) client = await start()
      keepRunning(client)
      const edit = canGoOn && next !== undefined ? next : alone
      canGoOn = await change(client, edit)
      now = edit.after
      // and that is all
      if (canGoOn) await client.settle()
      expect.soft(client.changes(), edit.field).toEqual([])
    }
  },
)

/** @returns whether it can be changed again */
async function change(client: Client, { field, after }: Edit): Promise<boolean> {
  await client.want(after)
  await client.settle()
  const sent = client.changes()
  const refused = sent.flatMap((one) => one.refused).filter((said) => !said.includes('must be paused'))
  expect.soft([refused, sent.flatMap(({ dropped }) => dropped)], field).toEqual([[], []])
  // It has the default already, or nobody can tell what it has.
  const isDone = client.server.states().get(client.id()) === 'Completed'
  const isChanged = sent.some(({ path, refused: [why] }) => !path.endsWith('/state') && why === undefined)
  if (UNTOLD.has(field) && (isDone || !isChanged)) return false
  expect.soft(inOrder(withoutKept(client.body() ?? {})), field).toEqual(inOrder(withoutKept(after)))
  const others = sent.filter(({ method }) => method === 'POST' || method === 'DELETE')
  expect.soft([others, client.reason()], field).toEqual([[], 'InSync'])
  expect.soft(client.server.states().get(client.id()), field).toMatch(/^(?:Running|Snapshot)$/)
  return true
}

test.each(bodies)('nothing is sent for a field that cannot be changed: $title', async ({ body, edits }) => {
  await using client = await startClient(body)
  keepRunning(client)
  for (const edit of edits.filter(({ canBeSent }) => !canBeSent)) {
    await askInVain(client, edit)
  }
  for (const { field, after } of clearingsOf(body).filter((clearing) => isRight(clearing.after))) {
    await client.want(after)
    await client.settle()
    expect.soft(client.changes(), `${field} taken out`).toEqual([])
  }
})

async function askInVain(client: Client, { field, after }: Edit): Promise<void> {
  await client.want(after)
  await client.settle()
  expect.soft(client.changes(), field).toEqual([])
  // What is written out now may be what it is unless set.
  const hasDefault = fieldAt(PIPE_FIELDS, fieldOfPath(field))?.default !== undefined
  if (hasDefault && /^(?:InSync|Drifted)$/.test(client.reason())) return
  expect.soft(client.reason(), field).toMatch(/^(?:NotUpdatable|SecretRotated)$/)
  // The message says which, and that no request was sent.
  expect.soft(client.message(), field).toContain(fieldOfPath(field))
  expect.soft(client.message(), field).toMatch(/No (?:part of the edit|request) was sent/)
}

/** A Kafka setting that is false comes back and is sent along. */
function withoutKept(body: JsonObject): JsonObject {
  const { settings } = body
  if (!isObject(settings) || settings['kafka_read_committed'] !== false) return body
  const { kafka_read_committed: _kept, ...others } = settings
  return { ...body, settings: others }
}

/** Nothing of a pipe that is `Completed` can be edited. */
function keepRunning(client: Client): void {
  if (client.server.states().get(client.id()) === 'Completed') client.server.setStates(client.id(), 'Running')
}

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

const HIDDEN = bodies
  .map(({ edits, ...pipe }) => ({ ...pipe, edits: edits.filter(isReturnedAtTimes) }))
  .filter(({ edits }) => edits.length > 0)

test.each(HIDDEN)(
  'no crash loses an edit of a field that replies can leave out: $title',
  async ({ body, edits }) => {
    for (const { field, after } of edits) {
      await using client = await startClient(body)
      await client.want(after)
      client.killAt({ way: field.startsWith('scaling.') ? 'scale' : 'update', when: 'before' })
      await client.settle().catch((error: unknown) => error)
      await client.restart()
      await client.settle()
      // Of a completed pipe, no field can be changed.
      const isDone = client.state() === 'Completed'
      const there = { reason: client.reason(), body: inOrder(withoutKept(client.body() ?? {})) }
      const right = { reason: 'InSync', body: inOrder(withoutKept(after)) }
      expect.soft(isDone || there, field).toEqual(isDone || right)
    }
  },
)

function isReturnedAtTimes({ field, canBeSent }: Edit): boolean {
  return canBeSent && !UNTOLD.has(field) && howOftenReturned(PIPE_FIELDS, fieldOfPath(field)) === 'at times'
}
