import type { JsonObject } from '../../lib/json.ts'
import type { AlertManifest } from './schema.ts'

/** What the alert should say (2.8); an empty object when only its `state` is watched. */
export function alertExpectation(manifest: AlertManifest): JsonObject {
  return manifest.spec.expect ?? {}
}
