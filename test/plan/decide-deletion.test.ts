import { describe, expect, test } from 'vitest'
import type { UpsertKind } from '../../src/kinds/definition.ts'
import { QUERY_ENDPOINT as CLOUD_ENDPOINT } from '../../src/kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import type { Action } from '../../src/plan/action.ts'
import { decide } from '../../src/plan/decide.ts'
import { markAfter } from '../../src/plan/deletion-mark.ts'
import type { CreateOnceInput, DeletionFacts, Observed, Surroundings } from '../../src/plan/input.ts'
import { blankRecord, type Removal } from '../../src/plan/record.ts'
import {
  appliedEndpoint,
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

function sentBefore(ms: number, more: Partial<Removal> = {}): Removal {
  return { ...LONG_AGO, isSent: true, sentAt: NOW - ms, ...more }
}

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
}

/** Each ends with its action, and with what is said of it. */
const ROWS: Readonly<Record<string, Row>> = {
  'ten minutes later, as it was left: delete now': {},
  'before that: hold later': { removal: { ...LONG_AGO, since: NOW - 9 * MINUTE } },
  'what was to be replaced has a grace of its own: hold later': {
    removal: { ...LONG_AGO, digest: 'another' },
  },
  'it was adopted: delete now': { origin: 'adopted' },
  'a reading is not accepted: hold doubted': { around: { isDoubted: true } },
  'the checkout may be older: hold older': { around: OLDER },
  'the manifest was not found: hold ManifestVanishing': { around: { unfound: true } },
  'no service leads there: refuse DependencyNotReady': {
    around: { serviceProblem: { is: 'not valid', service: 'Service/analytics' } },
  },
  'the manifest names another service: report Drifted': { desired: { otherService: true } },
  'another manifest names it: hold claimed': { facts: { claimant: 'Pipe/new' } },
  'somebody changed it: report Drifted': { changedSince: ['name'] },
  'it was in sync when it was asked for: delete now': { changedSince: undefined },
  'it was not: report Drifted': { changedSince: undefined, observed: DIFFERS },
  'it has an error now: hold InvalidManifest': { desired: { state: 'invalid' } },
  'the manifest is not found: hold ManifestVanishing': { desired: { state: 'missing' } },
  'the manifest is gone: report Orphaned': { desired: { state: 'absent' } },
  'it is suspended: hold Suspended': { policy: { suspend: SUSPEND } },
  'policy.adopt names another one: refuse AdoptRefused': { policy: { adopt: OTHER_ID } },
  'too many: refuse DeleteLimit': { facts: { limit: LIMIT } },
  'a request was sent a moment ago: hold going': { removal: sentBefore(MINUTE) },
  'it was suspended after a request: hold Suspended': {
    removal: sentBefore(MINUTE),
    policy: { suspend: SUSPEND },
  },
  'what was sent is waited for, whatever came since: hold going': {
    removal: sentBefore(MINUTE),
    facts: { limit: LIMIT, claimant: 'Pipe/new' },
    around: OLDER,
  },
  'ten minutes after a request it is still there: delete now': { removal: sentBefore(10 * MINUTE) },
  'a clock was set back since: the request is of now at the latest: hold going': {
    removal: sentBefore(-HOUR),
  },
  'a 404 after an answer: delete done': {
    removal: sentBefore(MINUTE, { isAnswered: true }),
    observed: MISSING,
  },
  'a 404 after a request that nobody answered: hold going': {
    removal: sentBefore(MINUTE - 1),
    observed: missed(1, 0),
  },
  'the same, and the list shows it: hold going': {
    removal: sentBefore(MINUTE, { isAnswered: true }),
    observed: MISSING,
    mightBeListed: true,
  },
  'the same, and nobody answered the request: hold going': {
    removal: sentBefore(2 * MINUTE),
    observed: MISSING,
    mightBeListed: true,
  },
  'a 404 more than a minute after a request that nobody answered: delete going': {
    removal: sentBefore(2 * MINUTE),
    observed: missed(1, 0),
  },
  'the same, and it was adopted: delete going': {
    origin: 'adopted',
    removal: sentBefore(2 * MINUTE),
    observed: missed(1, 0),
  },
  'the same, and the request was for what was to be replaced: hold going': {
    removal: sentBefore(2 * MINUTE, { digest: 'another' }),
    observed: missed(1, 0),
  },
  'the same, and the manifest is gone: hold going': {
    removal: sentBefore(2 * MINUTE),
    observed: missed(1, 0),
    desired: { state: 'absent' },
  },
  'the same, for fifteen minutes without another pipe: delete done': {
    removal: sentBefore(20 * MINUTE),
    observed: missed(3, 15 * MINUTE, 'silent'),
    desired: { state: 'absent' },
  },
  'a request of an earlier version, for a manifest that was gone, is followed to its end: delete done': {
    removal: { since: NOW - HOUR, isSent: true, sentAt: NOW - MINUTE, isAnswered: true },
    observed: MISSING,
    desired: { state: 'absent' },
  },
  'ten minutes after a request the pipe is still there, and the manifest is gone: report Orphaned': {
    removal: sentBefore(10 * MINUTE),
    desired: { state: 'absent' },
  },
  'the same, and another manifest names it: hold going': {
    removal: sentBefore(2 * MINUTE),
    facts: { claimant: 'Pipe/new' },
    observed: missed(1, 0),
  },
  'a 404 without a request: hold not found': { observed: missed(1, 0) },
  'it is gone for sure: delete gone already': { observed: MISSING },
  'no other pipe was found for fifteen minutes: refuse MassMissing': {
    observed: missed(3, 15 * MINUTE, 'silent'),
  },
  'a person says that it is gone: delete gone already': {
    policy: { recreate: PIPE_ID },
    observed: missed(1, 0),
    around: MASS,
  },
  'too many are gone: refuse MassMissing': { observed: MISSING, around: MASS },
  'the list shows it: hold not found': { observed: MISSING, mightBeListed: true },
}

