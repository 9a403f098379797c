import type { Key } from '../kinds/key.ts'

/** What a person lets pass. */
export interface Allowance {
  /** A person allows either of the two. Undefined: creations. */
  readonly what?: 'deletions' | undefined
  /** Undefined: all services. */
  readonly service: string | undefined
  /** How many the person saw. Undefined: as many as there are. */
  readonly count: number | undefined
  readonly mode: 'write' | 'dry-run'
}

/** `grown`: there are more than the person saw, and nothing was written. */
export type Allowed =
  | { readonly is: 'allowed'; readonly allowed: readonly Key[] }
  | { readonly is: 'grown'; readonly count: number }
