import type { LockManifest } from './lock/schema.ts'
import type { API_VERSION, Metadata } from './metadata.ts'
import type { Policy } from './policy.ts'

/** A valid manifest of any kind that is a resource; what only one kind has is known in its folder. */
export interface ResourceManifest {
  readonly apiVersion: typeof API_VERSION
  readonly kind: string
  readonly metadata: Metadata
  readonly policy?: Policy | undefined
  readonly spec: Readonly<Record<string, unknown>> & {
    /** The name of the Service whose credentials it uses; undefined for what needs none, or is one. */
    readonly service?: string | undefined
  }
}

/** A valid manifest. */
export type Manifest = ResourceManifest | LockManifest

/** The name of the Service whose credentials a manifest uses; undefined for what needs none, or is one. */
export function serviceOf(manifest: ResourceManifest): string | undefined {
  return manifest.spec.service
}
