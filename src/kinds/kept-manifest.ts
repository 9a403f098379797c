import { packJson, unpackJson, type PackedJson } from '../lib/packed-json.ts'
import type { ResourceManifest } from './manifest.ts'

type Spec = ResourceManifest['spec']

/** What is kept of a manifest; plain data, which may go from thread to thread. */
export interface KeptParts {
  readonly apiVersion: ResourceManifest['apiVersion']
  readonly kind: ResourceManifest['kind']
  readonly metadata: ResourceManifest['metadata']
  readonly policy: ResourceManifest['policy']
  readonly packedSpec: PackedJson
  /** What is asked of all manifests at once, so that their specs are not unpacked for it. */
  readonly service: string | undefined
}

/**
 * A manifest whose `spec` is kept packed: as objects, ten thousand of them take ten times the room. It is unpacked
 * when somebody looks, and shared for as long as somebody holds it.
 */
class KeptManifest implements KeptParts {
  readonly apiVersion: KeptParts['apiVersion']
  readonly kind: KeptParts['kind']
  readonly metadata: KeptParts['metadata']
  readonly policy: KeptParts['policy']
  readonly packedSpec: PackedJson
  readonly service: string | undefined
  #unpacked: WeakRef<Spec> | undefined

  constructor(parts: KeptParts) {
    this.apiVersion = parts.apiVersion
    this.kind = parts.kind
    this.metadata = parts.metadata
    this.policy = parts.policy
    this.packedSpec = parts.packedSpec
    this.service = parts.service
  }

  get spec(): Spec {
    const known = this.#unpacked?.deref()
    if (known !== undefined) return known
    const spec = JSON.parse(unpackJson(this.packedSpec)) as Spec // written by partsOf, from a spec that the schema let pass
    this.#unpacked = new WeakRef(spec)
    return spec
  }

  toJSON(): unknown {
    const { apiVersion, kind, metadata, policy, spec } = this
    return { apiVersion, kind, metadata, policy, spec }
  }
}

/** Takes a manifest apart, to be kept or sent to another thread. */
export function partsOf(manifest: ResourceManifest): KeptParts {
  if (manifest instanceof KeptManifest) return manifest
  const { apiVersion, kind, metadata, spec } = manifest
  return {
    apiVersion,
    kind,
    metadata,
    policy: manifest.policy,
    packedSpec: packJson(JSON.stringify(spec)),
    service: serviceOf(manifest),
  }
}

/** The manifest of which these are the parts. */
export function keptManifest(parts: KeptParts): ResourceManifest {
  return new KeptManifest(parts)
}

/** The name of the Service whose credentials a manifest uses; undefined for what needs none, or is one. */
export function serviceOf(manifest: ResourceManifest): string | undefined {
  if (manifest instanceof KeptManifest) return manifest.service
  return manifest.spec.service
}
