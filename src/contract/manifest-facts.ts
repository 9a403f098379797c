import type { Key } from '../kinds/key.ts'
import type { JsonObject } from '../lib/json.ts'

/** Sensitive values are masked. */
export interface ManifestFacts {
  /** Holds secretRefs, not their values. */
  readonly document: JsonObject
  /** The create or upsert. Undefined if Pipewright only reads the resource, or does not know its Service. */
  readonly request: ShownRequest | undefined
  readonly needs: readonly Key[]
  readonly neededBy: readonly Key[]
  readonly neededByCount: number
}

export interface ShownRequest {
  readonly operation: string
  readonly method: 'POST'
  readonly path: string
  readonly body: JsonObject
}
