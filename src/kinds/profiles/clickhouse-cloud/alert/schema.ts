import type { FieldsOf } from '../../../field-table.ts'
import { API_VERSION, DeletablePolicy, Metadata, ReadOnlyPolicy, ResourceName } from '../../../manifest.ts'
import { ShownText, Text, z } from '../../../zod.ts'

const Timestamp = z.iso.datetime({ offset: true })

/** Facts 1: of an alert, a dashboard, a saved search, a webhook; not a UUID. */
const Id = z
  .string()
  .regex(/^[0-9a-f]{24}$/i, 'must be 24 hexadecimal digits')
  .meta({ examples: ['66d0f1a2b3c4d5e6f7a8b9c2'] })

const Address = z
  .string()
  .regex(/^[^@\s]+@[^@\s]+$/, 'must be an e-mail address')
  .meta({ examples: ['data-platform@example.com'] })

const THRESHOLD_TYPES = [
  'above',
  'below',
  'above_exclusive',
  'below_or_equal',
  'equal',
  'not_equal',
  'between',
  'not_between',
] as const

/** Types that have an upper bound. */
export const RANGES: readonly string[] = ['between', 'not_between']

const INTERVALS = ['1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'] as const

const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const

/** What is the same in what an alert should say and in what one is created with (facts 4.13). */
const COMMON = {
  source: z.enum(['tile', 'saved_search']).optional().describe('What it watches: a tile or a saved search.'),
  dashboardId: Text.optional().describe('Id of the dashboard.'),
  tileId: Text.optional().describe('Id of the tile.'),
  savedSearchId: Text.optional().describe('Id of the saved search.'),
  groupBy: Text.optional().describe('Expression by which the results of a saved search are grouped.'),
  threshold: z.number().optional().describe('Threshold; of a range its lower bound.'),
  thresholdMax: z.number().optional().describe('Upper bound of a range.'),
  thresholdType: z.enum(THRESHOLD_TYPES).optional().describe('How the value is compared with the threshold.'),
  interval: z.enum(INTERVALS).optional().describe('How often it is evaluated.'),
  scheduleOffsetMinutes: z
    .int()
    .min(0)
    .max(1_439)
    .optional()
    .describe('Minutes after which an interval begins.'),
  scheduleStartAt: Timestamp.optional().describe('When the first interval begins.'),
  numConsecutiveWindows: z.int().min(1).optional().describe('Windows in a row before it fires.'),
} as const

/** What an alert should say, as a subset of facts 4.13. */
const AlertExpectation = z.strictObject({
  id: Text.optional().describe('Alert id.'),
  name: z.string().optional().describe('Name.'),
  message: z.string().optional().describe('Message: a template.'),
  note: z.string().optional().describe('Note.'),
  ...COMMON,
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
      severity: z.enum(SEVERITIES).optional().describe('Severity.'),
      emailRecipients: z.array(z.string()).optional().describe('Addresses.'),
    })
    .optional()
    .describe('Notification channel.'),
  teamId: z.string().optional().describe('Id of the team.'),
  createdAt: Timestamp.optional().describe('Time of creation.'),
  updatedAt: Timestamp.optional().describe('Time of the last change.'),
})

/** The body of a create (facts 4.13), field by field. What has to be there, the rules say. */
const WRITTEN = {
  name: ShownText.max(512).optional().describe('Name of an alert that is created. It is found again by it.'),
  message: Text.max(4_096).optional().describe('Message: a template.'),
  note: Text.max(4_096).optional().describe('Note.'),
  ...COMMON,
  dashboardId: Id.optional().describe('Id of the dashboard.'),
  savedSearchId: Id.optional().describe('Id of the saved search.'),
  channel: z
    .strictObject({
      type: z.enum(['webhook', 'email']).describe('Type of the channel.'),
      webhookId: Id.optional().describe('Id of the webhook; for a webhook.'),
      webhookService: Text.optional().describe('Service of the webhook, such as `slack_api`.'),
      slackChannelId: Text.optional().describe('Id of the Slack channel.'),
      severity: z.enum(SEVERITIES).optional().describe('Severity.'),
      emailRecipients: z.array(Address).min(1).optional().describe('Addresses; for email.'),
    })
    .optional()
    .describe('Notification channel.'),
} as const

const { shape: CHANGEABLE } = DeletablePolicy

/** Of one that is only watched, only what `ReadOnlyPolicy` has; the rules say so. */
const AlertPolicy = DeletablePolicy.omit({ paused: true, onImmutable: true }).extend({
  onMissing: CHANGEABLE.onMissing.describe(
    'What to do when an alert that was created is confirmed to be missing; `recreate` unless set.',
  ),
  adopt: Id.optional().describe(
    'The id of an alert that exists and is to be taken over instead of creating one.',
  ),
  recreate: Id.optional().describe(
    'The id of the alert of this key that a person found to be gone: it is replaced without further proof, once it is not found.',
  ),
  renamedFrom: CHANGEABLE.renamedFrom.describe('The key under which the same alert was recorded before.'),
  replaces: CHANGEABLE.replaces.describe(
    'The key of an alert that looks like this one, such as an orphan; this is a new alert all the same. Excuses that one key.',
  ),
  onUnknown: CHANGEABLE.onUnknown.describe(
    'What to do when exactly one alert of the service has this name and nothing of it differs, and no manifest has it: adopt it, or ask. ' +
      '`adopt` unless set.',
  ),
  onEdit: CHANGEABLE.onEdit.describe(
    'What to do when the manifest was edited: change the alert, or report it. `apply` unless set.',
  ),
  ensure: CHANGEABLE.ensure.describe(
    'Whether there is to be an alert that was created. `absent` deletes the recorded alert after ten minutes, if it is as it was when it was ' +
      'last in sync and few alerts are to be deleted together. Remove the manifest afterwards; a removed manifest deletes nothing. ' +
      'Default: `present`.',
  ),
  onDrift: CHANGEABLE.onDrift.describe(
    'What to do when an alert that was created was changed elsewhere: report it, or change it back. `report` unless set.',
  ),
})

/** What the policy of one that is only watched can say. */
export const WATCHED_POLICY: readonly string[] = Object.keys(ReadOnlyPolicy.shape)

/** What only one that is created has. */
export const WRITTEN_FIELDS: readonly string[] = Object.keys(WRITTEN)

/** A manifest of an alert that exists and is watched, or of one that is created. */
export const AlertManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Alert'),
  metadata: Metadata,
  policy: AlertPolicy.optional(),
  spec: z.strictObject({
    service: ResourceName.optional().describe(
      'Name of the Service manifest in which the alert is. One that is created needs it. One that is watched is, without it, read at ' +
        '--alerts-base-url, from HyperDX.',
    ),
    id: Id.optional().describe(
      'Id of an alert that exists and is only watched: 24 hexadecimal digits. Without it, the alert is created.',
    ),
    expect: AlertExpectation.optional().describe(
      'What an alert that is watched should say; only what is set here is compared.',
    ),
    ...WRITTEN,
  }),
})
export type AlertManifest = z.infer<typeof AlertManifest>

type Spec = AlertManifest['spec']

/** Every field of an alert (facts 4.13): how it is compared, watched or created. */
export const ALERT_FIELDS = {
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
  scheduleStartAt: 'zoned',
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
} as const satisfies FieldsOf<NonNullable<Spec['expect']>> & FieldsOf<Omit<Spec, 'service' | 'expect'>>
