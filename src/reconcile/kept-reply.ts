import type { ResourceKind } from '../kinds/key.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'
import { returnedBody, returnedPatch } from '../kinds/returned-body.ts'
import type { JsonObject } from '../lib/json.ts'
import { mergePatch } from '../lib/merge-patch.ts'
import { expectedOf } from './asked-body.ts'

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
  kind: ResourceKind,
  reply: JsonObject,
  known: Omit<KeptReply, 'patch'> & { readonly desired: JsonObject },
): KeptReply {
  const { manifest, desired, id, serviceId } = known
  const patch = returnedPatch(kind, { ...desired, id, serviceId }, reply)
  return { manifest, id, serviceId, patch: JSON.stringify(patch) }
}

/** What the platform returned; sensitive values are in it. */
export function shownReply(kind: ResourceKind, { manifest, id, serviceId, patch }: KeptReply): JsonObject {
  const desired = manifest && expectedOf(manifest)
  const change = JSON.parse(patch) as JsonObject // written by keepReply
  return returnedBody(kind, mergePatch({ ...desired, id, serviceId }, change))
}
