import { describe, expect, test } from 'vitest'
import { allowBlocked } from '../../src/reconcile/operator/allow.ts'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { deletionDigest } from '../../src/plan/write-limits.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { operate } from '../../src/reconcile/operator/operate.ts'
import { having, type Client } from './client.ts'
import {
  DELETE,
  KAFKA,
  lockOf,
  MINUTE,
  OTHER_TOPIC,
  pipeOf,
  POSTGRES,
  REPLACE,
  replaced,
  sent,
  started,
  startOld,
  unwanted,
  withTable,
  withTopics,
} from './edited-pipes.ts'
import { textOf } from './look.ts'
import { lostReply, byHand, meanwhile, on, play, story, unwritable, want, type Step } from './story.ts'

/* Deletion and replacement of pipes (design §14): what happens before, after, late, twice and in between. */

function rewrite(change: (record: LedgerRecord) => Partial<LedgerRecord>): Step {
  return (client) => client.write({ ...recordOf(client), ...change(recordOf(client)) })
}

function recordOf(client: Client): LedgerRecord {
  const record = client.record()
  if (record?.remote === undefined) throw new Error('there is none')
  return record
}

/** Other pipes of the service that are there, or that are to be deleted. */
function others(count: number, more: object = {}): Step {
  return async (client) => {
    const { remote, ...rest } = recordOf(client)
    for (let number = 0; number < count; number += 1)
      await client.write({
        ...rest,
        key: `Pipe/other-${number}`,
        version: 0,
        platformName: `other-${number}`,
        applied: { digest: 'other', fields: {}, secrets: {} },
        wanted: undefined,
        remote: remote && {
          ...remote,
          seenAs: undefined,
          id: `0ther000-0000-4000-8000-${String(number).padStart(12, '0')}`,
        },
        removal: undefined,
        left: { digest: 'other', since: 0, fields: {} },
        ...more,
      })
  }
}

/** Somebody creates a pipe of the same name. @returns its id */
function madeByAnother(client: Client): string {
  const { result } = client.ask('POST', '/clickpipes', withTopics('theirs'))
  sent(client)
  return textOf((result as JsonObject)['id']) // of a create
}

const B = pipeOf('b', KAFKA, { renamedFrom: 'Pipe/edited' })

/** It was sent, and its process ended. */
const UNANSWERED = 'grace; killed after delete; sends DELETE; state gone; restart'

describe('a request that nobody answered, of what is not found', () => {
  test('it is sent again after a minute, and not before', () =>
    story(
      unwanted(),
      `${UNANSWERED}; 50 s; turn; sends nothing; 11 s; turn; sends DELETE`,
      (client) => expect(client.record()?.removal).toMatchObject({ isSent: true, isAnswered: true }),
      '2 s; turn; holds nothing',
    ))
  test('it is not, if the pipe is found right before', () =>
    story(unwanted(), 'grace; killed before delete; restart; 1 min; on GET: 404 once; turn; sends nothing'))
  test.each(['spoil', 'doubt there', 'service broken'])('it is not after "%s"', (happens) =>
    story(unwanted(), `${UNANSWERED}; ${happens}; 2 min; turn; sends nothing`, (client) =>
      expect(client.record()?.removal).toMatchObject({ isSent: true }),
    ),
  )
})

describe('no request was sent', () => {
  test('somebody else wrote its record between the mark and the last look: it is sent at once', () =>
    story(
      unwanted(),
      'grace',
      meanwhile(rewrite(() => ({ allowed: { digest: 'x', at: 0, until: 0 } }))),
      'turn; sends DELETE',
    ))
  test('its record moved to another key meanwhile: that one is not said to be deleted', () =>
    story(
      unwanted(),
      'grace',
      meanwhile(
        'remove',
        (client) => client.put('b.json', B),
        (client) => client.reconcile(undefined, 'Pipe/b'),
      ),
      'turn; sends nothing',
      (client) => {
        expect(client.record('Pipe/b')?.remote).toBeDefined()
        expect(client.record('Pipe/b')?.removal?.isSent).toBeUndefined()
      },
    ))
})

describe('the grace', () => {
  test.each(['', 'restart'])(
    'is of the last wish, though the ledger could not be written before; %s',
    (then) =>
      story(
        unwanted(),
        unwritable('5 min; want KAFKA; turn; want KAFKA absent; turn'),
        `turn; ${then || 'turn'}; 9 min; turn; sends nothing; is Deleting; 2 min; turn; sends DELETE`,
      ),
  )
  test('another edit after a first one was refused for long', () =>
    story(
      replaced(),
      others(3, { removal: { digest: 'x', since: 0 } }),
      'turn; is DeleteLimit; 1 h; turn; is DeleteLimit',
      async (client) => {
        for (const i of [0, 1, 2]) await client.drop(`Pipe/other-${i}`)
      },
      'want THIRD replace; turn; sends nothing',
    ))
  test('edited, then edited again while nobody ran, as between two jobs', () =>
    story(replaced(), '1 h; want THIRD replace; restart; turn; sends nothing'))
})

