import type { Kind } from '../../definition.ts'
import type { Profile } from '../../profile.ts'
import { SERVICE } from '../../service/kind.ts'
import { ALERT } from './alert/kind.ts'
import { PIPE } from './pipe/kind.ts'
import { QUERY_ENDPOINT } from './query-endpoint/kind.ts'

/** To add a kind, add a folder, and the kind to this list. The docs use the same order. */
export const KINDS: readonly Kind[] = [SERVICE, PIPE, QUERY_ENDPOINT, ALERT]

/** The interface in docs/reference/default-platform.md. */
export const DEFAULT: Profile = { name: 'default', version: undefined, document: undefined, kinds: KINDS }
