import { describe, expect, test } from 'vitest'
import type { Action } from '../../src/plan/action.ts'
import type { Conditions } from '../../src/plan/condition.ts'
import type { DecideInput } from '../../src/plan/input.ts'
import { type Requeue, requeueAfter } from '../../src/plan/requeue.ts'
import type { Reason } from '../../src/plan/reason.ts'
import type { Backoff, LedgerRecord } from '../../src/plan/record.ts'
import { alert, because, created, endpoint, FOUND, HOUR, MINUTE, NOW, pipe } from './inputs.ts'

const looked = pipe({ recorded: created(), observed: FOUND })

function action(type: Action['type'], reason: Reason, until?: number): Action {
  return {
    type,
    ...because(reason),
    until,
    takesAway: [],
    differences: [],
    steps: [],
    isWhole: true,
    stopFor: undefined,
    corrects: [],
  } as unknown as Action
}

function ready(reason: Reason, synced = reason): Conditions {
  const condition = { status: 'True', reason, message: '', since: NOW } as const
  return { Valid: condition, Synced: { ...condition, reason: synced }, Ready: condition }
}

interface Row {
  readonly synced?: Reason
  readonly action?: Action
  readonly decided?: DecideInput
  readonly backoff?: Backoff
  readonly ready?: Reason
  readonly unsettledObservations?: number
  readonly unseenForMs?: number
  /** At no jitter, and at the most there is. */
  readonly is: readonly [why: Requeue['why'], latestMs: number, earliestMs: number]
}

/** A minute and a half after it began to be changed. @param recorded what was sent since */
function changing(recorded: Partial<LedgerRecord>): DecideInput {
  const later = NOW + 90_000
  return { ...pipe({ recorded: { ...created(), ...recorded } }), now: later, steadyNow: later }
}

const backoff = { failures: 1, until: NOW + 7_000, digest: '' }

const USUAL = ['drift', 5 * MINUTE, 4 * MINUTE] as const
const SUSPENDED = action('hold', 'Suspended', NOW + HOUR)

