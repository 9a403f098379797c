import type { AddressInfo } from 'node:net'
import { createApp } from './app.ts'
import type { ServerParts } from './parts.ts'

/** How long a close waits for replies that are on their way. */
const CLOSE_MS = 2_000

export interface Server {
  /** Where it can be reached from this machine, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly port: number
  /** Ends event streams, lets replies finish for a moment, and closes the port. */
  close(): Promise<void>
}

/**
 * The HTTP server of design §8, for machines and for people, on one port.
 * @throws when the port cannot be had; the message says which and why
 */
export async function startServer(parts: ServerParts): Promise<Server> {
  const app = await createApp(parts)
  const { host, port: wanted } = parts.listen
  try {
    // Who asks at "localhost" tries both of its addresses; who asks at 127.0.0.1, only that one.
    await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port: wanted })
  } catch (error) {
    await app.close()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot listen on ${host}:${wanted}: ${why}; choose another with --listen`, {
      cause: error,
    })
  }
  const { port } = app.server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://${reachable(host)}:${port}`,
    port,
    async close() {
      // A client that neither reads nor goes away must not hold up the end.
      const cancel = parts.clock.after(CLOSE_MS, () => app.server.closeAllConnections())
      try {
        await app.close()
      } finally {
        cancel()
      }
    },
  }
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
