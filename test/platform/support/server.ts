import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { listenHere } from '../../support/listen-here.ts'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** Requests that arrived whole, in order. */
  readonly requests: readonly Received[]
  connections(): number
  open(): number
}

/** An HTTP server on 127.0.0.1 that answers as told; `n` counts the requests from 1. */
export async function httpServer(
  answer: (response: ServerResponse, request: Received, n: number) => void,
): Promise<TestServer> {
  const requests: Received[] = []
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const received = { method, url, headers, body: Buffer.concat(chunks).toString() }
      requests.push(received)
      answer(response, received, requests.length)
    })
  })
  return listening(server, requests)
}

/** A bare TCP server on 127.0.0.1, for what no HTTP server would do. */
export async function tcpServer(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return listening(createTcpServer(onConnection), [])
}

async function listening(server: Server, requests: readonly Received[]): Promise<TestServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A client that gives up resets the connection; that is what the test is about.
    socket.on('error', () => undefined)
  })
  const port = await listenHere(server)
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
