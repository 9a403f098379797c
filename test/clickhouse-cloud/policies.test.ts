import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { having } from './client.ts'
import {
  faulty,
  FILES,
  KAFKA,
  lockOf,
  MAPPINGS,
  pipeOf,
  POSTGRES,
  sent,
  startOld,
  table,
  tablesIn,
  withTable,
} from './edited-pipes.ts'
import { at } from './look.ts'
import { byHand, has, meanwhile, on, play, story, want, type Step } from './story.ts'

/*
 * What a person wants of changes (design §14, `policy`), and every trap of the facts' section 8 that they meet on the way: each row is a
 * sentence. The client is in this process; time passes by being told so.
 */

function refusing(error = 'BAD_REQUEST: it is not taken', status = 400): Step {
  return on(({ method, below }) => (method !== 'GET' && below === '' ? { status, error } : undefined))
}

function partOf(part: string): object {
  return at(KAFKA, part) as object // by the schema
}

/** From such a request on, no reading is answered. */
function unreadAfter(change: string): Step {
  let isSent = false
  return on(({ method }) => {
    isSent ||= method === change
    return isSent && method === 'GET' ? { status: 503, error: 'SERVICE_UNAVAILABLE' } : undefined
  })
}

const CHANGED = 'tables addresses, customers, invoices; runs; is InSync'
const FORGOTTEN: Step = (client) =>
  expect(client.record()).toMatchObject({ change: undefined, command: undefined })

describe('policy.onEdit', () => {
  test('report: nothing is sent, and it says which field, and why', () =>
    story(
      startOld(KAFKA),
      'want REPLICAS onEdit=report; settle; 3 passes; sends nothing; is NotUpdatable',
      'says scaling.replicas; says policy.onEdit',
    ))

  test('report: a rotated secret is told, and not sent; apply sends it', () => {
    const rotated = having(KAFKA, { 'source.kafka.credentials.password': 'another-one' })
    return story(
      startOld(KAFKA),
      want(rotated, { onEdit: 'report' }),
      'settle; sends nothing; is SecretRotated',
      want(rotated, { onEdit: 'apply' }),
      'settle; sends PATCH; is InSync',
    )
  })

  test('report, set while it is stopped for a change: it is started again, unchanged', () =>
    story(
      startOld(POSTGRES),
      'want INVOICES; turn; sends stop',
      'want INVOICES onEdit=report; for 10 min; sends start; runs; is NotUpdatable',
    ))
})

describe('policy.onDrift', () => {
  test.each([
    ['scaling', 'replicas', 5, { replicaCpuMillicores: 500, replicaMemoryGb: 2 }],
    ['settings', 'streaming_max_insert_wait_ms', 900, { kafka_read_committed: true }],
  ])('report: an edit of %s leaves what somebody changed beside it', (part, field, value, edit) =>
    story(
      startOld(having(KAFKA, { 'settings.kafka_read_committed': false })),
      byHand({ [`${part}.${field}`]: value }),
      '3 passes; is Drifted',
      want(having(KAFKA, { 'settings.kafka_read_committed': false, [part]: { ...partOf(part), ...edit } })),
      'settle; 3 passes; is Drifted',
      has({ [part]: { ...edit, [field]: value } }),
    ),
  )

  test('correct: one field that cannot change keeps the rest, and is the only one named', () =>
    story(
      startOld(KAFKA),
      'want KAFKA onDrift=correct',
      byHand({ 'scaling.replicas': 5, 'source.kafka.topics': 'other' }),
      '3 passes; sends nothing; is Drifted; says source.kafka.topics; hides scaling',
    ))

  test('correct: table mappings that somebody took away come back, and it runs', () =>
    story(
      startOld(POSTGRES),
      'want POSTGRES onDrift=correct',
      byHand({ [MAPPINGS]: [tablesIn(POSTGRES)[0] ?? {}] }),
      '1 min; settle; sends stop, PATCH; tables addresses, customers; runs',
      (client) => expect(faulty(client)).toEqual([]),
    ))
})

describe('an edit', () => {
  test.each(
    Object.entries({
      'a setting': { body: KAFKA, field: 'settings.streaming_max_insert_wait_ms' },
      'a part of the size': { body: KAFKA, field: 'scaling.replicas' },
      'an optional field of the source': { body: POSTGRES, field: 'source.postgres.tlsHost' },
    }),
  )('%s that was taken out is told, and nothing is sent', (_what, { body, field }) =>
    story(
      startOld(body),
      want(having(body, { [field]: null })),
      `settle; 3 passes; sends nothing; says ${field}`,
    ),
  )

  test('of a pipe that is done is not sent', () => {
    const once = having(FILES, {
      'source.objectStorage.isContinuous': null,
      'source.objectStorage.queueUrl': null,
      'source.objectStorage.skipInitialLoad': null,
    })
    return story(
      startOld(once),
      'rests Completed',
      want(having(once, { 'settings.object_storage_concurrency': 8 })),
      'settle; 3 passes; sends nothing; is NotUpdatable',
      want(once, { paused: true }),
      '3 passes',
      want(once, { paused: false }),
      '3 passes; sends nothing',
    )
  })
})

