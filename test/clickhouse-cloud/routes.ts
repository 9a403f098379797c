import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { createRandom } from '../torture/random.ts'
import { alertReply } from './alert-reply.ts'
import { endpointFaults, endpointReply } from './endpoint.ts'
import { DATABASE_KINDS } from './facts.ts'
import { ALERT_ID, UUID } from './formats.ts'
import { at, textOf } from './look.ts'
import { pipeReply } from './reply.ts'
import { isDatabasePipe, pipeFaults } from './rules.ts'
import type { Fault } from './shape.ts'
import type { StrictOptions } from './strict-server.ts'

/** What the server remembers. */
export interface World extends StrictOptions {
  readonly pipes: Map<string, JsonObject>
  /** How often each pipe was told of; no two replies need to look the same. */
  readonly reads: Map<string, number>
  readonly endpoint: { body: JsonObject | undefined }
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly content: Buffer
}

export interface Answer {
  readonly status: number
  readonly result: Json | undefined
  readonly refused: readonly string[]
  /** Whose words it has. */
  readonly form: 'cloud' | 'hyperdx' | 'page'
}

interface Route {
  readonly method: 'GET' | 'POST'
  /** After the path of the service. */
  readonly path: RegExp
  /** What an id in the path looks like. */
  readonly id?: RegExp
  readonly answer: (world: World, id: string, body: Json) => Answer
}

const ROUTES: readonly Route[] = [
  // only here is a slash at the end known to be taken
  { method: 'POST', path: /^\/clickpipes\/?$/, answer: createPipe },
  { method: 'GET', path: /^\/clickpipes$/, answer: listPipes },
  { method: 'GET', path: /^\/clickpipes\/([^/]+)$/, id: UUID, answer: getPipe },
  { method: 'GET', path: /^\/serviceQueryEndpoint$/, answer: getEndpoint },
  { method: 'POST', path: /^\/serviceQueryEndpoint$/, answer: putEndpoint },
  { method: 'GET', path: /^\/clickstack\/alerts$/, answer: listAlerts },
  { method: 'GET', path: /^\/clickstack\/alerts\/([^/]+)$/, id: ALERT_ID, answer: getAlert },
]

const SERVICE = /^\/v1\/organizations\/([^/]*)\/services\/([^/]*)(\/.*)$/

const HYPERDX = '/api/v2/alerts/'

export function answer(world: World, asked: Asked): Answer {
  if (asked.path.startsWith(HYPERDX)) return hyperdxAnswer(world, asked)
  const [path = '', query] = asked.path.split(/\?(.*)/s)
  const [, organizationId = '', serviceId = '', rest = ''] = SERVICE.exec(path) ?? []
  const route = ROUTES.find((one) => one.method === asked.method && one.path.test(rest))
  if (route === undefined) return { ...refuse(404, 'no such route'), form: 'page' }
  if (!isLoggedIn(world, asked.headers.authorization)) return refuse(401, 'login')
  const id = route.path.exec(rest)?.[1] ?? ''
  const ids = [organizationId, serviceId].every((one) => UUID.test(one)) && (route.id?.test(id) ?? true)
  if (!ids) return refuse(400, 'BAD_REQUEST: an id in the path')
  // no operation declares one
  if (query !== undefined) return refuse(400, 'BAD_REQUEST: a query')
  const { service } = world
  if (organizationId !== service.organizationId || serviceId !== service.serviceId)
    return refuse(404, 'NOT_FOUND: service')
  if (route.method === 'GET')
    return asked.content.length > 0 ? refuse(400, 'BAD_REQUEST: a body') : route.answer(world, id, null)
  if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(asked.headers['content-type'] ?? ''))
    return refuse(400, 'BAD_REQUEST: content type')
  const body = parsed(asked.content)
  return body === undefined ? refuse(400, 'BAD_REQUEST: JSON') : route.answer(world, id, body)
}

