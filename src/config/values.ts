import type { SettingName, ValueOf } from './table.ts'

/** A setting that parsed, with where it came from. */
export interface Read<T> {
  readonly value: T
  /** `undefined`: nobody gave it; it is the default. */
  readonly from: string | undefined
}

/** What each setting came to; one that has no value, or a faulty one, is not there. */
export type ReadValues = { readonly [N in SettingName]?: Read<ValueOf<N>> }
