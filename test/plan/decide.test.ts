import { fineReason } from '../support/fine-reason.ts'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/plan/decide.ts'
import { attemptDigest, expectsManifest } from '../../src/plan/gates.ts'
import type { DecideInput } from '../../src/plan/input.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { blankRecord, type Intent } from '../../src/plan/record.ts'
import {
  alert,
  appliedEndpoint,
  created,
  DIFFERENCE,
  DIFFERS,
  EDITED,
  endpoint,
  FIELDS,
  found,
  FOUND,
  HOUR,
  intent,
  INTENT_ID,
  MINUTE,
  missed,
  missing,
  MISSING,
  NOW,
  OTHER_ID,
  pipe,
  PIPE_ID,
  recordedPipe,
  ROTATED,
  service,
} from './inputs.ts'

const blank = blankRecord('Pipe/orders')
const SEEN = { at: NOW, httpStatus: 502, requestId: 'req-7', what: 'the reply was cut', pipeId: undefined }
const having = (given: Intent) => ({ ...blank, version: 2, intent: given })
const HIDDEN = { hiddenLocks: ['lock.yaml'] }
const UNMOUNTED = { missingSecrets: [{ file: '/secrets/api/keyId', why: 'absent' }] } as const
const [failed, unknown] = [having(intent('failed')), having(intent('unknown'))]
/** An id with letters, as those of the other rows have none. */
const LETTERS = 'abcdef00-aaaa-4bbb-8ccc-abcdef012345'
const suspend = { reason: 'migration', until: '2027-01-31T00:00:00Z' }
const never = created({ remote: recordedPipe(PIPE_ID, { seenAt: undefined }) })
const replaced = created({ replaced: { count: 1, at: NOW - HOUR + 1 } })
const backoff = { failures: 1, until: NOW + 1, digest: attemptDigest(FIELDS) }
const notSent = { status: 'False', reason: 'NotLeading', message: 'Not sent.', since: NOW - HOUR } as const
const notLeading = { Valid: notSent, Synced: notSent, Ready: notSent }

/** Each ends with its action, and with the reason or its fine form. */
function edited(credential: string): DecideInput {
  const fields = { ...FIELDS.fields, [`source.kafka.credentials.${credential}`]: 'other' }
  return found({ desired: { fingerprint: { ...FIELDS, digest: 'b3', fields } } })
}

