import type { Kind } from '../kinds/definition.ts'
import { KINDS } from '../kinds/registry.ts'
import { MANIFEST_KINDS, RESOURCE_KINDS } from '../kinds/lookup.ts'
import { ACTION_TYPES } from '../plan/action.ts'
import { STATUSES } from '../plan/severity.ts'
import { REASONS } from '../plan/reason.ts'
import { RESULTS, WATCH_MODES } from '../contract/events.ts'
import type { Priority } from '../contract/platform.ts'
import { ERROR_CLASSES } from '../contract/remote-error.ts'

/** Of own metrics. Metrics of the process keep their usual names. */
export const PREFIX = 'pipewright_'

/** For values beyond a limit. */
export const OTHER = '_other'

export const PRIORITY_NAMES: Readonly<Record<Priority, string>> = { 0: 'changed', 1: 'retry', 2: 'drift' }

const COMMON_STATUSES = '200 400 401 403 404 408 409 422 424 425 429 500 502 503 504'

/** Exported from the start. */
export const COMMON_CODES: readonly string[] = [...COMMON_STATUSES.split(' '), ...ERROR_CLASSES]

/** 5 ms to a minute: requests, reads, reconciles. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** From 0.5 ms: local disk writes. */
const DISK_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** 50 ms to an hour: waits of people. */
const WAIT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** These start at 0. `operations`: the profile's. `open`: known at run time. */
  readonly labels: Readonly<Record<string, readonly string[] | 'operations' | 'open'>>
  /** In seconds. */
  readonly buckets?: readonly number[]
  readonly onlyWith?: string
}

const priorities = Object.values(PRIORITY_NAMES)

