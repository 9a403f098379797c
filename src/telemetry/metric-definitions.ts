import type { Kind } from '../kinds/definition.ts'
import { KINDS } from '../kinds/registry.ts'
import { MANIFEST_KINDS, RESOURCE_KINDS } from '../kinds/lookup.ts'
import { ACTION_TYPES } from '../plan/action.ts'
import { STATUSES } from '../plan/severity.ts'
import { REASONS } from '../plan/reason.ts'
import { RESULTS, WATCH_MODES } from '../contract/events.ts'
import type { Priority } from '../contract/platform.ts'
import { ERROR_CLASSES } from '../contract/remote-error.ts'

/** Stands before every metric of ours; the metrics of the process keep their usual names. */
export const PREFIX = 'pipewright_'

/** Stands for all label values beyond a bound. */
export const OTHER = '_other'

/** Words for the priorities of the queue. */
export const PRIORITY_NAMES: Readonly<Record<Priority, string>> = { 0: 'changed', 1: 'retry', 2: 'drift' }

const COMMON_STATUSES = '200 400 401 403 404 408 409 422 424 425 429 500 502 503 504'

/** Codes of requests that are shown from the start; others appear when they are seen. */
export const COMMON_CODES: readonly string[] = [...COMMON_STATUSES.split(' '), ...ERROR_CLASSES]

/** From 5 ms to a minute: requests, readings and reconciles. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** From half a millisecond: a write to a local disk. */
const DISK_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** From 50 ms to an hour: what people wait for. */
const WAIT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/** One metric as it is documented and registered. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Says what one unit is. */
  readonly help: string
  /**
   * Names of the labels, each with the values that stand at 0 from the start; `operations`: those of the profile; `open`: known at run
   * time.
   */
  readonly labels: Readonly<Record<string, readonly string[] | 'operations' | 'open'>>
  /** Upper bounds in seconds; only of a histogram. */
  readonly buckets?: readonly number[]
  /** The request without which there is no such metric. */
  readonly onlyWith?: string
}

const priorities = Object.values(PRIORITY_NAMES)

/**
 * All metrics by their names without the prefix: those of design §8, and what alert rules need beside them. They are part
 * of the interface.
 */
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
    help: 'Number of resources with these labels: 1 for each that is named, and another for each problem that its status hides. team is metadata.labels.team; those that are not well are named first.',
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
    help: 'Number of pipes whose creation may or may not have worked; each waits for a person.',
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
    help: 'Number of pipes whose id is in no Lock manifest; 0 where there is no Lock.',
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
    help: 'Since when the revision in force is there, in seconds since the Unix epoch: when the link to it was swapped, or when HEAD last moved; 0 where nobody knows.',
    labels: {},
  },
  source_watch_mode: {
    type: 'gauge',
    help: '1 for the way in which the manifests directory is watched, 0 for the others.',
    labels: { mode: WATCH_MODES },
  },
  source_missed_changes_total: {
    type: 'counter',
    help: 'Number of changes that no watcher event announced; more than a few mean that the watcher is deaf.',
    labels: {},
  },
  leader: {
    type: 'gauge',
    help: 'Whether this process acts (1); 0: it stands by, or could not renew the Lease for as long as that lasts.',
    labels: {},
  },
  leadership_shared: {
    type: 'gauge',
    help: 'Whether another process may stand by and take over (1), as with a ledger in a cluster.',
    labels: {},
  },
  lease_renewal_failing: {
    type: 'gauge',
    help: 'Whether this process cannot renew the Lease, or cannot read it (1): it creates and changes nothing then.',
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
    help: 'Number of fields in which the platform differs from the manifest, by kind and name.',
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

/** The metric with the states of a kind whose replies have one, by the name of the kind. */
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

/** Every metric, those of kinds included. */
export const ALL_METRICS: Readonly<Record<string, MetricDefinition>> = {
  ...METRICS,
  ...Object.fromEntries(
    KINDS.flatMap((kind) => {
      const name = STATE_METRICS[kind.name]
      return name === undefined ? [] : [[name, stateMetric(kind)]]
    }),
  ),
}
