import { describe, expect, test } from 'vitest'
import { isCreateOnce } from '../../src/kinds/lookup.ts'
import { rulesOf, schemaOf } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { ResourceManifest } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { SPEC, WEBHOOK } from './alerts.ts'

const ID = '66d0f1a2b3c4d5e6f7a8b9c2'
const UUID = 'abcdefab-1111-4111-8111-111111111111'

function manifestOf(spec: Readonly<Record<string, unknown>>, policy?: JsonObject) {
  // As in a file: what is undefined is not there.
  return JSON.parse(
    JSON.stringify({ apiVersion: 'pipewright/v1', kind: 'Alert', metadata: { name: 'lag' }, policy, spec }),
  ) as ResourceManifest
}

/** What is wrong with a manifest: place, message and hint. */
function findings(spec: Readonly<Record<string, unknown>>, policy?: JsonObject): readonly string[] {
  const manifest = manifestOf(spec, policy)
  const read = schemaOf(CLICKHOUSE_CLOUD, 'Alert')?.safeParse(manifest)
  if (read?.success !== true)
    return (read?.error.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
  return rulesOf(CLICKHOUSE_CLOUD, manifest).map(
    ({ path, message, hint }) => `${path.join('.')}: ${message} ${hint}`,
  )
}

const WRITTEN = { service: 'analytics', ...SPEC }

describe('the two forms of a manifest', () => {
  test.each(
    Object.entries({
      'one that is created': { spec: WRITTEN, isCreated: true },
      'one that is watched': { spec: { service: 'analytics', id: ID }, isCreated: false },
      'one of HyperDX': { spec: { id: ID, expect: { name: 'Lag' } }, isCreated: false },
    }),
  )('%s', (_why, { spec, isCreated }) => {
    expect(findings(spec)).toEqual([])
    expect(isCreateOnce(manifestOf(spec))).toBe(isCreated)
  })

  test.each(
    Object.entries<{ spec: JsonObject; policy?: JsonObject; said: RegExp }>({
      'a mix': {
        spec: { ...WRITTEN, id: ID },
        said: /^spec\.name: `name` is for an alert that Pipewright creates\. With `id`, an existing alert is only watched\. To watch the alert, write expected values under spec\.expect\. To create an alert, remove spec\.id\.$/,
      },
      'an expectation of one that is created': {
        spec: { ...WRITTEN, expect: { threshold: 1 } },
        said: /^spec\.expect: `expect` is for a watched alert, and the `id` of that alert is missing\. To watch an existing alert, add spec\.id\./,
      },
      neither: {
        spec: { service: 'analytics' },
        said: /^spec: The manifest names no existing alert, and describes no new alert\. To watch an existing alert, add spec\.id\. To create an alert, write its fields/,
      },
      'none in HyperDX': {
        spec: SPEC,
        said: /^spec\.service: .*Alerts can be created only in a service, and not in HyperDX\. .*To watch an alert in HyperDX/,
      },
      'a policy of one that is created': {
        spec: { id: ID },
        policy: { onDrift: 'correct' },
        said: /^policy\.onDrift: `onDrift` is for an alert that Pipewright creates/,
      },
      'the id of a pipe': { spec: WRITTEN, policy: { adopt: crypto.randomUUID() }, said: /24 hexadecimal/ },
      'a pause': { spec: WRITTEN, policy: { paused: true }, said: /Unrecognized key: "paused"/ },
    }),
  )('%s', (_why, { spec, policy, said }) => {
    expect(findings(spec, policy)[0]).toMatch(said)
  })

  test('are one in the default profile', () => {
    expect(schemaOf(DEFAULT, 'Alert')?.safeParse(manifestOf(SPEC)).success).toBe(false)
  })
})

describe('what an alert that is created has to say', () => {
  test.each(['name', 'threshold', 'thresholdType', 'interval', 'channel', 'savedSearchId'])(
    '%s is needed',
    (field) => {
      const all = findings({ ...WRITTEN, [field]: undefined })
      expect(all).toHaveLength(1)
      expect(all[0]).toMatch(new RegExp(`^spec\\.${field}: .* is missing`))
    },
  )

  const rows: Readonly<Record<string, readonly [spec: Readonly<Record<string, unknown>>, said: RegExp]>> = {
    'a tile without its dashboard': [
      { source: 'tile', savedSearchId: undefined, tileId: 't' },
      /^spec\.dashboardId: .*with source tile/,
    ],
    'a tile of a saved search': [{ tileId: 't' }, /^spec\.tileId: .*cannot be set with source saved_search/],
    'a saved search of a tile': [
      { source: 'tile', dashboardId: ID, tileId: 't' },
      /^spec\.savedSearchId: .*cannot be set with source tile/,
    ],
    'no source, and a tile': [
      { source: undefined, savedSearchId: undefined, dashboardId: ID, tileId: 't' },
      /^spec\.savedSearchId: .*the default/,
    ],
    'a range without its end': [
      { thresholdType: 'between' },
      /^spec\.thresholdMax: .*with thresholdType between/,
    ],
    'an end without a range': [
      { thresholdMax: 20 },
      /^spec\.thresholdMax: .*without thresholdType between or not_between/,
    ],
    'an end below the threshold': [
      { thresholdType: 'between', thresholdMax: 9 },
      /^spec\.thresholdMax: .*below threshold/,
    ],
    'an offset as long as the interval': [
      { scheduleOffsetMinutes: 5 },
      /not less than the interval, 5m\. Write less than 5\./,
    ],
    'an offset beside a start': [
      { scheduleOffsetMinutes: 1, scheduleStartAt: '2026-01-01T00:00:00Z' },
      /^spec\.scheduleOffsetMinutes: .*beside scheduleStartAt/,
    ],
    'an offset of a day': [{ interval: '1d', scheduleOffsetMinutes: 1_440 }, /^spec\.scheduleOffsetMinutes/],
    'no window': [{ numConsecutiveWindows: 0 }, /^spec\.numConsecutiveWindows/],
    'an empty name': [{ name: '' }, /^spec\.name/],
    'a long name': [{ name: 'a'.repeat(513) }, /^spec\.name/],
    'a long message': [{ message: 'a'.repeat(4_097) }, /^spec\.message/],
    'a webhook without its id': [
      { channel: { type: 'webhook' } },
      /^spec\.channel\.webhookId: .*for type webhook/,
    ],
    'mail to nobody': [{ channel: { type: 'email' } }, /^spec\.channel\.emailRecipients: .*for type email/],
    'mail to no address': [
      { channel: { type: 'email', emailRecipients: ['a'] } },
      /must be an e-mail address/,
    ],
    'mail twice': [
      { channel: { type: 'email', emailRecipients: ['a@b.c', 'a@b.c'] } },
      /is the same as item 1/,
    ],
    'addresses of a webhook': [
      { channel: { ...WEBHOOK, emailRecipients: ['a@b.c'] } },
      /^spec\.channel\.emailRecipients: .*cannot be set for type webhook/,
    ],
    'a field of the server': [{ state: 'OK' }, /Unrecognized key: "state"/],
  }
  test.each(Object.entries(rows))('%s', (_why, [spec, said]) => {
    expect(findings({ ...WRITTEN, ...spec }).join('\n')).toMatch(said)
  })

  test('an offset of 0 stands beside a start', () => {
    const spec = { ...WRITTEN, scheduleOffsetMinutes: 0, scheduleStartAt: '2026-01-01T00:00:00Z' }
    expect(findings(spec)).toEqual([])
  })
})

test('ids in capitals are the same ids', () => {
  const { webhookId } = WRITTEN.channel
  const upper = { ...WRITTEN, channel: { ...WRITTEN.channel, webhookId: webhookId.toUpperCase() } }
  const read = schemaOf(CLICKHOUSE_CLOUD, 'Alert')?.parse(manifestOf(upper))
  expect(read).toMatchObject({ spec: { channel: { webhookId } } })
  const spec = { service: 'analytics', roles: [], allowedOrigins: '*', openApiKeys: [UUID.toUpperCase()] }
  const endpoint = { ...manifestOf(spec), kind: 'QueryEndpoint' }
  expect(schemaOf(CLICKHOUSE_CLOUD, 'QueryEndpoint')?.parse(endpoint)).toMatchObject({
    spec: { openApiKeys: [UUID] },
  })
})

test.each(['.', '..'])('a watched alert cannot have the id "%s", which is no part of a path', (id) => {
  expect(schemaOf(DEFAULT, 'Alert')?.safeParse(manifestOf({ id })).success).toBe(false)
  expect(schemaOf(DEFAULT, 'Alert')?.safeParse(manifestOf({ id: `${id}a` })).success).toBe(true)
})
