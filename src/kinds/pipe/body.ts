import type { JsonObject } from '../../lib/json.ts'
import type { PipeManifest } from './schema.ts'

/**
 * The request body of `POST …/pipes` (4.1), with references where secrets belong. It shares its parts with the
 * manifest: nobody may write to either.
 */
export function pipeBody(manifest: PipeManifest): JsonObject {
  const { service: _, name = manifest.metadata.name, ...rest } = manifest.spec
  return { name, ...rest }
}
