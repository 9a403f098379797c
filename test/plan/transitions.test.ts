import { describe, expect, test } from 'vitest'
import type { Intent, LedgerRecord, RecordedPipe, Seen } from '../../src/plan/record.ts'
import { blankRecord } from '../../src/plan/record.ts'
import type { Opening } from '../../src/plan/transitions.ts'
import {
  adoptPipe,
  dismissIntent,
  failIntent,
  IntentRefused,
  leaveIntentUnknown,
  openIntent,
  succeedIntent,
} from '../../src/plan/transitions.ts'
import { created, EDITED, FIELDS, intent, INTENT_ID, misses, NOW, OTHER_ID, PIPE_ID } from './inputs.ts'

const SERVICE = { name: 'analytics', organizationId: 'o', serviceId: 's' }
const FRESH_ID = '44444444-4444-4444-8444-444444444444'
const SEEN: Seen = { at: NOW, httpStatus: 502, requestId: 'r', what: 'cut' }
const PIPE: RecordedPipe = { id: OTHER_ID, origin: 'created', at: NOW, revision: 'def', requestId: 'r' }
const blank = blankRecord('Pipe/orders')
const backoff = { failures: 3, until: NOW, digest: 'd' }

function opening(changes: Partial<Opening> = {}): Opening {
  return {
    intentId: FRESH_ID,
    requestDigest: 'digest-2',
    revision: 'def',
    service: SERVICE,
    platformName: 'orders',
    fingerprint: EDITED,
    giveUp: undefined,
    approved: undefined,
    now: NOW,
    ...changes,
  }
}

function having(state: Intent['state']): LedgerRecord {
  return { ...blank, version: 2, intent: intent(state) }
}

describe('openIntent', () => {
  const allowed: readonly {
    readonly why: string
    readonly record: LedgerRecord
    readonly with?: Partial<Opening>
  }[] = [
    { why: 'nothing was ever tried', record: blank },
    { why: 'the last attempt failed', record: having('failed') },
    {
      why: 'the last attempt is said to have created nothing',
      record: having('unknown'),
      with: { approved: INTENT_ID },
    },
    { why: 'the same of one that a crash left open', record: having('open'), with: { approved: INTENT_ID } },
    { why: 'its pipe is given up', record: created(), with: { giveUp: PIPE_ID } },
    { why: 'its pipe was given up before', record: having('succeeded') },
  ]
  test.each(allowed)('lets a create pass when $why', ({ record, with: changes }) => {
    const opened = openIntent(record, opening(changes))
    expect(opened).toMatchObject({
      version: record.version,
      service: SERVICE,
      platformName: 'orders',
      applied: EDITED,
      intent: {
        id: FRESH_ID,
        attempt: (record.intent?.attempt ?? 0) + 1,
        requestDigest: 'digest-2',
        revision: 'def',
        openedAt: NOW,
        state: 'open',
      },
    })
    expect(opened.pipe).toBeUndefined()
    expect(opened.misses).toBeUndefined()
  })

  const refused: readonly {
    readonly why: string
    readonly record: LedgerRecord
    readonly with?: Partial<Opening>
  }[] = [
    { why: 'it has a pipe', record: created() },
    {
      why: 'it has another pipe than the one that is given up',
      record: created(),
      with: { giveUp: OTHER_ID },
    },
    { why: 'the last attempt may have worked', record: having('unknown') },
    { why: 'the last attempt has no outcome', record: having('open') },
    { why: 'another attempt is the approved one', record: having('unknown'), with: { approved: OTHER_ID } },
    {
      why: 'a pipe is given up, and an attempt is open',
      record: created({ intent: intent('open') }),
      with: { giveUp: PIPE_ID },
    },
    {
      why: 'an attempt is approved, and there is a pipe',
      record: created({ intent: intent('unknown') }),
      with: { approved: INTENT_ID },
    },
  ]
  test.each(refused)('refuses when $why', ({ record, with: changes }) => {
    expect(() => openIntent(record, opening(changes))).toThrow(IntentRefused)
  })
})

