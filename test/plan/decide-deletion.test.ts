import { describe, expect, test } from 'vitest'
import type { UpsertKind } from '../../src/kinds/definition.ts'
import { QUERY_ENDPOINT as CLOUD_ENDPOINT } from '../../src/kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import { decide } from '../../src/plan/decide.ts'
import { markAfter } from '../../src/plan/deletion-mark.ts'
import { attemptDigest } from '../../src/plan/gates.ts'
import type { CreateOnceInput, DeletionFacts, Observed, Surroundings } from '../../src/plan/input.ts'
import { blankRecord } from '../../src/plan/record.ts'
import type { Removal } from '../../src/plan/recorded-change.ts'
import {
  appliedEndpoint,
  created,
  DIFFERS,
  endpoint,
  FIELDS,
  FOUND,
  HOUR,
  intent,
  MINUTE,
  missed,
  MISSING,
  NOW,
  PIPE_ID,
  pipe,
} from './inputs.ts'

/* A pipe whose manifest says policy.ensure "absent": each row of the table of `decide-deletion.ts`, and the mark that follows. */

const FACTS: DeletionFacts = { claimant: undefined, limit: undefined, isAllowed: false }
const OTHER_ID = '7a0c7f5e-3c0b-4f0e-9a1b-7d2f64a1c9e3'
const SUSPEND = { reason: 'move', until: '2999-01-01T00:00:00Z' }
const MASS = { massMissing: { missing: 3, of: 10, group: 'service' } } as const
const OLDER = { olderThan: 'r9' }
const LONG_AGO: Removal = { since: NOW - 11 * MINUTE, digest: 'absent' }
const LIMIT = { service: 'analytics', wanted: 2, of: 5, limit: 1 }

interface Row {
  readonly facts?: Partial<DeletionFacts>
  readonly around?: Partial<Surroundings>
  readonly desired?: Partial<CreateOnceInput['desired']>
  readonly policy?: CreateOnceInput['policy']
  readonly removal?: Removal
  readonly observed?: CreateOnceInput['observed']
  readonly origin?: 'created' | 'adopted'
  readonly changedSince?: readonly string[] | undefined
  readonly mightBeListed?: true
  readonly is: readonly [type: string, what: string]
}

const ROWS: Readonly<Record<string, Row>> = {
  'ten minutes later, as it was left': { is: ['delete', 'now'] },
  'before that': { removal: { ...LONG_AGO, since: NOW - 9 * MINUTE }, is: ['hold', 'later'] },
  'what was to be replaced has a grace of its own': {
    removal: { ...LONG_AGO, digest: 'another' },
    is: ['hold', 'later'],
  },
  'it was adopted': { origin: 'adopted', is: ['delete', 'now'] },
  'a reading is not accepted': { around: { isDoubted: true }, is: ['hold', 'doubted'] },
  'the checkout may be older': { around: OLDER, is: ['hold', 'older'] },
  'the manifest was not found': { around: { unfound: true }, is: ['hold', 'ManifestVanishing'] },
  'no service leads there': {
    around: { serviceProblem: { is: 'not valid', service: 'Service/analytics' } },
    is: ['refuse', 'DependencyNotReady'],
  },
  'the manifest names another service': { desired: { otherService: true }, is: ['report', 'Drifted'] },
  'another manifest names it': { facts: { claimant: 'Pipe/new' }, is: ['hold', 'claimed'] },
  'somebody changed it': { changedSince: ['name'], is: ['report', 'Drifted'] },
  'it was in sync when it was asked for': { changedSince: undefined, is: ['delete', 'now'] },
  'it was not': { changedSince: undefined, observed: DIFFERS, is: ['report', 'Drifted'] },
  'it has an error now': { desired: { state: 'invalid' }, is: ['hold', 'InvalidManifest'] },
  'the manifest is not found': { desired: { state: 'missing' }, is: ['hold', 'ManifestVanishing'] },
  'the manifest is gone': { desired: { state: 'absent' }, is: ['report', 'Orphaned'] },
  'it is suspended': { policy: { suspend: SUSPEND }, is: ['hold', 'Suspended'] },
  'policy.adopt names another one': { policy: { adopt: OTHER_ID }, is: ['refuse', 'AdoptRefused'] },
  'too many': { facts: { limit: LIMIT }, is: ['refuse', 'DeleteLimit'] },
  'a request was sent a moment ago': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE },
    is: ['hold', 'going'],
  },
  'it was suspended after a request': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE },
    policy: { suspend: SUSPEND },
    is: ['hold', 'Suspended'],
  },
  'what was sent is waited for, whatever came since': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE },
    facts: { limit: LIMIT, claimant: 'Pipe/new' },
    around: OLDER,
    is: ['hold', 'going'],
  },
  'ten minutes after a request it is still there': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 10 * MINUTE },
    is: ['delete', 'now'],
  },
  'a clock was set back since: the request is of now at the latest': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW + HOUR },
    is: ['hold', 'going'],
  },
  'a 404 after an answer': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE, isAnswered: true },
    observed: MISSING,
    is: ['delete', 'done'],
  },
  'a 404 after a request that nobody answered': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE + 1 },
    observed: missed(1, 0),
    is: ['hold', 'going'],
  },
  'the same, and the list shows it': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE, isAnswered: true },
    observed: MISSING,
    mightBeListed: true,
    is: ['hold', 'going'],
  },
  'the same, and nobody answered the request': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: MISSING,
    mightBeListed: true,
    is: ['hold', 'going'],
  },
  'a 404 more than a minute after a request that nobody answered': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: missed(1, 0),
    is: ['delete', 'going'],
  },
  'the same, and it was adopted': {
    origin: 'adopted',
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: missed(1, 0),
    is: ['delete', 'going'],
  },
  'the same, and the request was for what was to be replaced': {
    removal: { ...LONG_AGO, digest: 'another', isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: missed(1, 0),
    is: ['hold', 'going'],
  },
  'the same, and the manifest is gone': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    observed: missed(1, 0),
    desired: { state: 'absent' },
    is: ['hold', 'going'],
  },
  'a request of an earlier version, for a manifest that was gone, is followed to its end': {
    removal: { since: NOW - HOUR, isSent: true, sentAt: NOW - MINUTE, isAnswered: true },
    observed: MISSING,
    desired: { state: 'absent' },
    is: ['delete', 'done'],
  },
  'ten minutes after a request the pipe is still there, and the manifest is gone': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 10 * MINUTE },
    desired: { state: 'absent' },
    is: ['report', 'Orphaned'],
  },
  'the same, and another manifest names it': {
    removal: { ...LONG_AGO, isSent: true, sentAt: NOW - 2 * MINUTE },
    facts: { claimant: 'Pipe/new' },
    observed: missed(1, 0),
    is: ['hold', 'going'],
  },
  'a 404 without a request': { observed: missed(1, 0), is: ['hold', 'not found'] },
  'it is gone for sure': { observed: MISSING, is: ['delete', 'gone already'] },
  'a person says that it is gone': {
    policy: { recreate: PIPE_ID },
    observed: missed(1, 0),
    around: MASS,
    is: ['delete', 'gone already'],
  },
  'too many are gone': { observed: MISSING, around: MASS, is: ['refuse', 'MassMissing'] },
  'the list shows it': { observed: MISSING, mightBeListed: true, is: ['hold', 'not found'] },
}

