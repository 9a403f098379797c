import { fieldsIn } from '../../../field-table.ts'
import { DeletablePolicy, manifestSchema, ReadOnlyPolicy, ResourceName } from '../../../manifest.ts'
import { Lines, Text, z } from '../../../zod.ts'
import { REPORTED } from '../../default/alert/kind.ts'

const Id = z
  .string()
  .regex(/^[0-9a-f]{24}$/i, 'must be 24 hexadecimal digits')
  .toLowerCase()
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

export const RANGES: readonly string[] = ['between', 'not_between']

const INTERVALS = ['30s', '1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'] as const

const Severity = z.enum(['critical', 'error', 'warning', 'info']).optional().meta({ returned: 'at times' })

const COMMON = {
  source: z
    .enum(['tile', 'saved_search'])
    .optional()
    .describe('The watched object: a tile or a saved search.'),
  dashboardId: Text.optional().describe('Id of the dashboard.'),
  tileId: Text.optional().describe('Id of the tile.'),
  savedSearchId: Text.optional().describe('Id of the saved search.'),
  groupBy: Lines.optional().describe('Expression that groups the results of a saved search.'),
  threshold: z.number().optional().describe('Threshold, or the lower bound of a range.'),
  thresholdMax: z.number().optional().describe('Upper bound of a range.'),
  thresholdType: z.enum(THRESHOLD_TYPES).optional().describe('How the value is compared with the threshold.'),
  interval: z.enum(INTERVALS).optional().describe('How often the alert is evaluated.'),
  scheduleOffsetMinutes: z
    .int()
    .min(0)
    .max(1_439)
    .optional()
    .describe('Minutes by which the start of each interval is shifted.')
    .meta({ form: 'offset' }),
  scheduleStartAt: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('When the first interval begins.')
    .meta({ form: 'zoned' }),
  numConsecutiveWindows: z
    .int()
    .min(1)
    .optional()
    .describe('Number of windows in a row that must match before the alert fires.'),
} as const

const AlertExpectation = z.strictObject({
  id: Text.optional().describe('Alert id.'),
  name: z.string().optional().describe('Name.'),
  message: z.string().optional().describe('Message: a template.').meta({ form: 'lines' }),
  note: z.string().optional().describe('Note.').meta({ form: 'lines' }),
  ...COMMON,
  channel: z
    .strictObject({
      type: z.enum(['webhook', 'email']).optional().describe('Type of the channel.'),
      webhookId: z.string().optional().describe('Id of the webhook.'),
      webhookService: z
        .string()
        .optional()
        .describe('Service of the webhook, such as `slack_api`.')
        .meta({ returned: 'at times' }),
      slackChannelId: z
        .string()
        .optional()
        .describe('Id of the Slack channel.')
        .meta({ returned: 'at times' }),
      severity: Severity.describe('Severity.'),
      emailRecipients: z.array(z.string()).optional().describe('Addresses.').meta({ form: 'set' }),
    })
    .optional()
    .describe('Notification channel.'),
  teamId: z.string().optional().describe('Id of the team.'),
  ...REPORTED,
})

const Channel = z.strictObject({
  type: z.enum(['webhook', 'email']).describe('Type of the channel.'),
  webhookId: Id.optional().describe('Id of the webhook, for type webhook.'),
  webhookService: Text.optional()
    .describe('Service of the webhook, such as `slack_api`.')
    .meta({ returned: 'at times' }),
  slackChannelId: Text.optional().describe('Id of the Slack channel.').meta({ returned: 'at times' }),
  severity: Severity.describe('Severity.'),
  emailRecipients: z
    .array(Address)
    .min(1)
    .optional()
    .describe('Addresses, for type email.')
    .meta({ form: 'set' }),
})
export type Channel = z.infer<typeof Channel>

/** The body of a create. All fields are optional here: rules check which ones are required. */
const WRITTEN = {
  name: Text.max(512)
    .optional()
    .describe('Name of a created alert. Pipewright finds the alert again by this name.'),
  message: Lines.max(4_096).optional().describe('Message: a template.'),
  note: Lines.max(4_096).optional().describe('Note.'),
  ...COMMON,
  dashboardId: Id.optional().describe('Id of the dashboard.'),
  savedSearchId: Id.optional().describe('Id of the saved search.'),
  channel: Channel.optional().describe('The only notification channel.'),
  channels: z
    .array(Channel)
    .min(1)
    .max(10)
    .optional()
    .describe('Notification channels, 1 to 10. Set either `channel` or `channels`.')
    .meta({ keyedBy: ['type', 'webhookId'] }),
} as const

const { shape: CHANGEABLE } = DeletablePolicy

const AlertPolicy = DeletablePolicy.omit({ paused: true, onImmutable: true }).extend({
  onMissing: CHANGEABLE.onMissing.describe(
    'Reaction if repeated reads show that a created alert is missing: create it again, or report it. Default: `recreate`.',
  ),
  adopt: Id.optional().describe('The id of an existing alert to adopt instead of a create.'),
  recreate: Id.optional().describe(
    'The id of the recorded alert. Setting it confirms that this alert is gone. If the platform does not find it ' +
      'either, Pipewright creates the alert again without further proof.',
  ),
  renamedFrom: CHANGEABLE.renamedFrom.describe('The former key of this alert.'),
  replaces: CHANGEABLE.replaces.describe(
    'Confirms that this manifest is a new alert, although a similar alert exists. Give the key of that alert, or its id if it has no manifest.',
  ),
  onUnknown: CHANGEABLE.onUnknown.describe(
    'Reaction if the service has exactly one alert of this name, it equals the manifest, and it has no other ' +
      'manifest: adopt this alert, or ask. Default: `adopt`.',
  ),
  onEdit: CHANGEABLE.onEdit.describe(
    'Reaction to an edit: change the alert, or report it. Default: `apply`.',
  ),
  ensure: CHANGEABLE.ensure.describe(
    'Whether the created alert should exist. `absent` deletes the recorded alert after ten minutes, but only if the alert has not changed since it was ' +
      'last in sync, and only a few alerts together. Remove the manifest afterwards: a removal alone deletes no alert. ' +
      'Default: `present`.',
  ),
  onDrift: CHANGEABLE.onDrift.describe(
    'Reaction if a created alert was changed elsewhere: report the difference, or change the alert back. Default: `report`.',
  ),
})

export const WATCHED_POLICY: readonly string[] = Object.keys(ReadOnlyPolicy.shape)

export const WRITTEN_FIELDS: readonly string[] = Object.keys(WRITTEN)

export const AlertManifest = manifestSchema(
  'Alert',
  AlertPolicy,
  z.strictObject({
    service: ResourceName.optional().describe(
      'Name of the Service manifest of the alert. Created alerts need it. Without it, a watched alert is read from ' +
        'HyperDX, at `--alerts-base-url`.',
    ),
    id: Id.optional().describe(
      'Id of an existing alert to watch: 24 hexadecimal digits. Without an id, Pipewright creates the alert.',
    ),
    expect: AlertExpectation.optional().describe(
      'Expected values of a watched alert: a difference is drift. Other fields are not compared.',
    ),
    ...WRITTEN,
  }),
)
export type AlertManifest = z.infer<typeof AlertManifest>

export const SERVER_FIELDS: readonly string[] = [
  ...Object.keys(AlertExpectation.shape).filter((name) => !Object.hasOwn(WRITTEN, name)),
  'silenced',
  'executionErrors',
]

export const ALERT_FIELDS = fieldsIn(AlertExpectation.extend({ channels: WRITTEN.channels }))