test('a list of before hides an edit of somebody from the last look by the queue', () =>
  story(
    replaced(),
    'grace',
    (client) => {
      const before = client.body() ?? {}
      const after = having(before, { name: 'mine' })
      client.server.setBody(client.id(), after)
      client.interfere(({ method, below }) => {
        client.server.setBody(client.id(), method === 'GET' && below === '…' ? before : after)
        return undefined
      })
    },
    'turn in passing; sends nothing',
  ))

describe('the limit', () => {
  test('a word that was given for one deletion counts for no later one', () =>
    story(
      unwanted(),
      others(5, { removal: { digest: 'absent', since: 0 } }),
      'turn; is DeleteLimit',
      rewrite((now) => {
        const at = Date.now() + 21 * MINUTE
        const digest = deletionDigest(now.manifest?.digest ?? '', now)
        return { allowed: { digest, at, until: at + 15 * MINUTE } }
      }),
      '1 min; want KAFKA; turn; want KAFKA absent; turn; grace; turn; sends nothing; is DeleteLimit',
    ))
  test('one that is kept for good does not count', () =>
    story(
      unwanted(),
      (client) => {
        const { conditions } = client.record() ?? {}
        const Synced = { ...conditions?.Synced, status: 'False', reason: 'Drifted' }
        const removal = { digest: 'absent', since: 0 }
        return play(client, others(1, { removal, conditions: { ...conditions, Synced } }))
      },
      'grace; turn; sends DELETE',
    ))
})

const minutes = (count: number) => Array.from({ length: count }, () => '1 min; turn').join('; ')

const stillSent: Step = (client) => expect(client.record()?.removal).toMatchObject({ isSent: true })

const KEPT = 'The pipe is not deleted:'

describe('what would not be created again', () => {
  test('another record has the name that is asked for: it is kept, unless the manifest says that it is another one', () =>
    story(
      started(KAFKA, REPLACE),
      (client) => play(client, others(1, { platformName: client.record()?.platformName })),
      `want OTHER replace; turn; is NotUpdatable; says ${KEPT} a replacement would look like Pipe/other-0, so it could not be created.`,
      'until gone 1 h; sends nothing; want OTHER replace replaces=Pipe/other-0',
      'until gone 20 min; sends DELETE, POST',
    ))
  test('the service has a pipe of that name that no manifest holds', () =>
    story(started(KAFKA, REPLACE), async (client) => {
      const id = madeByAnother(client)
      await play(
        client,
        'want OTHER replace; turn; is NotUpdatable',
        `says ${KEPT} no replacement could be created, because the service has a pipe without a manifest that might be "Shop orders": ${id}.`,
        'until gone 1 h; sends nothing',
        () => client.server.setStates(id, 'gone'),
        'until gone 30 min; sends DELETE, POST',
      )
    }))
  test('such a pipe that comes during the ten minutes', () =>
    story(replaced(), '9 min', madeByAnother, '2 min; turn; sends nothing'))
  test('such a pipe that comes while the request waits for its turn', () =>
    story(
      replaced(),
      'grace',
      (client) => {
        let made: string | undefined
        client.interfere(({ method, below }) => {
          if (method !== 'GET' || below === '…' || made !== undefined) return undefined
          client.skip(11_000)
          made = madeByAnother(client)
          return undefined
        })
      },
      'turn; sends nothing',
    ))
  test('where the list cannot be had, nothing is deleted', () =>
    story(replaced(), 'grace; on list: 403; turn; sends nothing'))
})

test('what can be changed in place needs no list', () =>
  story(started(KAFKA, REPLACE), 'on list: 403; want REPLICAS replace; turn; sends PATCH /scaling'))

test('paused for a change, whose start keeps failing, and to be replaced: it is deleted all the same', () =>
  story(
    started(POSTGRES, REPLACE),
    'want INVOICES replace',
    on(({ method, body }) =>
      method === 'PATCH' && body['command'] !== 'stop'
        ? { status: 500, error: 'INTERNAL_ERROR: no' }
        : undefined,
    ),
    'turn; sends stop; 5 s',
    want(having(withTable('invoices'), { 'source.postgres.settings.replicationMode': 'snapshot' }), REPLACE),
    'until gone 3 h',
    (client) => expect(sent(client), client.message()).toContain('DELETE'),
  ))

