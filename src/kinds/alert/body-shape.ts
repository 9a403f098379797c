import type { FieldsOf } from '../body-shape.ts'
import type { AlertManifest } from './schema.ts'

/** Every field of an alert (2.8): how it is compared. */
export const ALERT_FIELDS = {
  id: 'text',
  name: 'text',
  message: 'text',
  threshold: 'number',
  interval: 'text',
  thresholdType: 'text',
  source: 'text',
  state: 'text',
  channel: { fields: { type: 'text', webhookId: 'text' } },
  team: 'text',
  tileId: 'text',
  dashboard: 'text',
  createdAt: 'time',
  updatedAt: 'time',
} as const satisfies FieldsOf<NonNullable<AlertManifest['spec']['expect']>>
