import type { Clock } from '../../lib/clock.ts'
import type { Event } from '../../contract/events.ts'
import { kindOf } from '../../kinds/key.ts'
import type { Instruments } from '../instruments.ts'
import { seconds, type EventRows } from './event-row.ts'

const CREATE_LEVELS = { created: 'info', failed: 'warn', unknown: 'error' } as const

/** What becomes of a resource. */
export const RESOURCE_EVENTS = {
  ReconcileFinished: {
    lines: [
      {
        message: 'Reconciled',
        levels: {
          debug: 'nothing changed',
          info: 'something changed',
          warn: 'something changed, and it failed or its outcome is unknown',
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
    ],
    level({ changed, result }) {
      if (!changed) return 'debug'
      return result === 'failed' || result === 'unknown' ? 'warn' : 'info'
    },
    // The words of an unknown outcome are long, and the line of the create has just said them.
    facts: ({ message, ...facts }) => ({
      ...facts,
      detail: facts.action === 'create' && facts.result === 'unknown' ? undefined : message,
    }),
    count: countReconcile,
  },
  ConditionChanged: {
    lines: [
      {
        message: 'Condition changed',
        levels: { debug: 'the first of a resource, unless its state is unhealthy', info: 'it changed' },
        fields: [
          'key',
          'condition',
          'status',
          'before',
          'reason',
          'detail',
          'file',
          'line',
          'manifestRevision',
        ],
      },
    ],
    level: ({ before, after }) =>
      // The first ones stand in the line of the reconcile; but for the health, which that says nothing of.
      before === undefined && after.reason !== 'UnhealthyState' ? 'debug' : 'info',
    facts: ({ key, condition, after, before, ...facts }) => ({
      key,
      condition,
      status: after.status,
      before: before?.status,
      reason: after.reason,
      detail: after.reason === 'OutcomeUnknown' ? undefined : after.message,
      ...facts,
    }),
  },
  CreateStarted: {
    lines: [
      {
        message: 'Create started',
        levels: { info: 'always' },
        fields: ['key', 'intentId', 'attempt'],
      },
    ],
  },
  CreateFinished: {
    lines: [
      {
        message: 'Create finished',
        levels: {
          info: 'the resource was created',
          warn: 'it failed, and created nothing',
          error: 'it may have worked: a person has to check',
        },
        fields: ['key', 'intentId', 'outcome', 'pipeId', 'requestId', 'detail'],
      },
    ],
    level: ({ outcome }) => CREATE_LEVELS[outcome],
    count: (metrics, { outcome }) => metrics.creates_total.inc({ outcome }),
  },
  OutcomeLost: {
    lines: [
      {
        message: 'Create outcome not saved',
        levels: { error: 'always; run the command once the ledger can be written' },
        fields: ['key', 'outcome', 'pipeId', 'command', 'detail'],
      },
    ],
  },
  Observed: {
    lines: [
      {
        message: 'Observed',
        levels: { debug: 'always' },
        fields: ['key', 'state', 'differs'],
      },
    ],
    facts: ({ differences, ...facts }) => ({ ...facts, differs: differences.map(({ field }) => field) }),
  },
  Forgotten: {
    lines: [
      {
        message: 'Forgotten',
        levels: { info: 'always' },
        fields: ['key'],
      },
    ],
  },
  CreateLimitChanged: {
    lines: [
      {
        message: 'Create limit changed',
        levels: {
          info: 'creates are allowed again in this service',
          warn: 'in this service more creates are pending, or were made within the hour, than the limit, and none is allowed',
        },
        fields: ['on', 'service', 'wanted', 'made', 'limit'],
      },
    ],
    facts: ({ on, service, wanted, made, limit }) => ({ on, service, wanted, made, limit }),
    level: ({ on }) => (on ? 'warn' : 'info'),
    count: (metrics, { services }) => metrics.create_limit_on.set(services > 0 ? 1 : 0),
  },
} satisfies EventRows

function countReconcile(
  metrics: Instruments,
  event: Extract<Event, { type: 'ReconcileFinished' }>,
  clock: Clock,
): void {
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
