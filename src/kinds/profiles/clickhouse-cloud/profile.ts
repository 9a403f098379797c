import type { Profile } from '../../profile.ts'
import { SERVICE } from '../../service/kind.ts'
import { ALERT } from './alert/kind.ts'
import { PIPE } from './pipe/kind.ts'
import { QUERY_ENDPOINT } from './query-endpoint/kind.ts'

export const CLICKHOUSE_CLOUD: Profile = {
  name: 'clickhouse-cloud',
  version: '/v1',
  document: '2026-09-22',
  kinds: [SERVICE, PIPE, QUERY_ENDPOINT, ALERT],
}
