import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Emit } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import { limitConnections } from './connection-limit.ts'

/** How long a close waits for replies that are on their way. */
const CLOSE_MS = 2_000

/** Connections at a time. The other descriptors stay for the ledger, the manifests and the platform. */
const MAX_CONNECTIONS = { listen: 256, 'metrics-listen': 64 } as const

/** The log says at most once a minute how many connections were closed. */
const REPORT_MS = 60_000

export interface ListenOn {
  readonly host: string
  /** 0: one that is free. */ readonly port: number
}

export interface ListenerOptions {
  readonly setting: keyof typeof MAX_CONNECTIONS
  readonly on: ListenOn
  readonly clock: Clock
  readonly emit: Emit
}

export interface Listener {
  /** Where it can be reached from this machine. */
  readonly url: string
  readonly port: number
  /** Ends event streams, lets replies finish for a moment, and closes the port. */
  close(): Promise<void>
}

/**
 * Lets an app listen, within its limits.
 * @throws when the port cannot be had; the message says which and why
 */
export async function openListener(app: FastifyInstance, options: ListenerOptions): Promise<Listener> {
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
    // Who asks at "localhost" tries both of its addresses; who asks at 127.0.0.1, only that one.
    await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port: wanted })
  } catch (error) {
    await app.close()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot listen on ${host}:${wanted}: ${why}; choose another with --${setting}`, {
      cause: error,
    })
  }
  // A connection that cannot be accepted is no reason to end.
  app.server.on('error', (error) => emit({ type: 'Bug', message: 'The HTTP server failed', error }))
  const { port } = app.server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://${reachable(host)}:${port}`,
    port,
    async close() {
      // A client that neither reads nor goes away must not hold up the end.
      const cancel = clock.after(CLOSE_MS, () => app.server.closeAllConnections())
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
