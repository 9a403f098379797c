import type { Kind } from '../kinds/definition.ts'
import { KINDS } from '../kinds/registry.ts'
import { MANIFEST_KINDS, RESOURCE_KINDS } from '../kinds/lookup.ts'
import { ACTION_TYPES } from '../plan/action.ts'
import { STATUSES } from '../plan/severity.ts'
import { REASONS } from '../plan/reason.ts'
import { RESULTS, WATCH_MODES } from '../contract/events.ts'
import type { Priority } from '../contract/platform.ts'
import { ERROR_CLASSES } from '../contract/remote-error.ts'

export const PREFIX = 'pipewright_'

export const OTHER = '_other'

export const PRIORITY_NAMES: Readonly<Record<Priority, string>> = { 0: 'changed', 1: 'retry', 2: 'drift' }

const COMMON_STATUSES = '200 400 401 403 404 408 409 422 424 425 429 500 502 503 504'

export const COMMON_CODES: readonly string[] = [...COMMON_STATUSES.split(' '), ...ERROR_CLASSES]

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const DISK_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Buckets for times that a person waits. */
const WAIT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/** Possible values of each label. `operations`: those of the profile. `open`: only known at run time. */
type Labels = Readonly<Record<string, readonly string[] | 'operations' | 'open'>>

export interface MetricDefinition<T = 'counter' | 'gauge' | 'histogram', L = Labels> {
  readonly type: T
  readonly help: string
  readonly labels: L
  /** In seconds. */
  readonly buckets?: readonly number[]
  readonly onlyWith?: string
}

function counter<const L extends Labels>(help: string, labels: L): MetricDefinition<'counter', L> {
  return { type: 'counter', help, labels }
}

function gauge<const L extends Labels>(help: string, labels: L): MetricDefinition<'gauge', L> {
  return { type: 'gauge', help, labels }
}

function histogram<const L extends Labels>(
  help: string,
  labels: L,
  buckets: readonly number[],
): MetricDefinition<'histogram', L> {
  return { type: 'histogram', help, labels, buckets }
}

const priorities = Object.values(PRIORITY_NAMES)