/** Without prefix: the metrics of design §8 and those for alert rules. Part of the interface. */
export const METRICS = {
  resources: {
    type: 'gauge',
    help: 'Number of resources, by kind and status.',
    labels: { kind: RESOURCE_KINDS, status: STATUSES },
  },
  resource_reasons: {
    type: 'gauge',
    help: 'Number of resources, by the reason that they show; docs/runbook.md has an entry for each.',
    labels: { reason: Object.keys(REASONS) },
  },
  resource_info: {
    type: 'gauge',
    help: 'Number of resources with these labels: 1 for each named resource, and 1 more for each problem that its status hides. team is metadata.labels.team. Resources with problems are named first.',
    labels: {
      kind: 'open',
      name: 'open',
      service_name: 'open',
      team: 'open',
      status: 'open',
      reason: 'open',
    },
  },
  suspended_since_timestamp_seconds: {
    type: 'gauge',
    help: 'Since when the resource that is suspended longest is suspended, in seconds since the Unix epoch; 0 when none is.',
    labels: {},
  },
  reconcile_total: {
    type: 'counter',
    help: 'Number of reconciles that ended, by kind, action and result.',
    labels: { kind: RESOURCE_KINDS, action: ACTION_TYPES, result: RESULTS },
  },
  reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a reconcile in seconds, by kind.',
    labels: { kind: RESOURCE_KINDS },
    buckets: SECONDS,
  },
  last_successful_reconcile_timestamp_seconds: {
    type: 'gauge',
    help: 'When a reconcile last ended well, in seconds since the Unix epoch; 0 before the first. The heartbeat.',
    labels: {},
  },
  reconcile_overdue_seconds: {
    type: 'gauge',
    help: 'How long the resource that waits longest for its reconcile has been due, in seconds; 0 when none is.',
    labels: {},
  },
  creates_total: {
    type: 'counter',
    help: 'Number of attempts to create a pipe, by outcome.',
    labels: { outcome: ['created', 'failed', 'unknown'] },
  },
  create_outcome_unknown: {
    type: 'gauge',
    help: 'Number of pipes with a create of unknown outcome. Each needs a decision by a person.',
    labels: {},
  },
  unsaved_outcomes: {
    type: 'gauge',
    help: 'Number of creates whose outcome is in memory only, because the ledger cannot be written: a restart would lose it.',
    labels: {},
  },
  create_limit_on: {
    type: 'gauge',
    help: '1 while the create limit refuses creations in a service, else 0.',
    labels: {},
  },
  orphans: {
    type: 'gauge',
    help: 'Number of resources that are recorded but whose manifest is gone.',
    labels: {},
  },
  pipes_without_lock: {
    type: 'gauge',
    help: 'Number of pipes whose id is in no Lock manifest; 0 without a Lock.',
    labels: {},
  },
  pipes_without_manifest: {
    type: 'gauge',
    help: 'Number of pipes in the last list of a service that no record and no manifest holds, by service; only where the platform lists its pipes.',
    labels: { service_name: 'open' },
    onlyWith: 'listPipes',
  },
  change_to_apply_seconds: {
    type: 'histogram',
    help: 'Time from the reading that brought a change until the change was applied, in seconds.',
    labels: {},
    buckets: WAIT_SECONDS,
  },
  api_requests_total: {
    type: 'counter',
    help: 'Number of requests to the platform, by operation and by HTTP status, or class of error without a reply.',
    labels: { operation: 'operations', code: COMMON_CODES },
  },
  api_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a request to the platform in seconds, by operation.',
    labels: { operation: 'operations' },
    buckets: SECONDS,
  },
  api_budget_wait_seconds_total: {
    type: 'counter',
    help: 'Time that requests waited for the request budget, in seconds, summed.',
    labels: {},
  },
  api_budget_used_ratio: {
    type: 'gauge',
    help: 'Share of the request budget that is used now, of the credential that uses most of it: 1 is all.',
    labels: {},
  },
  api_rate_limited_total: {
    type: 'counter',
    help: 'Number of replies with status 429.',
    labels: {},
  },
  source_last_load_successful: {
    type: 'gauge',
    help: '1 when the last reading of the manifests directory counts, else 0.',
    labels: {},
  },
  source_last_load_success_timestamp_seconds: {
    type: 'gauge',
    help: 'When a reading last counted, in seconds since the Unix epoch; 0 before the first.',
    labels: {},
  },
  source_load_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a reading of the manifests directory in seconds.',
    labels: {},
    buckets: SECONDS,
  },
  source_manifests: {
    type: 'gauge',
    help: 'Number of manifests in the last reading that counts, by kind.',
    labels: { kind: MANIFEST_KINDS },
  },
  source_findings: {
    type: 'gauge',
    help: 'Number of findings in the last reading that counts, by severity.',
    labels: { severity: ['error', 'warning'] },
  },
  source_info: {
    type: 'gauge',
    help: 'Always 1; its label is the revision of the last reading that counts.',
    labels: { revision: 'open' },
  },
  source_revision_since_timestamp_seconds: {
    type: 'gauge',
    help: 'Arrival of the current revision in seconds since the Unix epoch: the last swap of its link, or the last move of HEAD; 0: unknown.',
    labels: {},
  },
  source_watch_mode: {
    type: 'gauge',
    help: '1 for the current way of watching the manifests directory, 0 for the others.',
    labels: { mode: WATCH_MODES },
  },
  source_missed_changes_total: {
    type: 'counter',
    help: 'Number of changes that no watcher event announced; more than a few mean that the watcher is deaf.',
    labels: {},
  },
  leader: {
    type: 'gauge',
    help: '1 if this process acts. 0 if it is on standby, or could not renew the Lease in time.',
    labels: {},
  },
  leadership_shared: {
    type: 'gauge',
    help: '1 if a second process can be on standby and take over, as with a ledger in a cluster.',
    labels: {},
  },
  lease_renewal_failing: {
    type: 'gauge',
    help: '1 if this process cannot renew or read the Lease. It sends no changes then.',
    labels: {},
  },
  queue_depth: {
    type: 'gauge',
    help: 'Number of resources that wait for their reconcile, by priority: changed or asked for, retry, drift check.',
    labels: { priority: priorities },
  },
  queue_wait_seconds: {
    type: 'histogram',
    help: 'Time from when a resource was due until its reconcile began, in seconds, by priority.',
    labels: { priority: priorities },
    buckets: WAIT_SECONDS,
  },
  ledger_writes_total: {
    type: 'counter',
    help: 'Number of writes to the ledger, by result.',
    labels: { result: ['written', 'conflict', 'failed'] },
  },
  ledger_write_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a durable write to the ledger in seconds.',
    labels: {},
    buckets: DISK_SECONDS,
  },
  drift_fields: {
    type: 'gauge',
    help: 'Number of fields that differ between platform and manifest, by kind and name.',
    labels: { kind: 'open', name: 'open' },
  },
  problems: {
    type: 'gauge',
    help: 'Number of problems, by severity. One cause that affects many resources is one problem.',
    labels: { severity: ['warning', 'critical'] },
  },
  notifications_waiting: {
    type: 'gauge',
    help: 'Number of changes of problems that the webhook did not take yet.',
    labels: {},
  },
  notification_requests_total: {
    type: 'counter',
    help: 'Number of attempts to send a message to the webhook, by HTTP status, or class of error without a reply.',
    labels: { code: 'open' },
  },
  build_info: {
    type: 'gauge',
    help: 'Always 1; its labels are the versions of Pipewright and of Node.',
    labels: { version: 'open', node_version: 'open' },
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

export type MetricName = keyof typeof METRICS

/** By kind. */
export const STATE_METRICS: Readonly<Record<string, string>> = Object.fromEntries(
  KINDS.filter((kind) => 'reply' in kind && 'state' in kind.reply).map(({ name }) => [
    name,
    `${snakeCase(name)}_state`,
  ]),
)

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
}

function stateMetric({ noun }: Kind): MetricDefinition {
  return {
    type: 'gauge',
    help: `Number of ${noun}s, by name and by the state that the platform last reported: 1 for a single ${noun}.`,
    labels: { name: 'open', state: 'open' },
  }
}

export const ALL_METRICS: Readonly<Record<string, MetricDefinition>> = {
  ...METRICS,
  ...Object.fromEntries(
    KINDS.flatMap((kind) => {
      const name = STATE_METRICS[kind.name]
      return name === undefined ? [] : [[name, stateMetric(kind)]]
    }),
  ),
}
