import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { JsonObject } from '../../src/lib/json.ts'
import { answer, type Answer, type World } from './routes.ts'

/*
 * A service that knows the facts and nothing of the client: whatever the facts call wrong in a request it refuses, and it says why. What
 * it answers is as varied as the facts allow, by a seed.
 */

export interface StrictOptions {
  readonly seed: string
  readonly key: { readonly keyId: string; readonly keySecret: string }
  readonly service: { readonly organizationId: string; readonly serviceId: string }
  /** Alerts that the service has, as it keeps them. */
  readonly alerts: readonly JsonObject[]
  /** Those of HyperDX, which has a login of its own. */
  readonly hyperdx: { readonly token: string; readonly alerts: readonly JsonObject[] }
}

/** One request, and what came of it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly status: number
  /** Why it was refused; nothing when it was taken. */
  readonly refused: readonly string[]
}

export interface StrictServer extends AsyncDisposable {
  readonly url: string
  /** Every request so far. */
  readonly seen: () => readonly Seen[]
  /** The bodies that were taken, by the id that each pipe got. */
  readonly pipes: () => ReadonlyMap<string, JsonObject>
  /** The query endpoint that was taken last. */
  readonly endpoint: () => JsonObject | undefined
}

export async function startStrictServer(options: StrictOptions): Promise<StrictServer> {
  const seen: Seen[] = []
  const world: World = { ...options, pipes: new Map(), reads: new Map(), endpoint: { body: undefined } }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const content = await buffer(request)
    const [method, path] = [request.method ?? '', request.url ?? '']
    const given = answer(world, { method, path, headers: request.headers, content })
    seen.push({ method, path, status: given.status, refused: given.refused })
    send(response, given, seen.length)
  }

  const server = createServer((request, response) => {
    // one that goes away before its end is nobody's business here
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => [...seen],
    pipes: () => new Map(world.pipes),
    endpoint: () => world.endpoint.body,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function send(response: ServerResponse, { status, result, refused, form }: Answer, count: number): void {
  // a route that is not served is answered by the web server, not by the service
  if (form === 'page') {
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html><body>Not Found</body></html>')
    return
  }
  const requestId = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
  const error = refused.join('; ')
  const body = {
    cloud: status === 200 ? { status, requestId, result } : { status, error, requestId },
    hyperdx: status === 200 ? { data: result } : { message: error },
  }[form]
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}
