import { ALERT } from './profiles/default/alert/kind.ts'
import type { Kind } from './definition.ts'
import { PIPE } from './profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from './profiles/default/query-endpoint/kind.ts'
import { SERVICE } from './service/kind.ts'

/** Every kind of resource, in the order in which people read them. A new one is a folder, and a name in this line. */
export const KINDS: readonly Kind[] = [SERVICE, PIPE, QUERY_ENDPOINT, ALERT]