function decided({ facts, around = {}, desired = {}, policy, ...row }: Omit<Row, 'why' | 'is'>) {
  const { removal = LONG_AGO, observed = FOUND, origin = 'created' } = row
  const record = created()
  if (record.remote === undefined) throw new Error('there is none')
  const given = pipe({
    desired,
    recorded: { ...record, remote: { ...record.remote, origin }, removal },
    observed,
    surroundings: around,
    policy: desired.state === 'absent' ? {} : { ensure: 'absent', ...policy },
  })
  const input: CreateOnceInput = {
    ...given,
    lifecycle: 'create-once',
    removal: { ...FACTS, ...facts },
    mightBeListed: row.mightBeListed,
    changedSince: 'changedSince' in row ? row.changedSince : [],
  }
  return { input, action: decide(input) }
}

test.each(Object.entries(ROWS))('%s', (_why, { is, ...row }) => {
  const { action } = decided(row)
  const said = action.reason === 'Deleting' ? action.facts.removal.is : action.reason
  expect([action.type, said]).toEqual(is)
})

test('without a pipe no resource is created, also not what a Lock names; an unknown outcome is settled first', () => {
  const policy = { ensure: 'absent' } as const
  const none = decide(pipe({ policy, surroundings: { lockedId: OTHER_ID } }))
  expect([none.type, none.reason]).toEqual(['observe', 'Absent'])
  const unknown = decide(
    pipe({ policy, recorded: { ...blankRecord('Pipe/orders'), intent: intent('unknown') } }),
  )
  expect([unknown.type, unknown.reason]).toEqual(['refuse', 'OutcomeUnknown'])
})

test.each([
  ['ensure', { desired: { state: 'valid' } }],
  ['removed', { desired: { state: 'absent' } }],
  ['back', { policy: { ensure: undefined } }],
] as const)('a request that was sent says why: %s', (why, row) => {
  const removal = { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE } as const
  expect(decided({ removal, ...row }).action.facts).toMatchObject({ why })
})

function markOf(row: Omit<Row, 'why' | 'is'>) {
  const { input, action } = decided(row)
  return markAfter(input, action, input.recorded)
}

