import { describe, expect, test } from 'vitest'
import { blankRecord, type Intent, type LedgerRecord, type Remote, type Seen } from '../../src/plan/record.ts'
import {
  adoptRemote,
  dismissIntent,
  failIntent,
  IntentRefused,
  leaveIntentUnknown,
  type Opening,
  openIntent,
  succeedIntent,
} from '../../src/plan/transitions.ts'
import { created, EDITED, FIELDS, intent, INTENT_ID, NOW, OTHER_ID, PIPE_ID, recordedPipe } from './inputs.ts'

const SERVICE = { name: 'analytics', organizationId: 'o', serviceId: 's' }
const FOUND_NOTHING = { now: NOW, found: 'created nothing' } as const
const FRESH_ID = '44444444-4444-4444-8444-444444444444'
const SEEN: Seen = { at: NOW, httpStatus: 502, requestId: 'r', what: 'cut', pipeId: undefined }
const PIPE: Remote = recordedPipe(OTHER_ID, { at: NOW, revision: 'def', requestId: 'r' })
const REPLACED = { count: 1, at: NOW, id: PIPE_ID }
const blank = blankRecord('Pipe/orders')
const backoff = { failures: 3, until: NOW, digest: 'd' }

const FORMER: LedgerRecord['former'] = {
  remote: recordedPipe(PIPE_ID),
  service: SERVICE,
  platformName: 'orders-before',
  applied: FIELDS,
}

function opening(changes: Partial<Opening> = {}): Opening {
  return {
    intent: {
      id: FRESH_ID,
      reason: 'Missing',
      requestDigest: 'digest-2',
      revision: 'def',
      openedAt: NOW,
      sendBy: NOW + 5_000,
      endBy: NOW + 30_000,
    },
    service: SERVICE,
    platformName: 'orders',
    fingerprint: EDITED,
    replaces: undefined,
    ...changes,
  }
}

function having(state: Intent['state']): LedgerRecord {
  return { ...blank, version: 2, intent: intent(state) }
}

type Opened = Readonly<Record<string, { readonly record: LedgerRecord; readonly with?: Partial<Opening> }>>

describe('openIntent', () => {
  const allowed: Opened = {
    'nothing was ever tried': { record: blank },
    'the last attempt failed': { record: having('failed') },
    'the last attempt is said to have created nothing': { record: having('dismissed') },
    'its pipe is to be replaced': { record: created(), with: { replaces: PIPE_ID } },
  }
  test.each(Object.entries(allowed))('lets a create pass when %s', (_why, { record, with: changes }) => {
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
        sendBy: NOW + 5_000,
        reason: 'Missing',
        state: 'open',
      },
    })
    expect(opened.remote).toBeUndefined()
    const { remote, service, platformName, applied } = record
    expect(opened.former).toEqual(remote && { remote, service, platformName, applied })
  })

  const refused: Opened = {
    'it has a pipe': { record: created() },
    'it has another pipe than the one that is to be replaced': {
      record: created(),
      with: { replaces: OTHER_ID },
    },
    'the last attempt may have worked': { record: having('unknown') },
    'the last attempt has no outcome': { record: having('open') },
    'a pipe is to be replaced, and an attempt is open': {
      record: created({ intent: intent('open') }),
      with: { replaces: PIPE_ID },
    },
    'a former pipe was not given back': { record: { ...having('failed'), former: FORMER } },
  }
  test.each(Object.entries(refused))('refuses when %s', (_why, { record, with: changes }) => {
    expect(() => openIntent(record, opening(changes))).toThrow(IntentRefused)
  })
})

