import { expect, test } from 'vitest'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { startAsker } from '../clickhouse-cloud/ask.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { givenCloud } from './cloud.ts'
import { ask, type Got } from './given.ts'

/* The alerts of a service of the profile clickhouse-cloud. */

const OF = (serviceId: string) => `/v1/organizations/${ORGANIZATION}/services/${serviceId}/clickstack/alerts`
const ALERTS = OF(SERVICE_ID)
const ELSEWHERE = OF('9d0f1a2b-3c4d-4e6f-8a8b-9c0d1e2f3a4b')

const BODY = {
  name: 'Lag',
  source: 'saved_search',
  savedSearchId: '66d0f1a2b3c4d5e6f7a8b9d0',
  threshold: 10,
  thresholdType: 'above',
  interval: '5m',
  channel: { type: 'webhook', webhookId: '66d0f1a2b3c4d5e6f7a8b9aa' },
}

function idIn({ body }: Got): string {
  const result = isObject(body) ? body['result'] : undefined
  return isObject(result) && typeof result['id'] === 'string' ? result['id'] : ''
}

test('an alert is created, listed, replaced and deleted, in its service alone', async () => {
  await using sandbox = await givenCloud({})
  const made = await ask(sandbox, ALERTS, { body: BODY })
  expect(made).toMatchObject({ status: 200, body: { result: { ...BODY, state: 'OK' } } })
  const path = `${ALERTS}/${idIn(made)}`
  expect(await ask(sandbox, ALERTS)).toMatchObject({ body: { result: [BODY] } })
  expect(await ask(sandbox, ELSEWHERE)).toMatchObject({ body: { result: [] } })
  expect(await ask(sandbox, `${ELSEWHERE}/${idIn(made)}`)).toMatchObject({ status: 404 })

  const whole = { ...BODY, note: 'See the runbook', scheduleOffsetMinutes: 2 }
  expect(await ask(sandbox, path, { method: 'PUT', body: whole })).toMatchObject({ status: 200 })
  const { note: _, scheduleOffsetMinutes: __, ...rest } = whole
  await ask(sandbox, path, { method: 'PUT', body: { ...rest, threshold: 11 } })
  const { body } = await ask(sandbox, path)
  const now = isObject(body) && isObject(body['result']) ? body['result'] : {}
  expect(now).toMatchObject({ threshold: 11, scheduleOffsetMinutes: 2, id: idIn(made) })
  expect(now).not.toHaveProperty('note')

  expect(await ask(sandbox, path, { method: 'DELETE' })).toMatchObject({ status: 200 })
  expect(await ask(sandbox, path, { method: 'DELETE' })).toMatchObject({ status: 404 })
})

const ID = '66d0f1a2b3c4d5e6f7a8b9c2'

/** Each makes a body wrong. */
const WRONG: readonly (readonly [why: string, fields: JsonObject])[] = [
  ['with a field of the server', { state: 'OK' }],
  ['with mail to nobody', { channel: { type: 'email', emailRecipients: [] } }],
  ['with mail and no address', { channel: { type: 'email' } }],
  ['with a hook and no id', { channel: { type: 'webhook' } }],
  ['of a tile without a dashboard', { source: 'tile', tileId: 'a' }],
  ['of a search that is null', { savedSearchId: null }],
  ['of a tile in groups', { source: 'tile', dashboardId: ID, tileId: 'a', groupBy: 'a' }],
  ['in groups of null', { groupBy: null }],
  ['without a threshold', { threshold: null }],
  ['of a range without an end', { thresholdType: 'between' }],
  ['of a range that ends before', { thresholdType: 'between', thresholdMax: 4 }],
  ['of a range that ends at null', { thresholdMax: null }],
  ['with an interval that is none', { interval: '2m' }],
  ['with an offset as long as the interval', { scheduleOffsetMinutes: 5 }],
  ['with an offset and a start', { scheduleOffsetMinutes: 1, scheduleStartAt: '2026-01-01T00:00:00Z' }],
  ['with an offset of null', { scheduleOffsetMinutes: null }],
  ['with no name', { name: '' }],
  ['with a long name', { name: 'x'.repeat(513) }],
  ['with windows that are none', { numConsecutiveWindows: 0 }],
]

test.each(WRONG)('both services refuse a body %s, and nothing changes', async (_why, fields) => {
  const body = { ...BODY, ...fields }
  await using sandbox = await givenCloud({})
  const got = await ask(sandbox, ALERTS, { body })
  expect(got).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^BAD_REQUEST: /) } })
  expect(await ask(sandbox, ALERTS)).toMatchObject({ body: { result: [] } })
  const strict = startAsker()
  expect(strict.ask('POST', '/clickstack/alerts', body)).toMatchObject({ status: 400 })
  expect(strict.server.alerts()).toEqual([])
})

test.each(['/clickstack/alerts', '/api/v2/alerts'])(
  'the strict service, too, keeps the schedule of an alert: %s',
  (path) => {
    const kept = { ...BODY, id: ID, state: 'ALERT', groupBy: 'host', scheduleOffsetMinutes: 2 }
    const strict = startAsker({ alerts: [kept], hyperdx: { token: 'token-1', alerts: [kept] } })
    const home = () => (path.startsWith('/api') ? strict.server.hyperdxAlerts() : strict.server.alerts())
    expect(strict.ask('PUT', `${path}/${ID}`, { ...BODY, threshold: 6 })).toMatchObject({ status: 200 })
    const { groupBy: _, ...rest } = kept
    expect(home()).toEqual([{ ...rest, threshold: 6, source: 'saved_search' }])
    expect(strict.ask('DELETE', `${path}/${ID}`)).toMatchObject({ status: 200 })
    expect(strict.ask('PUT', `${path}/${ID}`, BODY)).toMatchObject({ status: 404 })
    expect(home()).toEqual([])
  },
)

test('a create can be cut off after its work, by its name', async () => {
  const rules = [{ operation: 'createAlert', subject: 'Lag', fault: { type: 'cut-after' } } as const]
  await using sandbox = await givenCloud({ faults: { rules } })
  await expect(ask(sandbox, ALERTS, { body: BODY })).rejects.toThrow('other side closed')
  expect(await ask(sandbox, ALERTS)).toMatchObject({ body: { result: [BODY] } })
})
