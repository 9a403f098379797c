import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { addressOf } from './client-address.ts'
import type { ConnectionLimits } from './descriptors.ts'

/** What a listener did to stay within its limits. */
export type ConnectionNews =
  /** Ended, to make room for another: nothing was being answered on it. */
  | 'closed'
  /** A new one, ended at once: all others are being answered. */
  | 'refused'
  /** The client did not take its reply. */
  | 'unread'

export interface ConnectionKeeping {
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly note: (news: ConnectionNews) => void
}

/** A reply that its client does not take is ended after this: ms. */
export const UNREAD_MS = 60_000

const SWEEP_MS = 5_000

/** After every time at which something was seen to wait. */
const NOT_SEEN_YET = Number.MAX_VALUE

/** Replies that are not taken yet, in bytes: with more than this, some are ended. */
const UNREAD_BYTES = 64 * 1_024 * 1_024

/** Between the end of a connection and the moment at which Node no longer counts it. */
const NODE_LAGS = 16

export interface KeptConnections {
  /** Ends the looking. */
  stop(): void
}

interface Connection {
  readonly address: string
  /** Requests that arrived and are being answered. */
  answering: number
  /** It had a reply before: a browser that keeps it opens another one when it is gone. */
  served: boolean
  /** Since when there is something to be taken at every look; monotonic. */
  unreadSince: number | undefined
}

/** The connections of one address. Those that wait for a request stand in the order in which they began to wait. */
interface Group {
  count: number
  readonly waiting: Set<Socket>
}

/**
 * Keeps the connections of a server within limits. When there is no room, the one that waits longest for its client makes room,
 * those first that were served already, and those of the address that has most of them: so a person still gets in while somebody
 * holds many. What is being answered is never cut for another.
 */
export function keepConnections(server: Server, { limits, clock, note }: ConnectionKeeping): KeptConnections {
  const connections = new Map<Socket, Connection>()
  const groups = new Map<string, Group>()
  server.maxConnections = limits.all + NODE_LAGS
  server.on('drop', () => note('refused'))

  server.prependListener('connection', (socket: Socket) => {
    const address = addressOf(socket.remoteAddress)
    if (address === undefined) {
      socket.destroy() // its client is gone already
      return
    }
    if (!makeRoom(address)) {
      note('refused')
      socket.destroy()
      return
    }
    connections.set(socket, { address, answering: 0, served: false, unreadSince: undefined })
    const group = groups.get(address) ?? { count: 0, waiting: new Set() }
    groups.set(address, group)
    group.count += 1
    group.waiting.add(socket)
    socket.once('close', () => forget(socket))
  })

  server.prependListener('request', (request: IncomingMessage, reply: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined || socket.destroyed) return
    if (isWhole(request)) answer(socket, connection, reply)
    else request.once('end', () => answer(socket, connection, reply))
  })

  function answer(socket: Socket, connection: Connection, reply: ServerResponse): void {
    if (reply.writableFinished || reply.destroyed) return
    connection.answering += 1
    reply.once('prefinish', relieve)
    groups.get(connection.address)?.waiting.delete(socket)
    reply.once('close', () => {
      connection.answering -= 1
      connection.served = true
      if (connection.answering === 0 && connections.has(socket)) {
        groups.get(connection.address)?.waiting.add(socket)
      }
    })
  }

  function makeRoom(address: string): boolean {
    const own = groups.get(address)
    if (own !== undefined && own.count >= limits.eachAddress) return closeOneOf(own)
    if (connections.size < limits.all) return true
    let most: Group | undefined
    for (const group of groups.values()) {
      if (group.waiting.size > (most?.waiting.size ?? 0)) most = group
    }
    if (most !== undefined) return closeOneOf(most)
    const [slowest] = unread().filter(([, { unreadSince }]) => unreadSince !== undefined)
    return slowest !== undefined && endUnread(slowest[0])
  }

  /** Connections with something to be taken: those of the address that has most of all come first, of each the one that is slowest. */
  function unread(): readonly (readonly [Socket, Connection])[] {
    const countOf = ({ address }: Connection) => groups.get(address)?.count ?? 0
    return [...connections]
      .filter(([socket]) => socket.writableLength > 0)
      .toSorted(
        ([, a], [, b]) =>
          countOf(b) - countOf(a) || (a.unreadSince ?? NOT_SEEN_YET) - (b.unreadSince ?? NOT_SEEN_YET),
      )
  }

  function endUnread(socket: Socket): true {
    note('unread')
    forget(socket)
    socket.destroy()
    return true
  }

  /** Whoever takes no replies must not fill the memory. */
  function relieve(): void {
    let bytes = 0
    for (const socket of connections.keys()) bytes += socket.writableLength
    if (bytes <= UNREAD_BYTES) return
    for (const [socket] of unread()) {
      if (bytes <= UNREAD_BYTES) return
      bytes -= socket.writableLength
      endUnread(socket)
    }
  }

  function closeOneOf({ waiting }: Group): boolean {
    const victim = firstServed(waiting) ?? waiting.values().next().value
    if (victim === undefined) return false
    note('closed')
    forget(victim)
    victim.destroy()
    return true
  }

  function firstServed(waiting: ReadonlySet<Socket>): Socket | undefined {
    for (const socket of waiting) if (connections.get(socket)?.served === true) return socket
    return undefined
  }

  function forget(socket: Socket): void {
    const connection = connections.get(socket)
    if (connection === undefined) return
    connections.delete(socket)
    const group = groups.get(connection.address)
    if (group === undefined) return
    group.waiting.delete(socket)
    group.count -= 1
    if (group.count === 0) groups.delete(connection.address)
  }

  /** Node ends what does not come in time, and waits for ever until what was sent is taken. */
  function sweep(): void {
    const now = clock.monotonic()
    for (const [socket, connection] of connections) {
      connection.unreadSince = socket.writableLength === 0 ? undefined : (connection.unreadSince ?? now)
      if (connection.unreadSince === undefined || now - connection.unreadSince < UNREAD_MS) continue
      endUnread(socket)
    }
    cancel = clock.after(SWEEP_MS, sweep)
  }
  let cancel = clock.after(SWEEP_MS, sweep)
  return { stop: () => cancel() }
}

/** Whether all of it is there once its head is. */
function isWhole({ complete, headers }: IncomingMessage): boolean {
  return (
    complete || (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0')
  )
}