describe('the outcome of an intent', () => {
  const open = { ...having('open'), misses: misses(2, 1), backoff }
  const own = intent('open')

  test('with an id holds the pipe, and ends misses and back-off', () => {
    expect(succeedIntent(open, own, PIPE)).toEqual({
      ...open,
      pipe: PIPE,
      misses: undefined,
      backoff: undefined,
      intent: { ...own, state: 'succeeded' },
    })
  })

  test.each([
    { why: 'without effect is failed', settle: failIntent, state: 'failed' },
    { why: 'that may have worked is unknown', settle: leaveIntentUnknown, state: 'unknown' },
  ] as const)('$why, with what was seen', ({ settle, state }) => {
    expect(settle(open, own, SEEN)).toEqual({ ...open, intent: { ...own, state, seen: SEEN } })
  })

  test.each([
    { why: 'an id', settle: (record: LedgerRecord, of: Intent) => succeedIntent(record, of, PIPE) },
    { why: 'a failure', settle: (record: LedgerRecord, of: Intent) => failIntent(record, of, SEEN) },
    {
      why: 'an unknown outcome',
      settle: (record: LedgerRecord, of: Intent) => leaveIntentUnknown(record, of, SEEN),
    },
    { why: 'a dismissal', settle: (record: LedgerRecord, of: Intent) => dismissIntent(record, of, NOW) },
  ])('$why of another intent is refused', ({ settle }) => {
    expect(() => settle(open, { ...own, id: OTHER_ID })).toThrow(IntentRefused)
    expect(() => settle(blank, own)).toThrow(IntentRefused)
  })
})

describe('a person who says that nothing was created', () => {
  test.each(['open', 'unknown'] as const)(
    'makes an intent that is %s a failed one, and ends the back-off',
    (state) => {
      const record = { ...having(state), backoff }
      const dismissed = dismissIntent(record, intent(state), NOW)
      expect(dismissed.intent).toMatchObject({ id: INTENT_ID, attempt: 1, state: 'failed' })
      expect(dismissed.intent?.seen).toMatchObject({ at: NOW, what: 'a person said that it created nothing' })
      expect(dismissed.backoff).toBeUndefined()
    },
  )

  test('keeps what was seen of the request', () => {
    const seen = { ...intent('unknown'), seen: SEEN }
    const dismissed = dismissIntent({ ...blank, intent: seen }, seen, NOW)
    expect(dismissed.intent?.seen).toMatchObject({ httpStatus: 502, requestId: 'r' })
  })

  test.each(['failed', 'succeeded'] as const)('is refused when it is %s already', (state) => {
    expect(() => dismissIntent(having(state), intent(state), NOW)).toThrow(IntentRefused)
  })
})

describe('a pipe that is taken over', () => {
  const adopted = {
    pipe: { ...PIPE, origin: 'adopted' },
    service: SERVICE,
    platformName: 'orders',
    fingerprint: FIELDS,
  } as const

  test.each([
    { why: 'of a key that never had one', record: blank, intent: undefined },
    { why: 'after an unknown create', record: having('unknown'), intent: 'succeeded' },
    { why: 'after a create that a crash left open', record: having('open'), intent: 'succeeded' },
  ])('$why holds the id, and settles the intent', ({ record, intent: state }) => {
    const next = adoptPipe({ ...record, backoff, misses: misses(3, 1) }, adopted)
    expect(next).toMatchObject({
      pipe: adopted.pipe,
      service: SERVICE,
      platformName: 'orders',
      applied: FIELDS,
    })
    expect(next.intent?.state).toBe(state)
    expect(next.intent?.id).toBe(record.intent?.id)
    expect([next.backoff, next.misses]).toEqual([undefined, undefined])
  })
})
