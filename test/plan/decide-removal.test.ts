import { describe, expect, test } from 'vitest'
import type { UpsertKind } from '../../src/kinds/definition.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import { decide } from '../../src/plan/decide.ts'
import { attemptDigest } from '../../src/plan/gates.ts'
import type { Observed, RemovalFacts } from '../../src/plan/input.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { appliedEndpoint, endpoint, FIELDS, HOUR, MINUTE, NOW } from './inputs.ts'

/* The table over removed, row for row. */

const kind = QUERY_ENDPOINT as unknown as UpsertKind // its schema alone is narrower
const NONE: Observed = { status: 'missing', misses: undefined, witness: 'nobody' }
const THERE: Observed = { status: 'found', state: undefined, differences: [], there: { id: 'e1' } }
const CLEAR: RemovalFacts = { doubt: undefined, isReachable: true, beside: undefined, unread: [] }
const asked = { ...appliedEndpoint(HOUR), file: 'a.yaml', onRemove: 'delete' } as const
const due = { ...asked, removal: { since: NOW - 10 * MINUTE } }
const sent = { ...asked, removal: { since: NOW - 10 * MINUTE, isSent: true } } as const
const { upsert } = asked
const takenOver = { ...due, upsert: upsert && { ...upsert, isTakenOver: true as const } }
const backoff = { failures: 1, until: NOW + 1, digest: attemptDigest(FIELDS) }

type Row = readonly [
  why: string,
  changes: NonNullable<Parameters<typeof endpoint>[0]>,
  type: string,
  removal: string | undefined,
]

const ROWS: readonly Row[] = [
  ['its manifest did not ask for it', { removal: undefined, recorded: due }, 'report', undefined],
  ['it is just known to be gone', { recorded: asked }, 'hold', 'later'],
  ['the ten minutes are not over', { recorded: due, steadyNow: NOW - 1 }, 'hold', 'later'],
  ['a clock was set back: from now on', { recorded: due, steadyNow: NOW - HOUR }, 'hold', 'later'],
  ['it is as it was left', { recorded: due, observed: THERE, isAsLeft: true }, 'delete', 'now'],
  ['it was changed', { recorded: due, observed: THERE }, 'report', 'changed'],
  ['it is not there', { recorded: due, observed: NONE }, 'delete', 'gone already'],
  ['it is not there after a request', { recorded: sent, observed: NONE }, 'delete', 'done'],
  ['it was not read yet', { recorded: due }, 'hold', 'later'],
  [
    'it failed a moment ago',
    { recorded: { ...due, backoff }, observed: THERE, isAsLeft: true },
    'hold',
    undefined,
  ],
  [
    'nothing was ever sent there',
    { recorded: takenOver, observed: THERE, isAsLeft: true },
    'report',
    'not ours',
  ],
  [
    'another manifest has it',
    { recorded: due, removal: { ...CLEAR, beside: 'QueryEndpoint/b' }, observed: THERE, isAsLeft: true },
    'report',
    'beside',
  ],
  [
    'no Service manifest leads there',
    { recorded: due, removal: { ...CLEAR, isReachable: false } },
    'report',
    'unreachable',
  ],
  [
    'the last reading is not accepted',
    { recorded: due, removal: { ...CLEAR, doubt: 'doubted' }, observed: THERE, isAsLeft: true },
    'hold',
    'doubted',
  ],
]

function inputOf(changes: Row[1]) {
  const desired = { state: 'absent', fingerprint: undefined } as const
  return endpoint({ kind, removal: CLEAR, ...changes, desired })
}

describe('an endpoint whose manifest is gone, and said policy.onRemove "delete"', () => {
  test.each(ROWS)('%s', (_, changes, type, removal) => {
    const action = decide(inputOf('removal' in changes ? changes : { ...changes, removal: CLEAR }))
    expect(action.type).toBe(type)
    const facts = action.reason === 'Orphaned' ? action.facts : undefined
    expect(facts?.removal?.is).toBe(removal)
  })

  test('says until when it can come back, the same at each look', () => {
    const looks = [0, MINUTE, 9 * MINUTE].map((later) =>
      messageOf(
        decide(inputOf({ recorded: { ...asked, removal: { since: NOW } }, steadyNow: NOW + later })),
        'QueryEndpoint/analytics',
      ),
    )
    expect(new Set(looks)).toEqual(
      new Set([
        'The manifest was removed (it was in a.yaml), and said policy.onRemove "delete" last. The query endpoint is deleted ten minutes after ' +
          'that is known, at 2026-11-21T12:10:00Z, unless somebody changed it. Bring the manifest back to keep it.',
      ]),
    )
  })
})

test('a manifest that is not found yet, or has errors, deletes nothing', () => {
  for (const state of ['missing', 'invalid', 'valid'] as const) {
    const input = endpoint({
      kind,
      removal: CLEAR,
      recorded: due,
      observed: THERE,
      isAsLeft: true,
      desired: { state },
    })
    expect(decide(input).type).not.toBe('delete')
  }
})
