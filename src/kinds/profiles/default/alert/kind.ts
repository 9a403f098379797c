import { ruleError, type FieldFinding } from '../../../finding.ts'
import { fieldsIn } from '../../../field-table.ts'
import type { ReadOnlyKind } from '../../../definition.ts'
import { Text, z } from '../../../zod.ts'
import { manifestSchema, ReadOnlyPolicy } from '../../../manifest.ts'

const Timestamp = z.iso.datetime({ offset: true }).meta({ form: 'time' })

export const REPORTED = {
  state: z
    .string()
    .optional()
    .describe(
      'State that you expect: another state is drift. For the healthy states, use `policy.healthyStates`.',
    ),
  createdAt: Timestamp.optional().describe('Time of creation.'),
  updatedAt: Timestamp.optional().describe('Time of the last change.'),
} as const

const AlertExpectation = z.strictObject({
  id: Text.optional().describe('Alert id.'),
  name: z.string().optional().describe('Name.'),
  message: z.string().optional().describe('Message.').meta({ form: 'lines' }),
  threshold: z.number().optional().describe('Threshold.'),
  interval: z.string().optional().describe('Interval: a number followed by a unit letter, such as `5m`.'),
  thresholdType: z.string().optional().describe('Direction of the comparison.'),
  source: z.string().optional().describe('Kind of object that the alert watches.'),
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
  ...REPORTED,
})

const AlertManifest = manifestSchema(
  'Alert',
  ReadOnlyPolicy,
  z.strictObject({
    id: Text.max(255)
      .regex(/[^.]|\.{3}/, 'must not be "." or ".."')
      .describe('Id of the alert in the observability service.'),
    expect: AlertExpectation.optional().describe(
      'Expected values: a difference is drift. Other fields are not compared.',
    ),
  }),
)
type AlertManifest = z.infer<typeof AlertManifest>

export const ALERT: ReadOnlyKind<AlertManifest> = {
  name: 'Alert',
  noun: 'alert',
  lifecycle: 'read-only',
  // A manifest without an id asks for a new alert.
  isWritten: ({ spec }) => spec['id'] === undefined,
  description: 'An alert that is watched, and never changed.',
  schema: AlertManifest,
  rules: alertRules,
  fields: fieldsIn(AlertExpectation),
  reply: { state: 'text' },
  operations: {
    read: {
      name: 'getAlert',
      does: 'read',
      method: 'GET',
      noun: 'alert',
      api: 'alerts',
      path: '/api/v2/alerts/{id}',
    },
  },
  remoteId: ({ spec }) => spec.id,
  expected: ({ spec }) => spec.expect ?? {},
}

export function alertRules(manifest: {
  readonly spec: { readonly id: string; readonly expect?: { readonly id?: string | undefined } | undefined }
}): readonly FieldFinding[] {
  const { id, expect } = manifest.spec
  if (expect?.id === undefined || expect.id === id) return []
  return [
    ruleError('alert-id-mismatch', {
      path: ['spec', 'expect', 'id'],
      message: `The expected id "${expect.id}" differs from "${id}", which is spec.id.`,
      hint: 'Remove `expect.id`, or make it equal to `spec.id`.',
    }),
  ]
}
