import type { ReferenceKind } from '../definition.ts'
import { keyOf, type Key } from '../key.ts'
import { z } from '../zod.ts'
import { API_VERSION, Metadata } from '../manifest.ts'
import { SecretBundleRef } from '../secret-ref.ts'

/** A manifest that names a database service and the credentials for it. It is never created. */
export const ServiceManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Service'),
  metadata: Metadata,
  spec: z.strictObject({
    organizationId: z.guid().describe('Organization that owns the service (UUID).'),
    serviceId: z.guid().describe('Id of the service (UUID).'),
    credentials: SecretBundleRef.describe(
      'Mounted secret with the API key: its keys are `keyId` and `keySecret`.',
    ),
  }),
})
export type ServiceManifest = z.infer<typeof ServiceManifest>

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

/** Which service that is on the platform, as it is compared: two manifests may name the same one. */
export function serviceIdentity(service: {
  readonly organizationId: string
  readonly serviceId: string
}): string {
  return `${service.organizationId}/${service.serviceId}`.toLowerCase()
}

/** The manifest as that of a Service, or `undefined` when it is of another kind. */
export function asService(manifest: { readonly kind: string } | undefined): ServiceManifest | undefined {
  return manifest?.kind === SERVICE.name ? (manifest as ServiceManifest) : undefined // as its schema let it pass
}
