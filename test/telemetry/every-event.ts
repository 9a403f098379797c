import { masked } from '../support/masked.ts'
import type { Event } from '../../src/contract/events.ts'
import { createFinished, loaded, reconciled } from '../support/events.ts'
import { finding, NOW } from './sample.ts'

type Of<T extends Event['type']> = Extract<Event, { readonly type: T }>

export const PROBLEM = {
  reason: 'Drifted',
  service: 'analytics',
  resources: 1,
  keys: ['Pipe/orders'],
  file: 'orders.yaml',
  line: 3,
  manifestRevision: 'abc122',
  differences: [{ field: 'scaling.replicas', desired: '3', observed: '2' }],
} as const
const SEVERAL = {
  ...PROBLEM,
  resources: 2,
  keys: ['Pipe/a', 'Pipe/b'],
  file: undefined,
  line: undefined,
  manifestRevision: undefined,
  differences: [],
} as const
const UNKNOWN = { reason: 'OutcomeUnknown' } as const
const DRIFTED = { reason: 'Drifted', facts: { fields: ['scaling.replicas'], from: 'manifest' } } as const

export const CHANGE: Of<'ConditionChanged'> = {
  type: 'ConditionChanged',
  key: 'Pipe/orders',
  condition: 'Ready',
  before: { status: 'Unknown', reason: 'Unobserved', since: NOW },
  after: { status: 'True', reason: 'Healthy', since: NOW },
  isNews: true,
  revision: 'abc123',
  manifestRevision: 'abc122',
  file: 'orders.yaml',
  line: 3,
}

export const NOTIFICATION = {
  id: 'm-1',
  reason: 'Drifted',
  resources: 1,
  attempt: 1,
  code: '503',
  durationMs: 1,
} as const
export const FAILED: Of<'NotificationFailed'> = {
  type: 'NotificationFailed',
  ...NOTIFICATION,
  message: 'HTTP 503',
  retryInMs: 5,
  first: true,
}

const missed = Array.from({ length: 12 }, (_, index) =>
  finding({ message: `fault ${index}`, file: `${index}.yaml` }),
)
const twice = [finding({ file: 'a.yaml' }), finding({ file: 'b.yaml' })]
const FILLED = { changed: ['Pipe/orders'], findings: missed, missedByWatcher: true } as const

const LEADING: Of<'LeadershipChanged'> = {
  type: 'LeadershipChanged',
  isShared: true,
  is: 'acting',
  epoch: 1,
  leader: 'me_1',
  olderThan: undefined,
}

