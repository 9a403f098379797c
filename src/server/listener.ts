import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Emit } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'

const CLOSE_MS = 2_000

/** Limited, because ledger, manifests and platform also need file descriptors. */
const MAX_CONNECTIONS = { listen: 256, 'metrics-listen': 64 } as const

const REPORT_MS = 60_000

export interface ListenOn {
  readonly host: string
  /** 0: any free port. */ readonly port: number
}

export async function openListener(
  app: FastifyInstance,
  options: {
    readonly setting: keyof typeof MAX_CONNECTIONS
    readonly on: ListenOn
    readonly clock: Clock
    readonly emit: Emit
  },
) {
  const { setting, on, clock, emit } = options
  const { host, port: wanted } = on
  const limit = MAX_CONNECTIONS[setting]
  let closed = 0
  let cancelReport: (() => void) | undefined

  function report(): void {
    emit({ type: 'ConnectionsLimited', listener: setting, closed, limit })
    closed = 0
    cancelReport = undefined
  }

  limitConnections(app.server, limit, () => {
    closed += 1
    cancelReport ??= clock.after(REPORT_MS, report)
  })
  app.addHook('onClose', async () => cancelReport?.())
  try {
    await app.ready()
    await app.listen({ host: hostToBind(host), port: wanted })
  } catch (error) {
    await app.close()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot listen on ${host}:${wanted}: ${why}; give another address with --${setting}`, {
      cause: error,
    })
  }
  // Without this listener, a failed accept would end the process.
  app.server.on('error', (error) => emit({ type: 'Bug', message: 'The HTTP server failed', error }))
  const { port } = app.server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://${reachable(host)}:${port}`,
    port,
    async close() {
      // A client that never reads its reply would keep the server open.
      using stack = new DisposableStack()
      stack.defer(clock.after(CLOSE_MS, () => app.server.closeAllConnections()))
      await app.close()
    },
  }
}

const EVERY_ADDRESS = /^[0:.]+$/

function hostToBind(host: string): string {
  // IPv4 is enough: clients of "localhost" try both.
  if (host === 'localhost') return '127.0.0.1'
  // Without a host, Node listens on IPv6 and IPv4, or on IPv4 if the kernel has no IPv6.
  return EVERY_ADDRESS.test(host) && host.includes(':') ? '' : host
}

/** Replaces a wildcard by IPv4, because a machine without IPv6 has no `::1`. */
function reachable(host: string): string {
  if (EVERY_ADDRESS.test(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * At the limit, closes the connection that has been idle longest, or else has the oldest request. Also closes a
 * client that sends requests before it gets replies, because Node would keep all replies in memory.
 */
export function limitConnections(server: Server, max: number, onClosed: () => void): void {
  /** The connection with the oldest request comes first. */
  const replies = new Map<Socket, ServerResponse | undefined>()

  function isIdle(socket: Socket): boolean {
    return replies.get(socket)?.writableEnded !== false
  }

  function closeOne(): void {
    const socket = replies.keys().find(isIdle) ?? replies.keys().next().value
    if (socket === undefined) return
    replies.delete(socket)
    socket.destroy()
    onClosed()
  }

  server.on('connection', (socket) => {
    if (replies.size >= max) closeOne()
    replies.set(socket, undefined)
    socket.once('close', () => replies.delete(socket))
  })
  server.prependListener('request', ({ socket }, reply) => {
    if (!isIdle(socket)) socket.destroy()
    if (socket.destroyed) return
    replies.delete(socket)
    replies.set(socket, reply)
  })
}
