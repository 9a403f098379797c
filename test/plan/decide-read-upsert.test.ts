import { describe, expect, test } from 'vitest'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import type { UpsertKind } from '../../src/kinds/definition.ts'
import type { Action } from '../../src/plan/action.ts'
import { decide } from '../../src/plan/decide.ts'
import { attemptDigest } from '../../src/plan/gates.ts'
import type { Observed, UpsertInput } from '../../src/plan/input.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { appliedEndpoint, DIFFERENCE, EDITED, endpoint, FIELDS, HOUR, MINUTE, NOW } from './inputs.ts'

/* The table over decideRead, row for row: the query endpoint where the service lets one read it. */

const kind = QUERY_ENDPOINT as unknown as UpsertKind // its schema alone is narrower
const NONE: Observed = { status: 'missing', misses: undefined, isAlone: true }
const EQUAL: Observed = { status: 'found', state: undefined, differences: [], there: { id: 'e1' } }
const DIFFERS: Observed = { ...EQUAL, differences: [DIFFERENCE] }

const takesAway = ['role a']
const gives = ['role b']
const applied = appliedEndpoint(MINUTE)
const corrected = (field: string) => ({
  ...applied,
  corrections: { [field]: { count: 2, at: NOW - MINUTE, before: NOW - 2 * MINUTE } },
})
const undecided = { ...applied, applied: undefined }
const backoff = { failures: 1, until: NOW + 1, digest: attemptDigest(FIELDS) }
const correct = { onDrift: 'correct' } as const

interface Row {
  readonly input: Partial<Parameters<typeof endpoint>[0]> & { readonly isAsked?: true }
  readonly is: Partial<Pick<Action, 'type' | 'reason'>> & { readonly type: Action['type'] } & Readonly<
      Record<string, unknown>
    >
}