/** The same alerts by another door (section 3.3). */
function hyperdxAnswer(world: World, { method, path, headers, content }: Asked): Answer {
  const id = path.slice(HYPERDX.length)
  const found = world.hyperdx.alerts.find((one) => one['id'] === id)
  const said =
    (method !== 'GET' && refuse(404, 'no such route')) ||
    (headers.authorization !== `Bearer ${world.hyperdx.token}` && refuse(401, 'login')) ||
    ((!ALERT_ID.test(id) || content.length > 0) && refuse(400, 'id or body')) ||
    (found === undefined && refuse(404, 'no such alert')) ||
    take(alertReply(found ?? {}, randomOf(world, 'hyperdx')))
  return { ...said, form: 'hyperdx' }
}

function isLoggedIn({ key }: World, header = ''): boolean {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(header) ?? []
  return Buffer.from(encoded, 'base64').toString() === `${key.keyId}:${key.keySecret}`
}

/** One JSON text in UTF-8, with nothing before or after it. */
function parsed(content: Buffer): Json | undefined {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)) as Json
  } catch {
    return undefined
  }
}

function take(result: Json): Answer {
  return { status: 200, result, refused: [], form: 'cloud' }
}

function refuse(status: number, ...refused: readonly string[]): Answer {
  return { status, result: undefined, refused, form: 'cloud' }
}

function refuseFaults(faults: readonly Fault[]): Answer {
  return refuse(400, ...faults.map(({ field, rule }) => `BAD_REQUEST: ${field}: ${rule}`))
}

function createPipe(world: World, _id: string, body: Json): Answer {
  const faults = pipeFaults(body)
  if (faults.length > 0 || !isObject(body)) return refuseFaults(faults)
  const id = randomUUID()
  world.pipes.set(id, body)
  return take(tell(world, id, body))
}

function getPipe(world: World, id: string): Answer {
  const body = world.pipes.get(id)
  return body === undefined ? refuse(404, 'NOT_FOUND: pipe') : take(tell(world, id, body))
}

function listPipes(world: World): Answer {
  return take([...world.pipes].map(([id, body]) => tell(world, id, body)))
}

/** Not twice the same; the id is another one in each run, so chance goes by the name. */
function tell(world: World, id: string, body: JsonObject): JsonObject {
  const reads = world.reads.get(id) ?? 0
  world.reads.set(id, reads + 1)
  const random = createRandom(`${world.seed}/${textOf(body['name'])}/${reads}`)
  const made = { id, serviceId: world.service.serviceId, state: stateOf(body, reads) }
  return pipeReply(body, made, { random, isTalkative: false })
}

/** On its way at first; a copy that is made once is done in the end. */
function stateOf(body: JsonObject, reads: number): string {
  if (reads === 0) return isDatabasePipe(body) ? 'Setup' : 'Provisioning'
  const modes = DATABASE_KINDS.map((kind) => at(body, `source.${kind}.settings.replicationMode`))
  const files = at(body, 'source.objectStorage')
  const isOnce = modes.includes('snapshot') || (isObject(files) && files['isContinuous'] !== true)
  return isOnce ? 'Completed' : 'Running'
}

function getEndpoint(world: World): Answer {
  const { body } = world.endpoint
  return body === undefined
    ? refuse(404, 'NOT_FOUND: endpoint')
    : take(endpointReply(body, randomOf(world, 'endpoint')))
}

function putEndpoint(world: World, _id: string, body: Json): Answer {
  const faults = endpointFaults(body)
  if (faults.length > 0 || !isObject(body)) return refuseFaults(faults)
  world.endpoint.body = body
  return take(endpointReply(body, randomOf(world, 'endpoint')))
}

function randomOf(world: World, what: string) {
  const reads = world.reads.get(what) ?? 0
  world.reads.set(what, reads + 1)
  return createRandom(`${world.seed}/${what}/${reads}`)
}

function listAlerts(world: World): Answer {
  return take(world.alerts.map((alert) => alertReply(alert, randomOf(world, 'alerts'))))
}

function getAlert(world: World, id: string): Answer {
  const found = world.alerts.find((one) => one['id'] === id)
  return found === undefined
    ? refuse(404, 'NOT_FOUND: alert')
    : take(alertReply(found, randomOf(world, 'alerts')))
}