describe('between DELETE and POST', () => {
  test('policy.adopt names another pipe: that one is taken, and no resource is created', () =>
    story(
      replaced(),
      'grace; turn; sends DELETE',
      want(OTHER_TOPIC, { ...REPLACE, adopt: '5a000000-0000-4000-8000-000000000000' }),
      'until gone 30 min; sends nothing',
    ))
  test('the create is refused once: it is told, and tried again', () =>
    story(
      replaced(OTHER_TOPIC, { ...REPLACE, onMissing: 'report' }),
      'grace; turn; on POST: 400 twice; until gone 30 min; is InSync',
      (client) => expect(client.server.pipes().size).toBe(1),
    ))
  test('the manifest is suspended between', () =>
    story(
      replaced(),
      'grace; turn',
      want(OTHER_TOPIC, { ...REPLACE, suspend: { reason: 'x', until: '2999-01-01T00:00:00Z' } }),
      'until gone 30 min; want OTHER replace; until gone 10 min; is InSync',
    ))
})

test('a clock that was ahead when the request was sent', () =>
  story(
    unwanted(),
    'grace; on DELETE: cut before; turn; calm',
    rewrite(({ removal }) => ({
      removal: removal && { ...removal, sentAt: (removal.sentAt ?? 0) + 365 * 24 * 60 * MINUTE },
    })),
    'until gone 30 min; sends DELETE',
  ))

test('a lost reply, and a read that fails before the next attempt: the pipe might be deleted', () =>
  story(unwanted(), 'grace', lostReply('DELETE'), 'turn', (client) =>
    expect(client.record()?.removal?.isSent).toBe(true),
  ))

test('a request that never arrived, and a minute of 404s: nothing is forgotten', () =>
  story(unwanted(), async (client) => {
    const id = client.id()
    await play(client, 'grace; on DELETE: cut before; turn; on read: 404; until gone 3 min')
    await play(client, 'calm; until gone 1 h')
    expect(client.record()?.remote === undefined).toBe(!client.server.pipes().has(id))
  }))

const NOT_FOUND = on(({ method, below }) =>
  method !== 'POST' && below !== '…' ? { status: 404, error: 'NOT_FOUND: no such pipe' } : undefined,
)

describe('404 by its id, and the list has it', () => {
  test('no request was sent: it is not said to be gone, and not forgotten', () =>
    story(
      unwanted(),
      'grace',
      NOT_FOUND,
      'until gone 20 min; says The pipe was not found. Pipewright checks again to be sure.',
      'calm; until gone 5 min; sends DELETE; holds nothing',
    ))
  test('the request is answered 404, too: the same', () =>
    story(
      unwanted(),
      'grace; on DELETE: 404; turn',
      NOT_FOUND,
      'until gone 20 min; says Pipewright checks until the pipe is gone.',
      (client) => expect(client.server.pipes().has(client.id())).toBe(true),
    ))
  test('there is no list at the moment: it is not forgotten until there is', () =>
    story(
      unwanted(),
      'grace; turn; state gone',
      on(({ below }) => (below === '…' ? { status: 503, error: 'SERVICE_UNAVAILABLE' } : undefined)),
      'until gone 5 min',
      stillSent,
      'calm; until gone 20 min; holds nothing',
    ))
  test('the list has nothing, not even what else is there: it is not believed', () =>
    story(
      started(KAFKA, {}),
      (client) => client.put('b.json', pipeOf('b', { ...OTHER_TOPIC, name: 'another' })),
      (client) => client.reconcile(undefined, 'Pipe/b'),
      'want KAFKA absent; turn; grace; turn; state gone',
      on(({ method, below }) => (method === 'GET' && below === '…' ? { answered: [] } : undefined)),
      'until gone 5 min',
      stillSent,
      'calm; until gone 5 min; holds nothing',
    ))
})

describe('held on the way', () => {
  test('a reading that fails does not begin the grace anew', () =>
    story(replaced(), '9 min; on GET: 503; turn; calm; 2 min; turn; sends DELETE'))
  test('a secret that is not there yet', () =>
    story(replaced(), async (client) => {
      const before = [...client.mounted].filter(([name]) => !name.startsWith('api/'))
      for (const [name] of before) client.mounted.delete(name)
      await play(client, 'grace; turn')
      for (const [name, text] of before) client.mounted.set(name, text)
      await play(client, '1 min; turn; sends DELETE')
    }))
})