function decided({ facts, around = {}, desired = {}, policy, ...row }: Row) {
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

/** Of a title that ends with it. */
function expectEnd(title: string, action: Action): void {
  const said = action.reason === 'Deleting' ? action.facts.removal.is : action.reason
  expect(`${action.type} ${said}`).toBe(title.split(': ').at(-1))
}

test.each(Object.entries(ROWS))('%s', (title, row) => expectEnd(title, decided(row).action))

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
  expect(decided({ removal: sentBefore(MINUTE), ...row }).action.facts).toMatchObject({ why })
})

function markOf(row: Row) {
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
    const removal = sentBefore(MINUTE)
    const { digest: _, ...sent } = removal
    for (const state of ['valid', 'invalid', 'absent'] as const)
      expect(markOf({ removal, desired: { state } })).toMatchObject(sent)
  })
})

const kind = CLOUD_ENDPOINT as unknown as UpsertKind // its schema alone is narrower
const NONE = missed(1, 0)
const alone = (minutes: number) => ({ ...missed(3, minutes * MINUTE, 'silent'), isAlone: true }) as Observed
const THERE: Observed = { status: 'found', state: undefined, differences: [], there: { id: 'e1' } }
const asked = { ...appliedEndpoint(HOUR), file: 'a.yaml' }
const due = { ...asked, removal: { since: NOW - 10 * MINUTE, digest: 'absent' } }
const sent = { ...asked, removal: { ...due.removal, isSent: true, sentAt: NOW - MINUTE } } as const
const answered = { ...sent, removal: { ...sent.removal, isAnswered: true } } as const
const isAsLeft = true

describe('an endpoint whose manifest says policy.ensure "absent"', () => {
  const rows: Readonly<Record<string, Parameters<typeof endpoint>[0]>> = {
    'nothing was applied: observe Absent': {},
    'it is asked for now: hold later': { recorded: asked },
    'it is as it was left: delete now': { recorded: due, observed: THERE, isAsLeft },
    'it was changed: report Drifted': { recorded: due, observed: THERE },
    'one 404: hold not found': { recorded: due, observed: NONE },
    'fourteen minutes of 404s: hold not found': { recorded: due, observed: alone(14) },
    'fifteen minutes of 404s: delete gone already': { recorded: due, observed: alone(15) },
    'a 404 after an unanswered request: delete going': { recorded: sent, observed: NONE },
    'a 404 after an answered request: delete done': { recorded: answered, observed: NONE },
    'it is there after an answered request: hold going': { recorded: answered, observed: THERE },
    'the manifest is gone after an answered request, and so is the endpoint: delete done': {
      recorded: answered,
      observed: NONE,
      desired: { state: 'absent' },
      policy: {},
    },
    'the manifest is gone after a request that did not arrive: report Orphaned': {
      recorded: { ...sent, removal: { ...sent.removal, sentAt: NOW - 10 * MINUTE } },
      observed: THERE,
      isAsLeft,
      desired: { state: 'absent' },
      policy: {},
    },
  }
  test.each(Object.entries(rows))('%s', (title, changes) =>
    expectEnd(title, decide(endpoint({ kind, policy: { ensure: 'absent' }, ...changes }))),
  )
})