describe('the outcome of an intent', () => {
  const open = { ...having('open'), backoff }
  const own = intent('open')

  test('with an id holds the pipe, and ends the back-off', () => {
    expect(succeedIntent(open, own, { remote: PIPE, steadyNow: NOW })).toEqual({
      ...open,
      remote: PIPE,
      backoff: undefined,
      intent: { ...own, state: 'succeeded' },
    })
  })

  test('with an id in place of another gives that one up, and counts it', () => {
    const next = succeedIntent({ ...open, former: FORMER }, own, { remote: PIPE, steadyNow: NOW })
    expect(next).toMatchObject({ remote: PIPE, replaced: REPLACED })
    expect(next.former).toBeUndefined()
  })

  test.each([500, 501])('keeps 500 characters of a reply with %i', (length) => {
    const what = 'x'.repeat(length)
    const { intent: failed } = failIntent(open, own, { ...SEEN, what })
    expect(failed?.seen?.what).toBe(length > 500 ? `${'x'.repeat(500)}…` : what)
  })

  test('without effect gives back the pipe that was to be replaced, as it was', () => {
    const next = failIntent({ ...open, former: FORMER }, own, SEEN)
    expect(next).toMatchObject({ ...FORMER, intent: { state: 'failed' } })
    expect([next.former, next.replaced]).toEqual([undefined, undefined])
  })

  test('without effect leaves nothing of the attempt where the pipe had nothing', () => {
    const former = { remote: FORMER.remote }
    const next = failIntent({ ...open, applied: FIELDS, former }, own, SEEN)
    expect([next.remote, next.service, next.platformName, next.applied]).toEqual([
      FORMER.remote,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('that may have worked keeps it', () => {
    const next = leaveIntentUnknown({ ...open, former: FORMER }, own, SEEN)
    expect([next.remote, next.former, next.intent?.state]).toEqual([undefined, FORMER, 'unknown'])
  })

  test.each(
    Object.entries({
      'without effect is failed': { settle: failIntent, state: 'failed' },
      'that may have worked is unknown': { settle: leaveIntentUnknown, state: 'unknown' },
    } as const),
  )('%s, with what was seen', (_why, { settle, state }) => {
    expect(settle(open, own, SEEN)).toEqual({ ...open, intent: { ...own, state, seen: SEEN } })
  })

  const settled: Readonly<Record<string, (record: LedgerRecord, of: Intent) => LedgerRecord>> = {
    'an id': (record, of) => succeedIntent(record, of, { remote: PIPE, steadyNow: NOW }),
    'a failure': (record, of) => failIntent(record, of, SEEN),
    'an unknown outcome': (record, of) => leaveIntentUnknown(record, of, SEEN),
    'a dismissal': (record, of) => dismissIntent(record, of, FOUND_NOTHING),
  }
  test.each(Object.entries(settled))('%s of another intent is refused', (_why, settle) => {
    expect(() => settle(open, { ...own, id: OTHER_ID })).toThrow(IntentRefused)
    expect(() => settle(blank, own)).toThrow(IntentRefused)
  })
})

describe('a person who says that nothing was created', () => {
  test.each(['open', 'unknown'] as const)(
    'dismisses an intent that is %s, and ends the back-off',
    (state) => {
      const record = { ...having(state), backoff }
      const dismissed = dismissIntent(record, intent(state), FOUND_NOTHING)
      expect(dismissed.intent).toMatchObject({ id: INTENT_ID, attempt: 1, state: 'dismissed' })
      expect(dismissed.intent?.seen).toMatchObject({
        at: NOW,
        what: 'an operator confirmed that it created no resource',
      })
      expect(dismissed.backoff).toBeUndefined()
    },
  )

  test('keeps what was seen of the request', () => {
    const seen = { ...intent('unknown'), seen: SEEN }
    const dismissed = dismissIntent({ ...blank, intent: seen }, seen, FOUND_NOTHING)
    expect(dismissed.intent?.seen).toMatchObject({ httpStatus: 502, requestId: 'r' })
  })

  test('gets back the pipe that was to be replaced', () => {
    const next = dismissIntent({ ...having('unknown'), former: FORMER }, intent('unknown'), FOUND_NOTHING)
    expect(next).toMatchObject(FORMER)
    expect(next.former).toBeUndefined()
  })

  test.each(['failed', 'dismissed', 'succeeded'] as const)('is refused when it is %s already', (state) => {
    expect(() => dismissIntent(having(state), intent(state), FOUND_NOTHING)).toThrow(IntentRefused)
  })
})

describe('a pipe that is taken over', () => {
  const adopted = {
    remote: { ...PIPE, origin: 'adopted' },
    service: SERVICE,
    platformName: 'orders',
    fingerprint: FIELDS,
    steadyNow: NOW,
  } as const

  test.each(
    Object.entries({
      'of a key that never had one': { record: blank, intent: undefined },
      'after an unknown create': { record: having('unknown'), intent: 'succeeded' },
      'after a create that a crash left open': { record: having('open'), intent: 'succeeded' },
    }),
  )('%s holds the id, and settles the intent', (_why, { record, intent: state }) => {
    const next = adoptRemote({ ...record, backoff }, adopted)
    expect(next).toMatchObject({
      remote: adopted.remote,
      service: SERVICE,
      platformName: 'orders',
      applied: FIELDS,
    })
    expect(next.intent?.state).toBe(state)
    expect(next.intent?.id).toBe(record.intent?.id)
    expect([next.backoff, next.replaced]).toEqual([undefined, undefined])
  })

  test.each(
    Object.entries({
      'in place of the one that was to be replaced counts as a replacement': {
        id: OTHER_ID,
        replaced: REPLACED,
      },
      'which is the one that was to be replaced does not': { id: PIPE_ID, replaced: undefined },
    }),
  )('%s', (_why, { id, replaced }) => {
    const remote = recordedPipe(id, { origin: 'adopted' })
    const next = adoptRemote({ ...having('unknown'), former: FORMER }, { ...adopted, remote })
    expect([next.remote, next.former, next.replaced]).toEqual([remote, undefined, replaced])
  })
})
