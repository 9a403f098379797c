import type { Socket } from 'node:net'
import { buildConnector, type Dispatcher } from 'undici'
import type { Fail } from '../contract/failpoint.ts'

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
 * connection below is reset before TLS can end it with a message of its own.
 * @param timeoutMs for TCP, and for TLS
 * @param fail for tests
 */
export function createConnection(timeoutMs: number, fail: Fail | undefined): CreateConnection {
  const direct = buildConnector({ timeout: timeoutMs, allowH2: false })
  let tries = 0
  let ready = false
  let isWhole = false
  let isReset = false

  function watch(socket: Socket, tcp: Socket): void {
    const destroy = socket.destroy.bind(socket)
    function reset(): void {
      if (isWhole || isReset) return
      isReset = true
      if (!tcp.destroyed) tcp.resetAndDestroy()
    }
    // Before Node answers the other side's FIN with one of its own.
    socket.prependListener('end', reset)
    socket.destroy = (error) => {
      reset()
      return destroy(error)
    }
  }

  /** TCP first, also under TLS: it is what gets reset. */
  function open(options: buildConnector.Options, callback: buildConnector.Callback): void {
    direct({ ...options, protocol: 'http:', port: options.port || defaultPort(options) }, (...made) => {
      const [error, tcp] = made
      if (error !== null) {
        callback(error, null)
        return
      }
      if (options.protocol !== 'https:') {
        watch(tcp, tcp)
        callback(null, tcp)
        return
      }
      direct({ ...options, httpSocket: tcp }, (...secured) => {
        const [failure, tls] = secured
        if (failure !== null) {
          callback(failure, null)
          return
        }
        watch(tls, tcp)
        callback(null, tls)
      })
    })
  }

  return {
    connect(options, callback) {
      tries += 1
      if (tries > 1) {
        callback(new Error('one connection for one create'), null)
        return
      }
      const connecting = fail === undefined ? open : gatedConnect(open, fail)
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

function defaultPort({ protocol }: buildConnector.Options): string {
  return protocol === 'https:' ? '443' : '80'
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

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('a failpoint threw no error', { cause: thrown })
}
