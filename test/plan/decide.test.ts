import { fineReason } from '../support/fine-reason.ts'
import { describe, expect, test } from 'vitest'
import type { Action } from '../../src/plan/action.ts'
import { decide } from '../../src/plan/decide.ts'
import { attemptDigest, expectsManifest } from '../../src/plan/gates.ts'
import type { DecideInput } from '../../src/plan/input.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { blankRecord } from '../../src/plan/record.ts'
import {
  alert,
  appliedEndpoint,
  created,
  DIFFERENCE,
  DIFFERS,
  EDITED,
  endpoint,
  FIELDS,
  FOUND,
  HOUR,
  intent,
  INTENT_ID,
  MINUTE,
  missed,
  MISSING,
  NOW,
  OTHER_ID,
  pipe,
  PIPE_ID,
  recordedPipe,
  ROTATED,
  service,
} from './inputs.ts'

interface Row {
  readonly input: DecideInput
  /** The reason, or its fine form. */
  readonly is: readonly [Action['type'], string]
}

const blank = blankRecord('Pipe/orders')
const SEEN = { at: NOW, httpStatus: 502, requestId: 'req-7', what: 'the reply was cut', pipeId: undefined }
const failed = { ...blank, version: 2, intent: intent('failed') }
const unknown = { ...blank, version: 2, intent: intent('unknown') }
/** An id with letters, as those of the other rows have none. */
const LETTERS = 'abcdef00-aaaa-4bbb-8ccc-abcdef012345'
const suspend = { reason: 'migration', until: '2027-01-31T00:00:00Z' }
const never = created({ remote: recordedPipe(PIPE_ID, { seenAt: undefined }) })
const replaced = created({ replaced: { count: 1, at: NOW - HOUR + 1 } })
const backoff = { failures: 1, until: NOW + 1, digest: attemptDigest(FIELDS) }
const notSent = { status: 'False', reason: 'NotLeading', message: 'Not sent.', since: NOW - HOUR } as const
const notLeading = { Valid: notSent, Synced: notSent, Ready: notSent }

