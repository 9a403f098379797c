import type { Clock } from '../lib/clock.ts'
import { kindOf } from '../kinds/key.ts'
import { MANIFEST_KINDS } from '../kinds/lookup.ts'
import type { Event } from '../contract/events.ts'
import type { Instruments } from './instruments.ts'
import { COMMON_CODES, OTHER } from './metric-definitions.ts'

export function countAttempt(
  metrics: Instruments,
  { target, code }: Extract<Event, { type: 'NotificationSent' | 'NotificationFailed' }>,
): void {
  metrics.notification_requests_total.inc({ target, code })
}

export function countReconcile(
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

export function countReading(
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
export function codeLabel(code: string): string {
  return COMMON_CODES.includes(code) || /^[1-5]\d\d$/.test(code) ? code : OTHER
}

export function seconds(milliseconds: number): number {
  return milliseconds / 1_000
}
