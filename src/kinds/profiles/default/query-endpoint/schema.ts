import { Text, z } from '../../../zod.ts'
import { manifestSchema, ResourceName, UpsertPolicy } from '../../../manifest.ts'

export const ENDPOINT_ROLES = ['sql_console_read_only', 'sql_console_admin'] as const

/** Keys and origins are limited, because the ledger stores the reply, which repeats them. */
export const MAX_KEYS = 300
export const MAX_ORIGINS_LENGTH = 10_000

export const QueryEndpointSpec = z.strictObject({
  service: ResourceName.describe('Name of the Service manifest whose endpoint this is.'),
  roles: z.array(z.enum(ENDPOINT_ROLES)).optional().describe('Roles that can query.').meta({ form: 'set' }),
  openApiKeys: z
    .array(Text.max(64))
    .max(MAX_KEYS)
    .optional()
    .describe('Ids of the API keys that can query.')
    .meta({ form: 'set' }),
  allowedOrigins: z
    .string()
    .max(MAX_ORIGINS_LENGTH)
    .optional()
    .describe('Comma-separated list of domains, each with or without scheme and port, or `*`.')
    .meta({ form: 'comma-list', examples: ['https://app.example,localhost:3000'] }),
})

export const QueryEndpointManifest = manifestSchema('QueryEndpoint', UpsertPolicy, QueryEndpointSpec)
export type QueryEndpointManifest = z.infer<typeof QueryEndpointManifest>