describe('a secret', () => {
  const PASSWORD = 'source.kafka.credentials.password'

  test('that was rotated is sent with all credentials', () =>
    story(
      startOld(KAFKA),
      want(having(KAFKA, { [PASSWORD]: 'another-one' })),
      'settle; is InSync',
      (client) => {
        const [patch, ...more] = client.changes()
        expect(more).toEqual([])
        const credentials = { username: 'planted-text', password: 'another-one' }
        expect(at(patch?.body as JsonObject, 'source.kafka.credentials')).toEqual(credentials)
      },
    ))

  test('of the schema registry is told, and keeps the rest', () => {
    const field = 'source.kafka.schemaRegistry.credentials.password'
    return story(
      startOld(KAFKA),
      want(having(KAFKA, { [field]: 'another-one' })),
      `settle; sends nothing; is SecretRotated; says ${field}`,
      want(having(KAFKA, { [field]: 'another-one', 'scaling.replicas': 3 })),
      `settle; sends nothing; says ${field}; hides scaling`,
    )
  })

  test('that cannot be read keeps what needs it, and nothing else', () =>
    story(startOld(KAFKA), async (client) => {
      const secret = 'edited/source-kafka-credentials-password'
      const password = client.mounted.get(secret) ?? ''
      const endpoints = ['0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11']
      await play(
        client,
        want(having(KAFKA, { 'source.kafka.reversePrivateEndpointIds': endpoints })),
        `unmount ${secret}; settle; sends nothing; is SecretUnavailable`,
        `want REPLICAS; unmount ${secret}; settle; sends PATCH /scaling; is InSync`,
        // and it is not taken for rotated when it is back
        () => void client.mounted.set(secret, password),
        '2 passes; sends nothing; is InSync',
      )
    }))

  test('that is gone while the pipe is stopped for a change: it is started again, and stopped once it is back', () =>
    story(startOld(POSTGRES, { mustPause: 'source' }), async (client) => {
      const secret = 'edited/source-postgres-credentials-password'
      const password = client.mounted.get(secret) ?? ''
      await play(
        client,
        want(having(withTable('invoices'), { 'source.postgres.host': 'other.example' })),
        `turn; sends stop; unmount ${secret}; for 10 min; sends start; runs`,
        () => void client.mounted.set(secret, password),
        `for 70 min; ${CHANGED}`,
      )
    }))

  const SECRET = 'planted-rotated-secret'
  const repeated = refusing(`BAD_REQUEST: password ${SECRET} is wrong`)
  const hidden: Step = async (client) => {
    const said = [client.events, client.record(), await client.history(), client.message()]
    expect(JSON.stringify(said)).toContain('BAD_REQUEST')
    expect(JSON.stringify(said)).not.toContain(SECRET)
  }

  test('is in no message, no event, no record and no history, also when the service repeats it', () =>
    story(
      startOld(KAFKA),
      repeated,
      want(having(KAFKA, { [PASSWORD]: SECRET })),
      'settle; says BAD_REQUEST',
      hidden,
    ))

  test('is in no record that says why a stopped pipe was not changed', () =>
    story(
      startOld(POSTGRES),
      repeated,
      want(having(withTable('invoices'), { 'source.postgres.credentials.password': SECRET })),
      'for 5 min',
      (client) => expect(JSON.stringify(client.record()?.change?.refused)).toContain('BAD_REQUEST'),
      hidden,
    ))
})

describe('policy.paused', () => {
  test.each(
    Object.entries({
      'a stream': { body: 'KAFKA', begin: KAFKA, rest: 'Stopped' },
      'a database': { body: 'POSTGRES', begin: POSTGRES, rest: 'Paused' },
    }),
  )('true stops %s, which is well then, and quiet, also after a restart', (_what, { body, begin, rest }) =>
    story(
      startOld(begin),
      `want ${body} paused=true; settle; sends stop; rests ${rest}; is InSync; shows Ready`,
      '5 passes; restart; 5 passes; sends nothing; shows Ready',
      // a flag that is removed again leaves it
      `want ${body}; 3 passes; sends nothing; rests ${rest}`,
      `want ${body} paused=false; settle; sends start; 3 passes; sends nothing; runs; shows Ready`,
    ),
  )

  test('absent: a size is changed while it rests, and it is not woken', () =>
    story(startOld(KAFKA), 'state Stopped; want REPLICAS; for 5 min; sends PATCH /scaling; rests Stopped'))
})

