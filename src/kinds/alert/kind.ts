import { fault, type RuleFinding } from '../finding.ts'
import type { FieldsOf } from '../field-table.ts'
import type { ReadOnlyKind } from '../definition.ts'
import { AlertManifest } from './schema.ts'

/** Every field of an alert (2.8): how it is compared. */
const FIELDS = {
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

export const ALERT: ReadOnlyKind<AlertManifest> = {
  name: 'Alert',
  noun: 'alert',
  lifecycle: 'read-only',
  description: 'An alert that is watched, and never changed.',
  schema: AlertManifest,
  rules: alertRules,
  fields: FIELDS,
  reply: { id: 'id', name: 'text', state: 'text' },
  operations: {
    read: { name: 'getAlert', does: 'read', noun: 'alert', api: 'alerts', path: '/api/v2/alerts/{id}' },
  },
  remoteId: ({ spec }) => spec.id,
  expected: ({ spec }) => spec.expect ?? {},
}

/** What must hold within one manifest of an alert, beyond its shape. */
function alertRules(manifest: AlertManifest): readonly RuleFinding[] {
  const { id, expect } = manifest.spec
  if (expect?.id === undefined || expect.id === id) return []
  return [
    fault('alert-id-mismatch', {
      path: ['spec', 'expect', 'id'],
      message: `The expected id "${expect.id}" is not the id "${id}" that is looked up.`,
      hint: 'Remove `expect.id`, or make it equal to `spec.id`.',
    }),
  ]
}
