import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What becomes of one create. `lost`: it is done, and nobody hears. `cut`: it is not done, and nobody hears. */
export type CreateFate = 'answered' | 'lost' | 'cut' | { readonly lateMs: number }

/** A platform that creates a pipe for each request, as often as it is asked, and counts. */
export interface CountingPlatform extends AsyncDisposable {
  readonly url: string
  /** Name → ids of the pipes of that name. */
  readonly pipes: ReadonlyMap<string, readonly string[]>
  /** How many creates arrived. */
  readonly creates: () => number
  /** What the query endpoint was set to, each time. */
  readonly endpoints: readonly Readonly<Record<string, unknown>>[]
}

export async function startCountingPlatform(fateOf: (name: string) => CreateFate): Promise<CountingPlatform> {
  const pipes = new Map<string, string[]>()
  const byId = new Map<string, Record<string, unknown>>()
  let creates = 0
  const endpoints: Record<string, unknown>[] = []

  // What is held back on a connection arrives as late as a test lets it.
  const server = createServer({ keepAliveTimeout: 10 * 60_000 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const id = /\/pipes\/([^/]+)$/.exec(request.url ?? '')?.[1]
      if (request.method === 'GET') {
        const pipe = byId.get(id ?? '')
        reply(response, pipe === undefined ? 404 : 200, pipe)
        return
      }
      if (request.url?.endsWith('/serviceQueryEndpoint') === true) {
        const wanted = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
        endpoints.push(wanted)
        reply(response, 200, { id: 'endpoint', ...wanted })
        return
      }
      creates += 1
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { name: string }
      const fate = fateOf(body.name)
      if (fate === 'cut') {
        request.socket.destroy()
        return
      }
      const made = randomUUID()
      const create = () => {
        pipes.set(body.name, [...(pipes.get(body.name) ?? []), made])
        byId.set(made, { ...body, id: made, state: 'Running' })
        if (fate === 'lost') request.socket.destroy()
        else reply(response, 200, byId.get(made))
      }
      if (typeof fate === 'object') setTimeout(create, fate.lateMs)
      else create()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pipes,
    creates: () => creates,
    endpoints,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function reply(response: ServerResponse, status: number, result: unknown): void {
  if (response.destroyed) return
  const said = status < 400 ? { result } : { error: 'NOT_FOUND: there is none' }
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ status, requestId: randomUUID(), ...said }))
}
