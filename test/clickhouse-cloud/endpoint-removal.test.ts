import { describe, expect, test } from 'vitest'
import type { Client } from './client.ts'
import { MINUTE } from './edited-pipes.ts'
import { applied, empty, KEY_B, set, SPEC, there } from './endpoints.ts'
import { acts, meanwhile, on, plans, play, put, story, unwritable, want, type Step } from './story.ts'

/* What was applied is deleted only while its manifest asks for that, and only as it was left (design, promise 4). */

/** A client that applied an endpoint; its manifest asks to delete it since. */
async function unwanted(...steps: readonly Step[]): Promise<Client> {
  const client = await applied()
  await play(client, 'want it absent', ...steps)
  return client
}

/** The same, and the grace is over. */
const due = () => unwanted('turn; grace', (client) => void client.asked())

const NO_EFFECT = { status: 200, error: '' }
const ABSENT = acts({ type: 'observe', reason: 'Absent' })
const DELETED = acts({ type: 'delete', reason: 'Deleting' })

const isNotAccepted: Step = (client) => {
  const { store } = client.context()
  const problem = { reason: 'SourceUnreadable', message: 'It cannot be read.', unfound: new Set() }
  if (store.catalog !== undefined) store.setCatalog({ ...store.catalog, problem: problem as never })
}

