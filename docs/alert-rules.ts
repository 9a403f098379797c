import { REASONS } from '../src/plan/reason.ts'

/* helm/rules/pipewright.rules.yaml: which reasons an alert wakes somebody for is what the table of reasons says; the rest is by hand. */

/** The whole file. @param written as it is */
export function alertRules(written: string): string {
  return written
    .split(/^(?=\s+- alert: )/m)
    .map((rule) => {
      const alert = /^\s+- alert: (\w+)/.exec(rule)?.[1]
      const reasons = Object.entries(REASONS).flatMap(([reason, row]) =>
        row.alert === alert ? [reason] : [],
      )
      return rule.replaceAll(/reason=~"[^"]*"/g, `reason=~"${reasons.join('|')}"`)
    })
    .join('')
}
