import { Text, z } from '../../../zod.ts'
import { API_VERSION, Metadata, ResourceName, UpsertPolicy } from '../../../manifest.ts'

/** The roles of the interface (2.7). */
export const ENDPOINT_ROLES = ['sql_console_read_only', 'sql_console_admin'] as const

/** The body of the upsert (4.3), plus `service`. */
export const QueryEndpointSpec = z.strictObject({
  service: ResourceName.describe('Name of the Service manifest whose endpoint this is.'),
  roles: z.array(z.enum(ENDPOINT_ROLES)).optional().describe('Roles that may query.'),
  openApiKeys: z.array(Text).optional().describe('Ids of the API keys that may query.'),
  allowedOrigins: z
    .string()
    .optional()
    .describe('Comma-separated list of domains, each with or without scheme and port, or `*`.')
    .meta({ examples: ['https://app.example,localhost:3000'] }),
})

/** A manifest of the query endpoint of a service. */
export const QueryEndpointManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('QueryEndpoint'),
  metadata: Metadata,
  policy: UpsertPolicy.optional(),
  spec: QueryEndpointSpec,
})
export type QueryEndpointManifest = z.infer<typeof QueryEndpointManifest>
