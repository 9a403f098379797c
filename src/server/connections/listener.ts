import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Emit } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { keepConnections, type ConnectionNews } from './kept-connections.ts'
import type { DescriptorWatch } from './descriptor-watch.ts'
import type { ConnectionLimits } from './descriptors.ts'

/** How long a close waits for replies that are on their way. */
const CLOSE_MS = 2_000

/** Until the first word of connections that were ended, so that it can say how many; and between two words. */
const GATHER_MS = 1_000
const QUIET_MS = 60_000

export interface ListenOn {
  readonly host: string
  /** 0: one that is free. */ readonly port: number
}

export interface ListenerOptions {
  readonly setting: 'listen' | 'metrics-listen'
  readonly on: ListenOn
  readonly limits: ConnectionLimits
  readonly descriptors: Pick<DescriptorWatch, 'isExhausted'>
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
  const { setting, on, limits, descriptors, clock, emit } = options
  const { host, port: wanted } = on
  const news = createConnectionNews(options)
  const connections = keepConnections(app.server, { limits, clock, note: (what) => news.note(what) })
  app.addHook('onClose', async () => {
    connections.stop()
    news.stop()
  })
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
  app.server.on('error', (error) => {
    if (!descriptors.isExhausted(error)) emit({ type: 'Bug', message: 'The HTTP server failed', error })
  })
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

/** Says at most once a minute what became of connections: a flood of them must not become one of lines. */
function createConnectionNews({ setting, limits, clock, emit }: ListenerOptions) {
  let counts = { closed: 0, refused: 0, unread: 0 }
  let saidAt = -QUIET_MS
  let cancel: (() => void) | undefined

  function say(): void {
    cancel = undefined
    saidAt = clock.monotonic()
    emit({
      type: 'ConnectionsLimited',
      listener: setting,
      ...counts,
      limit: limits.all,
      limitOfAddress: limits.eachAddress,
    })
    counts = { closed: 0, refused: 0, unread: 0 }
  }

  return {
    note(what: ConnectionNews): void {
      counts[what] += 1
      cancel ??= clock.after(Math.max(GATHER_MS, saidAt + QUIET_MS - clock.monotonic()), say)
    },
    stop(): void {
      cancel?.()
    },
  }
}
