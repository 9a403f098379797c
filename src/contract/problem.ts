import type { Key } from '../kinds/key.ts'
import type { Reason } from '../plan/reason.ts'
import type { Severity } from '../plan/severity.ts'

/** One cause that affects one or more resources. Log, metrics, webhook and page read it. */
export interface Problem {
  /** Constant for the problem's duration. */
  readonly id: string
  readonly cause: string
  readonly reason: Reason
  readonly severity: Severity
  readonly service: string | undefined
  readonly keys: readonly Key[]
  /** ms since the epoch. */
  readonly since: number
  /** Changes if another field drifts or the unhealthy state changes. */
  readonly state: string
}