const ROWS: Readonly<Record<string, Row>> = {
  'none is there: it is applied, and that takes nothing away': {
    input: { observed: NONE },
    is: { type: 'upsert', reason: 'New', takesAway: [], facts: { is: 'applied', there: 'none' } },
  },
  'another one is there, which was not applied from here: what that means is said before': {
    input: { observed: DIFFERS, takesAway, gives },
    is: { type: 'upsert', reason: 'New', takesAway, facts: { is: 'applied', there: { takesAway, gives } } },
  },
  'what is asked for is there already: nothing is sent': {
    input: { observed: EQUAL },
    is: { type: 'observe', reason: 'Adopted' },
  },
  'edited, and not there as edited': {
    input: { observed: DIFFERS, recorded: applied, desired: { fingerprint: EDITED }, takesAway, gives },
    is: {
      type: 'upsert',
      reason: 'Changing',
      takesAway,
      facts: { why: 'edited', access: { takesAway, gives } },
    },
  },
  'edited, and gone': {
    input: { observed: NONE, recorded: applied, desired: { fingerprint: EDITED }, gives },
    is: {
      type: 'upsert',
      reason: 'Changing',
      takesAway: [],
      facts: { why: 'edited', access: { takesAway: [], gives } },
    },
  },
  'an edit is an edit, also where what is there drifted': {
    input: {
      observed: DIFFERS,
      recorded: applied,
      desired: { fingerprint: EDITED },
      policy: { onDrift: 'report' },
    },
    is: { type: 'upsert', reason: 'Changing', facts: { is: 'to be applied' } },
  },
  'edited to what is there': {
    input: { observed: EQUAL, recorded: applied, desired: { fingerprint: EDITED } },
    is: { type: 'observe', reason: 'InSync', facts: { accepted: ['source.kafka.topics'] } },
  },
  'moved to another service, which has the same': {
    input: { observed: EQUAL, recorded: applied, desired: { otherService: true } },
    is: { type: 'observe', reason: 'Adopted' },
  },
  'moved to another service, which has none': {
    input: { observed: NONE, recorded: applied, desired: { otherService: true } },
    is: { type: 'upsert', reason: 'Changing', facts: { is: 'to be applied' } },
  },
  'nobody knows what became of the last request, and it is not there': {
    input: { observed: DIFFERS, recorded: undecided, takesAway, gives },
    is: { type: 'upsert', reason: 'Changing', facts: { why: 'unknown', access: { takesAway, gives } } },
  },
  'nobody knew what became of the last request, and it is there': {
    input: { observed: EQUAL, recorded: undecided },
    is: { type: 'observe', reason: 'Applied' },
  },
  'nothing is sent again at an interval': {
    input: { observed: EQUAL, recorded: appliedEndpoint(100 * HOUR), policy: { interval: '1m' } },
    is: { type: 'observe', reason: 'InSync', facts: { as: 'read' } },
  },
  'it differs as the reply to the last request did: the service does not take it': {
    input: { observed: DIFFERS, recorded: applied, isAsLeft: true, policy: correct },
    is: { type: 'report', reason: 'Stalled' },
  },
  'after an hour it is sent again': {
    input: { observed: DIFFERS, recorded: appliedEndpoint(HOUR), isAsLeft: true },
    is: { type: 'upsert', reason: 'Changing' },
  },
  'and when somebody asks': {
    input: { observed: DIFFERS, recorded: applied, isAsLeft: true, isAsked: true },
    is: { type: 'upsert', reason: 'Changing' },
  },
  'somebody else changed it': {
    input: { observed: DIFFERS, recorded: applied },
    is: {
      type: 'report',
      reason: 'Drifted',
      differences: [DIFFERENCE],
      facts: { fields: ['scaling.replicas'], from: 'manifest' },
    },
  },
  'somebody else changed it, and it is to be changed back': {
    input: { observed: DIFFERS, recorded: applied, policy: correct, takesAway, gives },
    is: {
      type: 'upsert',
      reason: 'Changing',
      takesAway,
      facts: {
        why: 'drifted',
        fields: ['scaling.replicas'],
        by: ['upsertQueryEndpoint'],
        is: 'to be sent',
        access: { takesAway, gives },
      },
    },
  },
  'changed elsewhere for the third time within an hour': {
    input: { observed: DIFFERS, recorded: corrected('scaling.replicas'), policy: correct, takesAway, gives },
    is: {
      type: 'report',
      reason: 'Drifted',
      differences: [DIFFERENCE],
      facts: { fields: ['scaling.replicas'], contest: { times: 2, waitMs: HOUR } },
    },
  },
  'changed elsewhere, after another field was contested': {
    input: { observed: DIFFERS, recorded: corrected('roles'), policy: correct },
    is: { type: 'upsert', reason: 'Changing' },
  },
  'gone for the third time within an hour': {
    input: { observed: NONE, recorded: corrected('existence'), policy: correct },
    is: { type: 'report', reason: 'Drifted', facts: { fields: ['existence'], contest: { times: 2 } } },
  },
  gone: {
    input: { observed: NONE, recorded: applied },
    is: { type: 'report', reason: 'Missing', facts: { onDrift: 'report' } },
  },
  'gone, and to be applied again': {
    input: { observed: NONE, recorded: applied, policy: correct },
    is: { type: 'upsert', reason: 'Missing', facts: { onDrift: 'correct' } },
  },
  'nobody could read it': { input: { recorded: applied }, is: { type: 'observe', reason: 'Unobserved' } },
  'nobody could read it, for want of its Service': {
    input: { surroundings: { serviceProblem: { is: 'not valid', service: 'Service/analytics' } } },
    is: { type: 'refuse', reason: 'DependencyNotReady' },
  },
  'what is there is looked at, whatever it waits for': {
    input: { observed: EQUAL, recorded: applied, surroundings: { notReady: ['Pipe/orders'] } },
    is: { type: 'observe', reason: 'InSync' },
  },
  'but not applied before what it depends on is ready': {
    input: { observed: DIFFERS, surroundings: { notReady: ['Pipe/orders'] } },
    is: { type: 'refuse', reason: 'DependencyNotReady' },
  },
  'nor while the last reading did not find its manifest': {
    input: { observed: DIFFERS, surroundings: { unfound: true } },
    is: { type: 'hold', reason: 'ManifestVanishing' },
  },
  'nor too soon after it failed': {
    input: { observed: DIFFERS, recorded: { ...applied, applied: EDITED, backoff } },
    is: { type: 'hold', reason: 'BackingOff' },
  },
  'nor without its credentials': {
    input: { observed: NONE, surroundings: { missingSecrets: [{ file: 'api/keyId', why: 'absent' }] } },
    is: { type: 'refuse', reason: 'SecretUnavailable' },
  },
}

function inputOf({ isAsked, ...changes }: Row['input']): UpsertInput {
  return { ...endpoint({ kind, ...changes }), ...(isAsked && { isAsked }) }
}

describe('a query endpoint that can be read', () => {
  test.each(Object.entries(ROWS))('%s', (_why, { input, is }) => {
    expect(decide(inputOf(input))).toMatchObject(is)
  })

  test.each([
    ['none', NONE, {}, 'The service has no query endpoint, or the Service manifest has a wrong'],
    ['another one', DIFFERS, {}, 'Will be applied. It takes away role a. It gives role b.'],
    ['one that is gone', NONE, { recorded: applied }, 'policy.onDrift is not "correct"'],
    [
      'one that is the same',
      EQUAL,
      {},
      'The service already has query endpoint e1. It equals the manifest, so Pipewright adopts it unchanged.',
    ],
  ] as const)('says so of %s', (_, observed, more, words) => {
    const action = decide(inputOf({ observed, takesAway, gives, ...more }))
    expect(messageOf(action, { key: 'QueryEndpoint/analytics' })).toContain(words)
  })
})
