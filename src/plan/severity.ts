/** How much a piece of news matters, least first; what a target of notifications can ask for. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const

/** `critical`: data may be missing, or doubled by a wrong step. `warning`: somebody should look. `info`: nobody has to. */
export type Severity = (typeof SEVERITIES)[number]

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
}
