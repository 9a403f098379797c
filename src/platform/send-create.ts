import { Client, type buildConnector } from 'undici'
import type { RemoteResource } from '../kinds/remote-resource.ts'
import type { Fail } from '../contract/failpoint.ts'
import type { CreatePermit, CreateRequest, Looks, Reply, ServiceAccess } from '../contract/platform.ts'
import { notSent, RemoteError } from '../contract/remote-error.ts'
import type { Admission } from './admission.ts'
import type { ApiCall } from './failure.ts'
import { handleReply, type RequestParts } from './handle-reply.ts'
import { exchange, type Exchanged, type WireRequest } from './http-exchange.ts'
import { headersOf } from './login.ts'
import type { TakenPlaces } from './send.ts'
import { MAX_HEADER_BYTES, type Route } from './network.ts'
import { WIRE } from './wire.ts'
import type { Socket } from 'node:net'
import { connectorOf, type Opened, type OpenConnection } from './open-connection.ts'

export function createPermit(
  permitted: ApiCall<RemoteResource> & {
    readonly service: ServiceAccess
    readonly places: TakenPlaces
    readonly looks: Looks
  },
  parts: RequestParts,
): CreatePermit {
  const { service, places, looks } = permitted
  let used = false

  return {
    service,
    deadlineMs: parts.createDeadlineMs,
    get lookCostsMs() {
      return looks.lookCostsMs
    },
    get waitedMs() {
      return places.waitedMs()
    },
    read: (...asked) => looks.read(...asked),
    list: (...asked) => looks.list(...asked),
    async send(request) {
      if (used) throw new Error('a permit to create was used twice')
      used = true
      const notAfter = Math.min(request.notAfter, await parts.fence())
      await parts.fail?.('after-fence').catch(() => {
        throw notSent('Unavailable', 'Pipewright failed before it')
      })
      const timely = { ...request, notAfter }
      return sendCreate({ ...permitted, admission: places.admission(), request: timely }, parts)
    },
    release: () => places.release(),
  }
}

const CONNECT_MS = 10_000

/**
 * Sends once, because a second create makes a second pipe: no retry, no reused connection, no signal.
 * @throws {RemoteError} with its `effect`
 */
async function sendCreate(
  call: ApiCall<RemoteResource> & { readonly admission: Admission; readonly request: CreateRequest },
  parts: RequestParts,
): Promise<Reply<RemoteResource>> {
  const { origin, path, way, admission } = call
  const { body, intentId, notAfter } = call.request
  const { clock, createDeadlineMs: timeoutMs, userAgent } = parts
  const { login, place } = admission
  const headers = { ...headersOf(login, userAgent, body), [WIRE.idempotencyHeader]: intentId }
  const request: WireRequest = { origin, path, method: 'POST', headers, body }
  const startedAt = clock.monotonic()
  const seen = await exchangeOnce(request, { way, parts, notAfter, onSent: () => place.sent() })
  place.ended()
  const durationMs = clock.monotonic() - startedAt
  const result = handleReply({ ...call, seen, timeoutMs, durationMs }, parts)
  if (result instanceof RemoteError) throw result
  return result
}

/** A request is unsent only if its connection was never ready, or ready too late. */
async function exchangeOnce(
  request: WireRequest,
  about: {
    readonly way: Route
    readonly parts: RequestParts
    readonly notAfter: number
    readonly onSent: () => void
  },
): Promise<Exclude<Exchanged, { readonly type: 'stopped' }>> {
  const { clock, createDeadlineMs: timeoutMs, maxReplyBytes, fail } = about.parts
  const connectMs = Math.min(CONNECT_MS, timeoutMs)
  const connection = createConnection((options) => about.way.open(options, connectMs), fail)
  const routed = about.way.routed(request)
  const client = new Client(routed.origin, {
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: connection.connect,
  })
  try {
    const seen = await exchange(client, routed, {
      clock,
      timeoutMs,
      maxReplyBytes,
      signal: undefined,
      notAfter: about.notAfter,
      onSent: about.onSent,
      onWhole: connection.whole,
    })
    if (seen.type === 'stopped') throw new Error('a create was stopped, though it takes no signal')
    if (seen.type !== 'silence' || seen.why === 'too late') return seen
    return { ...seen, sent: seen.sent || connection.wasReady() }
  } finally {
    // Not awaited: the id must be durable first, and a socket can be slow to close.
    client.destroy().catch(() => undefined)
  }
}

/**
 * Resets a connection that ends before the reply is complete: after a close, the kernel could deliver the create
 * minutes later. With TLS or a proxy, resets the TCP connection below.
 */
export function createConnection(open: OpenConnection, fail: Fail | undefined) {
  let tries = 0
  let ready = false
  let isWhole = false
  let isReset = false

  /** Resets in `tcp.destroy`, because Node calls it after destroying TLS. An earlier reset would crash the process. */
  function watch({ socket, tcp }: Opened): Socket {
    const destroy = tcp.destroy.bind(tcp)
    let cause: Error | undefined
    tcp.destroy = (error) => {
      if (!isWhole && !isReset && !tcp.destroyed) {
        isReset = true
        cause = error
        tcp.resetAndDestroy()
      }
      return destroy(error ?? cause)
    }
    // Prepended, because this must run before Node answers the server's FIN with its own FIN.
    socket.prependListener('end', () => isWhole || socket.destroy())
    return socket
  }

  const connect = connectorOf(async (options) => {
    const opened = await open(options)
    const socket = watch(opened)
    try {
      await fail?.('after-connect')
    } catch (error) {
      socket.destroy()
      throw error
    }
    return { ...opened, socket }
  })

  return {
    /** Refuses a second connection: after some errors, undici connects and sends again. */
    connect: (...[options, callback]: Parameters<buildConnector.connector>) => {
      tries += 1
      if (tries > 1) {
        callback(new Error('one connection for one create'), null)
        return
      }
      connect(options, (...made) => {
        ready ||= made[0] === null
        callback(...made)
      })
    },
    wasReady: () => ready,
    whole: () => {
      isWhole = true
    },
  }
}
