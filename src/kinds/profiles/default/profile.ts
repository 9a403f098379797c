import type { Profile } from '../../profile.ts'
import { KINDS } from '../../registry.ts'

/** The interface in docs/reference/default-platform.md. */
export const DEFAULT: Profile = { name: 'default', version: undefined, document: undefined, kinds: KINDS }