const ROWS: Readonly<Record<string, DecideInput>> = {
  // a reading that is not believed, and did not find the manifest
  'what a doubted reading does not find is not created: hold ManifestVanishing': pipe({
    surroundings: { unfound: true },
  }),

  // an id in capitals is the same id
  'an adopt that is done stays without effect, also in capitals: observe InSync': pipe({
    recorded: created({ remote: recordedPipe(LETTERS) }),
    observed: FOUND,
    policy: { adopt: LETTERS.toUpperCase() },
  }),
  'an approval is of the attempt that it names, also in capitals: create New': pipe({
    recorded: { ...unknown, intent: { ...unknown.intent, id: LETTERS } },
    policy: { retryCreate: LETTERS.toUpperCase() },
  }),

  // valid, new
  'a new pipe is created: create New': pipe(),
  'policy.adopt takes over: adopt Adopt': pipe({ policy: { adopt: PIPE_ID } }),
  'a Lock takes over: adopt Adopt': pipe({ surroundings: { lockedId: PIPE_ID } }),
  'a file that may hold a Lock keeps what has no record waiting: refuse DependencyNotReady': pipe({
    surroundings: HIDDEN,
  }),
  'an attempt that the ledger knows of is no lost one: create New tried again': pipe({
    surroundings: HIDDEN,
    recorded: failed,
  }),
  'a record that says only how it waited is none: refuse DependencyNotReady': pipe({
    surroundings: HIDDEN,
    recorded: { ...blank, version: 1 },
  }),
  'a pipe with a record is looked after as ever: observe InSync': pipe({
    surroundings: HIDDEN,
    recorded: created(),
    observed: FOUND,
  }),
  "an endpoint is none of a Lock's business: upsert New": endpoint({ surroundings: HIDDEN }),
  'a record without a manifest looks like it: refuse Ambiguous unclaimed': pipe({
    surroundings: { similar: { key: 'Pipe/old', how: 'unclaimed', file: 'old.yaml' } },
  }),
  'the pipe of another manifest looks like it: refuse Ambiguous claimed': pipe({
    surroundings: { similar: { key: 'Pipe/old', how: 'claimed', file: 'old.yaml' } },
  }),
  'what it was renamed from cannot move yet: refuse Ambiguous renamed-from': pipe({
    surroundings: { similar: { key: 'Pipe/old', how: 'renamed-from', file: undefined } },
  }),
  'the same, and it wants none: refuse Ambiguous renamed-from': pipe({
    policy: { ensure: 'absent' },
    surroundings: { similar: { key: 'Pipe/old', how: 'renamed-from', file: undefined } },
  }),
  'too many at once are all refused: refuse CreateLimit': pipe({
    surroundings: { createLimit: { service: 'analytics', wanted: 26, made: 0, limit: 25 } },
  }),
  'it waits for what it depends on: refuse DependencyNotReady': pipe({
    surroundings: { notReady: ['Alert/lag'] },
  }),
  'it waits for a secret: refuse SecretUnavailable': pipe({
    surroundings: { missingSecrets: [{ file: '/secrets/kafka/password', why: 'absent' }] },
  }),
  'where no file can be opened, no secret is called missing: refuse SecretUnavailable': pipe({
    surroundings: {
      missingSecrets: [
        { file: '/secrets/kafka/username', why: 'absent' },
        { file: '/secrets/kafka/password', why: 'no descriptor' },
      ],
    },
  }),

  // intent without outcome
  'an unknown outcome is not retried: refuse OutcomeUnknown': pipe({ recorded: unknown }),
  'an intent that a crash left open is unknown: refuse OutcomeUnknown': pipe({
    recorded: having(intent('open')),
  }),
  'an edit does not make it known: refuse OutcomeUnknown': pipe({
    recorded: unknown,
    desired: { fingerprint: EDITED },
  }),
  'retryCreate of that intent lets it pass: create New settled': pipe({
    recorded: unknown,
    policy: { retryCreate: INTENT_ID },
  }),
  'too early, something of it may still be on its way: refuse OutcomeUnknown': pipe({
    recorded: having(intent('unknown', { sendBy: NOW - 2 * MINUTE + 1 })),
    policy: { retryCreate: INTENT_ID },
  }),
  'and what was said too early once is not believed later: refuse OutcomeUnknown': pipe({
    recorded: having(intent('unknown', { saidEarlyAt: NOW - HOUR })),
    policy: { retryCreate: INTENT_ID },
  }),
  'too early after an attempt whose process never said that it ended: refuse OutcomeUnknown': pipe({
    recorded: having(intent('open', { sendBy: NOW - 15 * MINUTE + 1 })),
    policy: { retryCreate: INTENT_ID },
  }),
  'and then it is not: create New settled': pipe({
    recorded: having(intent('open', { sendBy: NOW - 15 * MINUTE })),
    policy: { retryCreate: INTENT_ID },
  }),
  'what a person dismissed is created: create New settled': pipe({ recorded: having(intent('dismissed')) }),
  'an id in the reply is read: adopt Adopt a reply': pipe({
    recorded: having(intent('unknown', { seen: { ...SEEN, pipeId: PIPE_ID } })),
  }),
  'adopt resolves it: adopt Adopt': pipe({ recorded: unknown, policy: { adopt: PIPE_ID } }),

  // intent that failed
  'a failed attempt is tried again: create New tried again': pipe({ recorded: failed }),
  'after its back-off: hold BackingOff': pipe({ recorded: { ...failed, backoff } }),
  'at the end of the back-off: create New tried again': pipe({
    recorded: { ...failed, backoff: { ...backoff, until: NOW } },
  }),
  'what another process held back is not waited for: create New tried again': pipe({
    recorded: { ...failed, backoff, conditions: notLeading },
  }),
  'and is by a process that has an older checkout itself: hold BackingOff': pipe({
    recorded: { ...failed, backoff, conditions: notLeading },
    surroundings: { olderThan: 'content-1' },
  }),
  'an edited manifest starts afresh: create New tried again': pipe({
    recorded: { ...failed, backoff },
    desired: { fingerprint: EDITED },
  }),

  // id
  'equal is in sync: observe InSync': found(),
  'different is drift: report Drifted': pipe({ recorded: created(), observed: DIFFERS }),
  'an edit cannot be applied: report NotUpdatable': pipe({
    recorded: created(),
    observed: DIFFERS,
    desired: { fingerprint: EDITED },
  }),
  'an edit to what is there is accepted: observe InSync accepted': found({
    desired: { fingerprint: EDITED },
  }),
  'an edit of what the platform never returns is not: report NotUpdatable': edited('username'),
  'another reference to the secret that was sent is: observe InSync accepted': edited('password'),
  'a pipe cannot move to another service: report NotUpdatable': found({ desired: { otherService: true } }),
  'a rotated secret cannot be applied: report SecretRotated': found({ desired: { fingerprint: ROTATED } }),
  'a secret without a recorded value is not verified: report SecretRotated': pipe({
    recorded: created({ applied: { ...FIELDS, secrets: {} } }),
    observed: FOUND,
  }),
  'a secret that cannot be read now did not change: observe InSync': found({
    desired: { fingerprint: { ...FIELDS, secrets: {} } },
  }),
  'an id that is held is not exchanged for another: refuse AdoptRefused': found({
    policy: { adopt: OTHER_ID },
  }),
  'three over a minute do: create Missing': missing(),
  'unless it is to be reported only: report Missing': missing({ policy: { onMissing: 'report' } }),
  'a service whose pipes are all gone is out of sight: refuse MassMissing': missing({
    surroundings: { massMissing: { missing: 3, of: 10, group: 'service' } },
  }),
  'what was never seen is never replaced by itself: hold NeverSeen': pipe({
    recorded: never,
    observed: missed(100, HOUR),
  }),
  'a person names the pipe that it is instead: adopt Adopt': pipe({
    recorded: never,
    observed: MISSING,
    policy: { adopt: OTHER_ID },
  }),
  'a person says that it is gone: create New gone': pipe({
    recorded: never,
    observed: missed(1, 0, 'silent'),
    policy: { recreate: PIPE_ID },
  }),
  'the same at the shell: create New gone': pipe({
    recorded: created({ remote: recordedPipe(PIPE_ID, { saidGoneAt: NOW }) }),
    observed: missed(1, 0, 'silent'),
  }),
  'a person who says so of another id says nothing of this one: hold NeverSeen': pipe({
    recorded: never,
    observed: MISSING,
    policy: { recreate: OTHER_ID },
  }),
  'or a person says so: no resource is created where another one is named: adopt Adopt': pipe({
    recorded: created({ remote: recordedPipe(PIPE_ID, { saidGoneAt: NOW }) }),
    observed: missed(1, 0, 'silent'),
    policy: { adopt: OTHER_ID },
  }),
  'a pipe that is there is not replaced, whatever a person says: observe InSync': found({
    policy: { recreate: PIPE_ID },
  }),
  'words that a reading has refuted count no more: hold MissingUnconfirmed': pipe({
    recorded: created({ remote: recordedPipe(PIPE_ID, { refutedAt: NOW - HOUR }) }),
    observed: missed(1, 0, 'silent'),
    policy: { recreate: PIPE_ID },
  }),
  'what was never seen may not be visible yet: hold MissingUnconfirmed': pipe({
    recorded: never,
    observed: missed(1, 0),
  }),
  'another pipe is taken over only once the one that it had is proved to be gone: refuse MassMissing': pipe({
    recorded: created(),
    observed: missed(30, HOUR, 'silent'),
    policy: { adopt: OTHER_ID },
  }),
  'a Lock that names another pipe does the same, once this one is gone: adopt Adopt': missing({
    surroundings: { lockedId: OTHER_ID },
  }),
  'also where policy.adopt names this one: adopt Adopt': missing({
    policy: { adopt: PIPE_ID },
    surroundings: { lockedId: OTHER_ID },
  }),
  'but not while the manifest has errors: hold InvalidManifest': missing({
    surroundings: { lockedId: OTHER_ID },
    desired: { state: 'invalid' },
  }),
  'a Lock that names this one is no reason not to replace it: create Missing': missing({
    surroundings: { lockedId: PIPE_ID },
  }),
  'what was replaced less than an hour ago waits: hold Missing': pipe({
    recorded: replaced,
    observed: MISSING,
  }),
  'an hour later it does not: create Missing': pipe({
    recorded: created({ replaced: { count: 1, at: NOW - HOUR } }),
    observed: MISSING,
  }),
  'a person need not wait: create New gone': pipe({
    recorded: replaced,
    observed: MISSING,
    policy: { recreate: PIPE_ID },
  }),
  'a missing pipe is not created from an invalid manifest: hold InvalidManifest': missing({
    desired: { state: 'invalid' },
  }),

  // the manifest
  'an invalid manifest holds what is there: hold InvalidManifest': found({ desired: { state: 'invalid' } }),
  'a manifest that just vanished changes nothing: hold ManifestVanishing': pipe({
    recorded: created(),
    desired: { state: 'missing' },
  }),
  'suspended is not created: hold Suspended': pipe({ policy: { suspend } }),
  'so does an intent: report Orphaned': pipe({
    recorded: unknown,
    desired: { state: 'absent', fingerprint: undefined },
  }),

  // query endpoints
  'an endpoint that was never applied: upsert New': endpoint(),
  'one whose credentials are not mounted: refuse SecretUnavailable': endpoint({ surroundings: UNMOUNTED }),
  'one that is applied already needs none: observe InSync': endpoint({
    recorded: appliedEndpoint(MINUTE),
    surroundings: UNMOUNTED,
  }),
  'an endpoint that was edited: upsert Changing edited': endpoint({
    recorded: appliedEndpoint(MINUTE),
    desired: { fingerprint: EDITED },
  }),
  'an endpoint that is due: upsert Changing interval': endpoint({ recorded: appliedEndpoint(HOUR) }),
  'an endpoint whose reply differs is not asked again before its interval: report Stalled': endpoint({
    recorded: appliedEndpoint(MINUTE),
    replyDiffers: [DIFFERENCE],
  }),
  'an endpoint whose reply differs is asked again at its interval: upsert Changing interval': endpoint({
    recorded: appliedEndpoint(HOUR),
    replyDiffers: [DIFFERENCE],
  }),
  'an invalid endpoint: hold InvalidManifest': endpoint({ desired: { state: 'invalid' } }),

  // alerts and services
  'an alert as expected: observe InSync': alert({ observed: FOUND }),
  'an alert that differs: report Drifted': alert({ observed: DIFFERS }),
  'an alert that was not looked at: observe Unobserved': alert(),
  'a service without credentials: refuse SecretUnavailable': service({ surroundings: UNMOUNTED }),
}

