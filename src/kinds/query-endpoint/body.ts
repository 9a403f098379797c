import type { JsonObject } from '../../lib/json.ts'
import type { QueryEndpointManifest } from './schema.ts'

/** The request body of the upsert (4.3). It shares its parts with the manifest: nobody may write to either. */
export function endpointBody(manifest: QueryEndpointManifest): JsonObject {
  const { service: _, ...rest } = manifest.spec
  return rest
}
