import { PIPE_FIELDS } from '../../src/kinds/profiles/default/pipe/schema.ts'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { isObject } from '../../src/lib/json.ts'
import { comparedBody } from '../../src/kinds/remote-resource.ts'
import { alertBody, idOf } from './manifest-texts.ts'

/* A quick platform: `spec/api.md` with keep-alive and prepared bodies. Under /control/, it tells what it saw. */

/** What it saw since it was last asked to forget. */
interface Seen {
  gets: number
  posts: number
  /** Answers with 429. */
  refused: number
  /** Of the monotonic clock that all processes of a machine share, ms. */
  firstAt: number
  lastAt: number
  /** How often the same path was read, at most. */
  paths: Map<string, number>
  /** When requests came that somebody waits for: path → times. */
  arrivals: Map<string, number[]>
  /** When each came, while a limit is kept. */
  times: number[]
}

const pipes = new Map<string, { readonly head: string; readonly tail: string }>()
const ids = new Map<string, string>()
let created = 0
let seen = blank()
let limit: { readonly requests: number; readonly windowMs: number } | undefined
let latencyMs = 0

function blank(): Seen {
  return {
    gets: 0,
    posts: 0,
    refused: 0,
    firstAt: 0,
    lastAt: 0,
    paths: new Map(),
    arrivals: new Map(),
    times: [],
  }
}

function now(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

let requests = 0

function freshId(): string {
  requests += 1
  return idOf(9, requests)
}

function note(path: string, method: 'GET' | 'POST'): boolean {
  const at = now()
  if (method === 'GET') {
    seen.gets += 1
    seen.paths.set(path, (seen.paths.get(path) ?? 0) + 1)
  } else seen.posts += 1
  if (seen.firstAt === 0) seen.firstAt = at
  seen.arrivals.get(path)?.push(at)
  // The token for alerts has a budget of its own; it is not what is measured.
  if (limit === undefined || path.startsWith('/api/v2/alerts/')) return true
  const first = seen.times[seen.times.length - limit.requests]
  if (first !== undefined && first > at - limit.windowMs) {
    seen.refused += 1
    return false
  }
  seen.times.push(at)
  return true
}

function answer(response: ServerResponse, status: number, body: string): void {
  const send = () => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
    seen.lastAt = now()
  }
  if (latencyMs === 0) send()
  else setTimeout(send, latencyMs)
}

function envelope(pipe: { readonly head: string; readonly tail: string }): string {
  return pipe.head + freshId() + pipe.tail
}

function keep(serviceId: string, body: unknown): { readonly head: string; readonly tail: string } {
  if (!isObject(body)) throw new Error('a pipe is an object')
  created += 1
  const id = idOf(2, created)
  const at = '2026-01-01T00:00:00.000Z'
  const result = {
    id,
    serviceId,
    state: 'Running',
    ...comparedBody(PIPE_FIELDS, body),
    createdAt: at,
    updatedAt: at,
  }
  if (typeof body['name'] === 'string') ids.set(body['name'], id)
  const pipe = { head: '{"status":200,"requestId":"', tail: `","result":${JSON.stringify(result)}}` }
  pipes.set(id, pipe)
  return pipe
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? ''
  if (path.startsWith('/control/')) return control(path, request, response)
  const method = request.method === 'POST' ? 'POST' : 'GET'
  const admitted = note(path, method)
  if (method === 'GET') {
    request.resume()
    if (!admitted) return answer(response, 429, '{"status":429,"requestId":"too-many"}')
    const last = path.slice(path.lastIndexOf('/') + 1)
    if (path.startsWith('/api/v2/alerts/')) {
      return answer(response, 200, JSON.stringify({ data: alertBody(Number(last.slice('alert-'.length))) }))
    }
    const pipe = pipes.get(last)
    return answer(
      response,
      pipe === undefined ? 404 : 200,
      pipe === undefined ? '{"status":404,"requestId":"none"}' : envelope(pipe),
    )
  }
  const body: unknown = JSON.parse(await text(request))
  const serviceId = path.split('/')[5] ?? ''
  if (path.endsWith('/pipes')) return answer(response, 200, envelope(keep(serviceId, body)))
  answer(
    response,
    200,
    JSON.stringify({
      status: 200,
      requestId: freshId(),
      result: { id: serviceId, ...(isObject(body) ? body : {}) },
    }),
  )
}

async function control(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const said = await text(request)
  const options = (said === '' ? {} : JSON.parse(said)) as {
    latencyMs?: number
    limit?: typeof limit
    watch?: string[]
  }
  if (path === '/control/reset') {
    seen = blank()
    for (const watched of options.watch ?? []) seen.arrivals.set(watched, [])
    latencyMs = options.latencyMs ?? 0
    limit = options.limit
  }
  const { paths, arrivals, times, ...counts } = seen
  const reply = {
    ...counts,
    pipes: pipes.size,
    different: paths.size,
    mostOfOne: path === '/control/paths' ? Math.max(0, ...paths.values()) : 0,
    arrivals: Object.fromEntries(arrivals),
    times: path === '/control/times' ? times : [],
    paths: path === '/control/paths' ? [...paths.keys()] : [],
    ids: path === '/control/ids' ? Object.fromEntries(ids) : {},
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(reply))
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  serve(request, response).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    response.destroy()
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
process.on('disconnect', () => process.exit())
