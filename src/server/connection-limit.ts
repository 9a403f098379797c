import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Keeps at most `max` connections. A new connection closes the one that has been idle longest, or the oldest if none is idle.
 * A client that sends a second request before the reply to the first is closed as well: Node would prepare all replies together.
 */
export function limitConnections(server: Server, max: number, onClosed: () => void): void {
  /** The latest reply of each connection. The connection with the oldest request is first. */
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
