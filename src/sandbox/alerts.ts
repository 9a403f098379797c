import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../lib/json.ts'
import { type Answer, bare, emptyEnvelope, envelope, failure } from './answer.ts'
import { type Call, readBody, serviceOf } from './call.ts'
import type { Dialect } from './dialect.ts'
import type { Incidents } from './incidents.ts'
import type { Refusals } from './refusals.ts'
import type { Operation } from './request-schema.ts'
import type { Storage } from './storage.ts'
import type { StoredAlert } from './stored.ts'

type AlertOperation = Extract<Operation, `${string}Alert` | `${string}Alerts`>

type Found<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly answer: Answer }

/** `spec/api.md` 4.4, and a service's own alerts if the profile has them. */
export function createAlerts({
  storage,
  incidents,
  dialect,
  listLagMs,
  refusals: { refuse, objectionToPath },
}: {
  readonly storage: Storage
  readonly incidents: Incidents
  readonly dialect: Dialect
  /** Age at which the list shows an alert: ms. */
  readonly listLagMs: number
  readonly refusals: Refusals
}): Readonly<Record<AlertOperation, (call: Call) => Answer>> {
  return { getAlert, getServiceAlert, listServiceAlerts, createAlert, updateAlert, deleteAlert }

  function getAlert(call: Call): Answer {
    const alert = storage.alert(call.params['id'] ?? '')
    if (alert === undefined) return failure(call.requestId, 404, 'no such alert')
    return bare(incidents.advanceAlert(alert, call.now).body)
  }

  function getServiceAlert(call: Call): Answer {
    const found = findAlert(call)
    return found.ok ? envelope(call.requestId, found.alert.body) : found.answer
  }

  function listServiceAlerts(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const there = storage
      .alerts()
      .filter((alert) => isOf(alert, call) && call.now - alert.at >= listLagMs)
      .map((alert) => incidents.advanceAlert(alert, call.now).body)
    return envelope(call.requestId, there)
  }

  function createAlert(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const read = readAlert(call)
    if (!read.ok) return read.answer
    const id = randomBytes(12).toString('hex')
    const at = dialect.timestamp(call.now)
    const body = { ...read.json, id, teamId: TEAM, state: 'OK', createdAt: at, updatedAt: at }
    storage.putAlert({ id, at: call.now, service: serviceOf(call), body, incidents: [] })
    return envelope(call.requestId, body)
  }

  /** Replaces the alert. An omitted start stays, and with it an omitted offset (facts 3.3). */
  function updateAlert(call: Call): Answer {
    const found = findAlert(call)
    if (!found.ok) return found.answer
    const read = readAlert(call)
    if (!read.ok) return read.answer
    const { alert } = found
    const schedule = 'scheduleStartAt' in read.json ? [] : ['scheduleStartAt', 'scheduleOffsetMinutes']
    const stays = [...SERVERS, ...schedule]
    const kept = Object.entries(alert.body).filter(([name]) => stays.includes(name))
    const body: JsonObject = {
      ...Object.fromEntries(kept),
      ...read.json,
      updatedAt: dialect.timestamp(call.now),
    }
    storage.putAlert({ ...alert, body })
    return envelope(call.requestId, body)
  }

  function deleteAlert(call: Call): Answer {
    const found = findAlert(call)
    if (!found.ok) return found.answer
    storage.removeAlert(found.alert.id)
    return emptyEnvelope(call.requestId)
  }

  function findAlert(call: Call): Found<{ readonly alert: StoredAlert }> {
    const { id = '', ...service } = call.params
    const wrong = objectionToPath({ ...call, params: service })
    if (wrong !== undefined) return { ok: false, answer: wrong }
    const alert = storage.alert(id.toLowerCase())
    return alert === undefined || !isOf(alert, call)
      ? { ok: false, answer: refuse(call, 404, 'no such alert') }
      : { ok: true, alert: incidents.advanceAlert(alert, call.now) }
  }

  function readAlert(call: Call): Found<{ readonly json: JsonObject }> {
    const { alerts } = dialect
    if (alerts === undefined) return { ok: false, answer: refuse(call, 404, 'alerts are not written here') }
    const read = readBody(call, alerts.request)
    const error = read.ok ? alerts.objectionTo(read.json) : read.error
    return read.ok && error === undefined
      ? { ok: true, json: read.json }
      : { ok: false, answer: refuse(call, 400, error ?? '') }
  }
}

const TEAM = '66d0f1a2b3c4d5e6f7a8b9ff'

/** Set by the server. */
const SERVERS = ['id', 'teamId', 'state', 'silenced', 'executionErrors', 'createdAt']

/** An alert of a fixture belongs to every service. */
function isOf({ service }: StoredAlert, call: Call): boolean {
  const { organizationId, serviceId } = serviceOf(call)
  return (
    service === undefined || (service.organizationId === organizationId && service.serviceId === serviceId)
  )
}
