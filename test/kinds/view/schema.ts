import { API_VERSION, CreateOncePolicy, Metadata, ResourceName } from '../../../src/kinds/manifest.ts'
import { UserCredentials } from '../../../src/kinds/secret-ref.ts'
import { Count, Text, z } from '../../../src/kinds/zod.ts'

/** A manifest of a view: a query that is kept, over tables of another server. */
export const ViewManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('View'),
  metadata: Metadata,
  policy: CreateOncePolicy.optional(),
  spec: z.strictObject({
    service: ResourceName.describe('Name of the Service manifest to which the view belongs.'),
    name: Text.optional().describe('Name of the view on the platform; `metadata.name` unless set.'),
    query: Text.describe('What it selects.'),
    rows: Count.optional().describe('Most rows that it keeps.'),
    origin: z
      .strictObject({
        host: Text.describe('The other server.'),
        credentials: UserCredentials.optional().describe('How to log in there.'),
      })
      .optional()
      .describe('Where its tables are; the service itself unless set.'),
  }),
})
export type ViewManifest = z.infer<typeof ViewManifest>
