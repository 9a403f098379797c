import type { Profile } from '../profile.ts'
import { DEFAULT } from './default/profile.ts'
import { SERVICE } from '../service/kind.ts'
import { ALERT, WRITTEN_ALERT } from './clickhouse-cloud/alert/kind.ts'
import { PIPE } from './clickhouse-cloud/pipe/kind.ts'
import { QUERY_ENDPOINT } from './clickhouse-cloud/query-endpoint/kind.ts'

export const CLICKHOUSE_CLOUD: Profile = {
  name: 'clickhouse-cloud',
  version: '/v1',
  document: '2026-09-22',
  kinds: [SERVICE, PIPE, QUERY_ENDPOINT, ALERT, WRITTEN_ALERT],
}

/** To add a profile, add a folder, and the profile to this list. */
export const PROFILES: readonly Profile[] = [DEFAULT, CLICKHOUSE_CLOUD]