test('somebody added what its manifest never named, long before the edit: nobody asked for that to go', () =>
  story(
    started(KAFKA, REPLACE),
    '1 h; turn',
    byHand({ 'settings.streaming_max_insert_wait_ms': 7_000 }),
    'turn; want OTHER replace; turn; grace; turn; sends nothing',
  ))

describe('a request without effect', () => {
  const refused = 'want KAFKA absent; turn; grace; on DELETE: 503; turn; calm; sends nothing'
  test('is not repeated for a manifest that was taken back with an error', () =>
    story(
      started(KAFKA, {}),
      refused,
      (client) =>
        expect(client.want(KAFKA, { ensure: 'present', nonsense: true } as Policy)).rejects.toThrow(
          'nonsense',
        ),
      `${minutes(30)}; sends nothing`,
    ))
  test('is repeated ten minutes after the manifest asks again, and not sooner', () =>
    story(
      started(KAFKA, {}),
      `${refused}; want KAFKA; ${minutes(9)}; sends nothing`,
      `want KAFKA absent; turn; ${minutes(9)}; sends nothing; ${minutes(3)}; sends DELETE`,
    ))
})

function put(name: string, policy: Policy): Step {
  return (client) => client.put(`${name}.json`, pipeOf(name, KAFKA, policy))
}

describe('a pipe that a manifest describes which has none yet', () => {
  const reused = having(OTHER_TOPIC, { name: 'another' })
  test('is not replaced in the commit that renames it and reuses its name', () =>
    story(
      started(KAFKA, REPLACE),
      put('c', REPLACE),
      want(reused, REPLACE),
      'for 20 min; sends nothing; says The pipe is not deleted: Pipe/c',
      put('c', { replaces: 'Pipe/edited' }),
      'turn',
      'grace; turn; sends DELETE',
    ))
  test('is not deleted either', () =>
    story(
      unwanted(),
      put('c', {}),
      'for 20 min; sends nothing',
      put('c', { ensure: 'absent' }),
      'turn',
      'grace; turn; sends DELETE',
    ))
})

test('a person says that a pipe is gone, whose manifest wants none: no new one is promised, and it is let go of', () =>
  story(
    unwanted(),
    'state gone; turn',
    async (client) => {
      const signal = new AbortController().signal
      const said = await operate(client.context(), { command: 'recreate', key: 'Pipe/edited' }, signal)
      expect(said.message).toMatch(/policy\.ensure is "absent", so no resource is created\.$/)
    },
    'until gone 12 min; holds nothing',
  ))

test('nothing is deleted while a Lock names another pipe for its key', () =>
  story(
    started(KAFKA, {}),
    (client) => client.put('all.lock.json', lockOf({ 'Pipe/edited': madeByAnother(client) })),
    'want KAFKA absent; until gone 14 min; sends nothing; says a Lock names another pipe for this manifest',
  ))

describe('manifests that may be older than what another process acted on, however long', () => {
  const believed = 'not older; turn; 9 min; turn; sends nothing; turn; 2 min; turn; sends DELETE'
  test('a wish that is there says nothing', () =>
    story(
      started(KAFKA, {}),
      'older r2; want KAFKA absent; turn; 1 h; turn; sends nothing',
      (client) => expect(client.record()?.removal).toBeUndefined(),
      believed,
    ))
  test('what only another pipe can be is not replaced', () =>
    story(
      started(KAFKA, REPLACE),
      'older r2; want OTHER replace; turn; 1 h; turn; sends nothing',
      'says another process acted on another revision',
      believed,
    ))
})

test.each(['renamed', 'doubt there', 'older r2'])(
  'a replacement that waits (%s) does not keep a stop from being asked for, without a pause between its turns',
  (step) =>
    story(
      startOld(KAFKA),
      (client) =>
        step === 'renamed' && client.put('copy.json', pipeOf('copy', KAFKA, { renamedFrom: 'Pipe/edited' })),
      `want OTHER replace paused=true${step === 'renamed' ? '' : `; ${step}`}`,
      async (client) => {
        for (let count = 0; count < 5; count += 1) {
          const { next } = await client.reconcile('in passing')
          expect(next?.afterMs).toBeGreaterThan(0)
          client.skip(next?.afterMs ?? 0)
        }
      },
    ),
)

test.each([
  ['removed, and restored', 'remove; turn'],
  ['not in a stale checkout', 'restart; older r2; remove; turn; not older'],
  ['invalid over a restart', 'spoil; restart; turn'],
])('a pipe that changed in the ten minutes stays if its manifest was %s meanwhile', (_, away) =>
  story(
    started(KAFKA, {}),
    '1 h; turn; want KAFKA absent; turn; 5 min',
    byHand({ 'settings.clickhouse_max_insert_threads': 4 }),
    `turn; ${away}; want KAFKA absent; for 30 min; sends nothing; is Drifted`,
  ),
)

