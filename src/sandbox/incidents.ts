import { sha256 } from '../lib/digest.ts'
import { isObject, stableJson } from '../lib/json.ts'
import type { Storage } from './storage.ts'
import { mergePatch } from '../lib/merge-patch.ts'
import type { StoredAlert, StoredPipe } from './stored.ts'
import type { Incident } from './fixture.ts'

/** Computed at each read, without timers. */
export interface Incidents {
  /** Due at `now` (ms). Undefined: the pipe vanished. */
  advancePipe(pipe: StoredPipe, now: number): StoredPipe | undefined
  advanceAlert(alert: StoredAlert, now: number): StoredAlert
}

/** @param deletingMs a deleted pipe is visible for this long */
export function createIncidents(
  storage: Storage,
  incidents: readonly Incident[],
  deletingMs: number,
): Incidents {
  const known = incidents
    .map((incident) => ({ ...incident, mark: sha256(stableJson(incident)).slice(0, 12) }))
    .toSorted((a, b) => a.afterMs - b.afterMs)

  return {
    advancePipe(pipe, now) {
      const deletedAt = pipe.internals?.deletedAt
      if (deletedAt !== undefined && now - deletedAt >= deletingMs) {
        storage.removePipe(pipe.id)
        return undefined
      }
      const due = known.filter(
        (incident) =>
          incident.pipe !== undefined &&
          (incident.pipe === pipe.id || incident.pipe === pipe.body['name']) &&
          now - pipe.createdAt >= incident.afterMs &&
          !pipe.incidents.includes(incident.mark),
      )
      if (due.length === 0) return pipe
      if (due.some(({ vanish }) => vanish)) {
        storage.removePipe(pipe.id)
        return undefined
      }
      const after: StoredPipe = {
        ...pipe,
        updatedAt: now,
        body: due.reduce(
          (body, { change }) => (isObject(change) ? mergePatch(body, change) : body),
          pipe.body,
        ),
        incidents: [...pipe.incidents, ...due.map(({ mark }) => mark)],
      }
      storage.putPipe(after)
      return after
    },

    advanceAlert(alert, now) {
      const due = known.filter(
        (incident) =>
          incident.alert === alert.id &&
          now - alert.at >= incident.afterMs &&
          !alert.incidents.includes(incident.mark),
      )
      if (due.length === 0) return alert
      const updatedAt = new Date(now).toISOString()
      const after: StoredAlert = {
        ...alert,
        body: due.reduce(
          (body, { change }) => (isObject(change) ? mergePatch(body, { updatedAt, ...change }) : body),
          alert.body,
        ),
        incidents: [...alert.incidents, ...due.map(({ mark }) => mark)],
      }
      storage.putAlert(after)
      return after
    },
  }
}
