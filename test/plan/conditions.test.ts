import { REASON_SAMPLES } from '../../docs/reason-samples.ts'
import { masked } from '../support/masked.ts'
import { describe, expect, test } from 'vitest'
import type { Action } from '../../src/plan/action.ts'
import type { Condition, Conditions } from '../../src/plan/condition.ts'
import {
  type ConditionsInput,
  changedConditions,
  conditionsAfter,
  statusOf,
} from '../../src/plan/conditions.ts'
import { decide } from '../../src/plan/decide.ts'
import type { DecideInput } from '../../src/plan/input.ts'
import { type Outcome, DONE } from '../../src/plan/outcome.ts'
import { messageOf, type Reason } from '../../src/plan/reason.ts'
import { blankRecord } from '../../src/plan/record.ts'
import {
  alert,
  because,
  created,
  DIFFERS,
  endpoint,
  found,
  FOUND,
  HOUR,
  intent,
  MINUTE,
  missed,
  missing,
  MISSING,
  NOW,
  pipe,
  PIPE_ID,
  recordedPipe,
  service,
} from './inputs.ts'

type Told = `${Condition['status']} ${Reason}`

interface Row {
  readonly decided: DecideInput
  /** What came of the action that `decide` says; nothing had to be done unless it is said. */
  readonly outcome?: Outcome
  readonly state?: string
  readonly previous?: Conditions
}

const SIGNS = { True: '+', False: '-', Unknown: '?' } as const

function condition(told: Told): Condition {
  const [status, reason] = told.split(' ') as [Condition['status'], Reason] // by the type of Told
  return { status, reason, since: NOW - HOUR }
}

function conditions(valid: Told, synced: Told, ready: Told): Conditions {
  return { Valid: condition(valid), Synced: condition(synced), Ready: condition(ready) }
}

function done(reason: Reason): Outcome {
  return { ...DONE, ...because(reason) }
}

function failed(reason: Reason): Outcome {
  return { result: 'failed', ...because(reason), requestId: undefined, retryAfterMs: undefined }
}

const seen = { at: NOW, httpStatus: undefined, requestId: undefined, what: 'cut', pipeId: undefined }
const lost: Outcome = { result: 'unknown', facts: REASON_SAMPLES.OutcomeUnknown, requestId: undefined, seen }
const well = conditions('True Valid', 'True InSync', 'True NotJudged')
const unknown = conditions('True Valid', 'Unknown OutcomeUnknown', 'Unknown OutcomeUnknown')
const undecided = { ...blankRecord('Pipe/orders'), version: 2, intent: intent('unknown') }
const invalid = { state: 'invalid', problem: 'a.yaml:3:1: no.' } as const
const unread = { ...invalid, fingerprint: undefined }
const healthy = { healthyStates: ['Running'] }
const suspend = { reason: 'migration', until: '2027-01-31T00:00:00Z' }
const toDelete = created({ removal: { since: NOW - HOUR, digest: 'absent' } })
const going = { why: 'ensure', fields: [], pipeId: PIPE_ID, removal: { is: 'going', at: NOW } } as const

function createdBefore(ms: number) {
  return created({ remote: recordedPipe(PIPE_ID, { at: NOW - ms }) })
}

const HEALTHY_AND_INVALID: Conditions = {
  ...conditions('False InvalidManifest', 'True InSync', 'True Healthy'),
  Ready: {
    status: 'True',
    reason: 'Healthy',
    facts: { state: masked('Running'), by: 'policy.healthyStates' },
    since: 0,
  },
}

