import type { ReadOnlyKind } from '../../../definition.ts'
import type { FieldsOf } from '../../../field-table.ts'
import { API_VERSION, Metadata, ReadOnlyPolicy, ResourceName } from '../../../manifest.ts'
import { Text, z } from '../../../zod.ts'
import { ALERT as DEFAULT_ALERT } from '../../default/alert/kind.ts'

const Timestamp = z.iso.datetime({ offset: true })

/** What an alert should say, as a subset of facts 4.13. */
const AlertExpectation = z.strictObject({
  id: Text.optional().describe('Alert id.'),
  name: z.string().optional().describe('Name.'),
  message: z.string().optional().describe('Message: a template.'),
  note: z.string().optional().describe('Note.'),
  source: z.enum(['tile', 'saved_search']).optional().describe('What it watches: a tile or a saved search.'),
  dashboardId: Text.optional().describe('Id of the dashboard.'),
  tileId: Text.optional().describe('Id of the tile.'),
  savedSearchId: Text.optional().describe('Id of the saved search.'),
  groupBy: Text.optional().describe('Expression by which the results of a saved search are grouped.'),
  threshold: z.number().optional().describe('Threshold; of a range its lower bound.'),
  thresholdMax: z.number().optional().describe('Upper bound of a range.'),
  thresholdType: z
    .enum([
      'above',
      'below',
      'above_exclusive',
      'below_or_equal',
      'equal',
      'not_equal',
      'between',
      'not_between',
    ])
    .optional()
    .describe('How the value is compared with the threshold.'),
  interval: z
    .enum(['1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'])
    .optional()
    .describe('How often it is evaluated.'),
  scheduleOffsetMinutes: z
    .int()
    .min(0)
    .max(1_439)
    .optional()
    .describe('Minutes after which an interval begins.'),
  scheduleStartAt: Timestamp.optional().describe('When the first interval begins.'),
  numConsecutiveWindows: z.int().min(1).optional().describe('Windows in a row before it fires.'),
  state: z
    .string()
    .optional()
    .describe('State. To say which states are healthy, use `policy.healthyStates`.'),
  channel: z
    .strictObject({
      type: z.enum(['webhook', 'email']).optional().describe('Type of the channel.'),
      webhookId: z.string().optional().describe('Id of the webhook.'),
      webhookService: z.string().optional().describe('Service of the webhook, such as `slack_api`.'),
      slackChannelId: z.string().optional().describe('Id of the Slack channel.'),
      severity: z.enum(['critical', 'error', 'warning', 'info']).optional().describe('Severity.'),
      emailRecipients: z.array(z.string()).optional().describe('Addresses.'),
    })
    .optional()
    .describe('Notification channel.'),
  teamId: z.string().optional().describe('Id of the team.'),
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
    service: ResourceName.optional().describe(
      'Name of the Service manifest in which the alert is. Without it, the alert is read at --alerts-base-url, from HyperDX.',
    ),
    id: z
      .string()
      .regex(/^[0-9a-f]{24}$/i, 'must be 24 hexadecimal digits')
      .describe('Id of the alert: 24 hexadecimal digits.'),
    expect: AlertExpectation.optional().describe('What it should say; only what is set here is compared.'),
  }),
})
export type AlertManifest = z.infer<typeof AlertManifest>

const FIELDS = {
  id: 'text',
  name: 'text',
  message: 'text',
  note: 'text',
  source: 'text',
  dashboardId: 'text',
  tileId: 'text',
  savedSearchId: 'text',
  groupBy: 'text',
  threshold: 'number',
  thresholdMax: 'number',
  thresholdType: 'text',
  interval: 'text',
  scheduleOffsetMinutes: 'offset',
  scheduleStartAt: 'time',
  numConsecutiveWindows: 'number',
  state: 'text',
  channel: {
    fields: {
      type: 'text',
      webhookId: 'text',
      webhookService: { whenReturned: 'text' },
      slackChannelId: { whenReturned: 'text' },
      severity: { whenReturned: 'text' },
      emailRecipients: 'set',
    },
  },
  teamId: 'text',
  createdAt: 'time',
  updatedAt: 'time',
} as const satisfies FieldsOf<NonNullable<AlertManifest['spec']['expect']>>

/** Of the service, or of HyperDX: paths, login and envelope differ (facts 3.3). */
export const ALERT: ReadOnlyKind<AlertManifest> = {
  ...DEFAULT_ALERT,
  schema: AlertManifest,
  fields: FIELDS,
  /** Facts 6.3. */
  states: () => ({
    healthy: ['OK'],
    moving: ['PENDING', 'INSUFFICIENT_DATA'],
    unhealthy: ['ALERT', 'DISABLED'],
  }),
  operations: {
    ...DEFAULT_ALERT.operations,
    readInService: {
      name: 'getAlert',
      does: 'read',
      method: 'GET',
      noun: 'alert',
      api: 'services',
      path: '/v1/organizations/{organizationId}/services/{serviceId}/clickstack/alerts/{id}',
    },
  },
}
