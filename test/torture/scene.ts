import type { Profile } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'

export const PROFILES = ['default', 'clickhouse-cloud'] as const
export type ProfileName = (typeof PROFILES)[number]

/** What differs by the profile, besides the manifests of pipes. */
export interface Scene {
  readonly profile: Profile
  /** The service changes pipes, and lists them. */
  readonly changes: boolean
  /** Requests by which pipes are seen. */
  readonly reads: readonly ('getPipe' | 'listPipes')[]
  readonly alertId: (index: number) => string
  /** API keys of a query endpoint. */
  readonly endpointKeys: string
  /** Requests of one API key, as `--api-budget` has them. */
  readonly budget: { readonly count: number; readonly windowMs: number }
  /** A new pipe is not in the list at once: ms. */
  readonly listLagMs: number
}

const SCENES: Readonly<Record<ProfileName, Scene>> = {
  default: {
    profile: DEFAULT,
    changes: false,
    reads: ['getPipe'],
    alertId: (index) => `alert-${index}`,
    endpointKeys: 'key-1, key-2',
    budget: { count: 2_000, windowMs: 1_000 },
    listLagMs: 0,
  },
  'clickhouse-cloud': {
    profile: CLICKHOUSE_CLOUD,
    changes: true,
    reads: ['getPipe', 'listPipes'],
    alertId: (index) => `66d0f1a2b3c4d5e6f7a8b9c${index}`,
    endpointKeys: '2f6c0b1d-7a94-4e58-b3c2-8d5e1f09a7c4, 3f6c0b1d-7a94-4e58-b3c2-8d5e1f09a7c5',
    budget: { count: 200, windowMs: 10_000 },
    listLagMs: 300,
  },
}

export function sceneOf(name: ProfileName): Scene {
  return SCENES[name]
}
