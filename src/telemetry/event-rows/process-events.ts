import { PRIORITY_NAMES } from '../metric-definitions.ts'
import { seconds, type EventRows } from './event-row.ts'
import { type Event, WATCH_MODES } from '../../contract/events.ts'
import type { Instruments } from '../instruments.ts'
import type { Clock } from '../../lib/clock.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { READING_LINES } from '../reading-lines.ts'

const CROWDED =
  'A client holds many connections to this port. Reconciling continues. If the client is a proxy, lower its connection limit. If not, block it (NetworkPolicy, firewall).'

const FIELDS = ['notificationId', 'reason', 'resources', 'attempt', 'code', 'durationMs'] as const

const { read, notAccepted, notRead, missed, finding, moreFindings, findingsOver } = READING_LINES

export const PROCESS_EVENTS = {
  Started: {
    line: {
      message: 'Started',
      levels: { info: 'always' },
      fields: ['version', 'sandbox', 'listen', 'metricsListen', 'manifestsDir', 'baseUrl'],
    },
  },
  ConnectionsLimited: {
    line: {
      message: 'Connections limited',
      levels: { warn: 'at most once a minute for each listener' },
      fields: ['listener', 'closed', 'limit', 'detail'],
    },
    facts: (event) => ({ ...event, detail: CROWDED }),
  },
  SandboxReady: {
    line: {
      message: 'Pipewright runs on its embedded sandbox. Open the page to see it; Ctrl-C stops it',
      levels: { info: 'once, when the first pass is over' },
      fields: ['page', 'baseUrl'],
    },
  },
  CredentialsExposed: {
    line: {
      message: 'Credentials are in the secrets directory as well',
      levels: { warn: 'at the start, and for each new file' },
      fields: ['detail'],
    },
  },
  TlsFilesUnusable: {
    line: {
      message: 'TLS files cannot be used',
      levels: { warn: 'after a change: the last good files stay in use' },
      fields: ['detail'],
    },
  },
  LedgerWritten: {
    line: READING_LINES.ledgerWritten,
    log: (event, { ledger }) => [ledger(event)],
    count(metrics, { result, durationMs }) {
      metrics.ledger_writes_total.inc({ result })
      metrics.ledger_write_duration_seconds.observe(seconds(durationMs))
    },
  },
  LedgerRead: { line: READING_LINES.ledgerRead, log: (event, { ledger }) => [ledger(event)] },
  LedgerRolledBack: {
    line: {
      message: 'Ledger rolled back',
      levels: { error: 'its records are in an earlier state: creates are blocked' },
      fields: ['detail'],
    },
  },
  LeadershipChanged: {
    line: {
      message: 'Leadership changed',
      levels: {
        debug: 'this process is the leader, and the ledger allows no standby',
        info: 'this process is the leader or on standby',
        warn:
          'another process became leader, and this process ends. ' +
          'Or this process is the leader, but its manifests might be stale: no manifest counts as removed',
      },
      fields: ['is', 'epoch', 'leader', 'olderThan'],
    },
    level: ({ is, isShared, olderThan }) =>
      is === 'taken over' || olderThan !== undefined ? 'warn' : isShared ? 'info' : 'debug',
    count: (metrics, { isShared }) => metrics.leadership_shared.set(isShared ? 1 : 0),
  },
  LeaseRenewed: {
    line: {
      message: 'Lease renewed',
      levels: {
        info: 'renewals work again',
        warn: 'renewals fail: no resource is created or changed until they work again',
      },
      fields: ['result', 'detail'],
    },
    level: ({ result }) => (result === 'failed' ? 'warn' : 'info'),
    count: (metrics, { result }) => metrics.lease_renewal_failing.set(result === 'failed' ? 1 : 0),
  },
  QueueChanged: {
    count(metrics, { depth }) {
      for (const priority of [0, 1, 2] as const) {
        metrics.queue_depth.set({ priority: PRIORITY_NAMES[priority] }, depth[priority])
      }
    },
  },
  QueueWaited: {
    count: (metrics, { priority, waitMs }) =>
      metrics.queue_wait_seconds.observe({ priority: PRIORITY_NAMES[priority] }, seconds(waitMs)),
  },
  Bug: {
    line: {
      message: 'Internal error',
      levels: { error: 'always. A bug in Pipewright: please report it' },
      fields: ['detail', 'err'],
    },
  },
  Stopping: {
    line: { message: 'Stopping', levels: { info: 'always' }, fields: ['signal'] },
  },
  Stopped: {
    line: {
      message: 'Stopped',
      levels: { info: 'all running work was finished', warn: 'some work was cut short' },
      fields: ['unfinished'],
    },
    level: ({ unfinished }) => (unfinished > 0 ? 'warn' : 'info'),
  },
  SourceLoaded: {
    line: read,
    moreLines: [notAccepted, missed, finding, moreFindings, findingsOver],
    log: (event, lines) => lines.loaded(event),
    count: countReading,
  },
  SourceFailed: {
    line: notRead,
    log: (event, lines) => lines.failed(event),
    count(metrics, { durationMs }) {
      metrics.source_load_duration_seconds.observe(seconds(durationMs))
      metrics.source_last_load_successful.set(0)
    },
  },
  WatchModeChanged: {
    line: {
      message: 'Watch mode changed',
      levels: {
        info: 'the directory is watched',
        warn: 'the directory is polled, because watching is not possible',
      },
      fields: ['mode', 'detail'],
    },
    level: ({ mode }) => (mode === 'polling' ? 'warn' : 'info'),
    count(metrics, event) {
      for (const mode of WATCH_MODES) metrics.source_watch_mode.set({ mode }, mode === event.mode ? 1 : 0)
    },
  },
  NotificationSent: {
    line: {
      message: 'Notification sent',
      levels: { debug: 'as before', info: 'the webhook works again' },
      fields: FIELDS,
    },
    level: ({ recovered }) => (recovered ? 'info' : 'debug'),
    count: countAttempt,
  },
  NotificationFailed: {
    line: {
      message: 'Notification not sent',
      levels: { debug: 'again', warn: 'the first time' },
      fields: [...FIELDS, 'detail', 'retryInMs'],
    },
    level: ({ first }) => (first ? 'warn' : 'debug'),
    count: countAttempt,
  },
  NotificationsForgotten: {
    line: {
      message: 'Notification state lost',
      levels: { warn: 'after a restart, some notifications can be sent again' },
      fields: ['detail'],
    },
  },
  NotificationsWaiting: {
    count: (metrics, { count }) => metrics.notifications_waiting.set(count),
  },
} satisfies EventRows

function countAttempt(
  metrics: Instruments,
  { code }: Extract<Event, { type: 'NotificationSent' | 'NotificationFailed' }>,
): void {
  metrics.notification_requests_total.inc({ code })
}

function countReading(
  metrics: Instruments,
  event: Extract<Event, { type: 'SourceLoaded' }>,
  clock: Clock,
): void {
  metrics.source_load_duration_seconds.observe(seconds(event.durationMs))
  metrics.source_last_load_successful.set(event.problem === undefined ? 1 : 0)
  if (event.missedByWatcher) metrics.source_missed_changes_total.inc()
  if (event.problem !== undefined) return // the catalog in force is unchanged

  metrics.source_last_load_success_timestamp_seconds.set(seconds(clock.now()))
  for (const kind of MANIFEST_KINDS) metrics.source_manifests.set({ kind }, event.manifests[kind] ?? 0)
  for (const severity of ['error', 'warning'] as const) {
    metrics.source_findings.set({ severity }, event.findings.filter((f) => f.severity === severity).length)
  }
  metrics.source_revision_since_timestamp_seconds.set(seconds(event.since ?? 0))
  metrics.source_info.reset()
  metrics.source_info.set({ revision: event.revision.id }, 1)
}
