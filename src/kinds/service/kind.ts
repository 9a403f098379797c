import type { ReferenceKind } from '../definition.ts'
import { keyOf, type Key } from '../key.ts'
import { ServiceManifest } from './schema.ts'

export const SERVICE: ReferenceKind<ServiceManifest> = {
  name: 'Service',
  noun: 'service',
  lifecycle: 'reference',
  description: 'A database service and the credentials for it; itself not created.',
  schema: ServiceManifest,
  rules: () => [],
}

/** The key of the Service that manifests name as `spec.service`. */
export function serviceKey(name: string): Key {
  return keyOf(SERVICE.name, name)
}

/** The manifest as that of a Service, or `undefined` when it is of another kind. */
export function asService(manifest: { readonly kind: string } | undefined): ServiceManifest | undefined {
  return manifest?.kind === SERVICE.name ? (manifest as ServiceManifest) : undefined // as its schema let it pass
}
