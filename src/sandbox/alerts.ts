import { randomBytes } from 'node:crypto'
import { z } from '../kinds/zod.ts'
import { type Json, type JsonObject, stableJson } from '../lib/json.ts'
import { type Call, type OperationResult, readCheckedBody, type Refusal, refusal } from './call.ts'
import { advanceAlert, type World } from './world.ts'
import { servicePath, type StoredAlert } from './stored.ts'
import { bodyShape, rulesBrokenBy, required } from './wire-schema.ts'

/** `spec/api.md` 4.4, and a service's own alerts if the profile has them. */
export const ALERT_OPERATIONS = {
  getAlert,
  getServiceAlert,
  listServiceAlerts,
  createAlert,
  updateAlert,
  deleteAlert,
}

const NO_ALERT = refusal(404, 'no such alert')

function getAlert(world: World, call: Call): OperationResult {
  const alert = world.storage.get('alert', call.id)
  return alert === undefined ? NO_ALERT : { ok: true, result: advanceAlert(world, alert, call.now).body }
}

function getServiceAlert(world: World, call: Call): OperationResult {
  const found = findAlert(world, call)
  return found.ok ? { ok: true, result: found.alert.body } : found
}

function listServiceAlerts(world: World, call: Call): OperationResult {
  const there = world.storage
    .all('alert')
    .filter((alert) => isOf(alert, call) && call.now - alert.createdAt >= world.times.listLagMs)
  return { ok: true, result: there.map((alert) => advanceAlert(world, alert, call.now).body) }
}

const TEAM = '66d0f1a2b3c4d5e6f7a8b9ff'

function createAlert(world: World, call: Call): OperationResult {
  const read = readAlert(world, call)
  if (!read.ok) return read
  const id = randomBytes(12).toString('hex')
  const at = world.dialect.timestamp(call.now)
  const body = { ...read.json, id, teamId: TEAM, state: 'OK', createdAt: at, updatedAt: at }
  const service = servicePath(call.service)
  world.storage.put('alert', id, { id, createdAt: call.now, service, body, incidents: [] })
  return { ok: true, result: body }
}

/** Set by the server. */
const SERVERS = ['id', 'teamId', 'state', 'silenced', 'executionErrors', 'createdAt']

/** Replaces the alert. An omitted start stays, and with it an omitted offset (facts 3.3). */
function updateAlert(world: World, call: Call): OperationResult {
  const found = findAlert(world, call)
  if (!found.ok) return found
  const read = readAlert(world, call)
  if (!read.ok) return read
  const { alert } = found
  const schedule = 'scheduleStartAt' in read.json ? [] : ['scheduleStartAt', 'scheduleOffsetMinutes']
  const stays = [...SERVERS, ...schedule]
  const kept = Object.entries(alert.body).filter(([name]) => stays.includes(name))
  const updatedAt = world.dialect.timestamp(call.now)
  const body: JsonObject = { ...Object.fromEntries(kept), ...read.json, updatedAt }
  world.storage.put('alert', alert.id, { ...alert, body })
  return { ok: true, result: body }
}

function deleteAlert(world: World, call: Call): OperationResult {
  const found = findAlert(world, call)
  if (!found.ok) return found
  world.storage.remove('alert', found.alert.id)
  return { ok: true }
}

function findAlert(world: World, call: Call): { readonly ok: true; readonly alert: StoredAlert } | Refusal {
  const alert = world.storage.get('alert', call.id.toLowerCase())
  return alert === undefined || !isOf(alert, call)
    ? NO_ALERT
    : { ok: true, alert: advanceAlert(world, alert, call.now) }
}

/** An alert of a fixture belongs to every service. */
function isOf({ service }: StoredAlert, call: Call): boolean {
  return service === '' || service === servicePath(call.service)
}

/** A `scheduleStartAt` of null removes it. `channel` can repeat the first of `channels`. */
function readAlert({ dialect: { alert } }: World, call: Call): ReturnType<typeof readCheckedBody> {
  if (alert === undefined) return refusal(404, 'alerts are not written here')
  const { id: _ofOthers, expect: _ofWatched, ...shape } = bodyShape(alert)
  const read = readCheckedBody(call, {
    ...shape,
    scheduleStartAt: z.nullable(required(shape['scheduleStartAt'])).optional(),
  })
  if (!read.ok) return read
  const { scheduleStartAt, channel, channels, ...rest } = read.json
  const [first]: readonly Json[] = Array.isArray(channels) ? channels : []
  if (channel !== undefined && first !== undefined && stableJson(channel) !== stableJson(first))
    return refusal(400, 'channel: must be the first of channels')
  const [broken] = rulesBrokenBy(alert, {
    service: 'here',
    ...rest,
    ...(scheduleStartAt !== null && { scheduleStartAt }),
    ...(first === undefined ? { channel } : { channels }),
  })
  return broken === undefined ? read : refusal(400, broken.words)
}
