import { randomBytes } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { alertReply } from './alert-reply.ts'
import { alertFaults, type Home } from './alert-rules.ts'
import { randomOf, refuse, refuseFaults, take, type Answer, type World } from './world.ts'

/* The operations on alerts (section 3.3), which both homes have. */

/** What a body that is written over keeps: the server's own fields. */
const SERVERS = ['id', 'teamId', 'state', 'silenced', 'executionErrors', 'createdAt', 'updatedAt']

const missing = () => refuse(404, 'NOT_FOUND: alert')

export function alertRoutes(home: Home) {
  const alertsOf = (world: World): JsonObject[] => (home === 'cloud' ? world.alerts : world.hyperdx.alerts)
  const tell = (world: World, alert: JsonObject) =>
    alertReply(alert, randomOf(world, home === 'cloud' ? 'alerts' : 'hyperdx'))
  const indexOf = (world: World, id: string) => alertsOf(world).findIndex((one) => one['id'] === id)
  return {
    list: (world: World): Answer => take(alertsOf(world).map((alert) => tell(world, alert))),
    get: (world: World, id: string): Answer => {
      const found = alertsOf(world)[indexOf(world, id)]
      return found === undefined ? missing() : take(tell(world, found))
    },
    create: (world: World, _id: string, body: Json): Answer => {
      const faults = alertFaults(body, home)
      if (faults.length > 0 || !isObject(body)) return refuseFaults(faults)
      const createdAt = new Date().toISOString()
      const own = { id: randomBytes(12).toString('hex'), state: 'OK', createdAt, updatedAt: createdAt }
      const made = { source: 'saved_search', ...body, ...own }
      alertsOf(world).push(made)
      return take(tell(world, made))
    },
    /**
     * Replaces; but an omitted start stays and, without it, an omitted offset too. That the rest is cleared was seen at HyperDX; the
     * revision that Cloud runs may keep `groupBy`.
     */
    put: (world: World, id: string, body: Json): Answer => {
      const index = indexOf(world, id)
      const old = alertsOf(world)[index]
      if (old === undefined) return missing()
      const faults = alertFaults(body, home)
      if (faults.length > 0 || !isObject(body)) return refuseFaults(faults)
      const keptNames = [
        ...SERVERS,
        ...(world.keptByPut ?? []).filter((name) => !(name in body)),
        ...('scheduleStartAt' in body ? [] : ['scheduleStartAt', 'scheduleOffsetMinutes']),
      ]
      const kept = Object.entries(old).filter(([name]) => keptNames.includes(name))
      const now = { source: 'saved_search', ...Object.fromEntries(kept), ...body }
      alertsOf(world)[index] = now
      return take(tell(world, now))
    },
    remove: (world: World, id: string): Answer => {
      const index = indexOf(world, id)
      if (index < 0) return missing()
      alertsOf(world).splice(index, 1)
      return take()
    },
  }
}
