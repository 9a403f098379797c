import type { Status } from './condition.ts'
import type { Reason } from './reason.ts'

/** How much a piece of news matters, least first; what a target of notifications can ask for. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const

export type Severity = (typeof SEVERITIES)[number]

/** `critical`: data may be missing, or doubled by a wrong step. `warning`: somebody should look. `info`: nobody has to. */
const SEVERITY_OF: Readonly<Record<Status, Severity>> = {
  OutcomeUnknown: 'critical',
  Invalid: 'warning',
  Missing: 'critical',
  Failed: 'warning',
  Refused: 'warning',
  Drifted: 'warning',
  NotReady: 'warning',
  Orphaned: 'warning',
  Suspended: 'info',
  Progressing: 'info',
  Ready: 'info',
}

/** Worse than their status says: they end only by a person, as the alert rules say too. */
const CRITICAL: ReadonlySet<Reason> = new Set(['LedgerFailed', 'OutcomeUnsaved'])

export function severityOf(status: Status, reason: Reason): Severity {
  return CRITICAL.has(reason) ? 'critical' : SEVERITY_OF[status]
}

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
}
