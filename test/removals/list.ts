import { BY_STORIES_OF_PODS } from './by-stories-of-pods.ts'
import { BY_STORIES } from './by-stories.ts'
import { BY_TESTS } from './by-tests.ts'
import type { Patches } from './checkout.ts'

/** One protection, how it is removed from a copy of the sources, and what notices that. */
export interface Removal {
  readonly protection: string
  readonly patches: Patches
  /** In this world of the explorer, a story breaks a law. */
  readonly world?: string
  /** 2 unless given. */
  readonly depth?: number
  /** Without a world: the tests that fail. */
  readonly tests?: string
}

export const REMOVALS: readonly Removal[] = [...BY_STORIES, ...BY_STORIES_OF_PODS, ...BY_TESTS]
