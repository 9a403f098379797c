import type { Profile } from '../../kinds/profile.ts'
import type { Dialect } from '../dialect.ts'
import { CLOUD_DIALECT } from './clickhouse-cloud.ts'
import { DEFAULT_DIALECT } from './default.ts'

/** By the names of profiles. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  default: DEFAULT_DIALECT,
  'clickhouse-cloud': CLOUD_DIALECT,
}

export function dialectOf({ name }: Profile): Dialect {
  const dialect = DIALECTS[name]
  if (dialect === undefined) throw new Error(`the sandbox does not speak ${name}`)
  return dialect
}