describe('policy.ensure absent', () => {
  test('deletes after ten minutes, once; then the manifest can go, and nothing is left', () =>
    story(
      unwanted(),
      async (client) => {
        const { action, next } = await client.reconcile()
        expect(action).toMatchObject({ type: 'hold', reason: 'Deleting' })
        expect(next?.afterMs).toBeLessThanOrEqual(5 * MINUTE)
      },
      '9 min',
      acts({ type: 'hold' }, 'policy.ensure is "absent". The query endpoint will be deleted at '),
      'sends nothing; 61 s',
      DELETED,
      'asks GET, GET, DELETE; is Deleting; 2 s; turn; shows Absent; is Absent; turn; shows Absent; is Absent',
      there(undefined),
      async (client) => {
        const told = (await client.history()).flatMap((entry) =>
          entry.type === 'action' && entry.action === 'delete' ? [entry.message] : [],
        )
        expect(told).toEqual([
          'policy.ensure is "absent". The query endpoint was deleted.',
          expect.stringContaining('The request to delete the query endpoint was sent at '),
        ])
      },
      'remove; turn; sends nothing',
      (client) => expect(client.record()).toBeUndefined(),
    ))

  test('is in a plan before, with the access that it takes away', () => {
    const planned = { action: 'delete', verdict: 'change' }
    return story(
      unwanted(),
      plans({
        ...planned,
        reason: 'Deleting',
        takesAway: ['role sql_console_read_only', `key ${SPEC.openApiKeys[0]}`, 'origin app.example.com'],
      }),
      'turn; grace',
      plans({ ...planned, message: expect.stringContaining('The query endpoint will be deleted.') }),
      'sends nothing',
      there(SPEC),
    )
  })

  test('applies nothing, and leaves what was never applied from here', () =>
    story(
      empty(),
      want(SPEC, { ensure: 'absent' }),
      ABSENT,
      set(SPEC),
      '20 min; turn; is Drifted; 20 min; turn; is Drifted; sends nothing',
      there(SPEC),
    ))

  test('deletes what was there before, once its manifest has taken it over', () =>
    story(
      empty(),
      set(SPEC),
      want(SPEC),
      'turn; want it absent; turn; grace; turn; sends DELETE',
      there(undefined),
    ))

  test.each<[string, Step, string]>([
    ['is removed', 'remove', 'Orphaned'],
    ['says it no more', want(SPEC), 'InSync'],
    ['has errors', 'spoil', 'InvalidManifest'],
    [
      'is suspended',
      want(SPEC, { ensure: 'absent', suspend: { reason: 'migration', until: '2100-01-01T00:00:00Z' } }),
      'Suspended',
    ],
    ['names a service that leads elsewhere', 'service elsewhere', 'Drifted'],
    ['names a service without a valid manifest', 'service broken', 'DependencyNotReady'],
    ['is in a directory that is empty by now', 'doubt there', 'ManifestVanishing'],
    ['is in a reading that is not accepted', isNotAccepted, 'Deleting'],
  ])('deletes nothing where the manifest %s, also right before the request', async (_, change, reason) => {
    for (const act of [change, meanwhile(change)])
      await story(due(), act, acts({ reason }), 'sends nothing', there(SPEC), (client) =>
        expect(client.record()?.removal?.isSent).toBeUndefined(),
      )
  })

  const CHANGED = { ...SPEC, openApiKeys: [KEY_B] }
  test.each<[string, Step]>([
    ['somebody changed it', set(CHANGED)],
    ['somebody changed it right before the request', meanwhile(set(CHANGED))],
  ])('leaves it where %s', (_, act) =>
    story(
      due(),
      act,
      acts(
        { type: 'report', reason: 'Drifted' },
        'the resource is not deleted: it changed since it was last in sync (openApiKeys)',
      ),
      'sends nothing',
      there(CHANGED),
    ),
  )

  test('waits while another manifest is of the same endpoint, which keeps it', () =>
    story(
      due(),
      put('QueryEndpoint/other', { service: 'analytics', ...SPEC }),
      acts({ type: 'hold', reason: 'Deleting' }, 'QueryEndpoint/other'),
      '1 h; turn; sends nothing',
      there(SPEC),
      'remove; turn QueryEndpoint/other; turn',
      there(SPEC),
    ))

  test('is deleted again where its deletion was answered and had no effect', () =>
    story(
      due(),
      on(({ method }) => (method === 'DELETE' ? NO_EFFECT : undefined)),
      'turn; calm; 9 min; turn; is Deleting; for 30 min; sends DELETE; is Absent',
      there(undefined),
    ))

  test('is not called absent where one reading did not find it', () =>
    story(due(), 'on GET: 404 once; turn; is Deleting; 31 s; turn; sends DELETE', there(undefined)))

  test('is gone already after fifteen minutes of 404s, and not before', () =>
    story(due(), set(undefined), 'for 14 min; is Deleting; for 2 min; is Absent; sends nothing'))

  test('is applied again where its manifest asks for it after the request', () =>
    story(due(), 'turn', want(SPEC), '2 s; turn; is InSync; sends DELETE, POST', there(SPEC), (client) =>
      expect(client.record()?.removal).toBeUndefined(),
    ))

  test('leaves another one that somebody made in its place, though it says the same', () =>
    story(
      due(),
      (client) => {
        const record = client.record()
        if (record?.upsert === undefined) throw new Error('it was not applied')
        const { upsert } = record
        return client.write({ ...record, upsert: { ...upsert, reply: { ...upsert.reply, id: 'another' } } })
      },
      acts({ type: 'report', reason: 'Drifted' }),
      there(SPEC),
    ))

  test('is tried again where it fails, but not immediately', () =>
    story(
      due(),
      'on DELETE: 400; turn; is Rejected; calm; turn; sends nothing; 1 min; turn; sends DELETE',
      there(undefined),
    ))
})

describe('a process that is killed', () => {
  test('before the mark is on disk has asked for nothing', () =>
    story(due(), unwritable('turn; asks GET'), there(SPEC)))

  test.each([
    ['before it is sent', 'before', '30 min', 'DELETE'],
    ['after it is sent', 'after', '2 min', 'DELETE, DELETE'],
  ])('%s: the next one ends it', (_, when, time, requests) =>
    story(
      due(),
      `killed ${when} delete; restart; for ${time}; sends ${requests}; is Absent`,
      there(undefined),
    ),
  )
})
