import type { ActionType } from '../../plan/action.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Event, ProblemFacts } from '../../contract/events.ts'
import { causeOf, type Explanation, messageOf, type Reason } from '../../plan/reason.ts'
import { kindOf } from '../../kinds/key.ts'
import type { Instruments } from '../instruments.ts'
import type { Facts, Level } from '../log-fields.ts'
import { seconds, type EventRows } from './event-row.ts'

/** A failure is `debug`, because `ProblemFound` logs it. */
const CREATE_LEVELS = { created: 'info', failed: 'debug', unknown: 'error' } as const

/** A person must act on these immediately. Other problems end by themselves, or can wait. */
const NEEDS_SOMEBODY_NOW: ReadonlySet<Reason> = new Set(['OutcomeUnknown', 'OutcomeUnsaved'])

const PROBLEM_FIELDS = [
  'key',
  'reason',
  'serviceName',
  'resources',
  'keys',
  'detail',
  'file',
  'line',
  'manifestRevision',
] as const

const REPORTED_ELSEWHERE: ReadonlySet<Reason> = new Set(['InvalidManifest', 'RateLimited', 'LedgerFailed'])

const PROBLEM_LEVELS = {
  debug: 'another line reports it',
  warn: 'a person must look soon, or Pipewright continues automatically',
  error: 'a person must decide: it is unknown whether a pipe was created',
} as const

function problemLevel({ reason, isReported }: ProblemFacts): Level {
  if (isReported || REPORTED_ELSEWHERE.has(reason)) return 'debug'
  return NEEDS_SOMEBODY_NOW.has(reason) ? 'error' : 'warn'
}

function problemFacts({ because, ...facts }: ProblemFacts & { because?: Explanation }): Facts {
  const [key] = facts.keys
  const isOne = facts.resources === 1
  return {
    ...facts,
    key: isOne ? key : undefined,
    keys: isOne ? undefined : facts.keys,
    detail: key && because && messageOf(because, { ...facts, key }),
  }
}

export const RESOURCE_EVENTS = {
  ReconcileFinished: {
    line: {
      message: 'Reconciled',
      levels: {
        debug: 'no change, or a change that another line reports, such as a create or a problem',
        info: 'a resource was adopted or applied',
      },
      fields: [
        'key',
        'reconcileId',
        'action',
        'reason',
        'result',
        'detail',
        'requestId',
        'durationMs',
        'file',
        'line',
        'manifestRevision',
        'changeToApplyMs',
      ],
    },
    level: (event) => (isApplied(event) ? 'info' : 'debug'),
    // Omits a detail that `CreateFinished` has logged.
    facts: ({ because, ...facts }) => ({
      ...facts,
      reason: because.reason,
      detail:
        facts.action === 'create' && facts.result === 'unknown' ? undefined : causeOf(because, facts.key),
    }),
    count: countReconcile,
  },
  ConditionChanged: {
    line: {
      message: 'Condition changed',
      levels: {
        debug: 'all other changes',
        info: 'the resource is ready, or suspended, and had no problem before',
      },
      fields: [
        'key',
        'condition',
        'conditionStatus',
        'before',
        'reason',
        'detail',
        'file',
        'line',
        'manifestRevision',
      ],
    },
    level: ({ isNews }) => (isNews ? 'info' : 'debug'),
    facts: ({ key, condition, after, before, ...facts }) => ({
      key,
      condition,
      conditionStatus: after.status,
      before: before?.status,
      reason: after.reason,
      detail: after.reason === 'OutcomeUnknown' ? undefined : causeOf(after, key),
      ...facts,
    }),
  },
  CreateStarted: {
    line: { message: 'Create started', levels: { debug: 'always' }, fields: ['key', 'intentId', 'attempt'] },
  },
  CreateFinished: {
    line: {
      message: 'Create finished',
      levels: {
        info: 'the resource was created',
        debug: 'the create failed and created no resource. Another line reports the problem',
        error: 'the create might have worked: a person must check',
      },
      fields: ['key', 'intentId', 'outcome', 'pipeId', 'requestId', 'detail'],
    },
    level: ({ outcome }) => CREATE_LEVELS[outcome],
    facts: ({ because, ...facts }) => ({ ...facts, detail: messageOf(because, { key: facts.key }) }),
    count: (metrics, { outcome }) => metrics.creates_total.inc({ outcome }),
  },
  OutcomeLost: {
    line: {
      message: 'Create outcome not saved',
      levels: { error: 'always. When the ledger can be written, run the command of this line' },
      fields: ['key', 'outcome', 'pipeId', 'command', 'detail'],
    },
  },
  Observed: {
    line: { message: 'Observed', levels: { debug: 'always' }, fields: ['key', 'state', 'differs'] },
    facts: ({ differences, ...facts }) => ({ ...facts, differs: differences.map(({ field }) => field) }),
  },
  Forgotten: {
    line: { message: 'Forgotten', levels: { info: 'always' }, fields: ['key'] },
  },
  ProblemFound: {
    line: { message: 'Problem found', levels: PROBLEM_LEVELS, fields: PROBLEM_FIELDS },
    level: problemLevel,
    facts: problemFacts,
  },
  ProblemGrew: {
    line: {
      message: 'Problem grew',
      levels: { debug: PROBLEM_LEVELS.debug, warn: 'the problem affects ten times as many resources' },
      fields: ['reason', 'serviceName', 'resources', 'keys', 'detail'],
    },
    level: problemLevel,
    facts: problemFacts,
  },
  ProblemOver: {
    line: {
      message: 'Problem over',
      levels: { debug: PROBLEM_LEVELS.debug, info: 'no resource has the problem any longer' },
      fields: [
        'key',
        'reason',
        'serviceName',
        'resources',
        'keys',
        'durationMs',
        'file',
        'line',
        'manifestRevision',
      ],
    },
    level: ({ reason }) => (REPORTED_ELSEWHERE.has(reason) ? 'debug' : 'info'),
    facts: problemFacts,
  },
} satisfies EventRows

/** Actions that no other event reports. */
const DID: ReadonlySet<ActionType> = new Set(['adopt', 'upsert', 'update', 'delete'])

type Finished = Extract<Event, { type: 'ReconcileFinished' }>

function isApplied({ changed, result, action }: Finished): boolean {
  return changed && result === 'done' && DID.has(action)
}

function countReconcile(metrics: Instruments, event: Finished, clock: Clock): void {
  const kind = kindOf(event.key)
  metrics.reconcile_total.inc({ kind, action: event.action, result: event.result })
  metrics.reconcile_duration_seconds.observe({ kind }, seconds(event.durationMs))
  if (event.result === 'done') {
    metrics.last_successful_reconcile_timestamp_seconds.set(seconds(clock.now()))
  }
  if (event.changeToApplyMs !== undefined) {
    metrics.change_to_apply_seconds.observe(seconds(event.changeToApplyMs))
  }
}
