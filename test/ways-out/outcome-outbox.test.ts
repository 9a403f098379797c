import { describe, expect, test, vi } from 'vitest'
import { LedgerError } from '../../src/contract/ledger.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import { blankRecord, type LedgerRecord, type Seen } from '../../src/plan/record.ts'
import { dismissIntent, failIntent, openIntent } from '../../src/plan/transitions.ts'
import { createOutcomeOutbox, type CreateEnd } from '../../src/reconcile/apply/outcome-outbox.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { entry } from '../ledger/samples.ts'
import { recordedPipe } from '../plan/inputs.ts'

/* A create ends. Meanwhile something else happened to the record of its key. */

const KEY = 'Pipe/orders'
const PIPE = recordedPipe('pipe-1', { seenAt: undefined })
const SEEN: Seen = { at: 1, httpStatus: undefined, requestId: undefined, what: 'a cut', pipeId: undefined }
const ENDS = {
  id: { type: 'created', remote: PIPE },
  unknown: { type: 'unknown', seen: SEEN },
} as const satisfies Record<string, CreateEnd>

/** @param before at the version that it has in the ledger */
function withIntent(before: LedgerRecord, intentId: string): LedgerRecord {
  return openIntent(before, {
    intentId,
    reason: 'New',
    requestDigest: 'x',
    revision: 'r',
    service: { name: 's', organizationId: 'o', serviceId: 'i' },
    platformName: 'orders',
    fingerprint: { digest: 'd', fields: {}, secrets: {} },
    replaces: before.remote?.id,
    now: 1,
    sendBy: 1,
    endBy: 1,
    isAllowed: false,
  })
}

function failed(record: LedgerRecord): LedgerRecord {
  if (record.intent === undefined) throw new Error('it has an intent')
  return failIntent(record, record.intent, SEEN)
}

type Given = Awaited<ReturnType<typeof given>>

/** A create is under way. @param fields of the record before it */
async function given(fields: Partial<LedgerRecord>) {
  const { ledger } = openMemoryLedger({ emit: () => undefined })
  const clock = createFakeClock()
  const before = await ledger.swap({ ...blankRecord(KEY), ...fields }, [])
  const opened = await ledger.swap(withIntent(before, 'intent-1'), [])
  const { intent } = opened
  if (intent === undefined) throw new Error('an opened record has an intent')
  const store = createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock })
  return { ledger, clock, before, opened, intent, outbox: createOutcomeOutbox({ ledger, clock, store }) }
}

async function dismiss({ ledger, opened, intent, clock }: Given): Promise<LedgerRecord> {
  return ledger.swap(dismissIntent(opened, intent, { now: clock.now(), found: 'created nothing' }), [])
}

async function forget({ ledger, opened }: Given): Promise<void> {
  await ledger.remove((await ledger.get(KEY)) ?? opened, [])
}

const moveTo =
  (key: LedgerRecord['key']) =>
  async ({ ledger, opened }: Given): Promise<unknown> => {
    const there = (await ledger.list()).find(({ intent }) => intent?.id === opened.intent?.id)
    return ledger.move(there ?? opened, { ...opened, key, version: 0 }, [])
  }

/** The record is put back to before its intent. @param then what else happens to it */
const putBack =
  (then = (record: LedgerRecord) => record) =>
  async ({ ledger, before, opened }: Given): Promise<void> => {
    await ledger.remove(opened, [])
    const found = await ledger.swap({ ...before, version: 0 }, [])
    const next = then(found)
    if (next !== found) await ledger.swap(next, [])
  }

type Row = readonly [
  what: string,
  ends: keyof typeof ENDS,
  meanwhile: (world: Given) => unknown,
  record: object | undefined,
  before?: Partial<LedgerRecord>,
]

const SETTLED = { remote: { id: 'pipe-1' }, intent: { state: 'succeeded' } }
const ALONE = { ...SETTLED, replaced: undefined }
const OTHER = { ...PIPE, id: 'pipe-0' }
const PLACE = { line: 3, platformName: 'orders', service: { name: 's' }, applied: {} }
const NOTHING = { remote: undefined, intent: undefined, former: undefined, replaced: undefined }

