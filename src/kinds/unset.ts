import type { Json } from '../lib/json.ts'
import type { LeafForm } from './field-table.ts'

/** What a reply may say by leaving a field out. */
export const UNSET: Partial<Readonly<Record<LeafForm, Json>>> = { flag: false, offset: 0 }
