import { isObject, type JsonObject } from '../lib/json.ts'
import type { Home } from './home.ts'
import { withoutRequestOnly } from './request-only.ts'
import type { World } from './world.ts'

/**
 * Puts into the home what a world says is there. Each thing once in the life of a home: what has changed or
 * vanished since stays so when the same world is applied again.
 */
export function seed(home: Home, world: World, now: number): void {
  home.transaction(() => {
    for (const { id, organizationId, serviceId, createdAt, ...body } of world.pipes) {
      if (!home.first(`pipe ${id}`)) continue
      const at = createdAt === undefined ? now : Date.parse(createdAt)
      const kept = withoutRequestOnly(asJson(body))
      home.putPipe({ id, organizationId, serviceId, createdAt: at, updatedAt: at, body: kept, incidents: [] })
    }
    for (const { organizationId, serviceId, ...body } of world.endpoints) {
      if (!home.first(`endpoint ${organizationId}/${serviceId}`)) continue
      const whole = { openApiKeys: [], roles: [], allowedOrigins: '', ...asJson(body) }
      home.putEndpoint({ organizationId, serviceId, body: whole })
    }
    for (const alert of world.alerts) {
      if (!home.first(`alert ${alert.id}`)) continue
      home.putAlert({ id: alert.id, at: now, body: asJson(alert), incidents: [] })
    }
  })
}

/** The same, as plain JSON: fields that are `undefined` are gone. */
function asJson(value: unknown): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value))
  return isObject(plain) ? plain : {}
}
