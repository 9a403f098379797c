import type { ReferenceKind } from '../definition.ts'
import { keyOf, type Key } from '../key.ts'
import { z } from '../zod.ts'
import { API_VERSION, Metadata } from '../manifest.ts'
import { SecretBundleRef } from '../secret-ref.ts'

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
  description: 'An existing database service and its credentials. Pipewright does not create it.',
  schema: ServiceManifest,
  rules: () => [],
}

export function serviceKey(name: string): Key {
  return keyOf(SERVICE.name, name)
}

export function serviceIdentity(service: {
  readonly organizationId: string
  readonly serviceId: string
}): string {
  return `${service.organizationId}/${service.serviceId}`.toLowerCase()
}

export function asService(manifest: { readonly kind: string } | undefined): ServiceManifest | undefined {
  return manifest?.kind === SERVICE.name ? (manifest as ServiceManifest) : undefined // checked by its schema
}
