import type { Profile } from '../profile.ts'
import { CLICKHOUSE_CLOUD } from './clickhouse-cloud/profile.ts'
import { DEFAULT } from './default/profile.ts'

/** To add a profile, add a folder, and the profile to this list. */
export const PROFILES: readonly Profile[] = [DEFAULT, CLICKHOUSE_CLOUD]