/** Each ends with Valid, Synced and Ready by their reasons (+ True, - False, ? Unknown), and the status. */
const ROWS: Readonly<Record<string, Row>> = {
  'created: +Valid +InSync +NotJudged Ready': { decided: pipe(), outcome: done('Created') },
  'created a short while ago, and on its way to a healthy state: +Valid +InSync ?Changing Progressing': {
    decided: pipe({ recorded: createdBefore(14 * MINUTE), observed: FOUND, policy: healthy }),
    state: 'Provisioning',
  },
  'created a while ago, and still on its way: +Valid +InSync -UnhealthyState NotReady': {
    decided: pipe({ recorded: createdBefore(15 * MINUTE), observed: FOUND, policy: healthy }),
    previous: conditions('True Valid', 'True InSync', 'Unknown Changing'),
    state: 'Provisioning',
  },
  'created a short while ago, in a state that sounds bad: +Valid +InSync -UnhealthyState NotReady': {
    decided: pipe({ recorded: createdBefore(MINUTE), observed: FOUND, policy: healthy }),
    state: 'ProvisioningFailed',
  },
  'created a short while ago, in a state that does not go on: +Valid +InSync -UnhealthyState NotReady': {
    decided: pipe({ recorded: createdBefore(MINUTE), observed: FOUND, policy: healthy }),
    state: 'Idle',
  },
  'created otherwise than asked for: +Valid -Drifted +NotJudged Drifted': {
    decided: pipe(),
    outcome: done('Drifted'),
  },
  'a create that failed: +Valid -Rejected -Rejected Failed': { decided: pipe(), outcome: failed('Rejected') },
  'a create that may have worked: +Valid ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown': {
    decided: pipe(),
    outcome: lost,
  },
  'an unknown outcome, and invalid: -InvalidManifest ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown': {
    decided: pipe({ recorded: undecided, desired: invalid }),
    previous: unknown,
  },
  'unknown since a crash, and invalid: -InvalidManifest ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown': {
    decided: pipe({ recorded: undecided, desired: invalid }),
  },
  'a suspension does not hide it: +Valid ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown': {
    decided: pipe({ recorded: undecided, policy: { suspend } }),
    previous: unknown,
  },
  'suspended, and settled by a person: +Valid ?Suspended ?Suspended Suspended': {
    decided: pipe({ recorded: undecided, policy: { suspend, retryCreate: intent('unknown').id } }),
    previous: unknown,
  },
  'an orphan of which nobody knows whether it exists says both: ?Orphaned ?Orphaned ?OutcomeUnknown Orphaned':
    {
      decided: pipe({
        recorded: undecided,
        desired: { state: 'absent' },
        surroundings: { lockedId: 'cf2a6f0e-0000-4000-8000-000000000001' },
      }),
      previous: unknown,
    },
  'unknown no more, and invalid: -InvalidManifest ?InvalidManifest ?InvalidManifest Invalid': {
    decided: pipe({ recorded: { ...undecided, intent: intent('failed') }, desired: invalid }),
    previous: unknown,
  },
  'unknown no more, and not found: ?ManifestVanishing ?ManifestVanishing ?ManifestVanishing Progressing': {
    decided: pipe({ recorded: created(), desired: { state: 'missing' } }),
    previous: unknown,
  },
  'adopted: +Valid +InSync +NotJudged Ready': {
    decided: pipe({ policy: { adopt: 'x' } }),
    outcome: done('Adopted'),
  },
  'in sync: +Valid +InSync +NotJudged Ready': { decided: found() },
  'not found, not believed: +Valid ?MissingUnconfirmed ?MissingUnconfirmed Progressing': {
    decided: pipe({ recorded: created(), observed: missed(1, 0) }),
    previous: well,
  },
  'never seen since it was created: +Valid ?NeverSeen ?NeverSeen Missing': {
    decided: pipe({
      recorded: created({ remote: recordedPipe(PIPE_ID, { seenAt: undefined }) }),
      observed: MISSING,
    }),
    previous: well,
  },
  'created, and the ledger does not hold it: +Valid -OutcomeUnsaved -OutcomeUnsaved Failed': {
    decided: pipe(),
    outcome: failed('OutcomeUnsaved'),
  },
  'found while its deletion goes on: +Valid -Deleting -Deleting Progressing': {
    decided: {
      ...pipe({ recorded: toDelete, observed: FOUND, policy: { ensure: 'absent' } }),
      lifecycle: 'create-once',
      removal: { claimant: undefined, limit: undefined, isAllowed: false },
      changedSince: [],
    },
    outcome: { ...DONE, reason: 'Deleting', facts: going },
    previous: well,
  },
  'gone, and to be reported: +Valid -Missing -Missing Missing': {
    decided: missing({ policy: { onMissing: 'report' } }),
    previous: well,
  },
  'gone with too many others: +Valid -MassMissing -MassMissing Missing': {
    decided: missing({ surroundings: { massMissing: { missing: 3, of: 3, group: 'service' } } }),
    previous: well,
  },
  'a look that failed: +Valid ?Unavailable ?Unavailable Failed': {
    decided: pipe({ recorded: created() }),
    outcome: failed('Unavailable'),
    previous: well,
  },
  'a stop leaves everything as it was: +Valid +InSync +NotJudged Ready': {
    decided: pipe({ recorded: created() }),
    outcome: { result: 'stopped' },
    previous: well,
  },
  'invalid, and what is there is as the last valid one says: -InvalidManifest +InSync +NotJudged Invalid': {
    decided: found({ desired: invalid }),
    previous: well,
  },
  'invalid, and what is there is not: -InvalidManifest -Drifted +NotJudged Invalid': {
    decided: pipe({ recorded: created(), observed: DIFFERS, desired: invalid }),
    previous: well,
  },
  'invalid since before a restart, in the state found healthy: -InvalidManifest +InSync +Healthy Invalid': {
    decided: found({ desired: unread }),
    state: 'Running',
    previous: HEALTHY_AND_INVALID,
  },
  'invalid since before a restart, in another state: -InvalidManifest +InSync +NotJudged Invalid': {
    decided: found({ desired: unread }),
    state: 'Frobnicating',
    previous: HEALTHY_AND_INVALID,
  },
  'invalid since before a restart, in a bad state: -InvalidManifest +InSync -UnhealthyState Invalid': {
    decided: found({ desired: unread }),
    state: 'Failed',
    previous: conditions('False InvalidManifest', 'True InSync', 'True Healthy'),
  },
  'invalid, and never created: -InvalidManifest ?InvalidManifest ?InvalidManifest Invalid': {
    decided: pipe({ desired: invalid }),
  },
  'suspended: +Valid ?Suspended ?Suspended Suspended': {
    decided: pipe({ recorded: created(), policy: { suspend } }),
    previous: well,
  },
  'not found by a reading or two: ?ManifestVanishing +InSync +NotJudged Ready': {
    decided: pipe({ recorded: created(), desired: { state: 'missing' } }),
    previous: well,
  },
  'rejected since the start, not read: ?ManifestVanishing ?ManifestVanishing ?ManifestVanishing Progressing':
    {
      decided: pipe({
        recorded: created(),
        desired: { state: 'missing' },
        surroundings: { isDoubted: true },
        observed: { status: 'unseen' },
      }),
      previous: well,
    },
  'an orphan: ?Orphaned ?Orphaned ?Orphaned Orphaned': {
    decided: pipe({ recorded: created(), desired: { state: 'absent' } }),
    previous: well,
  },
  'backing off keeps telling why: +Valid -Rejected -Rejected Failed': {
    decided: pipe({
      recorded: {
        ...undecided,
        intent: intent('failed'),
        backoff: { failures: 1, until: NOW + 1, digest: 'x' },
      },
      desired: { fingerprint: undefined },
    }),
    previous: conditions('True Valid', 'False Rejected', 'False Rejected'),
  },
  'an endpoint that was applied: +Valid +InSync +InSync Ready': {
    decided: endpoint(),
    outcome: done('Applied'),
  },
  'an endpoint whose reply differs: +Valid -Stalled -Stalled Drifted': {
    decided: endpoint(),
    outcome: done('Stalled'),
  },
  'an alert that fires: +Valid +InSync -UnhealthyState NotReady': {
    decided: alert({ observed: FOUND, policy: { healthyStates: ['OK'] } }),
    state: 'ALERT',
  },
  'created when the clock was ahead, and still on its way: +Valid +InSync -UnhealthyState NotReady': {
    decided: pipe({ recorded: createdBefore(-15 * MINUTE), observed: FOUND, policy: healthy }),
    state: 'Provisioning',
  },
  'in a state that its manifest lists: +Valid +InSync +Healthy Ready': {
    decided: found({ policy: healthy }),
    state: 'Running',
  },
  'in a state that the installation does not list: +Valid +InSync -UnhealthyState NotReady': {
    decided: found({ healthyStates: ['Running'] }),
    state: 'Odd',
  },
  'in a state that sounds bad, which nobody lists: +Valid +InSync -UnhealthyState NotReady': {
    decided: found(),
    state: 'Failed',
  },
  'in a state that sounds like moving: +Valid +InSync ?Changing Progressing': {
    decided: found(),
    state: 'Provisioning',
  },
  'in a state of unknown health: +Valid +InSync +NotJudged Ready': { decided: found(), state: 'Running' },
  'an alert that fires, and nobody lists its states: +Valid +InSync -UnhealthyState NotReady': {
    decided: alert({ observed: FOUND }),
    state: 'ALERT',
  },
  'a service that nobody has asked yet: +Valid ?Unobserved ?Unobserved Progressing': {
    decided: service({ contact: undefined }),
  },
  'a service that answered the process before this one: +Valid +InSync +InSync Ready': {
    decided: service({ contact: undefined }),
    previous: conditions('True Valid', 'True InSync', 'True InSync'),
  },
  'a service that does not answer: +Valid -Unavailable -Unavailable Failed': {
    decided: service({ contact: { type: 'unreachable', said: 'no route' } }),
    previous: conditions('True Valid', 'True InSync', 'True InSync'),
  },
  'an orphan, right after a restart: ?Orphaned ?Orphaned ?Orphaned Orphaned': {
    decided: pipe({ recorded: created(), desired: { state: 'missing' } }),
    previous: conditions('Unknown Orphaned', 'Unknown Orphaned', 'Unknown Orphaned'),
  },
  'a service whose credentials are refused: +Valid -AuthFailed -AuthFailed Failed': {
    decided: service({ contact: { type: 'refused', what: 'the credentials', said: '401' } }),
  },
}

