import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { FakeWorld, type Answer, type Asked, type FakeService } from './fake-world.ts'

/*
 * A platform of our own, on a real socket: the four operations of the interface, over pipes in memory. It knows nothing of
 * the code under test. Every request is kept, with what was answered, and one hook may answer instead of it.
 */

/** One request, as it came, and what became of it. */
export interface FakeRequest extends Asked {
  /** When its head came: ms of `performance.now`. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** The port it came from, by which its connection is known. */
  readonly remotePort: number
  text: string
  /** Whether the body came to its end; one that did not is not worked on. */
  whole: boolean
  /** The status that was answered; `undefined`: nothing yet, or never. */
  status: number | undefined
}

/** How a request is answered instead; what is left out is as usual. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text, or what to make of the usual answer's. */
  readonly body?: string | ((usual: Answer) => string)
  /** Whether what was asked for is done; unless said, when the status is below 300. */
  readonly work?: boolean
  /** Called when the work is done, and waited for before anything is sent. */
  readonly before?: () => unknown
  /**
   * So many characters of the body are sent after the head, which promises more; `nothing`: not even the head.
   * Then the connection is closed (FIN), reset (RST), or left as it is.
   */
  readonly sends?: number | 'nothing'
  readonly ends?: 'close' | 'reset' | 'hang'
}

export interface FakePlatform extends AsyncDisposable {
  readonly url: string
  readonly world: FakeWorld
  /** In the order of their heads. */
  readonly requests: readonly FakeRequest[]
  /** The ports from which connections were made, in order. */
  readonly connections: readonly number[]
  /** Answers instead of the platform; `undefined`: the platform answers. */
  decide: (request: FakeRequest) => Reply | undefined
  /** Creates of the pipe with this name; of all, unless given. */
  posts(name?: string): readonly FakeRequest[]
  /** Reads of the pipe with this id. */
  gets(id: string): readonly FakeRequest[]
}

export interface FakePlatformOptions {
  readonly services: readonly FakeService[]
  /** Where it listens; 127.0.0.1 unless given. */
  readonly host?: string
  readonly tls?: { readonly key: string; readonly cert: string }
}

export async function createFakePlatform(options: FakePlatformOptions): Promise<FakePlatform> {
  const { host = '127.0.0.1', tls } = options
  const world = new FakeWorld(options.services)
  const requests: FakeRequest[] = []
  const onRequest = (message: IncomingMessage, response: ServerResponse) => {
    const request = seenOf(message)
    requests.push(request)
    message.setEncoding('utf8')
    message.on('data', (text: string) => {
      request.text += text
    })
    message.on('end', () => {
      request.whole = true
      void answer(platform, request, response)
    })
    // A connection that was cut is what many tests are about.
    message.on('error', () => undefined)
    response.on('error', () => undefined)
  }
  const server = tls === undefined ? createServer(onRequest) : createSecureServer(tls, onRequest)
  server.on('clientError', (_error, socket) => socket.destroy())
  const connections: number[] = []
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.push(socket.remotePort ?? 0)
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  const platform: FakePlatform = {
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    world,
    requests,
    connections,
    decide: () => undefined,
    posts: (name) =>
      requests.filter(
        (request) => request.operation === 'createPipe' && (name === undefined || nameIn(request) === name),
      ),
    gets: (id) =>
      requests.filter(
        (request) => request.operation === 'getPipe' && request.id?.toLowerCase() === id.toLowerCase(),
      ),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return platform
}

/** The name in the body of a create, as far as it came. */
export function nameIn({ text }: FakeRequest): string | undefined {
  const first = /^\{"name":"([^"]*)"/.exec(text)?.[1]
  if (first !== undefined) return first
  try {
    return (JSON.parse(text) as { readonly name?: string }).name
  } catch {
    return undefined // it was cut
  }
}

/** Views are of the fifth kind, which only a test knows: they are served as pipes are. */
const PIPE = /^\/v1\/organizations\/[^/]+\/services\/([^/]+)\/(pipes|views)(?:\/([^/]+))?$/
const ENDPOINT = /^\/v1\/organizations\/[^/]+\/services\/([^/]+)\/serviceQueryEndpoint$/
const ALERT = /^\/api\/v2\/alerts\/([^/]+)$/

function seenOf(message: IncomingMessage): FakeRequest {
  const { method = '', url = '', headers, socket } = message
  const pipe = PIPE.exec(url)
  const endpoint = ENDPOINT.exec(url)
  const alert = ALERT.exec(url)
  const [, login = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? []
  const operation = (): FakeRequest['operation'] => {
    if (pipe !== null && method === 'POST' && pipe[3] === undefined) return 'createPipe'
    if (pipe !== null && method === 'GET' && pipe[3] !== undefined) return 'getPipe'
    if (endpoint !== null && method === 'POST') return 'upsertQueryEndpoint'
    return alert !== null && method === 'GET' ? 'getAlert' : 'other'
  }
  const id = pipe?.[3] ?? alert?.[1]
  return {
    at: performance.now(),
    method,
    path: url,
    operation: operation(),
    keyId: Buffer.from(login, 'base64').toString('utf8').split(':')[0],
    serviceId: pipe?.[1] ?? endpoint?.[1],
    collection: pipe?.[2],
    id: id === undefined ? undefined : decodeURIComponent(id),
    idempotencyKey: headers['idempotency-key']?.toString(),
    remotePort: socket.remotePort ?? 0,
    text: '',
    whole: false,
    status: undefined,
  }
}

async function answer(platform: FakePlatform, request: FakeRequest, response: ServerResponse): Promise<void> {
  const reply = platform.decide(request) ?? {}
  const works = reply.work ?? (reply.status ?? 200) < 300
  const usual = works ? platform.world.work(request) : platform.world.refusal(reply.status ?? 500)
  const status = reply.status ?? usual.status
  const text =
    typeof reply.body === 'string' ? reply.body : (reply.body?.(usual) ?? JSON.stringify(usual.json))
  await reply.before?.()
  if (reply.sends === 'nothing') {
    end(response, reply)
    return
  }
  request.status = status
  const promised = Buffer.byteLength(text) + (reply.sends === undefined ? 0 : 1)
  const type = text.startsWith('<') ? 'text/html' : 'application/json'
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': promised, ...reply.headers })
  if (reply.sends === undefined) {
    response.end(text)
    return
  }
  response.write(text.slice(0, reply.sends), () => end(response, reply))
  if (reply.sends === 0) response.flushHeaders()
}

function end({ socket }: ServerResponse, { ends = 'close' }: Reply): void {
  switch (ends) {
    case 'close':
      socket?.end()
      return
    case 'reset':
      socket?.resetAndDestroy()
      return
    case 'hang':
  }
}

/** An error of the platform's own, in its envelope; nothing was done. */
export function ownError(status: number, headers: Reply['headers'] = {}): Reply {
  return { status, headers, work: false }
}

/** An error of something between us and the platform: a page, or JSON of its own. */
export function gateways(status: number, body = `<html><title>${status}</title></html>`): Reply {
  return { status, body, work: false }
}
