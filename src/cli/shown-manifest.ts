import type { ManifestFacts, ShownRequest } from '../contract/manifest-facts.ts'
import { parseKey, type Key } from '../kinds/key.ts'
import { bodyOf, kindFor, type Profile } from '../kinds/profile.ts'
import type { Kind, Operation } from '../kinds/definition.ts'
import { type ResourceManifest, serviceOf } from '../kinds/manifest.ts'
import { maskManifest, maskSensitive } from '../kinds/mask.ts'
import { serviceKey } from '../kinds/service/kind.ts'
import type { JsonObject } from '../lib/json.ts'
import { pathOf } from '../platform/wire.ts'
import type { StateStore } from '../reconcile/state/store.ts'

/** Thousands of keys can depend on a Service. */
const KEYS_NAMED = 50

interface Known {
  readonly profile: Profile
  readonly store: StateStore
}

/** Undefined: no valid manifest in this process's lifetime. */
export function manifestFacts(known: Known, key: Key): ManifestFacts | undefined {
  const { store } = known
  const manifest = store.entry(key)?.manifest
  if (manifest === undefined) return undefined
  const { apiVersion, kind, metadata, policy, spec } = manifest
  const document = { apiVersion, kind, metadata, ...(policy && { policy }), spec } as unknown as JsonObject // parsed from YAML
  const neededBy = store.dependents(key)
  return {
    document: maskManifest(document),
    request: requestOf(known, manifest, key),
    needs: needsOf(manifest),
    neededBy: neededBy.slice(0, KEYS_NAMED),
    neededByCount: neededBy.length,
  }
}

function needsOf(manifest: ResourceManifest): readonly Key[] {
  const service = serviceOf(manifest)
  const named = (manifest.policy?.dependsOn ?? []).flatMap((text) => parseKey(text) ?? [])
  return service === undefined ? named : [serviceKey(service), ...named]
}

function requestOf(
  { profile, store }: Known,
  manifest: ResourceManifest,
  key: Key,
): ShownRequest | undefined {
  const operation = writingOf(kindFor(profile, { key, manifest, record: undefined }))
  const body = bodyOf(profile, manifest)
  const service = store.service(serviceOf(manifest) ?? '')
  if (operation === undefined || body === undefined || service === undefined) return undefined
  const { organizationId, serviceId } = service.spec
  return {
    operation: operation.name,
    method: 'POST',
    path: pathOf(operation.path, { organizationId, serviceId }),
    body: maskSensitive(body),
  }
}

function writingOf(kind: Kind): Operation | undefined {
  switch (kind.lifecycle) {
    case 'create-once':
      return kind.operations.create
    case 'upsert':
      return kind.operations.upsert
    case 'read-only':
    case 'reference':
      return undefined
  }
}
