import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that wait while another of it is answered. Browsers, Prometheus and the kubelet send none ahead. */
export const MOST_AHEAD = 8

/**
 * Has one request of each connection answered at a time. Node begins with all that a packet holds, which may be a thousand requests
 * for the largest reply, and keeps all of these replies until the first is taken. A connection with more than a few is ended.
 */
export function oneAtATime<Request extends typeof IncomingMessage, Response extends typeof ServerResponse>(
  answer: RequestListener<Request, Response>,
): RequestListener<Request, Response> {
  /** What waits on a connection on which something is being answered. */
  const ahead = new WeakMap<Socket, (() => void)[]>()

  function next(socket: Socket): void {
    const begin = ahead.get(socket)?.shift()
    if (begin === undefined) ahead.delete(socket)
    else begin()
  }

  return (request, reply) => {
    const { socket } = request
    if (socket.destroyed) return // the rest of what came with too many
    const begin = () => {
      reply.once('close', () => next(socket))
      answer(request, reply)
    }
    const waiting = ahead.get(socket)
    if (waiting === undefined) {
      ahead.set(socket, [])
      begin()
    } else if (waiting.length < MOST_AHEAD) waiting.push(begin)
    else socket.destroy()
  }
}
