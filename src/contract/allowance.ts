import type { Key } from '../kinds/key.ts'

/** What the create limit holds back at a moment. */
export interface HeldBack {
  /** In order. */
  readonly keys: readonly Key[]
  /** Another one as soon as it is of other keys, or one of their manifests says something else. Empty when nothing is held back. */
  readonly id: string
}

/** What a person lets pass. */
export interface Allowance {
  /** One word never stands for both. Undefined: creations. */
  readonly what?: 'deletions' | undefined
  /** Only what is to be created there; undefined: everywhere. */
  readonly service: string | undefined
  /** What the person saw, by {@link HeldBack.id}; undefined: whatever it is now. */
  readonly held: string | undefined
  /** Whether it is only said what would pass. */
  readonly mode: 'write' | 'dry-run'
}

/** `changed`: it is not what the person saw any more, and nothing was written. */
export type Allowed =
  | { readonly is: 'allowed'; readonly allowed: readonly Key[]; readonly held: string }
  | { readonly is: 'changed'; readonly held: string }
