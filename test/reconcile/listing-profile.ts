import type { Kind } from '../../src/kinds/definition.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'

function listed(kind: Kind): Kind {
  const { list } = PIPE.operations
  if (kind.lifecycle !== 'create-once' || list === undefined) return kind
  return { ...kind, operations: { ...kind.operations, list } }
}

/** `default`, for a service that has a list. */
export const LISTING: Profile = { ...DEFAULT, kinds: DEFAULT.kinds.map(listed) }
