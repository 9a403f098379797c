import type { Violation } from './finding.ts'
import type { RuleCode } from './rule-codes.ts'

type Place = Omit<Violation, 'code' | 'severity'>

/** A violation that keeps the manifest from being used. */
export function fault(code: RuleCode, place: Place): Violation {
  return { code, severity: 'error', ...place }
}

/** A violation that is shown and does no harm. */
export function warning(code: RuleCode, place: Place): Violation {
  return { code, severity: 'warning', ...place }
}
