import type { Socket } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import type { Fail } from '../contract/failpoint.ts'
import { connectorOf, errorOf, type Opened, type OpenConnection } from './open-connection.ts'

/** How the one connection of a create is made and ended. */
export interface CreateConnection {
  /** For undici's `Client`. Refuses a second connection: a client connects and sends again after some kinds of errors. */
  readonly connect: buildConnector.connector
  /** Whether the connection was ready, so that some of the request may have been written. */
  readonly wasReady: () => boolean
  /** The reply came to its end: the connection may be closed in good order. */
  readonly whole: () => void
}

/**
 * Makes a connection that is reset and not closed, whoever closes it, as long as there is no whole reply: what is closed, the
 * kernel goes on delivering for minutes, and a create that counts as over would still arrive. Under TLS the TCP
 * connection below is reset before TLS can end it with a message of its own; where there is a proxy, the one to the proxy.
 * @param fail for tests
 */
export function createConnection(open: OpenConnection, fail: Fail | undefined): CreateConnection {
  let tries = 0
  let ready = false
  let isWhole = false
  let isReset = false

  /**
   * Under TLS it is Node that ends the TCP connection, when TLS has let go of it, and it is reset then: one that goes away
   * under TLS ends the process.
   */
  function watch({ socket, tcp }: Opened): Socket {
    const destroy = tcp.destroy.bind(tcp)
    tcp.destroy = (error) => {
      if (!isWhole && !isReset && !tcp.destroyed) {
        isReset = true
        tcp.resetAndDestroy()
      }
      return destroy(error)
    }
    // Before Node answers the other side's FIN with one of its own.
    socket.prependListener('end', () => isWhole || socket.destroy())
    return socket
  }

  const watched = connectorOf(async (options) => {
    const opened = await open(options)
    return { ...opened, socket: watch(opened) }
  })

  return {
    connect(options, callback) {
      tries += 1
      if (tries > 1) {
        callback(new Error('one connection for one create'), null)
        return
      }
      const connecting = fail === undefined ? watched : gatedConnect(watched, fail)
      connecting(options, (...made) => {
        ready ||= made[0] === null
        callback(...made)
      })
    },
    wasReady: () => ready,
    whole() {
      isWhole = true
    },
  }
}

/*
 * The failpoints within an exchange, between the client and whoever listens to it. Only put there when a test asks.
 * What a failpoint throws ends the exchange as an error of the connection at that moment does.
 */

/** `after-connect`: the connection is ready, and the client does not know of it yet. */
export function gatedConnect(connect: buildConnector.connector, fail: Fail): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...result) => {
      const [error, socket] = result
      if (error !== null) {
        callback(error, null)
        return
      }
      void passOn(socket)

      async function passOn(ready: NonNullable<typeof socket>): Promise<void> {
        try {
          await fail('after-connect')
        } catch (thrown) {
          ready.destroy()
          callback(errorOf(thrown), null)
          return
        }
        callback(null, ready)
      }
    })
  }
}

/** `after-request`, `after-reply-head` and `after-reply-body`. */
export function gatedDispatcher(dispatcher: Dispatcher, fail: Fail): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options, gatedHandler(handler, fail)),
  )
}

function gatedHandler(handler: Dispatcher.DispatchHandler, fail: Fail): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  return {
    onRequestStart(started, context) {
      controller = started
      handler.onRequestStart?.(started, context)
    },
    onRequestSent() {
      fail('after-request').catch((error: unknown) => controller?.abort(errorOf(error)))
    },
    onResponseStart(of, ...head) {
      handler.onResponseStart?.(of, ...head)
      // Nothing of the body is read meanwhile.
      of.pause()
      fail('after-reply-head').then(
        () => of.resume(),
        (error: unknown) => of.abort(errorOf(error)),
      )
    },
    onResponseData: (of, chunk) => handler.onResponseData?.(of, chunk),
    onResponseEnd(of, trailers) {
      fail('after-reply-body').then(
        () => handler.onResponseEnd?.(of, trailers),
        (error: unknown) => handler.onResponseError?.(of, errorOf(error)),
      )
    },
    onResponseError: (of, error) => handler.onResponseError?.(of, error),
  }
}