describe('what comes of a create', () => {
  test.for<Row>([
    ['an id, after a person forgot the key, is recorded all the same', 'id', forget, ALONE],
    ['a failure does not take a word back', 'unknown', dismiss, { intent: { state: 'dismissed' } }],
    ['a failure does not bring back what was forgotten', 'unknown', forget, undefined],
    [
      'an id, after a person said "nothing was created", takes the place of the pipe that was given back',
      'id',
      async (world) => expect(await dismiss(world)).toMatchObject({ remote: { id: 'pipe-0' } }),
      { remote: { id: 'pipe-1' }, replaced: { count: 1 } },
      { remote: OTHER },
    ],
    [
      'an id is that of the key, whose record was put back, after the pipe that it replaces',
      'id',
      putBack(),
      { ...SETTLED, ...PLACE, replaced: { count: 1, id: 'pipe-0' }, former: undefined },
      { line: 3, remote: OTHER },
    ],
    [
      'an id is that of the key, where a later attempt had no effect; and attempts go on from that',
      'id',
      putBack((found) => failed(withIntent(failed(withIntent(found, 'intent-2')), 'intent-3'))),
      { ...SETTLED, intent: { id: 'intent-1', attempt: 3 } },
      failed(withIntent(blankRecord(KEY), 'intent-0')),
    ],
    [
      'an id is only told, where another attempt may have worked',
      'id',
      putBack((found) => withIntent(found, 'intent-2')),
      { intent: { id: 'intent-2', state: 'open' }, remote: undefined },
    ],
    [
      'an id is only told, where a person has given the key another pipe',
      'id',
      putBack((found) => ({ ...found, remote: { ...PIPE, id: 'pipe-2', origin: 'adopted' } })),
      { remote: { id: 'pipe-2' }, intent: undefined },
    ],
  ])('%s', async ([, ends, meanwhile, record, before = {}]) => {
    const world = await given(before)
    const { ledger, opened, intent, outbox } = world
    await meanwhile(world)
    const history = [entry(KEY, 'what came of it')]
    await outbox.persist(KEY, { intentId: intent.id, opened, end: ENDS[ends], history })
    expect(outbox.pending.size).toBe(0)
    const written = await ledger.get(KEY)
    expect({ is: written && { ...NOTHING, ...written } }).toMatchObject({ is: record })
    expect(await ledger.history({ key: KEY, limit: 1 })).toEqual(record === undefined ? [] : history)
  })
})

test('an id that the ledger does not take is written after a wait', async () => {
  const { ledger, clock, opened, intent, outbox } = await given({})
  vi.spyOn(ledger, 'settle').mockRejectedValueOnce(new LedgerError('io', 'the disk is full'))
  const written = outbox.persist(KEY, { intentId: intent.id, opened, end: ENDS.id, history: [] })
  await clock.settle()
  expect([clock.pending, outbox.pending.size]).toEqual([1, 1])
  await clock.advance(1_000)
  expect(await written).toMatchObject(SETTLED)
})

describe('an intent whose record has moved twice meanwhile', () => {
  test.each<readonly [string, keyof typeof ENDS, object]>([
    ['an id', 'id', SETTLED],
    ['that nothing is known', 'unknown', { intent: { state: 'unknown' } }],
  ])(
    '%s is written where it is by then, and not to the one that has its key now',
    async (_what, ends, expected) => {
      const world = await given({})
      const { ledger, opened, intent, outbox } = world
      await moveTo('Pipe/renamed')(world)
      const other = await ledger.swap(withIntent(blankRecord(KEY), 'intent-2'), [])
      const history = [entry(KEY, 'what came of it')]
      const written = await outbox.persist(KEY, { intentId: intent.id, opened, end: ENDS[ends], history })
      expect(written).toMatchObject({ key: 'Pipe/renamed', ...expected })
      expect(await ledger.list()).toEqual([other, written])
      expect(await ledger.history({ key: 'Pipe/renamed', limit: 1 })).toMatchObject([
        { message: 'what came of it' },
      ])
    },
  )
})
