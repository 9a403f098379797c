import type { Clock } from '../lib/clock.ts'
import { WATCH_MODES, type Event } from '../contract/events.ts'
import type { Instruments } from './instruments.ts'
import { LEVELS, type Facts, type Level, type Line, type LineDefinition } from './log-fields.ts'
import { PRIORITY_NAMES } from './metric-definitions.ts'
import { READING_LINES, type ReadingLines } from './reading-lines.ts'
import { countAttempt, countReconcile, countReading, codeLabel, seconds } from './event-counts.ts'

/**
 * How an event is logged and counted. Info: something changed. Warn: something stands in the way. Error: our fault, or a
 * person is needed.
 */
interface EventRow<E extends Event> {
  /** The kinds of line that there are of it; none: it is only counted, since there are too many. */
  readonly lines: readonly LineDefinition[]
  /** Of its one line, where that has several. */
  level?(event: E): Level
  /** Its fields, where they do not stand in the event under their names, with its message as `detail`. */
  facts?(event: E): Facts
  /** Where one line with its facts does not do. */
  log?(event: E, readings: ReadingLines): readonly Line[]
  count?(metrics: Instruments, event: E, clock: Clock): void
}

/** A conflict means that somebody else wrote first; it is decided anew. */
const LEDGER_LEVELS = { written: 'debug', conflict: 'info', failed: 'error' } as const

const CREATE_LEVELS = { created: 'info', failed: 'warn', unknown: 'error' } as const

const { read, notBelieved, notRead, missed, finding, moreFindings } = READING_LINES