const ROWS: Readonly<Record<string, Row>> = {
  'in sync: after the interval, spread by a fifth': { is: USUAL },
  'with an interval of its own': {
    decided: pipe({ recorded: created(), observed: FOUND, policy: { interval: '10m' } }),
    is: ['drift', 10 * MINUTE, 8 * MINUTE],
  },
  'a query endpoint: after the interval of the resync': {
    decided: endpoint(),
    is: ['drift', HOUR, 72 * MINUTE],
  },
  'it failed: at the end of its back-off, to the millisecond': { backoff, is: ['retry', 7_000, 7_000] },
  'a back-off that is over does not count': { backoff: { ...backoff, until: NOW }, is: USUAL },
  'held until a moment: then': {
    action: action('hold', 'Suspended', NOW + 7_000),
    is: ['retry', 7_000, 7_000],
  },
  'suspended for an hour: after the interval, for clocks are set': { action: SUSPENDED, is: USUAL },
  'its change waits for an hour: its pipe is read after the interval': {
    action: action('hold', 'BackingOff', NOW + HOUR),
    is: USUAL,
  },
  'suspended after a stop for a change: when the stop has had its time, for the pipe is to be started': {
    action: SUSPENDED,
    decided: changing({ command: { command: 'stop', at: NOW + 80_000, isForChange: true } }),
    is: ['drift', 50_000, 40_000],
  },
  'invalid after a stop for a change: when the stop has had its time': {
    action: action('hold', 'InvalidManifest'),
    decided: changing({ command: { command: 'stop', at: NOW + 80_000, isForChange: true } }),
    is: ['drift', 50_000, 40_000],
  },
  'held until a moment that is over: at once': {
    action: action('hold', 'Suspended', NOW - HOUR),
    is: ['retry', 0, 0],
  },
  'held for its manifest: after the interval': { action: action('hold', 'InvalidManifest'), is: USUAL },
  'not found, not believed: three looks take more than a minute, whatever chance says': {
    action: action('hold', 'MissingUnconfirmed'),
    is: ['retry', 37_200, 31_000],
  },
  'something local is missing: soon': {
    action: action('refuse', 'SecretUnavailable'),
    is: ['drift', 10_000, 8_000],
  },
  'held back by the create limit: soon': {
    action: action('refuse', 'CreateLimit'),
    is: ['drift', 10_000, 8_000],
  },
  'something local is missing, and the interval is shorter: after the interval': {
    action: action('refuse', 'DependencyNotReady'),
    decided: pipe({ policy: { interval: '2s' } }),
    is: ['drift', 2_000, 1_600],
  },
  'a service that is out of sight: not as soon, for it costs requests': {
    action: action('refuse', 'MassMissing'),
    is: ['drift', 31_000, 24_800],
  },
  'an unknown outcome: nothing changes by itself': { action: action('refuse', 'OutcomeUnknown'), is: USUAL },
  'created, and not seen by any reading yet: soon': { unseenForMs: 100, is: ['retry', 10_000, 8_000] },
  'for a minute: in another minute': {
    action: action('hold', 'NeverSeen'),
    unseenForMs: MINUTE,
    is: ['retry', MINUTE, 48_000],
  },
  'for a day: after the interval': {
    action: action('hold', 'NeverSeen'),
    unseenForMs: 24 * HOUR,
    is: ['retry', 5 * MINUTE, 4 * MINUTE],
  },
  'a replacement that has to wait: it is looked for at its interval meanwhile': {
    action: action('hold', 'Missing', NOW + HOUR),
    is: USUAL,
  },
  'a replacement that is due before: then': {
    action: action('hold', 'Missing', NOW + MINUTE),
    is: ['retry', MINUTE, MINUTE],
  },
  'a state that is not healthy: in two seconds': { ready: 'UnhealthyState', is: ['retry', 2_000, 2_000] },
  'then twice that, and so on': {
    ready: 'UnhealthyState',
    unsettledObservations: 5,
    is: ['retry', 64_000, 64_000],
  },
  'up to the interval': { ready: 'UnhealthyState', unsettledObservations: 8, is: USUAL },
  'and for ever': { ready: 'UnhealthyState', unsettledObservations: 10_000, is: USUAL },
  'it is being changed: ever less often': {
    ready: 'Changing',
    decided: changing({}),
    is: ['retry', 90_000, 90_000],
  },
  'it is told to stop for a change: soon, for it rests until somebody looks': {
    action: action('update', 'Changing'),
    ready: 'Changing',
    decided: changing({}),
    is: ['retry', 2_000, 2_000],
  },
  'it was told so a moment ago: soon as well': {
    ready: 'Changing',
    decided: changing({ command: { command: 'stop', at: NOW + 87_000, isForChange: true } }),
    is: ['retry', 3_000, 3_000],
  },
  'a stop that shows nothing has had its time in ten seconds: then, and not at twice what has passed': {
    ready: 'Changing',
    decided: changing({ command: { command: 'stop', at: NOW + 40_000, isForChange: true } }),
    is: ['retry', 10_000, 10_000],
  },
  'a start that shows nothing is sent again in ten seconds: then, or it would be too late for that': {
    ready: 'Changing',
    decided: changing({ command: { command: 'start', at: NOW - 20_000, since: NOW - 140_000 } }),
    is: ['retry', 10_000, 10_000],
  },
  'it is on its way after a change, and the stop for it may still arrive: its state comes first': {
    ready: 'Changing',
    synced: 'InSync',
    decided: changing({ command: { command: 'stop', at: NOW + 87_000, isForChange: true } }),
    is: ['retry', 2_000, 2_000],
  },
  'an alert that fires is looked at as ever': {
    ready: 'UnhealthyState',
    decided: alert({ observed: FOUND }),
    is: USUAL,
  },
}

describe('the next look', () => {
  test.each(Object.entries(ROWS))('%s', (_why, row) => {
    const at = (random: number) =>
      requeueAfter({
        action: row.action ?? action('observe', 'InSync'),
        conditions: ready(row.ready ?? 'Healthy', row.synced),
        backoff: row.backoff,
        decided: row.decided ?? looked,
        upsert: row.decided?.recorded.upsert,
        unsettledObservations: row.unsettledObservations ?? 0,
        unseenForMs: row.unseenForMs,
        random: () => random,
      })
    const [why, latestMs, earliestMs] = row.is
    expect(at(0)).toEqual({ why, afterMs: latestMs })
    expect(at(1)).toEqual({ why, afterMs: earliestMs })
  })
})
