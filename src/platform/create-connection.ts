import type { Socket } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import type { Fail } from '../contract/failpoint.ts'
import { connectorOf, errorOf, type Opened, type OpenConnection } from './open-connection.ts'

interface CreateConnection {
  /** Refuses a second connection: after some errors, undici connects and sends again. */
  readonly connect: buildConnector.connector
  /** Part of the request might have been written. */
  readonly wasReady: () => boolean
  /** The reply is complete: the connection can be closed normally. */
  readonly whole: () => void
}

/**
 * Resets the connection until the reply is complete: the kernel delivers a closed connection's data for
 * minutes. Under TLS or behind a proxy, resets the TCP connection below.
 * @param fail for tests
 */
export function createConnection(open: OpenConnection, fail: Fail | undefined): CreateConnection {
  let tries = 0
  let ready = false
  let isWhole = false
  let isReset = false

  /** Resets the TCP connection after Node destroyed TLS. An earlier reset would crash the process. */
  function watch({ socket, tcp }: Opened): Socket {
    const destroy = tcp.destroy.bind(tcp)
    let cause: Error | undefined
    tcp.destroy = (error) => {
      if (!isWhole && !isReset && !tcp.destroyed) {
        isReset = true
        cause = error
        // Comes back here, without the error.
        tcp.resetAndDestroy()
      }
      return destroy(error ?? cause)
    }
    // Runs before Node answers the server's FIN with its own FIN.
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

/* An error of a failpoint acts like an error of the connection. */

/** The client does not know the connection yet. */
function gatedConnect(connect: buildConnector.connector, fail: Fail): buildConnector.connector {
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
