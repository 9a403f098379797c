import type { Key } from '../kinds/key.ts'

export interface Allowance {
  readonly limit: 'CreateLimit' | 'DeleteLimit'
  /** Undefined: all services. */
  readonly service: string | undefined
  /** Seen by the person. Undefined: no upper limit. */
  readonly count: number | undefined
  readonly dryRun: boolean
}

/** `grown`: more than the person saw. No action was allowed. */
export type Allowed =
  | { readonly is: 'allowed'; readonly allowed: readonly Key[] }
  | { readonly is: 'grown'; readonly count: number }
