import { PRIORITY_NAMES } from '../metric-definitions.ts'
import { LEDGER_READ, LEDGER_WRITTEN } from '../ledger-lines.ts'
import { seconds, type EventRows } from './event-row.ts'

const CROWDED =
  'A client holds many connections. Reconciling continues. If it is a proxy, lower its limit. If not, block it (with a NetworkPolicy or a firewall).'

export const PROCESS_EVENTS = {
  Started: {
    lines: [
      {
        message: 'Started',
        levels: { info: 'always' },
        fields: ['version', 'sandbox', 'listen', 'metricsListen', 'manifestsDir', 'baseUrl'],
      },
    ],
    facts: ({ manifests, ...facts }) => ({ ...facts, manifestsDir: manifests }),
  },
  ConnectionsLimited: {
    lines: [
      {
        message: 'Connections limited',
        levels: { warn: 'at most once a minute for each listener' },
        fields: ['listener', 'closed', 'limit', 'detail'],
      },
    ],
    facts: (event) => ({ ...event, detail: CROWDED }),
  },
  SandboxReady: {
    lines: [
      {
        message: 'Pipewright runs on its embedded sandbox. Open the page to see it; Ctrl-C stops it',
        levels: { info: 'once, when the first pass is over' },
        fields: ['page', 'baseUrl'],
      },
    ],
    facts: ({ platform, ...facts }) => ({ ...facts, baseUrl: platform }),
  },
  CredentialsMisplaced: {
    lines: [
      {
        message: 'Credentials are in the secrets directory',
        levels: { warn: 'at the start, and for each that becomes so' },
        fields: ['detail'],
      },
    ],
  },
  CredentialsExposed: {
    lines: [
      {
        message: 'Credentials are in the secrets directory as well',
        levels: { warn: 'at the start, and for each that becomes so' },
        fields: ['detail'],
      },
    ],
  },
  TlsFilesUnusable: {
    lines: [
      {
        message: 'TLS files cannot be used',
        levels: { warn: 'when it becomes so; the last good ones stay in use' },
        fields: ['detail'],
      },
    ],
  },
  LedgerWritten: {
    lines: [LEDGER_WRITTEN],
    log: (event, { ledger }) => [ledger(event)],
    count(metrics, { result, durationMs }) {
      metrics.ledger_writes_total.inc({ result })
      metrics.ledger_write_duration_seconds.observe(seconds(durationMs))
    },
  },
  LedgerRead: {
    lines: [LEDGER_READ],
    log: (event, { ledger }) => [ledger(event)],
  },
  LedgerRolledBack: {
    lines: [
      {
        message: 'Ledger rolled back',
        levels: { error: 'its records are at an earlier state: creates are refused' },
        fields: ['detail'],
      },
    ],
    facts: ({ message }) => ({ detail: message }),
  },
  LeadershipChanged: {
    lines: [
      {
        message: 'Leadership changed',
        levels: {
          debug: 'this process acts, and no other one can with this ledger',
          info: 'this process acts, or is on standby',
          warn:
            'another process has taken over, and this process ends; ' +
            'or this process acts, but its manifests might be older than the manifests of the process before: none counts as removed',
        },
        fields: ['is', 'epoch', 'leader', 'olderThan'],
      },
    ],
    level: ({ is, isShared, olderThan }) =>
      is === 'taken over' || olderThan !== undefined ? 'warn' : isShared ? 'info' : 'debug',
    count: (metrics, { isShared }) => metrics.leadership_shared.set(isShared ? 1 : 0),
  },
  LeaseRenewed: {
    lines: [
      {
        message: 'Lease renewed',
        levels: {
          info: 'it works again after a failure',
          warn: 'it cannot be renewed: no resource is created or changed until then',
        },
        fields: ['result', 'detail'],
      },
    ],
    level: ({ result }) => (result === 'failed' ? 'warn' : 'info'),
    count: (metrics, { result }) => metrics.lease_renewal_failing.set(result === 'failed' ? 1 : 0),
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
  Bug: {
    lines: [
      {
        message: 'Internal error',
        levels: { error: 'always: a bug in Pipewright, please report it' },
        fields: ['detail', 'err'],
      },
    ],
    facts: ({ message, error }) => ({ detail: message, err: error }),
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
        levels: { info: 'all running work was finished', warn: 'some work was cut short' },
        fields: ['unfinished'],
      },
    ],
    level: ({ unfinished }) => (unfinished > 0 ? 'warn' : 'info'),
  },
} satisfies EventRows
