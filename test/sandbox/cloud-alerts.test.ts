import { expect, test } from 'vitest'
import { isObject } from '../../src/lib/json.ts'
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

test.each([
  ['a field that there is none of', { severity: 'high' }],
  ['a range without its end', { thresholdType: 'between' }],
  ['a null that is refused', { thresholdMax: null }],
  ['no channel', { channel: undefined }],
])('a body is refused: %s', async (_why, fields) => {
  await using sandbox = await givenCloud({})
  const got = await ask(sandbox, ALERTS, { body: { ...BODY, ...fields } })
  expect(got).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^BAD_REQUEST: /) } })
  expect(await ask(sandbox, ALERTS)).toMatchObject({ body: { result: [] } })
})

test('a create can be cut off after its work, by its name', async () => {
  const rules = [{ operation: 'createAlert', subject: 'Lag', fault: { type: 'cut-after' } } as const]
  await using sandbox = await givenCloud({ faults: { rules } })
  await expect(ask(sandbox, ALERTS, { body: BODY })).rejects.toThrow('other side closed')
  expect(await ask(sandbox, ALERTS)).toMatchObject({ body: { result: [BODY] } })
})
