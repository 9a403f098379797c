import type { ResourceManifest } from '../kinds/manifest.ts'
import type { Key } from '../kinds/key.ts'
import { returnedBody, returnedPatch } from '../kinds/returned-body.ts'
import type { JsonObject } from '../lib/json.ts'
import { mergePatch } from '../lib/merge-patch.ts'
import { expectedOf, fieldsOf } from '../kinds/lookup.ts'

/**
 * The resource of a reply, as far as it may be shown, kept as what it says otherwise than its manifest: of ten thousand
 * resources most say just that, and nobody looks at most.
 */
export interface KeptReply {
  readonly manifest: ResourceManifest | undefined
  /** As the ledger has them: shared with its record, and mostly what the reply says as well. */
  readonly id: string | undefined
  readonly serviceId: string | undefined
  /** A merge patch as JSON text. */
  readonly patch: string
}

/** @param desired the body that the manifest asks for, or what an alert is expected to say */
export function keepReply(
  key: Key,
  reply: JsonObject,
  known: Omit<KeptReply, 'patch'> & { readonly desired: JsonObject },
): KeptReply {
  const { manifest, desired, id, serviceId } = known
  const patch = returnedPatch(fieldsOf(key), { ...desired, id, serviceId }, reply)
  return { manifest, id, serviceId, patch: JSON.stringify(patch) }
}

/** What the platform returned; sensitive values are in it. */
export function shownReply(key: Key, { manifest, id, serviceId, patch }: KeptReply): JsonObject {
  const desired = manifest && expectedOf(manifest)
  const change = JSON.parse(patch) as JsonObject // written by keepReply
  return returnedBody(fieldsOf(key), mergePatch({ ...desired, id, serviceId }, change))
}
