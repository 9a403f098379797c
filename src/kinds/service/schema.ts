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
