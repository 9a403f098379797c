import { randomBytes, randomUUID } from 'node:crypto'
import { SERVER_FIELDS } from '../kinds/profiles/clickhouse-cloud/alert/schema.ts'
import { z } from '../kinds/zod.ts'
import { type Json, type JsonObject, stableJson } from '../lib/json.ts'
import { UUID } from '../lib/sensitive.ts'
import {
  type Call,
  type OperationResult,
  readCheckedBody,
  readObject,
  type Refusal,
  refusal,
} from './call.ts'
import { type PipeBefore, type PipeChange, command, configure, scale } from './pipe-changes.ts'
import { update } from './pipe-update.ts'
import { lowerCaseIds, servicePath, type StoredAlert, type StoredPipe } from './stored.ts'
import { bodyShape, required, rulesBrokenBy } from './wire-schema.ts'
import {
  advanceAlert,
  advancePipe,
  newPipe,
  objectionTo,
  type PipeView,
  stateOf,
  viewPipe,
  type World,
} from './world.ts'

export function perform(world: World, operation: OperationId, call: Call): OperationResult {
  const isInService = operation !== 'getAlert'
  return (isInService ? serviceRefusal(world, call) : undefined) ?? HANDLERS[operation](world, call)
}

type Handler = (world: World, call: Call) => OperationResult

const HANDLERS = {
  createPipe,
  getPipe: onPipe((world, { now }, pipe) => ({ ok: true, result: viewPipe(world, pipe, now) })),
  upsertQueryEndpoint,
  getAlert,
  getServiceAlert: onAlert((_world, _call, { body }) => ({ ok: true, result: body })),
  listPipes,
  updatePipe: changePipe(update),
  scalePipe: changePipe(scale),
  putPipeSettings: changePipe(configure, ({ settings = {} }) => settings as JsonObject), // its schema says so
  setPipeState: changePipe(command),
  deletePipe: onPipe(deletePipe),
  getQueryEndpoint,
  deleteQueryEndpoint: ({ storage }, { service }) =>
    storage.remove('endpoint', servicePath(service)) ? { ok: true } : NO_ENDPOINT,
  listServiceAlerts,
  createAlert,
  updateAlert: onAlert(updateAlert),
  deleteAlert: onAlert(({ storage }, _call, { id }) => {
    storage.remove('alert', id)
    return { ok: true }
  }),
} satisfies Readonly<Record<string, Handler>>

export type OperationId = keyof typeof HANDLERS

export const OPERATIONS = Object.keys(HANDLERS) as readonly OperationId[] // its own keys

function serviceRefusal({ services }: World, { service }: Call): Refusal | undefined {
  for (const [name, id] of Object.entries(service))
    if (!UUID.test(id)) return refusal(400, `${name}: must be a UUID`)
  const isKnown = services?.some((one) => servicePath(lowerCaseIds(one)) === servicePath(service)) ?? true
  return isKnown ? undefined : refusal(404, 'no such service in this organization')
}

const RUNNING = 'running'

function sleepRefusal({ storage }: World, { service }: Call): Refusal | undefined {
  const { state } = storage.get('service', servicePath(service)) ?? { state: RUNNING }
  return state === RUNNING ? undefined : refusal(424, `the service must be running, but is ${state}`)
}

function createPipe(world: World, call: Call): OperationResult {
  const { dialect, storage } = world
  const asleep = sleepRefusal(world, call)
  if (asleep !== undefined) return asleep
  const body = readCheckedBody(call, dialect.pipeShape)
  if (!body.ok) return body
  const objection = objectionTo(dialect, body.json)
  if (objection !== undefined) return refusal(400, objection)
  const pipe = newPipe(dialect, { id: randomUUID(), ...call.service, createdAt: call.now }, body.json)
  storage.put('pipe', pipe.id, pipe)
  return { ok: true, result: viewPipe(world, pipe, call.now) }
}

function listPipes(world: World, { service, now }: Call): OperationResult {
  const there = world.storage
    .all('pipe')
    .filter((pipe) => servicePath(pipe) === servicePath(service))
    .filter(({ createdAt }) => now - createdAt >= world.times.listLagMs)
    .flatMap((pipe) => advancePipe(world, pipe, now) ?? [])
  return { ok: true, result: there.map((pipe) => viewPipe(world, pipe, now)) }
}

