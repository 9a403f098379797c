import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { request } from 'undici'
import type { Sandbox } from '../../src/sandbox/sandbox-server.ts'

/** What becomes of one create. `lost`: it is done, and nobody hears. `cut`: it is not done, and nobody hears. */
export type CreateFate = 'answered' | 'lost' | 'cut' | { readonly lateMs: number }

/** The sandbox behind a door: at another address, under TLS, and with a hand on creates and their replies. */
export interface Fronted extends Sandbox {
  /** Names in the creates that arrived. */
  readonly creates: readonly string[]
  /** The ports from which connections were made, in order. */
  readonly connections: readonly number[]
  /** Called when a create is done, and waited for before its reply. `silence`: there is none. */
  whenCreated: (() => unknown) | undefined
}

export interface FrontOptions {
  /** Where it listens; 127.0.0.1 unless given. */
  readonly host?: string
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly fateOf?: (name: string) => CreateFate
}

export async function startFront(
  sandbox: Sandbox,
  { host = '127.0.0.1', tls, fateOf = () => 'answered' }: FrontOptions = {},
): Promise<Fronted> {
  const connections: number[] = []
  const creates: string[] = []
  const sockets = new Set<Socket>()
  const onRequest = (asked: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '' } = asked
    const serve = async () => {
      const body = await buffer(asked)
      const isCreate = method === 'POST' && url.endsWith('/pipes')
      const fate = isCreate ? arrived(body) : 'answered'
      if (fate === 'cut') return void response.destroy()
      if (typeof fate === 'object') await setTimeout(fate.lateMs)
      const reply = await passOn(`${sandbox.url}${url}`, asked, body)
      if (fate === 'lost') return void response.destroy()
      if (isCreate && (await fronted.whenCreated?.()) === 'silence') return
      if (!response.destroyed) response.writeHead(reply.status, reply.headers).end(reply.text)
    }
    // A connection that was cut is what many tests are about.
    serve().catch(() => response.destroy())
  }
  function arrived(body: Buffer): CreateFate {
    const { name } = JSON.parse(body.toString()) as { readonly name: string } // each create has one
    creates.push(name)
    return fateOf(name)
  }
  // What is held back on a connection arrives as late as a test lets it.
  const server =
    tls === undefined
      ? createServer({ keepAliveTimeout: 600_000 }, onRequest)
      : createSecureServer(tls, onRequest)
  server.on('connection', (socket: Socket) => {
    connections.push(socket.remotePort ?? 0)
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  const fronted: Fronted = {
    ...sandbox,
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    creates,
    connections,
    whenCreated: undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await sandbox[Symbol.asyncDispose]()
    },
  }
  return fronted
}

async function passOn(url: string, { method = 'GET', headers }: IncomingMessage, body: Buffer) {
  const { host: _, connection: __, ...rest } = headers
  const reply = await request(url, { method, headers: rest, body: body.length === 0 ? null : body })
  return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() }
}
