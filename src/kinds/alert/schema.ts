import { Text, z } from '../zod.ts'
import { API_VERSION, Metadata, ReadOnlyPolicy } from '../manifest.ts'

const Timestamp = z.iso.datetime({ offset: true })

/** What an alert should say, as a subset of `spec/api.md` 2.8. */
const AlertExpectation = z.strictObject({
  id: Text.optional().describe('Alert id.'),
  name: z.string().optional().describe('Name.'),
  message: z.string().optional().describe('Message.'),
  threshold: z.number().optional().describe('Threshold.'),
  interval: z.string().optional().describe('Interval: a number followed by a unit letter, such as `5m`.'),
  thresholdType: z.string().optional().describe('Direction of the comparison.'),
  source: z.string().optional().describe('Kind of origin of the alert.'),
  state: z
    .string()
    .optional()
    .describe('State. To say which states are healthy, use `policy.healthyStates`.'),
  channel: z
    .strictObject({
      type: z.string().optional().describe('Type of the channel.'),
      webhookId: z.string().optional().describe('Id of the webhook.'),
    })
    .optional()
    .describe('Notification channel.'),
  team: z.string().optional().describe('Id of the team.'),
  tileId: z.string().optional().describe('Id of the dashboard tile.'),
  dashboard: z.string().optional().describe('Id of the dashboard.'),
  createdAt: Timestamp.optional().describe('Time of creation.'),
  updatedAt: Timestamp.optional().describe('Time of the last change.'),
})

/** A manifest of an alert that is watched, and never changed. */
export const AlertManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Alert'),
  metadata: Metadata,
  policy: ReadOnlyPolicy.optional(),
  spec: z.strictObject({
    id: Text.max(255).describe('Id of the alert in the observability service.'),
    expect: AlertExpectation.optional().describe('What it should say; only what is set here is compared.'),
  }),
})
export type AlertManifest = z.infer<typeof AlertManifest>
