import { describe, expect, test } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { startAsker, type Asker } from './ask.ts'
import { textOf } from './look.ts'

/* Alerts and the query endpoint of the strict server: what it takes of a write, and what it refuses. */

const CLOUD = '/clickstack/alerts'
const HYPERDX = '/api/v2/alerts'
const ID = '66d0f1a2b3c4d5e6f7a8b9c2'
const OTHER = '66d0f1a2b3c4d5e6f7a8b9ff'

const EMAIL = { type: 'email', emailRecipients: ['a@b.example'] }
const HOOK = { type: 'webhook', webhookId: OTHER }
const SEARCH = { savedSearchId: OTHER, threshold: 5, thresholdType: 'above', interval: '5m', channel: HOOK }

/** As the server has it before. */
const KEPT = {
  ...SEARCH,
  id: ID,
  state: 'ALERT',
  teamId: OTHER,
  source: 'saved_search',
  name: 'Before',
  groupBy: 'host',
  scheduleOffsetMinutes: 2,
}

function start(): Promise<Asker> {
  return startAsker({ alerts: [KEPT], hyperdx: { token: 'token-1', alerts: [KEPT] } })
}

type Row = readonly [why: string, path: string, more: JsonObject]

describe('a body is taken', () => {
  test.each<Row>([
    ['by the service', CLOUD, {}],
    ['by HyperDX', HYPERDX, {}],
    ['with mail', CLOUD, { channel: { ...EMAIL, severity: 'error' } }],
    [
      'with several channels, the first of them named twice',
      HYPERDX,
      { channels: [HOOK, { ...HOOK, webhookId: ID }] },
    ],
    ['of a tile', CLOUD, { source: 'tile', dashboardId: ID, tileId: 'a', savedSearchId: null }],
    ['of a range', CLOUD, { thresholdType: 'between', thresholdMax: 5 }],
    ['with no start', HYPERDX, { scheduleStartAt: null }],
    ['with a start near by', HYPERDX, { scheduleStartAt: '2026-01-01T00:00:00Z' }],
  ])('%s', async (_why, path, more) => {
    await using world = await start()
    const made = await world.ask('POST', path, { ...SEARCH, ...more })
    expect(made).toMatchObject({ status: 200, error: '' })
    const id = textOf(isObject(made.result) ? made.result['id'] : undefined)
    const kept = path === CLOUD ? world.server.alerts() : world.server.hyperdxAlerts()
    expect(kept.at(-1)).toMatchObject({ ...SEARCH, ...more, id, state: 'OK' })
    expect(await world.ask('PUT', `${path}/${id}`, { ...SEARCH, ...more })).toMatchObject({ status: 200 })
    expect(kept).toHaveLength(2)
  })
})

