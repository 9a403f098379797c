import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from './app.ts'
import { answerProbe } from './monitoring.ts'
import type { ServerParts } from './parts.ts'
import { replyByNode } from './replies.ts'

/** For the whole of a request to arrive. */
const REQUEST_TIMEOUT_MS = 10_000

/** A connection is kept open for the next scrape, which mostly comes within a minute. */
const KEEP_ALIVE_MS = 72_000

/** How long a close waits for replies that are on their way. */
const CLOSE_MS = 2_000

export interface Server {
  /** Where it can be reached from this machine, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly port: number
  /**
   * Loads what answers everything but the probes. Otherwise the first request that needs it does.
   * @throws when it cannot be loaded
   */
  prepare(): Promise<void>
  /** Ends event streams, lets replies finish for a moment, and closes the port. */
  close(): Promise<void>
}

/**
 * The HTTP server of design §8, for machines and for people, on one port. It answers probes as soon as it listens; all
 * else is loaded later, because a daemon is ready long before somebody looks at its page.
 * @throws when the port cannot be had; the message says which and why
 */
export async function startServer(parts: ServerParts): Promise<Server> {
  let app: App | undefined
  let loading: Promise<App> | undefined
  const load = () => (loading ??= loadApp(http, parts).then((loaded) => (app = loaded)))

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (answerProbe(request, response, parts)) return
    if (app !== undefined) app.routing(request, response)
    else
      load().then(
        (loaded) => loaded.routing(request, response),
        () => replyByNode(response, 500, BROKEN),
      )
  }

  const http = createHttpServer(answer)
  await listen(http, parts.listen)
  const { port } = http.address() as AddressInfo // it listens on TCP
  return {
    url: `http://${reachable(parts.listen.host)}:${port}`,
    port,
    async prepare() {
      await load()
    },
    close: () => close(http, loading, parts),
  }
}

const BROKEN = {
  error: 'this could not be answered',
  hint: 'Pipewright could not load a part of itself; was it changed while it runs? A restart helps.',
}

async function loadApp(http: HttpServer, parts: ServerParts): Promise<App> {
  const { createApp } = await import('./app.ts')
  return createApp(http, parts)
}

function createHttpServer(answer: (request: IncomingMessage, response: ServerResponse) => void): HttpServer {
  // Not imported by name: Node then reads all that the module exports, and loads its own fetch for that, some 40 ms.
  const { createServer } = process.getBuiltinModule('node:http')
  return createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS }, answer)
}

async function listen(http: HttpServer, at: ServerParts['listen']): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      // Who asks at "localhost" tries both of its addresses; who asks at 127.0.0.1, only that one.
      const host = at.host === 'localhost' ? '127.0.0.1' : at.host
      http.once('error', reject).listen({ host, port: at.port }, () => {
        http.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot listen on ${at.host}:${at.port}: ${why}; choose another with --listen`, {
      cause: error,
    })
  }
}

/** A client that neither reads nor goes away must not hold up the end. */
async function close(
  http: HttpServer,
  loading: Promise<App> | undefined,
  { clock }: ServerParts,
): Promise<void> {
  const cancel = clock.after(CLOSE_MS, () => http.closeAllConnections())
  try {
    const app = await loading?.catch(() => undefined)
    await app?.close()
    await new Promise((resolve) => http.close(resolve))
  } finally {
    cancel()
  }
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