function claimed(policy: Policy): Step {
  return (client) => client.put('b.json', { ...pipeOf('b', KAFKA, policy), nonsense: 1 })
}

describe('a claim on the pipe holds its deletion', () => {
  test('in an invalid manifest, over a restart', async () => {
    const held = 'for 20 min; sends nothing; says Pipe/b'
    await story(unwanted(), claimed({ renamedFrom: 'Pipe/edited' }), held, 'restart', held)
    await story(unwanted(), (client) => play(client, claimed({ adopt: client.id().toUpperCase() })), held)
  })

  test('in a second manifest of the same name, until that is gone', () =>
    story(
      unwanted(),
      (client) => client.put('twice.json', pipeOf('edited', OTHER_TOPIC)),
      'for 20 min; sends nothing; says two manifests contradict each other',
      (client) => client.put('twice.json', pipeOf('b', OTHER_TOPIC)),
      'for 1 min; sends DELETE',
    ))

  test('in a line of a Lock that is refused, because another line has the pipe', () =>
    story(
      unwanted(),
      (client) => client.put('all.lock.json', lockOf({ 'Pipe/edited': client.id(), 'Pipe/b': client.id() })),
      'for 20 min; sends nothing; says contradict',
    ))

  test('in one of two manifests of another name', () =>
    story(
      unwanted(),
      (client) => client.put('b.json', pipeOf('b', OTHER_TOPIC)),
      (client) => client.put('c.json', pipeOf('b', KAFKA, { adopt: client.id() })),
      'for 20 min; sends nothing',
    ))

  test('perhaps, in a Lock that is broken, until it is mended', () =>
    story(
      unwanted(),
      (client) => client.put('all.lock.json', { ...lockOf({}), spec: { pipes: 'merge conflict' } }),
      'restart; for 30 min; sends nothing; says cannot be read',
      (client) => client.put('all.lock.json', lockOf({})),
      'for 1 min; sends DELETE',
    ))
})

describe('a pipe that was stopped for a change is started although', () => {
  const OTHER_ID = '5a000000-0000-4000-8000-000000000000'

  test.each<readonly [string, Step]>([
    [
      'its deletion is held by a rename',
      (client) => client.put('b.json', pipeOf('b', KAFKA, { renamedFrom: 'Pipe/edited' })),
    ],
    [
      'its deletion is held by a Lock',
      (client) => client.put('all.lock.json', lockOf({ 'Pipe/edited': OTHER_ID })),
    ],
    ['its deletion is held by a stale checkout', 'restart; older r2'],
  ])('%s', (_, hold) =>
    story(
      started(POSTGRES, {}),
      'want INVOICES; turn; sends stop; 5 s',
      hold,
      'want INVOICES absent; for 1 h; runs',
    ),
  )

  test('its manifest adopts another pipe', () =>
    story(
      started(POSTGRES, {}),
      `want INVOICES; turn; sends stop; 5 s; want it adopt=${OTHER_ID}; for 1 h; runs; is AdoptRefused`,
    ))
})

test('a replacement is created although a commit reaches the create limit after the deletion', () =>
  story(
    replaced(),
    'grace; turn; sends DELETE; 5 s',
    async (client) => {
      for (let n = 0; n < 30; n += 1)
        await client.put(`n${n}.json`, pipeOf(`n${n}`, withTopics(`topic-${n}`)))
    },
    'for 30 min; is InSync',
    (client) => expect(client.count()).toBe(1),
  ))

test('all pipes of a service, which a person lets pass, are deleted together, and each deletion ends', () =>
  story(
    started(KAFKA, {}),
    (client) => client.put('b.json', pipeOf('b', { ...OTHER_TOPIC, name: 'another' })),
    'turn Pipe/b; 20 min; turn; turn Pipe/b; want KAFKA absent',
    (client) => client.put('b.json', pipeOf('b', { ...OTHER_TOPIC, name: 'another' }, DELETE)),
    'turn; turn Pipe/b',
    (client) => allowBlocked(client.context(), { dryRun: false, deletions: true }),
    'turn; turn Pipe/b; grace; turn; turn Pipe/b',
    ({ server }) => {
      for (const id of server.pipes().keys()) server.setStates(id, 'gone')
    },
    ...Array.from({ length: 40 }, () => '31 s; turn; turn Pipe/b'),
    'is Absent; holds nothing',
  ))
