import { describe, expect, test } from 'vitest'
import type { Action } from '../../src/plan/action.ts'
import type { Conditions } from '../../src/plan/condition.ts'
import type { DecideInput } from '../../src/plan/input.ts'
import { requeueAfter } from '../../src/plan/requeue.ts'
import type { Reason } from '../../src/plan/reason.ts'
import type { Backoff, LedgerRecord } from '../../src/plan/record.ts'
import { alert, because, created, endpoint, found, FOUND, HOUR, MINUTE, NOW, pipe } from './inputs.ts'

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
}

/** A minute and a half after it began to be changed. @param recorded what was sent since */
function changing(recorded: Partial<LedgerRecord>): DecideInput {
  const later = NOW + 90_000
  return { ...pipe({ recorded: { ...created(), ...recorded } }), now: later, steadyNow: later }
}

/** The same, stopped for that so long after `NOW`. */
function stopped(ms: number): DecideInput {
  return changing({ command: { command: 'stop', at: NOW + ms, isForChange: true } })
}

const backoff = { failures: 1, until: NOW + 7_000, digest: '' }

const SUSPENDED = action('hold', 'Suspended', NOW + HOUR)

/** Each ends with what is due and when: at no jitter, and at the most there is. */
const ROWS: Readonly<Record<string, Row>> = {
  'in sync: after the interval, spread by a fifth: drift in 300 s or 240 s': {},
  'with an interval of its own: drift in 600 s or 480 s': { decided: found({ policy: { interval: '10m' } }) },
  'a query endpoint: after the interval of the resync: drift in 3600 s or 4320 s': { decided: endpoint() },
  'it failed: at the end of its back-off, to the millisecond: retry in 7 s': { backoff },
  'a back-off that is over does not count: drift in 300 s or 240 s': { backoff: { ...backoff, until: NOW } },
  'held until a moment: then: retry in 7 s': { action: action('hold', 'Suspended', NOW + 7_000) },
  'suspended for an hour: after the interval, for clocks are set: drift in 300 s or 240 s': {
    action: SUSPENDED,
  },
  'its change waits for an hour: its pipe is read after the interval: drift in 300 s or 240 s': {
    action: action('hold', 'BackingOff', NOW + HOUR),
  },
  'suspended after a stop for a change: when the stop has had its time: drift in 50 s or 40 s': {
    action: SUSPENDED,
    decided: stopped(80_000),
  },
  'invalid after a stop for a change: when the stop has had its time: drift in 50 s or 40 s': {
    action: action('hold', 'InvalidManifest'),
    decided: stopped(80_000),
  },
  'held until a moment that is over: at once: retry in 0 s': {
    action: action('hold', 'Suspended', NOW - HOUR),
  },
  'held for its manifest: after the interval: drift in 300 s or 240 s': {
    action: action('hold', 'InvalidManifest'),
  },
  'not found, not believed: three looks take more than a minute: retry in 37.2 s or 31 s': {
    action: action('hold', 'MissingUnconfirmed'),
  },
  'something local is missing: soon: drift in 10 s or 8 s': { action: action('refuse', 'SecretUnavailable') },
  'held back by the create limit: soon: drift in 10 s or 8 s': { action: action('refuse', 'CreateLimit') },
  'something local is missing, and the interval is shorter: after the interval: drift in 2 s or 1.6 s': {
    action: action('refuse', 'DependencyNotReady'),
    decided: pipe({ policy: { interval: '2s' } }),
  },
  'a service that is out of sight: not as soon, for it costs requests: drift in 31 s or 24.8 s': {
    action: action('refuse', 'MassMissing'),
  },
  'an unknown outcome: nothing changes by itself: drift in 300 s or 240 s': {
    action: action('refuse', 'OutcomeUnknown'),
  },
  'created, and not seen by any reading yet: soon: retry in 10 s or 8 s': { unseenForMs: 100 },
  'for a minute: in another minute: retry in 60 s or 48 s': {
    action: action('hold', 'NeverSeen'),
    unseenForMs: MINUTE,
  },
  'for a day: after the interval: retry in 300 s or 240 s': {
    action: action('hold', 'NeverSeen'),
    unseenForMs: 24 * HOUR,
  },
  'a replacement that has to wait: it is looked for at its interval meanwhile: drift in 300 s or 240 s': {
    action: action('hold', 'Missing', NOW + HOUR),
  },
  'a replacement that is due before: then: retry in 60 s': {
    action: action('hold', 'Missing', NOW + MINUTE),
  },
  'a state that is not healthy: in two seconds: retry in 2 s': { ready: 'UnhealthyState' },
  'then twice that, and so on: retry in 64 s': { ready: 'UnhealthyState', unsettledObservations: 5 },
  'up to the interval: drift in 300 s or 240 s': { ready: 'UnhealthyState', unsettledObservations: 8 },
  'and for ever: drift in 300 s or 240 s': { ready: 'UnhealthyState', unsettledObservations: 10_000 },
  'it is being changed: ever less often: retry in 90 s': { ready: 'Changing', decided: changing({}) },
  'it is told to stop for a change: soon, for it rests until somebody looks: retry in 2 s': {
    action: action('update', 'Changing'),
    ready: 'Changing',
    decided: changing({}),
  },
  'it was told so a moment ago: soon as well: retry in 3 s': { ready: 'Changing', decided: stopped(87_000) },
  'a stop that shows nothing has had its time in ten seconds: then: retry in 10 s': {
    ready: 'Changing',
    decided: stopped(40_000),
  },
  'a start that shows nothing is sent again in ten seconds: then: retry in 10 s': {
    ready: 'Changing',
    decided: changing({ command: { command: 'start', at: NOW - 20_000, since: NOW - 140_000 } }),
  },
  'it is on its way after a change whose stop may still arrive: retry in 2 s': {
    ready: 'Changing',
    synced: 'InSync',
    decided: stopped(87_000),
  },
  'a stop for a change that shows nothing after four minutes: retry in 60 s': { decided: stopped(-150_000) },
  'an alert that fires is looked at as ever: drift in 300 s or 240 s': {
    ready: 'UnhealthyState',
    decided: alert({ observed: FOUND }),
  },
}

describe('the next look', () => {
  test.each(Object.entries(ROWS))('%s', (title, row) => {
    const at = (random: number) =>
      requeueAfter({
        action: row.action ?? action('observe', 'InSync'),
        conditions: ready(row.ready ?? 'Healthy', row.synced),
        backoff: row.backoff,
        decided: row.decided ?? found(),
        upsert: row.decided?.recorded.upsert,
        unsettledObservations: row.unsettledObservations ?? 0,
        unseenForMs: row.unseenForMs,
        random: () => random,
      })
    const [why, ...others] = new Set([at(0), at(1)].map((due) => due.why))
    const times = new Set([at(0), at(1)].map(({ afterMs }) => `${afterMs / 1_000} s`))
    expect(others).toEqual([])
    expect(`${why} in ${[...times].join(' or ')}`).toBe(title.split(': ').at(-1))
  })
})