/** Events of each type, in an order, that together have every line, level and field that there is of it. */
export const EVERY_EVENT: { readonly [E in Event as E['type']]: readonly E[] } = {
  Started: [
    {
      type: 'Started',
      version: '1.0.0',
      sandbox: false,
      listen: 'http://127.0.0.1:8080',
      metricsListen: 'http://127.0.0.1:9090',
      manifests: '/manifests',
      baseUrl: 'https://api.example',
    },
  ],
  ConnectionsLimited: [{ type: 'ConnectionsLimited', listener: 'listen', closed: 1, limit: 4 }],
  SandboxReady: [{ type: 'SandboxReady', page: 'http://127.0.0.1:8080/', platform: 'http://127.0.0.1:9' }],
  CredentialsExposed: [{ type: 'CredentialsExposed', names: ['a'], message: 'a is in both places' }],
  TlsFilesUnusable: [{ type: 'TlsFilesUnusable', message: 'the certificate expired' }],
  LedgerWritten: [
    { type: 'LedgerWritten', result: 'written', durationMs: 1, message: undefined },
    { type: 'LedgerWritten', result: 'failed', durationMs: 1, message: 'ENOSPC' },
    { type: 'LedgerWritten', result: 'written', durationMs: 1, message: undefined },
  ],
  LedgerRead: [
    { type: 'LedgerRead', result: 'failed', durationMs: 1, message: 'it is gone' },
    { type: 'LedgerRead', result: 'failed', durationMs: 1, message: 'it is gone' },
    { type: 'LedgerRead', result: 'read', durationMs: 1, message: undefined },
    { type: 'LedgerRead', result: 'ignored', durationMs: 1, message: 'it is no record' },
  ],
  LedgerRolledBack: [{ type: 'LedgerRolledBack', message: 'the ledger was rolled back to an earlier state' }],
  LeadershipChanged: [
    { ...LEADING, isShared: false },
    { ...LEADING, is: 'standing by', epoch: 3, leader: 'other_1' },
    { ...LEADING, epoch: 4, leader: 'me_2', olderThan: 'r7' },
    { ...LEADING, is: 'taken over', epoch: 5, leader: 'other_3' },
  ],
  LeaseRenewed: [
    { type: 'LeaseRenewed', result: 'failed', message: 'the Kubernetes API does not answer in time' },
    { type: 'LeaseRenewed', result: 'renewed', message: undefined },
  ],
  QueueChanged: [{ type: 'QueueChanged', depth: { 0: 1, 1: 2, 2: 3 } }],
  QueueWaited: [{ type: 'QueueWaited', priority: 0, waitMs: 1 }],
  Bug: [{ type: 'Bug', message: 'in the queue', error: new Error('outer') }],
  Stopping: [{ type: 'Stopping', signal: 'SIGTERM' }],
  Stopped: [
    { type: 'Stopped', unfinished: 0 },
    { type: 'Stopped', unfinished: 1 },
  ],
  SourceLoaded: [
    loaded(FILLED),
    loaded(FILLED),
    loaded({ findings: twice }),
    loaded({ problem: 'empty' }),
    loaded({ problem: 'empty' }),
  ],
  SourceFailed: [
    { type: 'SourceFailed', reason: 'SourceUnreadable', message: 'gone', durationMs: 1 },
    { type: 'SourceFailed', reason: 'SourceUnreadable', message: 'gone', durationMs: 1 },
  ],
  WatchModeChanged: [
    { type: 'WatchModeChanged', mode: 'recursive', message: 'watching' },
    { type: 'WatchModeChanged', mode: 'polling', message: 'ENOSPC' },
  ],
  ReconcileFinished: [reconciled({ changed: true, action: 'upsert', changeToApplyMs: 5 }), reconciled()],
  ConditionChanged: [CHANGE, { ...CHANGE, isNews: false }],
  CreateStarted: [
    { type: 'CreateStarted', key: 'Pipe/orders', intentId: 'i-1', attempt: 1, revision: 'abc123' },
  ],
  CreateFinished: [
    createFinished(),
    createFinished({ outcome: 'failed' }),
    createFinished({ outcome: 'unknown' }),
  ],
  OutcomeLost: [
    {
      type: 'OutcomeLost',
      key: 'Pipe/orders',
      outcome: 'created',
      pipeId: 'p-1',
      command: 'pipewright resolve Pipe/orders --adopt p-1',
      message: 'run it',
    },
  ],
  Observed: [
    {
      type: 'Observed',
      key: 'Pipe/orders',
      state: masked('Running'),
      differences: [{ field: 'scaling.replicas', desired: '1', observed: '2' }],
    },
  ],
  Forgotten: [{ type: 'Forgotten', key: 'Pipe/orders' }],
  ProblemFound: [
    { type: 'ProblemFound', ...PROBLEM, because: DRIFTED },
    { type: 'ProblemFound', ...SEVERAL, because: DRIFTED },
    { type: 'ProblemFound', ...PROBLEM, ...UNKNOWN, because: UNKNOWN },
    { type: 'ProblemFound', ...PROBLEM, because: DRIFTED, isReported: true },
  ],
  ProblemGrew: [
    { type: 'ProblemGrew', ...SEVERAL, because: DRIFTED },
    { type: 'ProblemGrew', ...SEVERAL, reason: 'RateLimited', because: { reason: 'RateLimited' } },
  ],
  ProblemOver: [
    { type: 'ProblemOver', ...PROBLEM, durationMs: 5 },
    { type: 'ProblemOver', ...PROBLEM, reason: 'InvalidManifest', durationMs: 5 },
    { type: 'ProblemOver', ...SEVERAL, durationMs: 5 },
  ],
  RequestFinished: [
    {
      type: 'RequestFinished',
      operation: 'getPipe',
      service: 'analytics',
      code: '200',
      durationMs: 1,
      requestId: 'r-1',
    },
  ],
  BudgetWaited: [{ type: 'BudgetWaited', service: 'analytics', waitMs: 1 }],
  RateLimited: [
    { type: 'RateLimited', service: 'analytics', retryAfterMs: 1, isFirst: true },
    { type: 'RateLimited', service: 'analytics', retryAfterMs: 1, isFirst: false },
  ],
  ListItemsOdd: [{ type: 'ListItemsOdd', service: 'analytics', items: ['index 1 (id 7): state'] }],
  ShortSecretFound: [{ type: 'ShortSecretFound', file: '/secrets/kafka/password' }],
  RateLimitOver: [{ type: 'RateLimitOver', service: 'analytics', replies: 2, durationMs: 1 }],
  ServicePaused: [{ type: 'ServicePaused', service: 'analytics', message: 'refused' }],
  ServiceResumed: [{ type: 'ServiceResumed', service: 'analytics' }],
  NotificationSent: [
    { type: 'NotificationSent', ...NOTIFICATION, recovered: true },
    { type: 'NotificationSent', ...NOTIFICATION, recovered: false },
  ],
  NotificationFailed: [FAILED, { ...FAILED, first: false }, { ...FAILED, retryInMs: undefined }],
  NotificationsForgotten: [{ type: 'NotificationsForgotten', message: 'the ledger failed' }],
  NotificationsWaiting: [{ type: 'NotificationsWaiting', count: 1 }],
}
