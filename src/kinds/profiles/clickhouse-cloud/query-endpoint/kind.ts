import type { UpsertKind } from '../../../definition.ts'
import { API_VERSION, Metadata, ReadableUpsertPolicy, ResourceName } from '../../../manifest.ts'
import { z } from '../../../zod.ts'
import { QUERY_ENDPOINT as DEFAULT_QUERY_ENDPOINT } from '../../default/query-endpoint/kind.ts'
import { ENDPOINT_ROLES } from '../../default/query-endpoint/schema.ts'

/** Facts 4.12: the body of the upsert, in which all three have to be, plus `service`. */
export const QueryEndpointManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('QueryEndpoint'),
  metadata: Metadata,
  policy: ReadableUpsertPolicy.optional(),
  spec: z.strictObject({
    service: ResourceName.describe('Name of the Service manifest whose endpoint this is.'),
    roles: z.array(z.enum(ENDPOINT_ROLES)).describe('Roles that may query.'),
    openApiKeys: z
      .array(z.guid())
      .describe(
        'Ids of the API keys that may query: those of the keys as resources, not the key ids of the login.',
      ),
    allowedOrigins: z
      .string()
      .describe('Comma-separated list of domains; `*` is any, and an empty text none: for servers only.')
      .meta({ examples: ['https://app.example,localhost:3000'] }),
  }),
})
export type QueryEndpointManifest = z.infer<typeof QueryEndpointManifest>

/** The same requests, the same fields, and the same rules as in the default profile. */
export const QUERY_ENDPOINT: UpsertKind<QueryEndpointManifest> = {
  ...DEFAULT_QUERY_ENDPOINT,
  schema: QueryEndpointManifest,
  operations: {
    ...DEFAULT_QUERY_ENDPOINT.operations,
    read: {
      ...DEFAULT_QUERY_ENDPOINT.operations.upsert,
      name: 'getQueryEndpoint',
      does: 'read',
      method: 'GET',
    },
    delete: {
      ...DEFAULT_QUERY_ENDPOINT.operations.upsert,
      name: 'deleteQueryEndpoint',
      does: 'delete',
      method: 'DELETE',
    },
  },
}
