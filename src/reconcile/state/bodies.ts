import { fingerprintBody } from '../../kinds/fingerprint.ts'
import { identityPaths, type Identity } from '../../kinds/identity.ts'
import { keyOf, type Key } from '../../kinds/key.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import { bodyOf, fieldsOf, identityOf, type Profile } from '../../kinds/profile.ts'
import { keyedHash } from '../../lib/digest.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Fingerprint } from '../../plan/record.ts'

/** What a manifest asks for: the body of the interface, references in place. */
export interface Asked {
  readonly body: JsonObject
  /** Without the values of secrets, which may change while the manifest does not. */
  readonly fingerprint: Pick<Fingerprint, 'digest' | 'fields'>
}

/** Bodies of manifests and of the platform, and their hashes. */
export interface Bodies {
  /** The body that a manifest asks for, with its fingerprint, whose digest is worked out once a manifest. */
  asked(manifest: ResourceManifest): Asked | undefined
  /** The paths of the fields that make a resource of the kind of a key that one. */
  identityPathsOf(key: Key): readonly string[]
  /** The hashes of the fields of a body, as in {@link Fingerprint}: of what the platform has of a key, too. */
  hashesOf(key: Key, body: JsonObject): Fingerprint['fields']
  /** The keyed hash of a secret's value; worked out once a reading of it. */
  hashOf(secret: Secret): string
}

/** @param hashKey as of `createStateStore` */
export function createBodies(profile: Profile, hashKey: Uint8Array): Bodies {
  /** Of bodies; these themselves are made when they are looked at. */
  const digests = new WeakMap<ResourceManifest, string>()
  const secretHashes = new WeakMap<Secret, string>()
  const identities = new WeakMap<Identity, readonly string[]>()
  const hash = (text: string) => keyedHash(hashKey, text)

  return {
    asked(manifest) {
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
    identityPathsOf(key) {
      const identity = identityOf(profile, key)
      if (identity === undefined) return []
      const paths = identities.get(identity) ?? identityPaths(identity)
      identities.set(identity, paths)
      return paths
    },
    hashesOf: (key, body) =>
      fingerprintBody(body, { fields: fieldsOf(profile, key), hash, digest: '' }).fields,
    hashOf(secret) {
      const known = secretHashes.get(secret) ?? hash(secret.reveal())
      secretHashes.set(secret, known)
      return known
    },
  }
}
