import type { Key } from '../kinds/key.ts'
import type { Reason } from '../plan/reason.ts'
import type { Severity } from '../plan/severity.ts'

/** One cause that affects one or more resources, from facts. Log, metrics, webhook and page read it. */
export interface Problem {
  /** The same while the problem lasts. */
  readonly id: string
  readonly cause: string
  readonly reason: Reason
  readonly severity: Severity
  readonly service: string | undefined
  /** In the order in which it reached them. */
  readonly keys: readonly Key[]
  /** ms since the epoch. */
  readonly since: number
  /** Equal until another field drifts, or the unhealthy state becomes another one. */
  readonly state: string
}
