import { createSecretMask, type SecretMask } from '../../src/lib/mask/secret-mask.ts'
import type { ResourceManifest } from '../../src/kinds/manifest.ts'
import type { Secret } from '../../src/lib/secret.ts'
import type { DesiredBody } from '../../src/reconcile/state/bodies.ts'
import type { StateStore } from '../../src/reconcile/state/store.ts'

/* Hashes and masks, kept for all stories, because each step has a store and a mask of its own. */

/** The ledger's. */
export const HASH_KEY = new Uint8Array(32).fill(7)

const wishes = new WeakMap<ResourceManifest, DesiredBody>()
const secrets = new WeakMap<Secret, string>()

/** @param store one of many with the same key and the same profile */
export function withHashesKept(store: StateStore): StateStore {
  const asked = store.asked.bind(store)
  const hashOf = store.hashOf.bind(store)
  store.asked = (manifest) => {
    const known = wishes.get(manifest)
    if (known !== undefined) return known
    const wish = asked(manifest)
    if (wish === undefined) return undefined
    const { digest, fields } = wish.fingerprint
    const kept = { ...wish, fingerprint: { digest, fields } }
    wishes.set(manifest, kept)
    return kept
  }
  store.hashOf = (secret) => {
    const hash = secrets.get(secret) ?? hashOf(secret)
    secrets.set(secret, hash)
    return hash
  }
  return store
}

/** By the secrets in them. */
const masks = new Map<string, SecretMask>()

/** A mask of its own, whose forms of each secret are made once. */
export function keptMask(others: readonly string[] = []): SecretMask {
  let added = others
  let mask = maskOf(added)
  return {
    add(secret) {
      if (added.includes(secret)) return
      added = [...added, secret]
      mask = maskOf(added)
    },
    mask: (text) => mask.mask(text),
  }
}

function maskOf(added: readonly string[]): SecretMask {
  return masks.getOrInsertComputed(added.join('\n'), () => createSecretMask(added))
}
