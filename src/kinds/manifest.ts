import type { AlertManifest } from './alert/schema.ts'
import type { LockManifest } from './lock/schema.ts'
import type { PipeManifest } from './pipe/schema.ts'
import type { QueryEndpointManifest } from './query-endpoint/schema.ts'
import type { ServiceManifest } from './service/schema.ts'

/** A valid manifest of any kind that is a resource. */
export type ResourceManifest = ServiceManifest | PipeManifest | QueryEndpointManifest | AlertManifest

/** A valid manifest. */
export type Manifest = ResourceManifest | LockManifest
