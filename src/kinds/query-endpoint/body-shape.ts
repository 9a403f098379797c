import type { FieldsOf } from '../body-shape.ts'
import type { QueryEndpointManifest } from './schema.ts'

/** Every field of the upsert (4.3): how it is compared. The reply returns them all (2.7). */
export const ENDPOINT_FIELDS = {
  roles: 'set',
  openApiKeys: 'set',
  allowedOrigins: 'comma-list',
} as const satisfies FieldsOf<Omit<QueryEndpointManifest['spec'], 'service'>>
