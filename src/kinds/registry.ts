import { ALERT } from './profiles/default/alert/kind.ts'
import type { Kind } from './definition.ts'
import { PIPE } from './profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from './profiles/default/query-endpoint/kind.ts'
import { SERVICE } from './service/kind.ts'

/** To add a kind, add a folder, and the kind to this list. The docs use the same order. */
export const KINDS: readonly Kind[] = [SERVICE, PIPE, QUERY_ENDPOINT, ALERT]
