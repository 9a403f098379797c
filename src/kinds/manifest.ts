import type { AlertManifest } from './alert/schema.ts'
import type { LockManifest } from './lock/schema.ts'
import type { PipeManifest } from './pipe/schema.ts'
import type { QueryEndpointManifest } from './query-endpoint/schema.ts'
import type { ServiceManifest } from './service/schema.ts'

/** A valid manifest of any kind that is a resource. */
export type ResourceManifest = ServiceManifest | PipeManifest | QueryEndpointManifest | AlertManifest

/** A valid manifest. */
export type Manifest = ResourceManifest | LockManifest

/** The name of the Service whose credentials a manifest uses; undefined for what needs none, or is one. */
export function serviceOf(manifest: ResourceManifest): string | undefined {
  return 'service' in manifest.spec ? manifest.spec.service : undefined
}

/** The name that a pipe has on the platform. */
export function platformNameOf({ metadata, spec }: PipeManifest): string {
  return spec.name ?? metadata.name
}