const ROWS: Readonly<Record<string, Row>> = {
  // a reading that is not believed, and did not find the manifest
  'what a doubted reading does not find is not created': {
    input: pipe({ surroundings: { unfound: true } }),
    is: ['hold', 'ManifestVanishing'],
  },

  // an id in capitals is the same id
  'an adopt that is done stays without effect, also in capitals': {
    input: pipe({
      recorded: created({ remote: recordedPipe(LETTERS) }),
      observed: FOUND,
      policy: { adopt: LETTERS.toUpperCase() },
    }),
    is: ['observe', 'InSync'],
  },
  'an approval is of the attempt that it names, also in capitals': {
    input: pipe({
      recorded: { ...unknown, intent: { ...unknown.intent, id: LETTERS } },
      policy: { retryCreate: LETTERS.toUpperCase() },
    }),
    is: ['create', 'New'],
  },

  // valid, new
  'a new pipe is created': { input: pipe(), is: ['create', 'New'] },
  'policy.adopt takes over': { input: pipe({ policy: { adopt: PIPE_ID } }), is: ['adopt', 'Adopt'] },
  'a Lock takes over': { input: pipe({ surroundings: { lockedId: PIPE_ID } }), is: ['adopt', 'Adopt'] },
  'a file that may hold a Lock keeps what has no record waiting': {
    input: pipe({ surroundings: { hiddenLocks: ['lock.yaml'] } }),
    is: ['refuse', 'DependencyNotReady'],
  },
  'an attempt that the ledger knows of is no lost one': {
    input: pipe({ surroundings: { hiddenLocks: ['lock.yaml'] }, recorded: failed }),
    is: ['create', 'New tried again'],
  },
  'a record that says only how it waited is none': {
    input: pipe({ surroundings: { hiddenLocks: ['lock.yaml'] }, recorded: { ...blank, version: 1 } }),
    is: ['refuse', 'DependencyNotReady'],
  },
  'a pipe with a record is looked after as ever': {
    input: pipe({ surroundings: { hiddenLocks: ['lock.yaml'] }, recorded: created(), observed: FOUND }),
    is: ['observe', 'InSync'],
  },
  "an endpoint is none of a Lock's business": {
    input: endpoint({ surroundings: { hiddenLocks: ['lock.yaml'] } }),
    is: ['upsert', 'New'],
  },
  'a record without a manifest looks like it': {
    input: pipe({ surroundings: { similar: { key: 'Pipe/old', how: 'unclaimed', file: 'old.yaml' } } }),
    is: ['refuse', 'Ambiguous unclaimed'],
  },
  'the pipe of another manifest looks like it': {
    input: pipe({ surroundings: { similar: { key: 'Pipe/old', how: 'claimed', file: 'old.yaml' } } }),
    is: ['refuse', 'Ambiguous claimed'],
  },
  'what it was renamed from cannot move yet': {
    input: pipe({ surroundings: { similar: { key: 'Pipe/old', how: 'renamed-from', file: undefined } } }),
    is: ['refuse', 'Ambiguous renamed-from'],
  },
  'the same, and it wants none': {
    input: pipe({
      policy: { ensure: 'absent' },
      surroundings: { similar: { key: 'Pipe/old', how: 'renamed-from', file: undefined } },
    }),
    is: ['refuse', 'Ambiguous renamed-from'],
  },
  'too many at once are all refused': {
    input: pipe({ surroundings: { createLimit: { service: 'analytics', wanted: 26, made: 0, limit: 25 } } }),
    is: ['refuse', 'CreateLimit'],
  },
  'it waits for what it depends on': {
    input: pipe({ surroundings: { notReady: ['Alert/lag'] } }),
    is: ['refuse', 'DependencyNotReady'],
  },
  'it waits for a secret': {
    input: pipe({ surroundings: { missingSecrets: [{ file: '/secrets/kafka/password', why: 'absent' }] } }),
    is: ['refuse', 'SecretUnavailable'],
  },
  'where no file can be opened, no secret is called missing': {
    input: pipe({
      surroundings: {
        missingSecrets: [
          { file: '/secrets/kafka/username', why: 'absent' },
          { file: '/secrets/kafka/password', why: 'no descriptor' },
        ],
      },
    }),
    is: ['refuse', 'SecretUnavailable'],
  },

  // intent without outcome
  'an unknown outcome is not retried': {
    input: pipe({ recorded: unknown }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'an intent that a crash left open is unknown': {
    input: pipe({ recorded: { ...unknown, intent: intent('open') } }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'an edit does not make it known': {
    input: pipe({ recorded: unknown, desired: { fingerprint: EDITED } }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'retryCreate of that intent lets it pass': {
    input: pipe({ recorded: unknown, policy: { retryCreate: INTENT_ID } }),
    is: ['create', 'New settled'],
  },
  'too early, something of it may still be on its way': {
    input: pipe({
      recorded: { ...unknown, intent: { ...intent('unknown'), sendBy: NOW - 2 * MINUTE + 1 } },
      policy: { retryCreate: INTENT_ID },
    }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'and what was said too early once is not believed later': {
    input: pipe({
      recorded: { ...unknown, intent: { ...intent('unknown'), saidEarlyAt: NOW - HOUR } },
      policy: { retryCreate: INTENT_ID },
    }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'of an attempt whose process never said that it ended, a quarter of an hour is too early': {
    input: pipe({
      recorded: { ...unknown, intent: { ...intent('open'), sendBy: NOW - 15 * MINUTE + 1 } },
      policy: { retryCreate: INTENT_ID },
    }),
    is: ['refuse', 'OutcomeUnknown'],
  },
  'and then it is not': {
    input: pipe({
      recorded: { ...unknown, intent: { ...intent('open'), sendBy: NOW - 15 * MINUTE } },
      policy: { retryCreate: INTENT_ID },
    }),
    is: ['create', 'New settled'],
  },
  'what a person dismissed is created': {
    input: pipe({ recorded: { ...unknown, intent: intent('dismissed') } }),
    is: ['create', 'New settled'],
  },
  'an id in the reply is read': {
    input: pipe({
      recorded: { ...unknown, intent: { ...intent('unknown'), seen: { ...SEEN, pipeId: PIPE_ID } } },
    }),
    is: ['adopt', 'Adopt a reply'],
  },
  'adopt resolves it': {
    input: pipe({ recorded: unknown, policy: { adopt: PIPE_ID } }),
    is: ['adopt', 'Adopt'],
  },

  // intent that failed
  'a failed attempt is tried again': { input: pipe({ recorded: failed }), is: ['create', 'New tried again'] },
  'after its back-off': { input: pipe({ recorded: { ...failed, backoff } }), is: ['hold', 'BackingOff'] },
  'at the end of the back-off': {
    input: pipe({ recorded: { ...failed, backoff: { ...backoff, until: NOW } } }),
    is: ['create', 'New tried again'],
  },
  'what another process held back is not waited for': {
    input: pipe({ recorded: { ...failed, backoff, conditions: notLeading } }),
    is: ['create', 'New tried again'],
  },
  'and is by a process that has an older checkout itself': {
    input: pipe({
      recorded: { ...failed, backoff, conditions: notLeading },
      surroundings: { olderThan: 'content-1' },
    }),
    is: ['hold', 'BackingOff'],
  },
  'an edited manifest starts afresh': {
    input: pipe({ recorded: { ...failed, backoff }, desired: { fingerprint: EDITED } }),
    is: ['create', 'New tried again'],
  },

  // id
  'equal is in sync': { input: pipe({ recorded: created(), observed: FOUND }), is: ['observe', 'InSync'] },
  'different is drift': {
    input: pipe({ recorded: created(), observed: DIFFERS }),
    is: ['report', 'Drifted'],
  },
  'an edit cannot be applied': {
    input: pipe({ recorded: created(), observed: DIFFERS, desired: { fingerprint: EDITED } }),
    is: ['report', 'NotUpdatable'],
  },
  'an edit to what is there is accepted': {
    input: pipe({ recorded: created(), observed: FOUND, desired: { fingerprint: EDITED } }),
    is: ['observe', 'InSync accepted'],
  },
  'an edit of what the platform never returns is not': {
    input: pipe({
      recorded: created(),
      observed: FOUND,
      desired: {
        fingerprint: {
          ...FIELDS,
          digest: 'b3',
          fields: { ...FIELDS.fields, 'source.kafka.credentials.password': 'other' },
        },
      },
    }),
    is: ['report', 'NotUpdatable'],
  },
  'a pipe cannot move to another service': {
    input: pipe({ recorded: created(), observed: FOUND, desired: { otherService: true } }),
    is: ['report', 'NotUpdatable'],
  },
  'a rotated secret cannot be applied': {
    input: pipe({ recorded: created(), observed: FOUND, desired: { fingerprint: ROTATED } }),
    is: ['report', 'SecretRotated'],
  },
  'a secret without a recorded value is not verified': {
    input: pipe({ recorded: created({ applied: { ...FIELDS, secrets: {} } }), observed: FOUND }),
    is: ['report', 'SecretRotated'],
  },
  'a secret that cannot be read now did not change': {
    input: pipe({
      recorded: created(),
      observed: FOUND,
      desired: { fingerprint: { ...FIELDS, secrets: {} } },
    }),
    is: ['observe', 'InSync'],
  },
  'an id that is held is not exchanged for another': {
    input: pipe({ recorded: created(), observed: FOUND, policy: { adopt: OTHER_ID } }),
    is: ['refuse', 'AdoptRefused'],
  },
  'three over a minute do': {
    input: pipe({ recorded: created(), observed: MISSING }),
    is: ['create', 'Missing'],
  },
  'unless it is to be reported only': {
    input: pipe({ recorded: created(), observed: MISSING, policy: { onMissing: 'report' } }),
    is: ['report', 'Missing'],
  },
  'a service whose pipes are all gone is out of sight': {
    input: pipe({
      recorded: created(),
      observed: MISSING,
      surroundings: { massMissing: { missing: 3, of: 10, group: 'service' } },
    }),
    is: ['refuse', 'MassMissing'],
  },
  'what was never seen is never replaced by itself': {
    input: pipe({ recorded: never, observed: missed(100, HOUR) }),
    is: ['hold', 'NeverSeen'],
  },
  'a person names the pipe that it is instead': {
    input: pipe({ recorded: never, observed: MISSING, policy: { adopt: OTHER_ID } }),
    is: ['adopt', 'Adopt'],
  },
  'a person says that it is gone': {
    input: pipe({ recorded: never, observed: missed(1, 0, 'silent'), policy: { recreate: PIPE_ID } }),
    is: ['create', 'New gone'],
  },
  'the same at the shell': {
    input: pipe({
      recorded: created({ remote: recordedPipe(PIPE_ID, { saidGoneAt: NOW }) }),
      observed: missed(1, 0, 'silent'),
    }),
    is: ['create', 'New gone'],
  },
  'a person who says so of another id says nothing of this one': {
    input: pipe({ recorded: never, observed: MISSING, policy: { recreate: OTHER_ID } }),
    is: ['hold', 'NeverSeen'],
  },
  'or a person says so: no resource is created where another one is named': {
    input: pipe({
      recorded: created({ remote: recordedPipe(PIPE_ID, { saidGoneAt: NOW }) }),
      observed: missed(1, 0, 'silent'),
      policy: { adopt: OTHER_ID },
    }),
    is: ['adopt', 'Adopt'],
  },
  'a pipe that is there is not replaced, whatever a person says': {
    input: pipe({ recorded: created(), observed: FOUND, policy: { recreate: PIPE_ID } }),
    is: ['observe', 'InSync'],
  },
  'words that a reading has refuted count no more': {
    input: pipe({
      recorded: created({ remote: recordedPipe(PIPE_ID, { refutedAt: NOW - HOUR }) }),
      observed: missed(1, 0, 'silent'),
      policy: { recreate: PIPE_ID },
    }),
    is: ['hold', 'MissingUnconfirmed'],
  },
  'what was never seen may not be visible yet': {
    input: pipe({ recorded: never, observed: missed(1, 0) }),
    is: ['hold', 'MissingUnconfirmed'],
  },
  'another pipe is taken over only once the one that it had is proved to be gone': {
    input: pipe({ recorded: created(), observed: missed(30, HOUR, 'silent'), policy: { adopt: OTHER_ID } }),
    is: ['refuse', 'MassMissing'],
  },
  'a Lock that names another pipe does the same, once this one is gone': {
    input: pipe({ recorded: created(), observed: MISSING, surroundings: { lockedId: OTHER_ID } }),
    is: ['adopt', 'Adopt'],
  },
  'also where policy.adopt names this one': {
    input: pipe({
      recorded: created(),
      observed: MISSING,
      policy: { adopt: PIPE_ID },
      surroundings: { lockedId: OTHER_ID },
    }),
    is: ['adopt', 'Adopt'],
  },
  'but not while the manifest has errors': {
    input: pipe({
      recorded: created(),
      observed: MISSING,
      surroundings: { lockedId: OTHER_ID },
      desired: { state: 'invalid' },
    }),
    is: ['hold', 'InvalidManifest'],
  },
  'a Lock that names this one is no reason not to replace it': {
    input: pipe({ recorded: created(), observed: MISSING, surroundings: { lockedId: PIPE_ID } }),
    is: ['create', 'Missing'],
  },
  'what was replaced less than an hour ago waits': {
    input: pipe({ recorded: replaced, observed: MISSING }),
    is: ['hold', 'Missing'],
  },
  'an hour later it does not': {
    input: pipe({ recorded: created({ replaced: { count: 1, at: NOW - HOUR } }), observed: MISSING }),
    is: ['create', 'Missing'],
  },
  'a person need not wait': {
    input: pipe({ recorded: replaced, observed: MISSING, policy: { recreate: PIPE_ID } }),
    is: ['create', 'New gone'],
  },
  'a missing pipe is not created from an invalid manifest': {
    input: pipe({ recorded: created(), observed: MISSING, desired: { state: 'invalid' } }),
    is: ['hold', 'InvalidManifest'],
  },

  // the manifest
  'an invalid manifest holds what is there': {
    input: pipe({ recorded: created(), observed: FOUND, desired: { state: 'invalid' } }),
    is: ['hold', 'InvalidManifest'],
  },
  'a manifest that just vanished changes nothing': {
    input: pipe({ recorded: created(), desired: { state: 'missing' } }),
    is: ['hold', 'ManifestVanishing'],
  },
  'suspended is not created': { input: pipe({ policy: { suspend } }), is: ['hold', 'Suspended'] },
  'so does an intent': {
    input: pipe({ recorded: unknown, desired: { state: 'absent', fingerprint: undefined } }),
    is: ['report', 'Orphaned'],
  },

  // query endpoints
  'an endpoint that was never applied': { input: endpoint(), is: ['upsert', 'New'] },
  'one whose credentials are not mounted': {
    input: endpoint({ surroundings: { missingSecrets: [{ file: '/secrets/api/keyId', why: 'absent' }] } }),
    is: ['refuse', 'SecretUnavailable'],
  },
  'one that is applied already needs none': {
    input: endpoint({
      recorded: appliedEndpoint(MINUTE),
      surroundings: { missingSecrets: [{ file: '/secrets/api/keyId', why: 'absent' }] },
    }),
    is: ['observe', 'InSync'],
  },
  'an endpoint that was edited': {
    input: endpoint({ recorded: appliedEndpoint(MINUTE), desired: { fingerprint: EDITED } }),
    is: ['upsert', 'Changing edited'],
  },
  'an endpoint that is due': {
    input: endpoint({ recorded: appliedEndpoint(HOUR) }),
    is: ['upsert', 'Changing interval'],
  },
  'an endpoint whose reply differs is not asked again before its interval': {
    input: endpoint({ recorded: appliedEndpoint(MINUTE), replyDiffers: [DIFFERENCE] }),
    is: ['report', 'Stalled'],
  },
  'an endpoint whose reply differs is asked again at its interval': {
    input: endpoint({ recorded: appliedEndpoint(HOUR), replyDiffers: [DIFFERENCE] }),
    is: ['upsert', 'Changing interval'],
  },
  'an invalid endpoint': {
    input: endpoint({ desired: { state: 'invalid' } }),
    is: ['hold', 'InvalidManifest'],
  },

  // alerts and services
  'an alert as expected': { input: alert({ observed: FOUND }), is: ['observe', 'InSync'] },
  'an alert that differs': { input: alert({ observed: DIFFERS }), is: ['report', 'Drifted'] },
  'an alert that was not looked at': { input: alert(), is: ['observe', 'Unobserved'] },
  'a service without credentials': {
    input: service({ surroundings: { missingSecrets: [{ file: '/secrets/a/keyId', why: 'absent' }] } }),
    is: ['refuse', 'SecretUnavailable'],
  },
}

describe('decide', () => {
  test.each(Object.entries(ROWS))('%s', (_why, { input, is }) => {
    const action = decide(input)
    expect(action.type).toBe(is[0])
    expect([action.reason, fineReason(action)]).toContain(is[1])
    expect(messageOf(action, { key: 'Pipe/orders' })).not.toBe('')
  })

  test('names what an edit takes away', () => {
    const action = decide(
      endpoint({
        recorded: appliedEndpoint(MINUTE),
        desired: { fingerprint: EDITED },
        takesAway: ['role sql_console_admin'],
      }),
    )
    expect(action).toMatchObject({ takesAway: ['role sql_console_admin'] })
    expect(messageOf(action, { key: 'Pipe/orders' })).toContain('takes away role sql_console_admin')
  })

  test('knows by the digest that nothing was edited, and has no field made to find out', () => {
    const fingerprint = {
      ...FIELDS,
      get fields(): never {
        throw new Error('somebody asked')
      },
    }
    const action = decide(pipe({ recorded: created(), desired: { fingerprint }, observed: FOUND }))
    expect(action.reason).toBe('InSync')
  })

  test.each([
    ['', {}],
    [' that is suspended', { policy: { suspend } }],
    [' whose manifest has errors', { desired: { state: 'invalid' } }],
    [' whose manifest is not found', { desired: { state: 'missing' } }],
  ] as const)(
    'tells a person how to resolve an unknown outcome%s, with all that was seen',
    (_which, held) => {
      const recorded = {
        ...unknown,
        file: 'payments/orders.yaml',
        platformName: 'orders-v2',
        service: { name: 'analytics', organizationId: 'o', serviceId: 's-1' },
        former: {
          remote: recordedPipe(PIPE_ID),
          service: undefined,
          platformName: undefined,
          applied: undefined,
        },
        intent: { ...intent('unknown'), seen: SEEN },
      }
      const message = messageOf(decide(pipe({ recorded, surroundings: { knownIds: [OTHER_ID] }, ...held })), {
        key: 'Pipe/orders',
      })
      for (const part of [
        'the pipe "orders-v2" was created in service analytics (s-1)',
        'sent at 2026-11-21T11:00:00Z',
        `intent ${INTENT_ID}, request req-7`,
        'the reply was cut',
        'created after 2026-11-21T10:59:00Z',
        `not one of these older ones: ${PIPE_ID}, ${OTHER_ID}`,
        '"pipewright resolve Pipe/orders --adopt PIPE_ID"',
        'set policy.adopt: PIPE_ID',
        '"pipewright resolve Pipe/orders --retry"',
        `set policy.retryCreate: ${INTENT_ID}`,
      ]) {
        expect(message.split(part), part).toHaveLength(2)
      }
    },
  )
})

test.each(
  Object.entries({
    paused: { input: pipe({ policy: { paused: true } }), facts: { paused: 'after the start' } },
    'paused, on a service that can create it so': {
      input: {
        ...pipe({ policy: { paused: true } }),
        knownStates: { healthy: [], moving: [], unhealthy: [], startPaused: { a: true } },
      },
      facts: { paused: 'from the start' },
    },
    'adopted by its policy': { input: pipe({ policy: { adopt: PIPE_ID } }), facts: { by: 'policy.adopt' } },
    'adopted by a Lock': { input: pipe({ surroundings: { lockedId: PIPE_ID } }), facts: { by: 'a Lock' } },
    'not found, as others were not': {
      input: pipe({ recorded: created(), observed: missed(3, MINUTE, 'nobody') }),
      facts: { isAlone: true },
    },
    'not found for the first time': {
      input: pipe({ recorded: created(), observed: missed(1, 0) }),
      facts: { isAlone: false },
    },
  }),
)('%s: the facts say so', (_why, { input, facts }) => {
  expect(decide(input).facts).toMatchObject(facts)
})

test('a record expects a manifest if something was sent for it, until it is known to have none', () => {
  const gone = { status: 'True', reason: 'Orphaned', message: '', since: NOW } as const
  const conditions = { Valid: gone, Synced: gone, Ready: gone }
  expect(
    [blank, failed, unknown, created(), created({ conditions }), { ...blank, conditions }].map(
      expectsManifest,
    ),
  ).toEqual([false, false, true, true, false, false])
})
