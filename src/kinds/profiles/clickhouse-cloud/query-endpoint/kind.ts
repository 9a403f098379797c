import type { UpsertKind } from '../../../definition.ts'
import { manifestSchema, ReadableUpsertPolicy, ResourceName } from '../../../manifest.ts'
import { z } from '../../../zod.ts'
import {
  ENDPOINT_ROLES,
  MAX_KEYS,
  MAX_ORIGINS_LENGTH,
  QUERY_ENDPOINT as DEFAULT_QUERY_ENDPOINT,
} from '../../default/query-endpoint/kind.ts'

const QueryEndpointManifest = manifestSchema(
  'QueryEndpoint',
  ReadableUpsertPolicy,
  z.strictObject({
    service: ResourceName.describe('Name of the Service manifest whose endpoint this is.'),
    roles: z.array(z.enum(ENDPOINT_ROLES)).describe('Roles that can query.').meta({ form: 'set' }),
    openApiKeys: z
      .array(z.guid().toLowerCase())
      .max(MAX_KEYS)
      .describe(
        'Ids (UUIDs) of the API keys that can query. Clients do not sign in with this id, but with the key id.',
      )
      .meta({ form: 'set' }),
    allowedOrigins: z
      .string()
      .max(MAX_ORIGINS_LENGTH)
      .describe(
        'Comma-separated list of domains. `*` allows all web pages. With an empty text, only servers can query.',
      )
      .meta({ form: 'comma-list', examples: ['https://app.example,localhost:3000'] }),
  }),
)
type QueryEndpointManifest = z.infer<typeof QueryEndpointManifest>

const UPSERT = {
  ...DEFAULT_QUERY_ENDPOINT.operations.upsert,
  permission: 'manage-query-api-endpoints',
} as const

export const QUERY_ENDPOINT: UpsertKind<QueryEndpointManifest> = {
  ...DEFAULT_QUERY_ENDPOINT,
  schema: QueryEndpointManifest,
  operations: {
    upsert: UPSERT,
    read: {
      ...UPSERT,
      name: 'getQueryEndpoint',
      does: 'read',
      method: 'GET',
      permission: 'view-query-api-endpoints',
    },
    delete: { ...UPSERT, name: 'deleteQueryEndpoint', does: 'delete', method: 'DELETE' },
  },
}