/** The names lack the prefix `pipewright_`. Users' dashboards depend on them. */
export const METRICS = {
  resources: gauge('Number of resources, by kind and status.', { kind: RESOURCE_KINDS, status: STATUSES }),
  resource_reasons: gauge('Number of resources, by reason: see docs/reference/runbook.md.', {
    reason: Object.keys(REASONS),
  }),
  resource_info: gauge(
    'Number of resources, by these labels. A resource counts once for each of its problems. team is metadata.labels.team. Beyond --named-resources, the name is _other. Those with problems are named first.',
    { kind: 'open', name: 'open', service_name: 'open', team: 'open', status: 'open', reason: 'open' },
  ),
  suspended_since_timestamp_seconds: gauge(
    'Start of the oldest current suspension, in seconds since the Unix epoch. 0: none.',
    {},
  ),
  reconcile_total: counter('Number of finished reconciles, by kind, action and result.', {
    kind: RESOURCE_KINDS,
    action: ACTION_TYPES,
    result: RESULTS,
  }),
  reconcile_duration_seconds: histogram(
    'Duration of a reconcile in seconds, by kind.',
    { kind: RESOURCE_KINDS },
    SECONDS,
  ),
  last_successful_reconcile_timestamp_seconds: gauge(
    'Time of the last successful reconcile, in seconds since the Unix epoch. 0: none yet.',
    {},
  ),
  reconcile_overdue_seconds: gauge('Delay of the most overdue reconcile, in seconds. 0: none is due.', {}),
  creates_total: counter('Number of attempts to create a pipe, by outcome.', {
    outcome: ['created', 'failed', 'unknown'],
  }),
  create_outcome_unknown: gauge(
    'Number of pipes whose create might have worked. See OutcomeUnknown in docs/reference/runbook.md.',
    {},
  ),
  unsaved_outcomes: gauge(
    'Number of creates whose outcome is only in memory because the ledger cannot be written. A restart would lose it.',
    {},
  ),
  create_limit_on: gauge('1 while the create limit blocks creates in a service, else 0.', {}),
  orphans: gauge('Number of recorded resources without a manifest.', {}),
  pipes_without_lock: gauge('Number of pipes whose id is in no Lock manifest. 0 if there is no Lock.', {}),
  pipes_without_manifest: {
    ...gauge(
      'Number of pipes on the platform with neither a record nor a manifest, by service. Only if the platform lists pipes.',
      { service_name: 'open' },
    ),
    onlyWith: 'listPipes',
  },
  change_to_apply_seconds: histogram(
    'Time from the read of a changed manifest until the change was applied, in seconds.',
    {},
    WAIT_SECONDS,
  ),
  api_requests_total: counter(
    'Number of requests to the platform, by operation and HTTP status. Without a reply, by class of error.',
    { operation: 'operations', code: COMMON_CODES },
  ),
  api_request_duration_seconds: histogram(
    'Duration of a request to the platform in seconds, by operation.',
    { operation: 'operations' },
    SECONDS,
  ),
  api_budget_wait_seconds_total: counter(
    'Total time that requests waited for the request budget, in seconds.',
    {},
  ),
  api_budget_used_ratio: gauge(
    'Used share of the request budget, 0 to 1, for the credential that uses most.',
    {},
  ),
  api_rate_limited_total: counter('Number of replies with status 429.', {}),
  source_last_load_successful: gauge(
    '1 if the last read of the manifests directory succeeded. 0 while Pipewright uses earlier manifests.',
    {},
  ),
  source_last_load_success_timestamp_seconds: gauge(
    'Time of the last successful read of manifests, in seconds since the Unix epoch. 0: none yet.',
    {},
  ),
  source_load_duration_seconds: histogram(
    'Duration of a read of the manifests directory, in seconds.',
    {},
    SECONDS,
  ),
  source_manifests: gauge('Number of manifests at the last successful read, by kind.', {
    kind: MANIFEST_KINDS,
  }),
  source_findings: gauge('Number of findings in manifests at the last successful read, by severity.', {
    severity: ['error', 'warning'],
  }),
  source_info: gauge('Always 1. Its label is the revision of the manifests in use.', {
    revision: 'open',
  }),
  source_revision_since_timestamp_seconds: gauge(
    'Time at which the current revision was checked out, in seconds since the Unix epoch. 0: unknown.',
    {},
  ),
  source_watch_mode: gauge('1 for the current way of watching the manifests directory, 0 for the others.', {
    mode: WATCH_MODES,
  }),
  source_missed_changes_total: counter(
    'Number of reads that found a change that the file watcher missed. If it keeps growing, watching does not work.',
    {},
  ),
  leader: gauge('1 if this process acts. 0 if it is on standby, or could not renew the Lease in time.', {}),
  leadership_shared: gauge('1 if a second process can be on standby (ledger in Kubernetes). Else 0.', {}),
  lease_renewal_failing: gauge(
    '1 while this process cannot renew or read the Lease, and so changes no resource. Else 0.',
    {},
  ),
  queue_depth: gauge(
    'Number of resources that wait for their reconcile, by priority: changed or requested, retry, drift check.',
    { priority: priorities },
  ),
  queue_wait_seconds: histogram(
    'Time between the due time and the start of a reconcile, in seconds, by priority.',
    { priority: priorities },
    WAIT_SECONDS,
  ),
  ledger_writes_total: counter('Number of writes to the ledger, by result.', {
    result: ['written', 'conflict', 'failed'],
  }),
  ledger_write_duration_seconds: histogram('Duration of a write to the ledger in seconds.', {}, DISK_SECONDS),
  drift_fields: gauge('Number of fields that differ between platform and manifest, by kind and name.', {
    kind: 'open',
    name: 'open',
  }),
  problems: gauge('Number of problems, by severity. One cause that affects many resources is one problem.', {
    severity: ['warning', 'critical'],
  }),
  notifications_waiting: gauge(
    'Number of notifications about problems that the webhook has not accepted yet.',
    {},
  ),
  notification_requests_total: counter(
    'Number of webhook requests, by HTTP status. Without a reply, by class of error.',
    { code: 'open' },
  ),
  build_info: gauge('Always 1. Its labels are the versions of Pipewright and Node.', {
    version: 'open',
    node_version: 'open',
  }),
} satisfies Readonly<Record<string, MetricDefinition>>

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
  const help = `1 for each ${noun}, with its name and last reported state. For the name _other: number of ${noun}s in this state.`
  return gauge(help, { name: 'open', state: 'open' })
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
