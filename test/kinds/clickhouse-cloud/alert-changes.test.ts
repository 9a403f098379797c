import { expect, test } from 'vitest'
import { ALERT_CHANGES } from '../../../src/kinds/profiles/clickhouse-cloud/alert/changes.ts'
import type { JsonObject } from '../../../src/lib/json.ts'

/* The whole body of a change: what was just read, and what the manifest wants otherwise. */

const WEBHOOK = { type: 'webhook', webhookId: 'a' } as const
const DESIRED = {
  name: 'Lag',
  threshold: 10,
  thresholdType: 'above',
  interval: '5m',
  channel: WEBHOOK,
} as const
const { channel: _only, ...BARE } = DESIRED
const EMAIL = { type: 'email', emailRecipients: ['a@example.com'] } as const
const THERE = {
  ...DESIRED,
  threshold: 9,
  id: 'i',
  teamId: 't',
  state: 'ALERT',
  createdAt: 'c',
  updatedAt: 'u',
} as const

test.each<{
  why: string
  fields: readonly string[]
  desired?: JsonObject
  there?: JsonObject
  sent: JsonObject
}>([
  { why: 'one field, and nothing of the server’s', fields: ['threshold'], sent: DESIRED },
  {
    why: 'no null, no silence, no errors, and nothing that nobody knows',
    fields: ['threshold'],
    there: {
      thresholdMax: null,
      scheduleOffsetMinutes: null,
      silenced: { by: 'a' },
      executionErrors: [],
      later: 1,
    },
    sent: DESIRED,
  },
  {
    why: 'what somebody else has set',
    fields: ['threshold'],
    there: { note: 'See the runbook', interval: '15m', numConsecutiveWindows: 3 },
    sent: { ...DESIRED, note: 'See the runbook', interval: '15m', numConsecutiveWindows: 3 },
  },
  {
    why: 'no upper bound that is there beside another type',
    fields: ['threshold'],
    there: { thresholdMax: 20 },
    sent: DESIRED,
  },
  {
    why: 'the channel of the manifest, where none came back',
    fields: ['threshold'],
    there: { channel: null },
    sent: DESIRED,
  },
  {
    why: 'nothing that belongs to another webhook',
    fields: ['channel.webhookId', 'threshold'],
    there: {
      channel: {
        type: 'webhook',
        webhookId: 'b',
        webhookService: 'slack_api',
        slackChannelId: 'C1',
        severity: 'error',
      },
    },
    sent: { ...DESIRED, channel: { ...WEBHOOK, severity: 'error' } },
  },
  {
    why: 'the other channel, with the severity that was there',
    fields: ['channel.type', 'channel.webhookId', 'channel.emailRecipients', 'threshold'],
    desired: { channel: { type: 'email', emailRecipients: ['a@example.com'] } },
    there: { channel: { ...WEBHOOK, severity: 'error' } },
    sent: { ...DESIRED, channel: { type: 'email', emailRecipients: ['a@example.com'], severity: 'error' } },
  },
  {
    why: 'all channels that were there, if they are the manifest’s and something else changes',
    fields: ['threshold'],
    desired: { channel: null, channels: [WEBHOOK, EMAIL] },
    there: { channels: [{ ...WEBHOOK, severity: 'error', later: 1 }, EMAIL] },
    sent: { ...BARE, channels: [{ ...WEBHOOK, severity: 'error' }, EMAIL] },
  },
  {
    why: 'the manifest’s channels, with what the service fills in',
    fields: ['channels', 'channel.type', 'channel.webhookId'],
    desired: { channel: null, channels: [EMAIL, WEBHOOK] },
    there: { channels: [{ ...WEBHOOK, webhookService: 'slack_api', severity: 'error' }] },
    sent: { ...BARE, threshold: 9, channels: [EMAIL, { ...WEBHOOK, webhookService: 'slack_api' }] },
  },
  {
    why: 'one channel, where there were several of the manifest',
    fields: ['channels', 'channel.type', 'channel.webhookId'],
    there: { channels: [WEBHOOK, EMAIL] },
    sent: { ...DESIRED, threshold: 9 },
  },
  {
    why: 'no severity, where it was taken out',
    fields: ['channel.severity', 'threshold'],
    there: { channel: { ...WEBHOOK, severity: 'error' } },
    sent: DESIRED,
  },
])('$why', ({ fields, desired, there, sent }) => {
  const compared = { desired: { ...DESIRED, ...desired }, observed: { ...THERE, ...there } }
  expect(ALERT_CHANGES.request('update', new Set(fields), compared)).toEqual(sent)
})
