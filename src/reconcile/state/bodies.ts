import { fingerprintBody, unsetHash } from '../../kinds/fingerprint.ts'
import { TEXT } from '../../kinds/field-table.ts'
import { identityPaths } from '../../kinds/identity.ts'
import { keyOf, type Key } from '../../kinds/key.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import { bodyOf, fieldsOf, identityFieldsOf, type Profile } from '../../kinds/profile.ts'
import { keyedHash } from '../../lib/digest.ts'
import { comparedBody } from '../../kinds/remote-resource.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Fingerprint } from '../../plan/record.ts'

/** A request body with references in place of secrets. */
export interface DesiredBody {
  readonly body: JsonObject
  readonly fingerprint: Pick<Fingerprint, 'digest' | 'fields'>
}

export function createBodies(profile: Profile, hashKey: Uint8Array) {
  const digests = new WeakMap<ResourceManifest, string>()
  const secretHashes = new WeakMap<Secret, string>()
  const hash = (text: string) => keyedHash(hashKey, text)

  return {
    asked(manifest: ResourceManifest): DesiredBody | undefined {
      const body = bodyOf(profile, manifest)
      if (body === undefined) return undefined
      const fingerprint = fingerprintBody(body, {
        fields: fieldsOf(profile, keyOf(manifest.kind, manifest.metadata.name)),
        hash,
        digest: digests.get(manifest),
      })
      digests.set(manifest, fingerprint.digest)
      return { body, fingerprint }
    },
    identityPathsOf(key: Key): readonly string[] {
      const identity = identityFieldsOf(profile, key)
      return identity === undefined ? [] : identityPaths(identity)
    },
    hashesOf: (key: Key, body: JsonObject): Fingerprint['fields'] =>
      fingerprintBody(body, { fields: fieldsOf(profile, key), hash, digest: '' }).fields,
    unsetHash: (key: Key, path: string) => unsetHash(fieldsOf(profile, key), path, hash),
    identityHashes(key: Key, body: JsonObject): Fingerprint['fields'] {
      const fields = { name: TEXT, ...identityFieldsOf(profile, key) }
      return fingerprintBody(comparedBody(fields, body), { fields, hash, digest: '' }).fields
    },
    hashOf: (secret: Secret): string => secretHashes.getOrInsertComputed(secret, () => hash(secret.reveal())),
  }
}
