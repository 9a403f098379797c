import { conditionMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Policy } from '../../src/kinds/manifest.ts'
import { having, startClient, type Client } from './client.ts'
import { FILES, KAFKA, MINUTE, passes, pipeOf, POSTGRES, REPLACE, sent, untilGone } from './edited-pipes.ts'
import { byHand, play, story, type Step } from './story.ts'

/* Fields of an imported pipe that no manifest can have: a new pipe would lack them. */

const FIELD = 'source.postgres.sshKeyResourceId'
const TUNNELLED = having(POSTGRES, { [FIELD]: '5a0c7f5e-3c0b-4f0e-9a1b-7d2f64a1c9e3' })

/** Not in the document, and set. */
const UNKNOWN = 'source.postgres.tunnel'
const WITH_UNKNOWN = having(POSTGRES, { [UNKNOWN]: { host: 'bastion' } })

/** A pipe of the console with such a field, adopted by its id, and its policy since. */
async function adopted(
  policy: Policy = {},
  body = TUNNELLED,
  { made = POSTGRES, seed = 'asker' } = {},
): Promise<Client> {
  const client = await startClient(made, { seed })
  const id = client.id()
  client.server.setBody(id, body)
  await client.drop('Pipe/edited')
  await client.want(made, { adopt: id })
  await client.settle()
  await client.want(made, policy)
  await client.settle()
  sent(client)
  expect(client.record()?.remote).toMatchObject({ id, origin: 'adopted' })
  return client
}

async function other(client: Client, body: JsonObject, policy: Policy = {}) {
  await client.put('other.json', pipeOf('other', body, policy))
  await client.reconcile('asked', 'Pipe/other')
  return client.record('Pipe/other')
}

/** It needs another pipe. */
async function edited(client: Client): Promise<void> {
  await client.want(having(POSTGRES, { 'source.postgres.settings.publicationName': 'other' }), REPLACE)
  await untilGone(client, 30 * MINUTE)
}

const GONE = 'state gone; until gone 30 min'

const says =
  (text: string): Step =>
  (client) =>
    expect(conditionMessage(client.record()?.conditions?.Synced)).toContain(text)
const creates: Step = (client) => expect(sent(client)).toContain('POST')

describe('an adopted pipe that is deleted by somebody', () => {
  test('is not created again without its field, and the message names it', () =>
    story(adopted(), GONE, 'sends nothing; is Missing', says(FIELD)))
  test.each<readonly [string, Policy, Step]>([
    ['after a restart', {}, 'restart'],
    [
      'after the ledger was lost and the list gave it back',
      {},
      async (client) => {
        await client.drop('Pipe/edited')
        await client.settle()
      },
    ],
    ['with an edit that needs another pipe', REPLACE, edited],
  ])('nor %s', (_when, policy, happens) => story(adopted(policy), happens, GONE, 'sends nothing; is Missing'))
  test('is created again if a person says so', () =>
    story(
      adopted(),
      GONE,
      (client) => client.want(POSTGRES, { recreate: client.record()?.remote?.id }),
      'settle',
      creates,
    ))
  test('nor without a field that the service does not name in its document', () =>
    story(adopted({}, WITH_UNKNOWN), GONE, 'sends nothing; is Missing', says(UNKNOWN)))
  test('is not held for a field that a created pipe returns too: it is new in replies', async () => {
    await using client = await adopted({}, WITH_UNKNOWN)
    const body = having(WITH_UNKNOWN, { name: 'other', 'source.postgres.host': 'other' })
    const { remote } = (await other(client, having(body, { [UNKNOWN]: null }))) ?? {}
    client.server.setBody(remote?.id ?? '', body)
    await client.reconcile('asked', 'Pipe/other')
    await client.reconcile()
    expect(client.record()?.remote?.foreign).toBeUndefined()
  })
  test.each([
    ['beside its parts', { createdBy: 'me', labels: ['a'] }],
    ['that is unset', { [UNKNOWN]: 0, 'source.postgres.a': '', 'source.postgres.b': [{ c: false }] }],
    ['of its size', { 'scaling.current': 3 }],
  ])('is created again after a new field %s', (_where, fields) =>
    story(adopted({}, having(POSTGRES, fields)), GONE, creates),
  )
})

const SEEDS = Array.from({ length: 3 }, (_, index) => `seed-${index}`)

test.each([
  ['KAFKA', KAFKA],
  ['POSTGRES', POSTGRES],
  ['FILES', FILES],
])('%s: an adopted pipe is created again, also if replies have new fields at random', async (_name, made) => {
  for (const seed of SEEDS) {
    await using client = await adopted({}, made, { made, seed })
    await passes(client, 6)
    await play(client, GONE)
    expect([seed, sent(client).includes('POST')]).toEqual([seed, true])
  }
})

test.each([
  ['in the document', TUNNELLED, [FIELD]],
  ['unknown', WITH_UNKNOWN, undefined],
])(
  'the record is not written without end for a field that is %s and comes and goes',
  async (_how, body, kept) => {
    await using client = await adopted({}, body)
    const write = async (now: JsonObject) => {
      client.server.setBody(client.id(), now)
      await client.reconcile()
      return client.record()?.version
    }
    await write(POSTGRES)
    expect(client.record()?.remote?.foreign).toEqual(kept)
    const before = client.record()?.version
    for (const now of [body, POSTGRES, body, POSTGRES]) expect(await write(now)).toBe(before)
  },
)

test('fields in another order are no news', async () => {
  const fields = ['a', 'b', 'c', 'd'].map((name) => [`source.postgres.${name}`, 'x'] as const)
  const [there, back] = [fields, fields.toReversed()].map((all) => having(TUNNELLED, Object.fromEntries(all)))
  await using client = await adopted({}, there)
  const before = client.record()
  expect(before?.remote?.foreign).toHaveLength(5)
  client.server.setBody(client.id(), back ?? {})
  await client.reconcile()
  expect(client.record()).toEqual(before)
})

describe('a created pipe that got such a field in the console', () => {
  test.each<readonly [string, Step]>([
    ['created again without it', GONE],
    ['replaced', edited],
  ])('is not %s', (_what, happens) =>
    story(
      startClient(POSTGRES),
      byHand({ [FIELD]: 'key' }),
      'want POSTGRES replace; turn; sends nothing',
      happens,
      'sends nothing',
      says(FIELD),
    ),
  )
})

test('an orphan with such a field is not replaced by another manifest until it is forgotten', async () => {
  await using client = await adopted()
  await client.remove()
  await client.reconcile()
  const synced = (await other(client, POSTGRES, { replaces: 'Pipe/edited' }))?.conditions?.Synced
  expect([sent(client), synced?.reason]).toEqual([[], 'Ambiguous'])
  expect(conditionMessage(synced)).toContain('pipewright forget Pipe/edited')
})
