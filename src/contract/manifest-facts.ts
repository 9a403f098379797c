import type { Key } from '../kinds/key.ts'
import type { JsonObject } from '../lib/json.ts'

/** What a manifest says and stands among; sensitive values masked. */
export interface ManifestFacts {
  /** As it stands in its file, references in place. */
  readonly document: JsonObject
  /** The request that creates or applies it; undefined for what is only looked at, or while its Service is not known. */
  readonly request: ShownRequest | undefined
  /** Its Service, and the keys of `policy.dependsOn`. */
  readonly needs: readonly Key[]
  /** Those that need it: the first of them. */
  readonly neededBy: readonly Key[]
  /** How many need it. */
  readonly neededByCount: number
}

/** A request of the interface, without the values of secrets. */
export interface ShownRequest {
  /** As metrics and logs name it. */
  readonly operation: string
  readonly method: 'POST'
  readonly path: string
  readonly body: JsonObject
}
