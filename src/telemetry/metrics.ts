import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Clock } from '../lib/clock.ts'
import { kindOf } from '../kinds/key.ts'
import { MANIFEST_KINDS } from '../kinds/lookup.ts'
import { WATCH_MODES, type Event } from '../contract/events.ts'
import type { ResourceStatus } from '../contract/status.ts'
import { createBoardGauges } from './status-gauges.ts'
import { createInstruments, type Instruments } from './instruments.ts'
import { COMMON_CODES, OTHER, PRIORITY_NAMES } from './metric-definitions.ts'

export interface MetricsOptions {
  readonly version: string
  readonly clock: Clock
  readonly board: () => readonly ResourceStatus[]
  /** How many resources may appear by name in label values; the others share `_other`. */
  readonly namedResources: number
}

export interface Metrics {
  /** Counts an event. */
  count(event: Event): void
  /** For the `Content-Type` header of a scrape. */
  readonly contentType: string
  /** The text of a scrape. */
  render(): Promise<string>
  close(): void
}

/** Gauges that prom-client names like counters; each is the sum of one without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The metrics of design §8 in a registry of their own. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry()
  const instruments = createInstruments(registry)
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  instruments.build_info.set({ version: options.version, node: process.version }, 1)
  const boardGauges = createBoardGauges(instruments, options.namedResources)
  return {
    count: (event) => count(instruments, event, options.clock),
    contentType: registry.contentType,
    async render() {
      // Here and not in collect(): a collect() that throws fails the whole scrape.
      boardGauges.update(options.board(), options.clock.now())
      return registry.metrics()
    },
    close: () => registry.clear(),
  }
}

/** Events that are only logged stand at the end. */
function count(metrics: Instruments, event: Event, clock: Clock): void {
  switch (event.type) {
    case 'ReconcileFinished':
      return countReconcile(metrics, event, clock)
    case 'CreateFinished':
      return metrics.creates_total.inc({ outcome: event.outcome })
    case 'RequestFinished':
      metrics.api_requests_total.inc({ operation: event.operation, code: codeLabel(event.code) })
      return metrics.api_request_duration_seconds.observe(
        { operation: event.operation },
        seconds(event.durationMs),
      )
    case 'BudgetWaited':
      return metrics.api_budget_wait_seconds_total.inc(seconds(event.waitMs))
    case 'RateLimited':
      return metrics.api_rate_limited_total.inc()
    case 'SourceLoaded':
      return countReading(metrics, event, clock)
    case 'SourceFailed':
      metrics.source_load_duration_seconds.observe(seconds(event.durationMs))
      return metrics.source_last_load_successful.set(0)
    case 'WatchModeChanged':
      for (const mode of WATCH_MODES) metrics.source_watch_mode.set({ mode }, mode === event.mode ? 1 : 0)
      return
    case 'LedgerWritten':
      metrics.ledger_writes_total.inc({ result: event.result })
      return metrics.ledger_write_duration_seconds.observe(seconds(event.durationMs))
    case 'QueueChanged':
      for (const priority of [0, 1, 2] as const) {
        metrics.queue_depth.set({ priority: PRIORITY_NAMES[priority] }, event.depth[priority])
      }
      return
    case 'QueueWaited':
      return metrics.queue_wait_seconds.observe(
        { priority: PRIORITY_NAMES[event.priority] },
        seconds(event.waitMs),
      )
    case 'CreateLimitChanged':
      return metrics.create_brake.set(event.on ? 1 : 0)
    case 'NotificationSent':
    case 'NotificationFailed':
      return metrics.notification_requests_total.inc({ target: event.target, code: event.code })
    case 'NotificationsSettled':
      return metrics.notifications_total.inc({ target: event.target, result: event.result }, event.count)
    case 'NotificationsWaiting':
      return metrics.notifications_waiting.set({ target: event.target }, event.count)
    case 'ConditionChanged':
    case 'CreateStarted':
    case 'Observed':
    case 'Forgotten':
    case 'ServicePaused':
    case 'ServiceResumed':
    case 'Started':
    case 'Stopping':
    case 'Stopped':
    case 'OutcomeLost':
    case 'FailpointSet':
    case 'NotificationsForgotten':
    case 'Bug':
      return
  }
}

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

function countReading(
  metrics: Instruments,
  event: Extract<Event, { type: 'SourceLoaded' }>,
  clock: Clock,
): void {
  metrics.source_load_duration_seconds.observe(seconds(event.durationMs))
  metrics.source_last_load_successful.set(event.problem === undefined ? 1 : 0)
  if (event.missedByWatcher) metrics.source_missed_changes_total.inc()
  if (event.problem !== undefined) return // what is in force stays what it was

  metrics.source_last_load_success_timestamp_seconds.set(seconds(clock.now()))
  for (const kind of MANIFEST_KINDS) metrics.source_manifests.set({ kind }, event.manifests[kind] ?? 0)
  for (const severity of ['error', 'warning'] as const) {
    metrics.source_findings.set({ severity }, event.findings.filter((f) => f.severity === severity).length)
  }
  metrics.source_info.reset()
  metrics.source_info.set({ revision: event.revision.id }, 1)
}

/** A platform may answer with any number; only what can be a status becomes a label value. */
function codeLabel(code: string): string {
  return COMMON_CODES.includes(code) || /^[1-5]\d\d$/.test(code) ? code : OTHER
}

function seconds(milliseconds: number): number {
  return milliseconds / 1_000
}