describe('the mark', () => {
  test.each([
    ['goes on while the pipe is not read', { observed: { status: 'unseen' } as const }, LONG_AGO.since],
    ['goes on while the pipe is kept', { changedSince: ['name'] }, LONG_AGO.since],
    ['ends with the manifest', { desired: { state: 'absent' } as const }, undefined],
    ['ends with an error', { desired: { state: 'invalid' } as const }, undefined],
    ['ends with a suspension', { policy: { suspend: SUSPEND } }, undefined],
    ['ends with a checkout that may be older', { around: OLDER }, undefined],
    ['ends with a reading that is not accepted', { around: { isDoubted: true } }, undefined],
    ['ends with a claim of another manifest', { facts: { claimant: 'Pipe/new' as const } }, undefined],
    [
      'ends with the Service manifest',
      { around: { serviceProblem: { is: 'not valid', service: 'Service/analytics' } } },
      undefined,
    ],
    ['is of now where the wish is another one', { removal: { ...LONG_AGO, digest: 'another' } }, NOW],
    ['is of now where a clock was set back', { removal: { ...LONG_AGO, since: NOW + HOUR } }, NOW],
    ['keeps its time while the limit is reached', { facts: { limit: LIMIT } }, LONG_AGO.since],
    ['begins anew after the limit', { removal: { ...LONG_AGO, isLimited: true as const } }, NOW],
    [
      'goes on after the limit if an operator allowed it',
      { removal: { ...LONG_AGO, isLimited: true as const }, facts: { isAllowed: true } },
      LONG_AGO.since,
    ],
  ] as const)('%s', (_, row, since) => {
    expect(markOf(row)?.since).toBe(since)
  })

  test('of a request that was sent stays, whatever the manifest says', () => {
    const removal = { ...LONG_AGO, isSent: true, sentAt: NOW - MINUTE } as const
    const { digest: _, ...sent } = removal
    for (const state of ['valid', 'invalid', 'absent'] as const)
      expect(markOf({ removal, desired: { state } })).toMatchObject(sent)
  })
})

const kind = CLOUD_ENDPOINT as unknown as UpsertKind // its schema alone is narrower
const NONE: Observed = { status: 'missing', misses: undefined, isAlone: true }
const THERE: Observed = { status: 'found', state: undefined, differences: [], there: { id: 'e1' } }
const asked = { ...appliedEndpoint(HOUR), file: 'a.yaml' }
const due = { ...asked, removal: { since: NOW - 10 * MINUTE, digest: 'absent' } }
const sent = { ...asked, removal: { ...due.removal, isSent: true } } as const
const backoff = { failures: 1, until: NOW + 1, digest: attemptDigest(FIELDS) }
const isAsLeft = true

describe('an endpoint whose manifest says policy.ensure "absent"', () => {
  test.each([
    ['nothing was applied', {}, 'observe', 'Absent'],
    ['it is asked for now', { recorded: asked }, 'hold', 'later'],
    ['the ten minutes are not over', { recorded: due, steadyNow: NOW - 1 }, 'hold', 'later'],
    ['a clock was set back: from now on', { recorded: due, steadyNow: NOW - HOUR }, 'hold', 'later'],
    ['it is as it was left', { recorded: due, observed: THERE, isAsLeft }, 'delete', 'now'],
    ['it was changed', { recorded: due, observed: THERE }, 'report', 'Drifted'],
    ['it is not there', { recorded: due, observed: NONE }, 'delete', 'gone already'],
    ['it is not there after a request', { recorded: sent, observed: NONE }, 'delete', 'done'],
    ['it was not read yet', { recorded: due }, 'hold', 'later'],
    [
      'it failed a moment ago',
      { recorded: { ...due, backoff }, observed: THERE, isAsLeft },
      'hold',
      'BackingOff',
    ],
    [
      'a reading is not accepted',
      { recorded: due, observed: THERE, isAsLeft, surroundings: { isDoubted: true } },
      'hold',
      'doubted',
    ],
    [
      'the checkout may be older',
      { recorded: due, observed: THERE, isAsLeft, surroundings: OLDER },
      'hold',
      'older',
    ],
    [
      'the manifest is gone',
      { recorded: due, observed: THERE, isAsLeft, desired: { state: 'absent' }, policy: {} },
      'report',
      'Orphaned',
    ],
    [
      'the manifest is gone after a request, and so is the endpoint',
      { recorded: sent, observed: NONE, desired: { state: 'absent' }, policy: {} },
      'delete',
      'done',
    ],
    [
      'the manifest is gone after a request that did not arrive',
      { recorded: sent, observed: THERE, isAsLeft, desired: { state: 'absent' }, policy: {} },
      'report',
      'Orphaned',
    ],
  ] as const)('%s', (_, changes, type, is) => {
    const action = decide(endpoint({ kind, policy: { ensure: 'absent' }, ...changes }))
    const said = action.reason === 'Deleting' ? action.facts.removal.is : action.reason
    expect([action.type, said]).toEqual([type, is])
  })
})