/** Every event: how it is logged and counted. What the page shows of it stands in `server/recent-events.ts`. */
export const EVENTS: { readonly [E in Event as E['type']]: EventRow<E> } = {
  Started: {
    lines: [
      {
        message: 'Started',
        levels: { info: 'always' },
        fields: ['version', 'sandbox', 'listen', 'manifests', 'baseUrl'],
      },
    ],
  },
  SourceLoaded: {
    lines: [read, notBelieved, missed, finding, moreFindings],
    log: (event, readings) => readings.loaded(event),
    count: countReading,
  },
  SourceFailed: {
    lines: [notRead],
    log: (event, readings) => readings.failed(event),
    count(metrics, { durationMs }) {
      metrics.source_load_duration_seconds.observe(seconds(durationMs))
      metrics.source_last_load_successful.set(0)
    },
  },
  WatchModeChanged: {
    lines: [
      {
        message: 'Watch mode changed',
        levels: { info: 'it is watched', warn: 'it is polled, because watching is not possible' },
        fields: ['mode', 'detail'],
      },
    ],
    level: ({ mode }) => (mode === 'polling' ? 'warn' : 'info'),
    count(metrics, event) {
      for (const mode of WATCH_MODES) metrics.source_watch_mode.set({ mode }, mode === event.mode ? 1 : 0)
    },
  },
  ReconcileFinished: {
    lines: [
      {
        message: 'Reconciled',
        levels: {
          debug: 'nothing is other than before',
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
        fields: ['key', 'condition', 'status', 'before', 'reason', 'detail', 'file', 'line'],
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
        message: 'Creating a pipe',
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
          info: 'the pipe is there',
          warn: 'it failed, and certainly had no effect',
          error: 'it may have worked: a person has to find out',
        },
        fields: ['key', 'intentId', 'outcome', 'pipeId', 'requestId', 'detail'],
      },
    ],
    level: ({ outcome }) => CREATE_LEVELS[outcome],
    count: (metrics, { outcome }) => metrics.creates_total.inc({ outcome }),
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
  RequestFinished: {
    lines: [
      {
        message: 'Request finished',
        levels: { debug: 'always' },
        fields: ['operation', 'service', 'code', 'durationMs', 'requestId'],
      },
    ],
    count(metrics, { operation, code, durationMs }) {
      metrics.api_requests_total.inc({ operation, code: codeLabel(code) })
      metrics.api_request_duration_seconds.observe({ operation }, seconds(durationMs))
    },
  },
  BudgetWaited: {
    lines: [
      {
        message: 'Waited for the request budget',
        levels: { debug: 'always' },
        fields: ['service', 'waitMs'],
      },
    ],
    count: (metrics, { waitMs }) => metrics.api_budget_wait_seconds_total.inc(seconds(waitMs)),
  },
  RateLimited: {
    lines: [
      {
        message: 'The platform asked us to slow down',
        levels: { warn: 'always' },
        fields: ['service', 'retryAfterMs'],
      },
    ],
    count: (metrics) => metrics.api_rate_limited_total.inc(),
  },
  ServicePaused: {
    lines: [
      {
        message: 'Service paused',
        levels: { warn: 'its credentials were refused, or it is idle' },
        fields: ['service', 'detail'],
      },
    ],
  },
  ServiceResumed: {
    lines: [
      {
        message: 'Service resumed',
        levels: { info: 'always' },
        fields: ['service'],
      },
    ],
  },
  LedgerWritten: {
    lines: [
      {
        message: 'Ledger written',
        levels: {
          debug: 'it is on disk',
          info: 'somebody else wrote first, and it is decided anew',
          error: 'it could not be written',
        },
        fields: ['result', 'durationMs', 'detail'],
      },
    ],
    level: ({ result }) => LEDGER_LEVELS[result],
    count(metrics, { result, durationMs }) {
      metrics.ledger_writes_total.inc({ result })
      metrics.ledger_write_duration_seconds.observe(seconds(durationMs))
    },
  },
  CreateLimitChanged: {
    lines: [
      {
        message: 'Create brake changed',
        levels: { info: 'creations may pass again', warn: 'too many are wanted at once, and none passes' },
        fields: ['on', 'wanted', 'limit'],
      },
    ],
    level: ({ on }) => (on ? 'warn' : 'info'),
    count: (metrics, { on }) => metrics.create_brake.set(on ? 1 : 0),
  },
  NotificationSent: {
    lines: [
      {
        message: 'Notification sent',
        levels: { debug: 'as before', info: 'the target is reached again' },
        fields: ['target', 'id', 'news', 'attempt', 'code', 'durationMs'],
      },
    ],
    level: ({ recovered }) => (recovered ? 'info' : 'debug'),
    count: countAttempt,
  },
  NotificationFailed: {
    lines: [
      {
        message: 'Notification not sent',
        levels: {
          debug: 'again',
          warn: 'the first time; it is tried again',
          error: 'it was refused, and is lost',
        },
        fields: ['target', 'id', 'news', 'attempt', 'code', 'durationMs', 'detail', 'retryInMs'],
      },
    ],
    level({ retryInMs, first }) {
      if (retryInMs === undefined) return 'error'
      return first ? 'warn' : 'debug'
    },
    count: countAttempt,
  },
  NotificationsForgotten: {
    lines: [
      {
        message: 'What was told is not remembered',
        levels: { warn: 'after a restart, some news may be told again' },
        fields: ['detail'],
      },
    ],
  },
  FailpointSet: {
    lines: [
      {
        message: 'A failpoint is set: this process is made to fail, for a test',
        levels: { warn: 'always' },
        fields: ['failpoint'],
      },
    ],
  },
  Stopping: {
    lines: [
      {
        message: 'Stopping',
        levels: { info: 'always' },
        fields: ['signal'],
      },
    ],
  },
  Stopped: {
    lines: [
      {
        message: 'Stopped',
        levels: { info: 'all that ran is finished', warn: 'something was cut short' },
        fields: ['unfinished'],
      },
    ],
    level: ({ unfinished }) => (unfinished > 0 ? 'warn' : 'info'),
  },
  OutcomeLost: {
    lines: [
      {
        message: 'The outcome of a create could not be saved',
        levels: { error: 'always; run the command once the ledger can be written' },
        fields: ['key', 'outcome', 'pipeId', 'command', 'detail'],
      },
    ],
  },
  Bug: {
    lines: [
      {
        message: 'Bug',
        levels: { error: 'always; please report it' },
        fields: ['detail', 'err'],
      },
    ],
    facts: ({ message, error }) => ({ detail: message, err: error }),
  },
  QueueChanged: {
    lines: [],
    count(metrics, { depth }) {
      for (const priority of [0, 1, 2] as const) {
        metrics.queue_depth.set({ priority: PRIORITY_NAMES[priority] }, depth[priority])
      }
    },
  },
  QueueWaited: {
    lines: [],
    count: (metrics, { priority, waitMs }) =>
      metrics.queue_wait_seconds.observe({ priority: PRIORITY_NAMES[priority] }, seconds(waitMs)),
  },
  NotificationsSettled: {
    lines: [],
    count: (metrics, { target, result, count }) => metrics.notifications_total.inc({ target, result }, count),
  },
  NotificationsWaiting: {
    lines: [],
    count: (metrics, { target, count }) => metrics.notifications_waiting.set({ target }, count),
  },
}

/** Every kind of line in the log. */
export const LINES: readonly LineDefinition[] = Object.values(EVENTS).flatMap(({ lines }) => lines)

function rowOf(event: Event): EventRow<Event> {
  return EVENTS[event.type] // the row of its own type
}

/** What is to be told of an event. */
export function linesOf(event: Event, readings: ReadingLines): readonly Line[] {
  const row = rowOf(event)
  if (row.log !== undefined) return row.log(event, readings)
  const facts = row.facts?.(event) ?? withDetail(event)
  return row.lines.map(({ message, levels, fields }) => ({
    level: row.level?.(event) ?? LEVELS.find((level) => level in levels) ?? 'error',
    message,
    facts: Object.fromEntries(
      Object.entries(facts).filter(([name]) => name === 'revision' || fields.some((field) => field === name)),
    ),
  }))
}

/** The message of an event is the detail of its line. */
function withDetail(event: Event): Readonly<Record<string, unknown>> {
  return 'message' in event ? { ...event, detail: event.message } : event
}

export function countEvent(metrics: Instruments, event: Event, clock: Clock): void {
  rowOf(event).count?.(metrics, event, clock)
}

const DETAILS: ReadonlySet<string> = new Set(
  Object.entries(EVENTS).flatMap(([type, { lines }]) =>
    lines.every(({ levels }) => Object.keys(levels).join() === 'debug') ? [type] : [],
  ),
)

/** Whether the line of an event, if it has one, is for debugging: of most events nothing need be made where nobody does. */
export function isDetail(event: Event): boolean {
  return event.type === 'ReconcileFinished' ? !event.changed : DETAILS.has(event.type)
}