describe('a pipe that has to rest for its change', () => {
  test('is stopped, changed once, and runs again', () =>
    story(startOld(POSTGRES), `want INVOICES; settle; sends stop, PATCH; ${CHANGED}`, FORGOTTEN))

  test('by the words of the service alone is stopped once within the hour, where the change is refused then', () =>
    story(
      startOld(POSTGRES, { mustPause: 'source' }),
      (client) =>
        client.interfere(({ method, below }) =>
          client.state() === 'Paused' && method !== 'GET' && below === ''
            ? { status: 400, error: 'BAD_REQUEST: no such host' }
            : undefined,
        ),
      want(having(POSTGRES, { 'source.postgres.host': 'other.example' })),
      'for 55 min',
      (client) => expect(sent(client).filter((what) => what !== 'PATCH')).toEqual(['stop', 'start']),
      'runs; says no such host',
    ))

  test('is stopped ever more rarely, where its change is refused each time', () =>
    story(
      startOld(POSTGRES),
      refusing(),
      // After an hour, two more, and four more, which are not over yet.
      'want INVOICES; for 6.5 h; sends stop, start, stop, start, stop, start; runs',
    ))

  test('is changed at once when a person asks, although it was refused', () =>
    story(
      startOld(POSTGRES),
      refusing(),
      'want INVOICES; for 10 min; calm; sends stop, start; turn asked; settle; sends stop, PATCH; runs',
    ))

  test.each(
    Object.entries({
      fails: { status: 500, error: 'oops' },
      'is forbidden': { status: 403, error: 'FORBIDDEN: this key may not' },
    }),
  )('does not stay stopped where its change %s for long', (_what, { status, error }) =>
    story(
      startOld(POSTGRES),
      refusing(error, status),
      `want INVOICES; for 30 min; runs; calm; for 2 h; ${CHANGED}`,
    ),
  )

  test.each<readonly [string, Step]>([
    ['made invalid, and another process begins', 'spoil; restart'],
    ['not to be applied any more', 'want INVOICES onEdit=report'],
    ['one that cannot be sent', want(having(withTable('invoices'), { 'destination.database': 'other' }))],
  ])('is started again when its manifest is %s', (_how, act) =>
    story(
      startOld(POSTGRES),
      'want INVOICES; turn; turn; sends stop; rests Pausing',
      act,
      'for 10 min; sends start; runs; tables addresses, customers',
    ),
  )

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

describe('what was taken and has no effect', () => {
  const begun = ['on PATCH: 200', want(having(KAFKA, { name: 'Another name' })), 'settle'] as const

  test('is told, sent again after an hour and not before, and forgotten once it is there', () =>
    story(
      startOld(KAFKA),
      ...begun,
      'is Stalled; says name; calm; for 55 min; sends nothing; is Stalled',
      'for 10 min; sends PATCH; is InSync',
      // From then on it is as any other.
      byHand({ name: 'By hand' }),
      '20 passes; sends nothing; is Drifted',
    ))

  const beside = want(having(KAFKA, { name: 'Another name', 'settings.streaming_max_insert_wait_ms': 3_000 }))

  test('is sent again, but not a field that took effect beside it and was changed by hand since', () =>
    story(
      startOld(KAFKA),
      'on PUT /settings: 200',
      beside,
      'settle; is Stalled; 3 passes; sends PATCH',
      byHand({ name: 'By hand' }),
      'for 3 h',
      has({ name: 'By hand' }),
      'is Drifted; says name',
    ))

  test('is forgotten once it is there, whatever else differs and although no reading followed it', () =>
    story(
      startOld(KAFKA),
      byHand({ 'scaling.replicas': 1 }),
      want(having(KAFKA, { name: 'Another name' })),
      unreadAfter('PATCH'),
      'turn; sends PATCH; calm; for 10 min; is Drifted',
      byHand({ name: 'By hand' }),
      'for 3 h',
      has({ name: 'By hand' }),
      'is Drifted; says name',
    ))

  test('is sent at once when a person asks', () =>
    story(startOld(KAFKA), ...begun, 'calm; turn asked; settle; sends PATCH; is InSync'))
})

describe('a size', () => {
  test('that shows late is waited for, and called stalled after ten minutes', () =>
    story(
      startOld(KAFKA),
      'want REPLICAS; on PATCH /scaling: 200; turn; for 8 min; shows Progressing; is Changing',
      'for 10 min; is Stalled; sends nothing',
    ))

  test('that shows as none, then as it was, and then as asked, is never drift, and is called changed when it is', () =>
    story(
      startOld(KAFKA),
      'want REPLICAS; turn; shows Progressing; is Changing',
      byHand({ 'scaling.replicas': 2 }),
      'for 5 min; shows Progressing; is Changing',
      byHand({ 'scaling.replicas': 3 }),
      'settle; sends PATCH /scaling; is InSync',
      (client) => expect(JSON.stringify(client.events)).not.toContain('"reason":"Drifted"'),
    ))
})

describe('other things that happen', () => {
  test('to one service: idle, it is left alone, and the edit is applied later', () =>
    story(
      startOld(KAFKA),
      'on PATCH /scaling: 424; want REPLICAS; for 30 min; is ServiceIdle',
      'calm; for 30 min; sends PATCH /scaling; is InSync',
    ))

  test('to the pipe: it is deleted while an edit waits, and made anew as the manifest has it', () =>
    story(startOld(POSTGRES), async (client) => {
      const before = client.id()
      await play(client, `want INVOICES; turn; state gone; for 40 min; ${CHANGED}`, FORGOTTEN)
      expect(client.id()).not.toBe(before)
    }))

  test('to a pipe that is adopted: what differs is told, and corrected where the manifest says so', () =>
    story(startOld(KAFKA), async (client) => {
      const there = client.ask('POST', '/clickpipes', having(KAFKA, { 'scaling.replicas': 7 }))
      const adopt = (there.result as { readonly id: string }).id
      client.server.setStates(client.id(), 'gone')
      client.server.setStates(adopt, 'Running')
      await play(client, want(KAFKA, { adopt, onDrift: 'correct' }), 'for 1 h; is InSync')
      expect(client.id()).toBe(adopt)
      expect(at(client.body() ?? {}, 'scaling.replicas')).toBe(2)
    }))

  test('to the manifest of its service: it is gone, and nothing is said against the edit', () =>
    story(
      startOld(KAFKA),
      async (client) => {
        await client.service('gone')
        await client.want(having(KAFKA, { 'scaling.replicas': 3 })).catch(() => undefined)
        await client.reconcile()
        expect(client.reason()).not.toBe('NotUpdatable')
      },
      'service there; settle; sends PATCH /scaling; is InSync',
    ))
})

describe('a pipe that another manifest means, in the commit that gives its name to another pipe', () => {
  const SHIPMENTS = having(POSTGRES, { name: 'second', [MAPPINGS]: [table('shipments')] })
  const REFUSED = 'tables addresses, customers; is Ambiguous; says Pipe/edited'
  test.each<[string, Step]>([
    ['by policy.renamedFrom', other({ renamedFrom: 'Pipe/edited' })],
    ['by policy.adopt', other({ adopt: true })],
    ['by a Lock', other({}, true)],
    ['by describing it', other({})],
  ])('%s: it is not changed until that is settled', (_, means) =>
    story(
      startOld(POSTGRES),
      means,
      want(SHIPMENTS),
      `for 5 min; sends nothing; ${REFUSED}`,
      (client) => client.put('c.json', undefined),
      (client) => client.put('all.lock.json', undefined),
      'for 10 min; tables shipments',
    ),
  )
  test('nor stopped by policy.paused', () =>
    story(
      startOld(POSTGRES),
      other({ renamedFrom: 'Pipe/edited' }),
      want(SHIPMENTS, { paused: true }),
      'for 5 min; sends nothing',
    ))
  test('it is started again after a stop, and a claim right before the change counts', () =>
    story(
      startOld(POSTGRES),
      want(SHIPMENTS),
      'turn; sends stop',
      meanwhile(other({ renamedFrom: 'Pipe/edited' })),
      `for 5 min; sends start; runs; ${REFUSED}`,
    ))
  test.each([
    ['a copy of the pipe', {}],
    ['a manifest that names the pipe and wants none', { renamedFrom: 'Pipe/edited', ensure: 'absent' }],
  ])('an edit beside %s is sent', (_, policy) =>
    story(
      startOld(KAFKA),
      (client) => client.put('c.json', pipeOf('c', KAFKA, policy)),
      'want REPLICAS; settle; sends PATCH /scaling; is InSync',
    ),
  )
})

function other(policy: object, isLocked = false): Step {
  return async (client) => {
    if (isLocked) await client.put('all.lock.json', lockOf({ 'Pipe/c': client.id() }))
    await client.put('c.json', pipeOf('c', POSTGRES, 'adopt' in policy ? { adopt: client.id() } : policy))
  }
}
