import type { Event } from '../contract/events.ts'
import type { Field } from './log-fields.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** A kind of line: its message never changes, and it has no other level or field. */
export interface LineDefinition {
  readonly event: Event['type']
  readonly message: string
  /** When it has which level. */
  readonly levels: Readonly<Partial<Record<Level, string>>>
  /** Beside those of every line. */
  readonly fields: readonly Field[]
}

/** Every kind of line in the log. Messages and names of fields are part of the interface. */
export const LINES = {
  started: {
    event: 'Started',
    message: 'Started',
    levels: { info: 'always' },
    fields: ['version', 'sandbox', 'listen', 'manifests', 'baseUrl'],
  },
  read: {
    event: 'SourceLoaded',
    message: 'Manifests read',
    levels: { debug: 'as before', info: 'a key or the revision changed, or a trouble is over' },
    fields: ['changed', 'manifests', 'findings', 'durationMs'],
  },
  notBelieved: {
    event: 'SourceLoaded',
    message: 'Reading not believed',
    levels: { debug: 'for the same reason as before', warn: 'everything stays as it was' },
    fields: ['detail'],
  },
  notRead: {
    event: 'SourceFailed',
    message: 'Manifests not read',
    levels: { debug: 'for the same reason as before', warn: 'everything stays as it was' },
    fields: ['reason', 'detail', 'durationMs'],
  },
  missed: {
    event: 'SourceLoaded',
    message: 'Change missed by the watcher',
    levels: { warn: 'always' },
    fields: ['changed'],
  },
  finding: {
    event: 'SourceLoaded',
    message: 'Finding',
    levels: { warn: 'once for each finding that is new' },
    fields: ['key', 'severity', 'code', 'file', 'line', 'column', 'detail', 'hint'],
  },
  moreFindings: {
    event: 'SourceLoaded',
    message: 'More findings',
    levels: { warn: 'a reading has more than a hundred new ones' },
    fields: ['findings'],
  },
  watchMode: {
    event: 'WatchModeChanged',
    message: 'Watch mode changed',
    levels: { info: 'it is watched', warn: 'it is polled, because watching is not possible' },
    fields: ['mode', 'detail'],
  },
  reconciled: {
    event: 'ReconcileFinished',
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
  condition: {
    event: 'ConditionChanged',
    message: 'Condition changed',
    levels: { debug: 'the first of a resource, unless its state is unhealthy', info: 'it changed' },
    fields: ['key', 'condition', 'status', 'before', 'reason', 'detail', 'file', 'line'],
  },
  creating: {
    event: 'CreateStarted',
    message: 'Creating a pipe',
    levels: { info: 'always' },
    fields: ['key', 'intentId', 'attempt'],
  },
  created: {
    event: 'CreateFinished',
    message: 'Create finished',
    levels: {
      info: 'the pipe is there',
      warn: 'it failed, and certainly had no effect',
      error: 'it may have worked: a person has to find out',
    },
    fields: ['key', 'intentId', 'outcome', 'pipeId', 'requestId', 'detail'],
  },
  observed: {
    event: 'Observed',
    message: 'Observed',
    levels: { debug: 'always' },
    fields: ['key', 'state', 'differs'],
  },
  forgotten: {
    event: 'Forgotten',
    message: 'Forgotten',
    levels: { info: 'always' },
    fields: ['key'],
  },
  request: {
    event: 'RequestFinished',
    message: 'Request finished',
    levels: { debug: 'always' },
    fields: ['operation', 'service', 'code', 'durationMs', 'requestId'],
  },
  budget: {
    event: 'BudgetWaited',
    message: 'Waited for the request budget',
    levels: { debug: 'always' },
    fields: ['service', 'waitMs'],
  },
  rateLimited: {
    event: 'RateLimited',
    message: 'The platform asked us to slow down',
    levels: { warn: 'always' },
    fields: ['service', 'retryAfterMs'],
  },
  paused: {
    event: 'ServicePaused',
    message: 'Service paused',
    levels: { warn: 'its credentials were refused, or it is idle' },
    fields: ['service', 'detail'],
  },
  resumed: {
    event: 'ServiceResumed',
    message: 'Service resumed',
    levels: { info: 'always' },
    fields: ['service'],
  },
  ledger: {
    event: 'LedgerWritten',
    message: 'Ledger written',
    levels: {
      debug: 'it is on disk',
      info: 'somebody else wrote first, and it is decided anew',
      error: 'it could not be written',
    },
    fields: ['result', 'durationMs', 'detail'],
  },
  brake: {
    event: 'CreateLimitChanged',
    message: 'Create brake changed',
    levels: { info: 'creations may pass again', warn: 'too many are wanted at once, and none passes' },
    fields: ['on', 'wanted', 'limit'],
  },
  notified: {
    event: 'NotificationSent',
    message: 'Notification sent',
    levels: { debug: 'as before', info: 'the target is reached again' },
    fields: ['target', 'id', 'news', 'attempt', 'code', 'durationMs'],
  },
  notNotified: {
    event: 'NotificationFailed',
    message: 'Notification not sent',
    levels: {
      debug: 'again',
      warn: 'the first time; it is tried again',
      error: 'it was refused, and is lost',
    },
    fields: ['target', 'id', 'news', 'attempt', 'code', 'durationMs', 'detail', 'retryInMs'],
  },
  notRemembered: {
    event: 'NotificationsForgotten',
    message: 'What was told is not remembered',
    levels: { warn: 'after a restart, some news may be told again' },
    fields: ['detail'],
  },
  failpoint: {
    event: 'FailpointSet',
    message: 'A failpoint is set: this process is made to fail, for a test',
    levels: { warn: 'always' },
    fields: ['failpoint'],
  },
  stopping: {
    event: 'Stopping',
    message: 'Stopping',
    levels: { info: 'always' },
    fields: ['signal'],
  },
  stopped: {
    event: 'Stopped',
    message: 'Stopped',
    levels: { info: 'all that ran is finished', warn: 'something was cut short' },
    fields: ['unfinished'],
  },
  outcomeLost: {
    event: 'OutcomeLost',
    message: 'The outcome of a create could not be saved',
    levels: { error: 'always; run the command once the ledger can be written' },
    fields: ['key', 'outcome', 'pipeId', 'command', 'detail'],
  },
  bug: {
    event: 'Bug',
    message: 'Bug',
    levels: { error: 'always; please report it' },
    fields: ['detail', 'err'],
  },
} as const satisfies Readonly<Record<string, LineDefinition>>

export type LineName = keyof typeof LINES

/** Events that are only counted: there are too many. */
export const SILENT_EVENTS = [
  'QueueChanged',
  'QueueWaited',
  'NotificationsSettled',
  'NotificationsWaiting',
] as const satisfies readonly Event['type'][]

type Of<N extends LineName> = (typeof LINES)[N]

/** The facts of a line: no field that its definition does not name, but the revision, which may stand on every line. */
export type Facts<N extends LineName> = Readonly<
  Partial<Record<Of<N>['fields'][number] | 'revision', unknown>>
>

/** What stands in the log about one event. */
export interface Line {
  readonly level: Level
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

export function line<N extends LineName>(
  name: N,
  level: keyof Of<N>['levels'] & Level,
  facts: Facts<N>,
): Line {
  return { level, message: LINES[name].message, facts }
}
