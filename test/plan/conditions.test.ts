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
import { messageOf, REASONS, type Reason } from '../../src/plan/reason.ts'
import { blankRecord } from '../../src/plan/record.ts'
import {
  alert,
  because,
  created,
  DIFFERS,
  endpoint,
  FOUND,
  HOUR,
  intent,
  MINUTE,
  missed,
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
  /** Valid, Synced and Ready with their reasons (+ is True, - is False, ? is Unknown), and the status. */
  readonly is: string
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
const { sample } = REASONS.OutcomeUnknown
const lost: Outcome = { result: 'unknown', facts: sample, requestId: undefined, seen }
const well = conditions('True Valid', 'True InSync', 'True NotJudged')
const unknown = conditions('True Valid', 'Unknown OutcomeUnknown', 'Unknown OutcomeUnknown')
const undecided = { ...blankRecord('Pipe/orders'), version: 2, intent: intent('unknown') }
const invalid = { state: 'invalid', problem: 'a.yaml:3:1: no.' } as const
const healthy = { healthyStates: ['Running'] }
const suspend = { reason: 'migration', until: '2027-01-31T00:00:00Z' }
const inSync = pipe({ recorded: created(), observed: FOUND })
const confirmed = created()
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

const ROWS: Readonly<Record<string, Row>> = {
  created: { decided: pipe(), outcome: done('Created'), is: '+Valid +InSync +NotJudged Ready' },
  'created a short while ago, and on its way to a healthy state': {
    decided: pipe({ recorded: createdBefore(14 * MINUTE), observed: FOUND, policy: healthy }),
    state: 'Provisioning',
    is: '+Valid +InSync ?Changing Progressing',
  },
  'created a while ago, and still on its way: nothing else has changed': {
    decided: pipe({ recorded: createdBefore(15 * MINUTE), observed: FOUND, policy: healthy }),
    previous: conditions('True Valid', 'True InSync', 'Unknown Changing'),
    state: 'Provisioning',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'created a short while ago, in a state that sounds bad': {
    decided: pipe({ recorded: createdBefore(MINUTE), observed: FOUND, policy: healthy }),
    state: 'ProvisioningFailed',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'created a short while ago, in a state of which nothing says that it goes on': {
    decided: pipe({ recorded: createdBefore(MINUTE), observed: FOUND, policy: healthy }),
    state: 'Idle',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'created otherwise than asked for': {
    decided: pipe(),
    outcome: done('Drifted'),
    is: '+Valid -Drifted +NotJudged Drifted',
  },
  'a create that failed': {
    decided: pipe(),
    outcome: failed('Rejected'),
    is: '+Valid -Rejected -Rejected Failed',
  },
  'a create that may have worked': {
    decided: pipe(),
    outcome: lost,
    is: '+Valid ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown',
  },
  'an unknown outcome stays what it is while the manifest is invalid': {
    decided: pipe({ recorded: undecided, desired: invalid }),
    previous: unknown,
    is: '-InvalidManifest ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown',
  },
  'an unknown outcome that was never told, as after a crash, is told although the manifest is invalid': {
    decided: pipe({ recorded: undecided, desired: invalid }),
    is: '-InvalidManifest ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown',
  },
  'a suspension does not hide it': {
    decided: pipe({ recorded: undecided, policy: { suspend } }),
    previous: unknown,
    is: '+Valid ?OutcomeUnknown ?OutcomeUnknown OutcomeUnknown',
  },
  'a suspended one of which a person has said what became of it waits for nobody': {
    decided: pipe({ recorded: undecided, policy: { suspend, retryCreate: intent('unknown').id } }),
    previous: unknown,
    is: '+Valid ?Suspended ?Suspended Suspended',
  },
  'an orphan of which nobody knows whether it exists says both': {
    decided: pipe({
      recorded: undecided,
      desired: { state: 'absent' },
      surroundings: { lockedId: 'cf2a6f0e-0000-4000-8000-000000000001' },
    }),
    previous: unknown,
    is: '?Orphaned ?Orphaned ?OutcomeUnknown Orphaned',
  },
  'an unknown outcome that is known by now is not told on while the manifest is invalid': {
    decided: pipe({ recorded: { ...undecided, intent: intent('failed') }, desired: invalid }),
    previous: unknown,
    is: '-InvalidManifest ?InvalidManifest ?InvalidManifest Invalid',
  },
  'nor while the manifest is not found': {
    decided: pipe({ recorded: created(), desired: { state: 'missing' } }),
    previous: unknown,
    is: '?ManifestVanishing ?ManifestVanishing ?ManifestVanishing Progressing',
  },
  adopted: {
    decided: pipe({ policy: { adopt: 'x' } }),
    outcome: done('Adopted'),
    is: '+Valid +InSync +NotJudged Ready',
  },
  'in sync': { decided: inSync, is: '+Valid +InSync +NotJudged Ready' },
  'not found, not believed': {
    decided: pipe({ recorded: created(), observed: missed(1, 0) }),
    previous: well,
    is: '+Valid ?MissingUnconfirmed ?MissingUnconfirmed Progressing',
  },
  'never seen since it was created': {
    decided: pipe({
      recorded: created({ remote: recordedPipe(PIPE_ID, { seenAt: undefined }) }),
      observed: MISSING,
    }),
    previous: well,
    is: '+Valid ?NeverSeen ?NeverSeen Missing',
  },
  'created, and the ledger does not hold it': {
    decided: pipe(),
    outcome: failed('OutcomeUnsaved'),
    is: '+Valid -OutcomeUnsaved -OutcomeUnsaved Failed',
  },
  'found while its deletion goes on': {
    decided: {
      ...pipe({ recorded: toDelete, observed: FOUND, policy: { ensure: 'absent' } }),
      lifecycle: 'create-once',
      removal: { claimant: undefined, limit: undefined, isAllowed: false },
      changedSince: [],
    },
    outcome: { ...DONE, reason: 'Deleting', facts: going },
    previous: well,
    is: '+Valid -Deleting -Deleting Progressing',
  },
  'gone, and to be reported': {
    decided: pipe({ recorded: confirmed, observed: MISSING, policy: { onMissing: 'report' } }),
    previous: well,
    is: '+Valid -Missing -Missing Missing',
  },
  'gone with too many others': {
    decided: pipe({
      recorded: confirmed,
      observed: MISSING,
      surroundings: { massMissing: { missing: 3, of: 3, group: 'service' } },
    }),
    previous: well,
    is: '+Valid -MassMissing -MassMissing Missing',
  },
  'a look that failed': {
    decided: pipe({ recorded: created() }),
    outcome: failed('Unavailable'),
    previous: well,
    is: '+Valid ?Unavailable ?Unavailable Failed',
  },
  'a stop leaves everything as it was': {
    decided: pipe({ recorded: created() }),
    outcome: { result: 'stopped' },
    previous: well,
    is: '+Valid +InSync +NotJudged Ready',
  },
  'invalid, and what is there is as the last valid one says': {
    decided: pipe({ recorded: created(), observed: FOUND, desired: invalid }),
    previous: well,
    is: '-InvalidManifest +InSync +NotJudged Invalid',
  },
  'invalid, and what is there is not': {
    decided: pipe({ recorded: created(), observed: DIFFERS, desired: invalid }),
    previous: well,
    is: '-InvalidManifest -Drifted +NotJudged Invalid',
  },
  'invalid since before a restart: nobody can read which states are healthy, and what was found healthy stays so':
    {
      decided: pipe({
        recorded: created(),
        observed: FOUND,
        desired: { ...invalid, fingerprint: undefined },
      }),
      state: 'Running',
      previous: HEALTHY_AND_INVALID,
      is: '-InvalidManifest +InSync +Healthy Invalid',
    },
  'invalid since before a restart, and in a state that the manifest may never have called healthy': {
    decided: pipe({ recorded: created(), observed: FOUND, desired: { ...invalid, fingerprint: undefined } }),
    state: 'Frobnicating',
    previous: HEALTHY_AND_INVALID,
    is: '-InvalidManifest +InSync +NotJudged Invalid',
  },
  'invalid since before a restart, and the name of the state speaks against it': {
    decided: pipe({ recorded: created(), observed: FOUND, desired: { ...invalid, fingerprint: undefined } }),
    state: 'Failed',
    previous: conditions('False InvalidManifest', 'True InSync', 'True Healthy'),
    is: '-InvalidManifest +InSync -UnhealthyState Invalid',
  },
  'invalid, and never created': {
    decided: pipe({ desired: invalid }),
    is: '-InvalidManifest ?InvalidManifest ?InvalidManifest Invalid',
  },
  suspended: {
    decided: pipe({ recorded: created(), policy: { suspend } }),
    previous: well,
    is: '+Valid ?Suspended ?Suspended Suspended',
  },
  'not found by a reading or two': {
    decided: pipe({ recorded: created(), desired: { state: 'missing' } }),
    previous: well,
    is: '?ManifestVanishing +InSync +NotJudged Ready',
  },
  'in a directory that was rejected since the start, so neither manifest nor pipe was read': {
    decided: pipe({
      recorded: created(),
      desired: { state: 'missing' },
      surroundings: { isDoubted: true },
      observed: { status: 'unseen' },
    }),
    previous: well,
    is: '?ManifestVanishing ?ManifestVanishing ?ManifestVanishing Progressing',
  },
  'an orphan': {
    decided: pipe({ recorded: created(), desired: { state: 'absent' } }),
    previous: well,
    is: '?Orphaned ?Orphaned ?Orphaned Orphaned',
  },
  'backing off keeps telling why': {
    decided: pipe({
      recorded: {
        ...undecided,
        intent: intent('failed'),
        backoff: { failures: 1, until: NOW + 1, digest: 'x' },
      },
      desired: { fingerprint: undefined },
    }),
    previous: conditions('True Valid', 'False Rejected', 'False Rejected'),
    is: '+Valid -Rejected -Rejected Failed',
  },
  'an endpoint that was applied': {
    decided: endpoint(),
    outcome: done('Applied'),
    is: '+Valid +InSync +InSync Ready',
  },
  'an endpoint whose reply differs': {
    decided: endpoint(),
    outcome: done('Stalled'),
    is: '+Valid -Stalled -Stalled Drifted',
  },
  'an alert that fires': {
    decided: alert({ observed: FOUND, policy: { healthyStates: ['OK'] } }),
    state: 'ALERT',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'created when the clock was ahead, and still on its way': {
    decided: pipe({ recorded: createdBefore(-15 * MINUTE), observed: FOUND, policy: healthy }),
    state: 'Provisioning',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'in a state that its manifest lists': {
    decided: pipe({ recorded: created(), observed: FOUND, policy: healthy }),
    state: 'Running',
    is: '+Valid +InSync +Healthy Ready',
  },
  'in a state that the installation does not list': {
    decided: pipe({ recorded: created(), observed: FOUND, healthyStates: ['Running'] }),
    state: 'Odd',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'in a state that sounds bad, which nobody lists': {
    decided: pipe({ recorded: created(), observed: FOUND }),
    state: 'Failed',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'in a state that sounds like moving': {
    decided: pipe({ recorded: created(), observed: FOUND }),
    state: 'Provisioning',
    is: '+Valid +InSync ?Changing Progressing',
  },
  'in a state of unknown health': {
    decided: pipe({ recorded: created(), observed: FOUND }),
    state: 'Running',
    is: '+Valid +InSync +NotJudged Ready',
  },
  'an alert that fires, and nobody lists its states': {
    decided: alert({ observed: FOUND }),
    state: 'ALERT',
    is: '+Valid +InSync -UnhealthyState NotReady',
  },
  'a service that nobody has asked yet': {
    decided: service({ contact: undefined }),
    is: '+Valid ?Unobserved ?Unobserved Progressing',
  },
  'a service that answered the process before this one: that stands until it is asked': {
    decided: service({ contact: undefined }),
    previous: conditions('True Valid', 'True InSync', 'True InSync'),
    is: '+Valid +InSync +InSync Ready',
  },
  'a service that does not answer': {
    decided: service({ contact: { type: 'unreachable', said: 'no route' } }),
    previous: conditions('True Valid', 'True InSync', 'True InSync'),
    is: '+Valid -Unavailable -Unavailable Failed',
  },
  'an orphan, right after a restart: that its manifest is gone is no news': {
    decided: pipe({ recorded: created(), desired: { state: 'missing' } }),
    previous: conditions('Unknown Orphaned', 'Unknown Orphaned', 'Unknown Orphaned'),
    is: '?Orphaned ?Orphaned ?Orphaned Orphaned',
  },
  'a service whose credentials are refused': {
    decided: service({ contact: { type: 'refused', what: 'the credentials', said: '401' } }),
    is: '+Valid -AuthFailed -AuthFailed Failed',
  },
}

function after(row: Pick<Row, 'decided' | 'outcome' | 'state' | 'previous'>): Conditions {
  const { decided, outcome, state, previous } = row
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
  test.each(Object.entries(ROWS))('%s', (_why, row) => {
    const { Valid, Synced, Ready } = after(row)
    const told = [Valid, Synced, Ready].map(({ status, reason }) => `${SIGNS[status]}${reason}`)
    expect([...told, statusOf({ Valid, Synced, Ready })].join(' ')).toBe(row.is)
    for (const one of [Valid, Synced, Ready]) {
      const sentences = messageOf(one, { key: 'Pipe/orders' }).split(/(?<=\.) /)
      expect(sentences.at(-1)).toMatch(/\.$/)
      expect(sentences).toEqual([...new Set(sentences)]) // none stands twice
    }
  })

  test('keep since when they are so, and change it only with status or reason', () => {
    const first = after({ decided: inSync, previous: well })
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
    const running = after({ decided: inSync, state: 'Running' })
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