describe('a body is refused', () => {
  test.each<readonly [why: string, path: string, more: JsonObject, error: string]>([
    ['with a field of the server', CLOUD, { state: 'OK' }, 'state: unknown field'],
    ['with an id', HYPERDX, { id: ID }, 'id: unknown field'],
    ['by the old name of a field', HYPERDX, { dashboard: ID }, 'dashboard: unknown field'],
    ['with several channels of the service', CLOUD, { channels: [HOOK] }, 'channels: unknown field'],
    ['with mail of HyperDX', HYPERDX, { channel: EMAIL }, 'channel.type: value'],
    [
      'with a severity of HyperDX',
      HYPERDX,
      { channel: { ...HOOK, severity: 'info' } },
      'severity: unknown field',
    ],
    [
      'with mail to nobody',
      CLOUD,
      { channel: { type: 'email', emailRecipients: [] } },
      'emailRecipients: value',
    ],
    ['with mail and no address', CLOUD, { channel: { type: 'email' } }, 'emailRecipients: needed'],
    ['with a hook and no id', CLOUD, { channel: { type: 'webhook' } }, 'channel.webhookId: needed'],
    ['with another channel first', HYPERDX, { channels: [{ ...HOOK, webhookId: ID }] }, 'not channels[0]'],
    ['with a channel twice', HYPERDX, { channels: [HOOK, HOOK] }, 'channels: twice'],
    ['with no channel in the list', HYPERDX, { channels: [] }, 'channels: value'],
    ['of a tile without a dashboard', CLOUD, { source: 'tile', tileId: 'a' }, 'dashboardId: R43'],
    ['of a search that is null', CLOUD, { savedSearchId: null }, 'savedSearchId: R43'],
    [
      'of a tile in groups',
      CLOUD,
      { source: 'tile', dashboardId: ID, tileId: 'a', groupBy: 'a' },
      'groupBy: saved search only',
    ],
    ['in groups of null', CLOUD, { groupBy: null }, 'groupBy: value'],
    ['without a threshold', CLOUD, { threshold: null }, 'threshold: needed'],
    ['of a range without an end', CLOUD, { thresholdType: 'between' }, 'thresholdMax: R43'],
    [
      'of a range that ends before',
      CLOUD,
      { thresholdType: 'between', thresholdMax: 4 },
      'thresholdMax: range',
    ],
    ['of a range that ends at null', CLOUD, { thresholdMax: null }, 'thresholdMax: value'],
    ['with an interval that is none', CLOUD, { interval: '2m' }, 'interval: value'],
    [
      'with an offset as long as the interval',
      CLOUD,
      { scheduleOffsetMinutes: 5 },
      'scheduleOffsetMinutes: schedule',
    ],
    [
      'with an offset and a start',
      CLOUD,
      { scheduleOffsetMinutes: 1, scheduleStartAt: '2026-01-01T00:00:00Z' },
      'scheduleOffsetMinutes: schedule',
    ],
    ['with an offset of null', CLOUD, { scheduleOffsetMinutes: null }, 'scheduleOffsetMinutes: value'],
    ['with a start long ago', CLOUD, { scheduleStartAt: '2001-01-01T00:00:00Z' }, 'scheduleStartAt: value'],
    ['with no name', CLOUD, { name: '' }, 'name: value'],
    ['with a long name', CLOUD, { name: 'x'.repeat(513) }, 'name: value'],
    ['with windows that are none', CLOUD, { numConsecutiveWindows: 0 }, 'numConsecutiveWindows: value'],
  ])('%s', async (_why, path, more, error) => {
    await using world = await start()
    const body = { ...SEARCH, ...more }
    for (const got of [await world.ask('POST', path, body), await world.ask('PUT', `${path}/${ID}`, body)]) {
      expect(got.status).toBe(400)
      expect(got.error).toContain(error)
    }
    expect([world.server.alerts(), world.server.hyperdxAlerts()]).toEqual([[KEPT], [KEPT]])
  })

  test.each([CLOUD, HYPERDX])('of an alert that is not there: %s', async (path) => {
    await using world = await start()
    expect(await world.ask('PUT', `${path}/${OTHER}`, SEARCH)).toMatchObject({ status: 404 })
    expect(await world.ask('PUT', `${path}/a`, SEARCH)).toMatchObject({ status: 400 })
    expect(await world.ask('DELETE', `${path}/${OTHER}`)).toMatchObject({ status: 404 })
  })
})

describe('what is written over', () => {
  test.each([CLOUD, HYPERDX])(
    'keeps what is the server’s and the schedule, and nothing else: %s',
    async (path) => {
      await using world = await start()
      const { name: _, groupBy: __, ...rest } = KEPT
      expect(await world.ask('PUT', `${path}/${ID}`, { ...SEARCH, threshold: 6 })).toMatchObject({
        status: 200,
      })
      const [now] = path === CLOUD ? world.server.alerts() : world.server.hyperdxAlerts()
      expect(now).toEqual({ ...rest, threshold: 6 })
    },
  )

  test('forgets the offset when it is told a start', async () => {
    await using world = await start()
    await world.ask('PUT', `${CLOUD}/${ID}`, { ...SEARCH, scheduleStartAt: null })
    expect(world.server.alerts()[0]).not.toHaveProperty('scheduleOffsetMinutes')
  })
})

describe('what is deleted is gone', () => {
  test.each([CLOUD, HYPERDX])('of %s, in this home alone', async (path) => {
    await using world = await start()
    expect(await world.ask('DELETE', `${path}/${ID}`)).toMatchObject({ status: 200, result: undefined })
    expect(await world.ask('GET', `${path}/${ID}`)).toMatchObject({ status: 404 })
    expect(await world.ask('DELETE', `${path}/${ID}`)).toMatchObject({ status: 404 })
    expect(await world.ask('GET', `${path === CLOUD ? HYPERDX : CLOUD}/${ID}`)).toMatchObject({ status: 200 })
  })

  test('a query endpoint too, which is replaced as a whole until then', async () => {
    await using world = await start()
    const path = '/serviceQueryEndpoint'
    const body: Json = { roles: ['sql_console_admin'], openApiKeys: [], allowedOrigins: '' }
    expect(await world.ask('DELETE', path)).toMatchObject({ status: 404 })
    await world.ask('POST', path, { ...body, allowedOrigins: '*' })
    expect(await world.ask('POST', path, body)).toMatchObject({ status: 200 })
    expect(world.server.endpoint()).toEqual(body)
    expect(await world.ask('DELETE', path)).toMatchObject({ status: 200, result: undefined })
    expect(world.server.endpoint()).toBeUndefined()
    expect(await world.ask('GET', path)).toMatchObject({ status: 404 })
  })
})
