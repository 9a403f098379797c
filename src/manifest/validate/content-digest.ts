import { isResource, type Manifest } from '../../kinds/lookup.ts'
import { sha256 } from '../../lib/digest.ts'
import { stableJson } from '../../lib/json.ts'

/**
 * A digest of what a manifest says; equal exactly when two manifests mean the same, whatever their layout.
 * Fields leave the schema in the schema's own order; only labels, which name themselves, have to be put in order.
 */
export function contentDigest(manifest: Manifest): string {
  // A Lock names its fields itself as well, but has no place in the catalog.
  if (!isResource(manifest)) return sha256(stableJson(manifest))
  const { apiVersion, kind, metadata, policy, spec } = manifest
  return sha256(JSON.stringify([apiVersion, kind, metadata.name, stableJson(metadata.labels), policy, spec]))
}
