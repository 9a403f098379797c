import type { Profile } from '../profile.ts'
import { CLICKHOUSE_CLOUD } from './clickhouse-cloud/profile.ts'
import { DEFAULT } from './default/profile.ts'

/** Every profile that there is. A new one is a folder, and a name in this line. */
export const PROFILES: readonly Profile[] = [DEFAULT, CLICKHOUSE_CLOUD]