/** The reply shows the state before the change, because the service might do this, too. */
function changePipe(
  change: (before: PipeBefore, body: JsonObject) => PipeChange,
  reply: (view: PipeView) => JsonObject = (view) => view,
): Handler {
  return onPipe((world, call, pipe) => {
    const asleep = sleepRefusal(world, call)
    if (asleep !== undefined) return asleep
    if (pipe.internals?.deletedAt !== undefined) return refusal(409, 'the pipe is being deleted')
    const body = readObject(call)
    if (!body.ok) return body
    const state = stateOf(world, pipe, call.now)
    const changed = change({ dialect: world.dialect, pipe, state, now: call.now }, body.json)
    if (!changed.ok) return changed
    world.storage.put('pipe', pipe.id, changed.pipe)
    return { ok: true, result: reply({ ...viewPipe(world, changed.pipe, call.now), state }) }
  })
}

function deletePipe({ storage }: World, { now }: Call, pipe: StoredPipe): OperationResult {
  const deletedAt = pipe.internals?.deletedAt ?? now
  storage.put('pipe', pipe.id, { ...pipe, internals: { ...pipe.internals, deletedAt } })
  return { ok: true }
}

function onPipe(act: (world: World, call: Call, pipe: StoredPipe) => OperationResult): Handler {
  return (world, call) => {
    if (!UUID.test(call.id)) return refusal(400, 'pipeId: must be a UUID')
    const pipe = world.storage.get('pipe', call.id.toLowerCase())
    const isHere = pipe !== undefined && servicePath(pipe) === servicePath(call.service)
    const now = isHere ? advancePipe(world, pipe, call.now) : undefined
    return now === undefined ? refusal(404, 'no such pipe in this service') : act(world, call, now)
  }
}

function upsertQueryEndpoint({ dialect, storage }: World, call: Call): OperationResult {
  const body = readCheckedBody(call, dialect.endpointShape)
  if (!body.ok) return body
  const { service } = call
  const before = storage.get('endpoint', servicePath(service))
  const { roles = [], openApiKeys = [], allowedOrigins = '' } = body.json
  const result = { id: before?.body['id'] ?? randomUUID(), openApiKeys, roles, allowedOrigins }
  storage.put('endpoint', servicePath(service), { ...service, body: result })
  return { ok: true, result }
}

const NO_ENDPOINT = refusal(404, 'no query endpoint of this service')

function getQueryEndpoint({ storage }: World, { service }: Call): OperationResult {
  const endpoint = storage.get('endpoint', servicePath(service))
  return endpoint === undefined ? NO_ENDPOINT : { ok: true, result: endpoint.body }
}

const NO_ALERT = refusal(404, 'no such alert')

function getAlert(world: World, call: Call): OperationResult {
  const alert = world.storage.get('alert', call.id)
  return alert === undefined ? NO_ALERT : { ok: true, result: advanceAlert(world, alert, call.now).body }
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

/** Replaces the alert. If `scheduleStartAt` is omitted, the old start and offset stay. */
function updateAlert(world: World, call: Call, alert: StoredAlert): OperationResult {
  const read = readAlert(world, call)
  if (!read.ok) return read
  const schedule = 'scheduleStartAt' in read.json ? [] : ['scheduleStartAt', 'scheduleOffsetMinutes']
  const stays = [...SERVER_FIELDS, ...schedule]
  const kept = Object.entries(alert.body).filter(([name]) => stays.includes(name))
  const updatedAt = world.dialect.timestamp(call.now)
  const body: JsonObject = { ...Object.fromEntries(kept), ...read.json, updatedAt }
  world.storage.put('alert', alert.id, { ...alert, body })
  return { ok: true, result: body }
}

function onAlert(act: (world: World, call: Call, alert: StoredAlert) => OperationResult): Handler {
  return (world, call) => {
    const alert = world.storage.get('alert', call.id.toLowerCase())
    return alert === undefined || !isOf(alert, call)
      ? NO_ALERT
      : act(world, call, advanceAlert(world, alert, call.now))
  }
}

function isOf({ service }: StoredAlert, call: Call): boolean {
  return service === '' || service === servicePath(call.service)
}

function readAlert({ dialect: { alert } }: World, call: Call): ReturnType<typeof readCheckedBody> {
  if (alert === undefined) return refusal(404, 'this profile cannot write alerts')
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
