import { randomBytes } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { alertReply } from './alert-reply.ts'
import { alertFaults, type Home } from './alert-rules.ts'
import { randomOf, refuse, refuseFaults, take, type Answer, type World } from './world.ts'

/* The operations on alerts (section 3.3), which both homes have. */

/** What a body that is written over keeps: the server's own fields. */
const SERVERS = ['id', 'teamId', 'state', 'silenced', 'executionErrors', 'createdAt', 'updatedAt']

function alertsOf(world: World, home: Home): JsonObject[] {
  return home === 'cloud' ? world.alerts : world.hyperdx.alerts
}

function tell(world: World, home: Home, alert: JsonObject): JsonObject {
  return alertReply(alert, randomOf(world, home === 'cloud' ? 'alerts' : 'hyperdx'))
}

export function listAlerts(world: World): Answer {
  return take(world.alerts.map((alert) => tell(world, 'cloud', alert)))
}

export function getAlert(world: World, id: string, home: Home): Answer {
  const found = alertsOf(world, home).find((one) => one['id'] === id)
  return found === undefined ? refuse(404, 'NOT_FOUND: alert') : take(tell(world, home, found))
}

export function createAlert(world: World, body: Json, home: Home): Answer {
  const faults = alertFaults(body, home)
  if (faults.length > 0 || !isObject(body)) return refuseFaults(faults)
  const createdAt = new Date().toISOString()
  const own = { id: randomBytes(12).toString('hex'), state: 'OK', createdAt, updatedAt: createdAt }
  const made = { source: 'saved_search', ...body, ...own }
  alertsOf(world, home).push(made)
  return take(tell(world, home, made))
}

/**
 * Replaces; but an omitted start stays and, without it, an omitted offset too. That the rest is cleared was seen at HyperDX; the
 * revision that Cloud runs may keep `groupBy`.
 */
export function putAlert(world: World, id: string, { body, home }: { body: Json; home: Home }): Answer {
  const alerts = alertsOf(world, home)
  const index = alerts.findIndex((one) => one['id'] === id)
  const old = alerts[index]
  if (old === undefined) return refuse(404, 'NOT_FOUND: alert')
  const faults = alertFaults(body, home)
  if (faults.length > 0 || !isObject(body)) return refuseFaults(faults)
  const keptNames = [
    ...SERVERS,
    ...(world.keptByPut ?? []).filter((name) => !(name in body)),
    ...('scheduleStartAt' in body ? [] : ['scheduleStartAt', 'scheduleOffsetMinutes']),
  ]
  const kept = Object.entries(old).filter(([name]) => keptNames.includes(name))
  const now = { source: 'saved_search', ...Object.fromEntries(kept), ...body }
  alerts[index] = now
  return take(tell(world, home, now))
}

export function deleteAlert(world: World, id: string, home: Home): Answer {
  const alerts = alertsOf(world, home)
  const index = alerts.findIndex((one) => one['id'] === id)
  if (index < 0) return refuse(404, 'NOT_FOUND: alert')
  alerts.splice(index, 1)
  return take()
}