describe('decide', () => {
  test.each(Object.entries(ROWS))('%s', (row, input) => {
    const action = decide(input)
    expect([action.reason, fineReason(action)].map((reason) => `${action.type} ${reason}`)).toContain(
      row.split(': ').at(-1),
    )
    expect(messageOf(action, { key: 'Pipe/orders' })).not.toBe('')
  })

  test.each([
    [false, /After three equal reads of all files, it counts as removed.*It is unknown whether/],
    [
      true,
      /did not accept this read of the directory\. The resource stays unchanged\. It is unknown whether/,
    ],
  ])('promises an end of the search for a manifest only if reads count: rejected %s', (isDoubted, words) => {
    const input = pipe({ recorded: unknown, desired: { state: 'missing' }, surroundings: { isDoubted } })
    expect(messageOf(decide(input), { key: 'Pipe/orders' })).toMatch(words)
  })

  test.each([
    [undefined, 'nothing'],
    [EDITED, 'the last valid one'],
  ])('names what counts while the manifest has errors: %j', (fingerprint, meanwhile) => {
    expect(decide(found({ desired: { state: 'invalid', fingerprint } })).facts).toMatchObject({ meanwhile })
  })

  test('accepts that a value which counts as not set leaves the manifest', () => {
    const { name, ...fields } = FIELDS.fields
    const desired = { fingerprint: { ...FIELDS, digest: 'body-2', fields }, unsetHash: () => name }
    const action = decide(pipe({ recorded: created(), desired, observed: FOUND }))
    expect(action).toMatchObject({ reason: 'InSync', facts: { accepted: [] } })
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
    'in a service that its manifest no longer names': {
      input: found({ desired: { otherService: true } }),
      facts: { fields: ['service'], why: 'service' },
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