function after({ decided, outcome, state, previous }: Row): Conditions {
  // What a failed look leaves undecided, as the reconciler says it.
  const action: Action =
    outcome?.result === 'failed' && decided.recorded.remote !== undefined
      ? { type: 'observe', reason: 'Unobserved', facts: { why: 'not asked' } }
      : decide(decided)
  const input: ConditionsInput = {
    decided,
    action,
    outcome: outcome ?? DONE,
    recorded: decided.recorded,
    state,
    previous,
  }
  return conditionsAfter(input)
}

describe('conditions', () => {
  test.each(Object.entries(ROWS))('%s', (title, row) => {
    const { Valid, Synced, Ready } = after(row)
    const told = [Valid, Synced, Ready].map(({ status, reason }) => `${SIGNS[status]}${reason}`)
    expect([...told, statusOf({ Valid, Synced, Ready })].join(' ')).toBe(title.split(': ').at(-1))
    for (const one of [Valid, Synced, Ready]) {
      const sentences = messageOf(one, { key: 'Pipe/orders' }).split(/(?<=\.) /)
      expect(sentences.at(-1)).toMatch(/\.$/)
      expect(sentences).toEqual([...new Set(sentences)]) // none stands twice
    }
  })

  test('keep since when they are so, and change it only with status or reason', () => {
    const first = after({ decided: found(), previous: well })
    expect([first.Valid.since, first.Synced.since, first.Ready.since]).toEqual([
      NOW - HOUR,
      NOW - HOUR,
      NOW - HOUR,
    ])
    const drifted = after({ decided: pipe({ recorded: created(), observed: DIFFERS }), previous: well })
    expect([drifted.Valid.since, drifted.Synced.since, drifted.Ready.since]).toEqual([
      NOW - HOUR,
      NOW,
      NOW - HOUR,
    ])
    expect(changedConditions(well, drifted)).toEqual(['Synced'])
    const applied = { ...well, Synced: { ...well.Synced, reason: 'Applied' } } as const
    expect(changedConditions(well, applied), 'another reason').toEqual(['Synced'])
    // A drift that grows is news; the words of what is well are not.
    const grown = {
      ...drifted,
      Synced: { ...drifted.Synced, facts: { fields: ['a', 'b'], from: 'manifest' } as const },
    }
    expect(changedConditions(drifted, grown)).toEqual(['Synced'])
    expect(changedConditions(undefined, drifted)).toEqual(['Valid', 'Synced', 'Ready'])
    expect(
      changedConditions(well, { ...well, Synced: { ...well.Synced, facts: { as: 'upsert' }, since: 0 } }),
    ).toEqual([])
  })

  test('tell another state that nobody judged, and nothing else of it', () => {
    const look = (state: string, previous: Conditions, observed = FOUND) =>
      after({ decided: pipe({ recorded: created(), observed }), state, previous })
    const running = after({ decided: found(), state: 'Running' })
    expect(look('Running', running)).toBe(running)
    const changed = look('Frobnicating', { ...running, Ready: { ...running.Ready, since: NOW - HOUR } })
    expect(changedConditions(running, changed)).toEqual(['Ready'])
    expect(changed.Ready).toMatchObject({ status: 'True', reason: 'NotJudged', since: NOW })
    expect(changedConditions(changed, look('Frobnicating', changed))).toEqual([])
    // That it drifts says nothing of its state, and an earlier version did not keep which it was.
    expect(changedConditions(running, look('Running', running, DIFFERS))).toEqual(['Synced'])
    expect(changedConditions(well, look('Running', well))).toEqual([])
  })
})
