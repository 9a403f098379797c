import { isObject, type Json } from '../../src/lib/json.ts'
import { alertRoutes } from './alert-routes.ts'
import { endpointFaults, endpointReply } from './endpoint.ts'
import { ALERT_ID, UUID } from './formats.ts'
import {
  commandPipe,
  createPipe,
  deletePipe,
  getPipe,
  listPipes,
  patchPipe,
  putSettings,
  scalePipe,
} from './pipe-routes.ts'
import { randomOf, refuse, refuseFaults, take, type Answer, type Asked, type World } from './world.ts'

interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** After the path of the service. */
  readonly path: RegExp
  /** What an id in the path looks like. */
  readonly id?: RegExp
  readonly answer: (world: World, id: string, body: Json) => Answer
}

const CLOUD = alertRoutes('cloud')
const OF_HYPERDX = alertRoutes('hyperdx')
const ALERT_PATH = /^\/clickstack\/alerts\/([^/]+)$/

const ROUTES: readonly Route[] = [
  // only here is a slash at the end known to be taken
  { method: 'POST', path: /^\/clickpipes\/?$/, answer: createPipe },
  { method: 'GET', path: /^\/clickpipes$/, answer: listPipes },
  { method: 'GET', path: /^\/clickpipes\/([^/]+)$/, id: UUID, answer: getPipe },
  { method: 'PATCH', path: /^\/clickpipes\/([^/]+)$/, id: UUID, answer: patchPipe },
  { method: 'DELETE', path: /^\/clickpipes\/([^/]+)$/, id: UUID, answer: deletePipe },
  { method: 'PATCH', path: /^\/clickpipes\/([^/]+)\/scaling$/, id: UUID, answer: scalePipe },
  { method: 'PUT', path: /^\/clickpipes\/([^/]+)\/settings$/, id: UUID, answer: putSettings },
  { method: 'PATCH', path: /^\/clickpipes\/([^/]+)\/state$/, id: UUID, answer: commandPipe },
  { method: 'GET', path: /^\/serviceQueryEndpoint$/, answer: getEndpoint },
  { method: 'POST', path: /^\/serviceQueryEndpoint$/, answer: putEndpoint },
  { method: 'DELETE', path: /^\/serviceQueryEndpoint$/, answer: deleteEndpoint },
  { method: 'GET', path: /^\/clickstack\/alerts$/, answer: CLOUD.list },
  { method: 'POST', path: /^\/clickstack\/alerts$/, answer: CLOUD.create },
  { method: 'GET', path: ALERT_PATH, id: ALERT_ID, answer: CLOUD.get },
  { method: 'PUT', path: ALERT_PATH, id: ALERT_ID, answer: CLOUD.put },
  { method: 'DELETE', path: ALERT_PATH, id: ALERT_ID, answer: CLOUD.remove },
]

const SERVICE = /^\/v1\/organizations\/([^/]*)\/services\/([^/]*)(\/.*)$/

const HYPERDX = '/api/v2/alerts'

export function answer(world: World, asked: Asked): Answer {
  if (asked.path.startsWith(HYPERDX)) return { ...hyperdxAnswer(world, asked), form: 'hyperdx' }
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
  const body = bodyOf(asked)
  return body.refused ?? route.answer(world, id, body.value)
}

function wrong(why: string) {
  return { value: null, refused: refuse(400, `BAD_REQUEST: ${why}`) }
}

/** Only some methods have one, and then it is JSON and says so. */
function bodyOf({ method, headers, content }: Asked): { readonly value: Json; readonly refused?: Answer } {
  if (method === 'GET' || method === 'DELETE') return content.length > 0 ? wrong('a body') : { value: null }
  if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(headers['content-type'] ?? ''))
    return wrong('content type')
  const value = parsed(content)
  return value === undefined ? wrong('JSON') : { value }
}

/** The same alerts by another door (section 3.3); the list of them is not served here. */
function hyperdxAnswer(world: World, asked: Asked): Answer {
  const { method, path, headers } = asked
  if (headers.authorization !== `Bearer ${world.hyperdx.token}`) return refuse(401, 'login')
  const id = path.slice(HYPERDX.length + 1)
  const body = bodyOf(asked)
  if (method === 'POST' && path === HYPERDX) return body.refused ?? OF_HYPERDX.create(world, '', body.value)
  if (!['GET', 'PUT', 'DELETE'].includes(method) || id === '') return refuse(404, 'no such route')
  if (!ALERT_ID.test(id)) return refuse(400, 'id')
  if (body.refused !== undefined) return body.refused
  if (method === 'PUT') return OF_HYPERDX.put(world, id, body.value)
  return method === 'GET' ? OF_HYPERDX.get(world, id) : OF_HYPERDX.remove(world, id)
}

function isLoggedIn({ key }: World, header = ''): boolean {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(header) ?? []
  return Buffer.from(encoded, 'base64').toString() === `${key.keyId}:${key.keySecret}`
}

/** One JSON text in UTF-8, with nothing before or after it. */
export function parsed(content: Buffer): Json | undefined {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)) as Json
  } catch {
    return undefined
  }
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

function deleteEndpoint({ endpoint }: World): Answer {
  if (endpoint.body === undefined) return refuse(404, 'NOT_FOUND: endpoint')
  endpoint.body = undefined
  return take()
}
